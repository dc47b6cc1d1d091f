"""`rejected` and `accepted`: the layer that refuses an object, the key, the text, and the first release that does."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pydantic import Field

from harness.karpenter.releases import DEFAULT_RELEASE, release_order
from harness.karpenter.validation.rejections import RejectionLayer as Layer
from harness.karpenter.validation.rejections import schema_layer
from harness.scenario.expectations.failure import FailedExpectation
from harness.scenario.expectations.matching import Difference, differences
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import Body, Reference, RejectionLayer, Text, split_reference
from harness.scenario.language.models.matchers import TextMatch

if TYPE_CHECKING:
    from harness.scenario.running.run import Refusal, Run

__all__ = ["Accepted", "Rejected", "check", "failure_lines"]


class Rejected(Body):
    """An object that is refused: by which layer, for which key, with which text. Only what is given is compared."""

    object: Reference = Field(
        description="The refused object, as Kind/name; `*` stands for any text: NodeClaim/default-*."
    )
    layer: RejectionLayer | None = Field(None, description="Who refuses it.")
    key: Text | None = Field(None, description="The label key at fault.")
    path: Text | None = Field(None, description="The field, as the refusal names it.")
    rule: Text | None = Field(None, description="The harness's name of the rule.")
    message: TextMatch | None = Field(None, description="The message alone, without object and path.")
    text: TextMatch | None = Field(None, description="The whole line, as the API server or Karpenter prints it.")
    since: Text | None = Field(None, description="First release that refuses; older cases must accept.")
    until: Text | None = Field(None, description="First release that accepts again.")

    def refused(self) -> Iterator[str]:
        """Yield the object."""
        yield self.object


class Accepted(Body):
    """An object that no layer refuses."""

    object: Reference = Field(description="The object, as Kind/name.")


_FIELDS = ("layer", "key", "path", "rule", "message", "text")


def check(body: Rejected | Accepted, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict: that a refusal like this was seen, or, outside of its releases, that none was."""
    concerned = [refusal for refusal in run.refusals if _same(refusal.rejection.object, body.object, run)]
    if isinstance(body, Accepted):
        yield _accepted(concerned, body.object, entry, "")
        return
    release = release_order(run.case.given.karpenter or DEFAULT_RELEASE)
    if body.since is not None and release < release_order(body.since):
        yield _accepted(
            [refusal for refusal in concerned if _matches(body, refusal)], body.object, entry, f"before {body.since}"
        )
        return
    if body.until is not None and release >= release_order(body.until):
        yield _accepted(
            [refusal for refusal in concerned if _matches(body, refusal)], body.object, entry, f"from {body.until}"
        )
        return
    fitting = [refusal for refusal in concerned if _matches(body, refusal)]
    for refusal in fitting:
        refusal.expected = True
    if fitting:
        yield Verdict(entry.label, entry.mark())
    elif not concerned:
        yield Verdict.failed(entry.label, entry.mark("object"), f"{body.object} refused", "it was taken")
    else:
        nearest = min(concerned, key=lambda refusal: len(_compared(body, refusal)))
        nearest.expected = True  # reported here, not again as unexpected
        place = nearest.mark(entry.mark())
        refusal_text = (
            f"refused at {place} by {nearest.rejection.layer}, rule {nearest.rejection.rule}: {nearest.rejection.text}"
        )
        wrong = [
            Difference(difference.path, difference.expected, difference.actual, refusal_text)
            for difference in _compared(body, nearest)
        ]
        yield Verdict.compared(entry.label, entry.mark(wrong[0].path), wrong)


def _same(name: str, reference: str, run: "Run") -> bool:
    if fnmatchcase(name, reference) or name == reference.replace("/", "/default/", 1):
        return True
    kind, _, rest = reference.partition("/")
    return name == f"{kind}/{rest.rpartition('/')[2]}" and run.manifest(reference) is not None


def _matches(body: Rejected, refusal: "Refusal") -> bool:
    return not _compared(body, refusal)


def _compared(body: Rejected, refusal: "Refusal") -> list[Difference]:
    wrong: list[Difference] = []
    for field in _FIELDS:
        wanted = getattr(body, field)
        if wanted is not None:
            wrong += differences(wanted, getattr(refusal.rejection, field), field)
    return wrong


def _accepted(concerned: "list[Refusal]", name: str, entry: Entry, when: str) -> Verdict:
    for refusal in concerned:
        refusal.expected = True
    if not concerned:
        return Verdict(entry.label, entry.mark())
    expected = f"{name} taken {when}".rstrip()
    texts = [
        Difference(
            "",
            expected,
            f"{refusal.rejection.layer} refused it: {refusal.rejection.text}",
            str(refusal.mark(entry.mark())),
        )
        for refusal in concerned
    ]
    return Verdict.compared(entry.label, entry.mark("object"), texts)


_OF_POOLS = (Layer.NODEPOOL_RUNTIME, Layer.NODEPOOL_FILTER)

_LAYERS = {
    "NodePool": (Layer.CRD_CEL, *_OF_POOLS),
    "AKSNodeClass": (Layer.CRD_CEL,),
    "NodeOverlay": (Layer.CRD_CEL,),
    "NodeClaim": (Layer.NODECLAIM_CEL, Layer.LAUNCH),
    "Pod": (Layer.POD,),
}
"""The judges of objects of a kind, after the API server has judged their shape."""


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the refusals of the object; for an accepted one, the layers that let it pass, and other refusals."""
    name = str(failure.body.object)
    of_it = failure.why.rejections(
        lambda reference: fnmatchcase(reference, name) or reference == name.replace("/", "/default/", 1)
    )
    if of_it:
        return of_it
    kind = split_reference(name)[0]
    release = failure.run.world.release.version
    if not failure.why.knows(name):
        return [f"nobody applied or made {name}"]
    layers = ", ".join(dict.fromkeys(str(layer) for layer in (schema_layer(kind), *_LAYERS.get(kind, ()))))
    taken = f"{name} was taken by each that judges it under {release}: {layers}"
    others = failure.why.rejections(lambda reference: not reference.startswith("NodeClaim/"))
    return [taken, *failure.why.made(name), *(f"instead, {line}" for line in others)]
