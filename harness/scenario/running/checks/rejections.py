"""`rejected` and `accepted`: the layer that refuses an object, the key, the text, and the first release that does."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from harness.karpenter.releases import DEFAULT_RELEASE, release_order
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.outcomes import Accepted, Rejected
from harness.scenario.running.matching import Difference, differences
from harness.scenario.running.run import Refusal, Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["check"]

_FIELDS = ("layer", "key", "path", "rule", "message", "text")


def check(body: Rejected | Accepted, entry: Entry, run: Run) -> Iterator[Verdict]:
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


def _same(name: str, reference: str, run: Run) -> bool:
    if fnmatchcase(name, reference) or name == reference.replace("/", "/default/", 1):
        return True
    kind, _, rest = reference.partition("/")
    return name == f"{kind}/{rest.rpartition('/')[2]}" and run.manifest(reference) is not None


def _matches(body: Rejected, refusal: Refusal) -> bool:
    return not _compared(body, refusal)


def _compared(body: Rejected, refusal: Refusal) -> list[Difference]:
    wrong: list[Difference] = []
    for field in _FIELDS:
        wanted = getattr(body, field)
        if wanted is not None:
            wrong += differences(wanted, getattr(refusal.rejection, field), field)
    return wrong


def _accepted(concerned: list[Refusal], name: str, entry: Entry, when: str) -> Verdict:
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
