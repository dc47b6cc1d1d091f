"""`objects`: any object of the cluster, by name or by kind."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from harness.kube.api.objects import Key, name_of, namespace_of
from harness.scenario.expectations.failure import ITEMS, PODS, FailedExpectation
from harness.scenario.expectations.matching import count_differences, differences, wants_none
from harness.scenario.expectations.pods import failure_lines as pod_failure_lines
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import Body, Reference, Text, no_entries, split_reference
from harness.scenario.language.models.matchers import CountMatch, Partial
from harness.wording import listed

if TYPE_CHECKING:
    from harness.scenario.running.run import Run

__all__ = ["Objects", "check", "failure_lines"]


class Objects(Body):
    """Any objects of the cluster: one by name, or all of a kind."""

    of: Reference | None = Field(None, description="One object, as Kind/name.")
    kind: Text | None = Field(None, description="All objects of this kind.")
    labels: dict[Text, Text] = Field(default_factory=no_entries, description="Only those with these labels.")
    match: Partial | None = Field(None, description="What it looks like; of several, only those that do are counted.")
    count: CountMatch | None = Field(None, description="How many; with `of`, 0 says that it is gone.")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.of is None) == (self.kind is None):
            raise PydanticCustomError("one_of", "exactly one of of, kind is expected")
        return self


def check(body: Objects, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict: the object matches, or as many of its kind do as expected."""
    if body.of is not None:
        present = run.find(body.of)
        if wants_none(body.count):
            differing = count_differences(0, 0 if present is None else 1)
            yield Verdict.compared(entry.label, entry.mark("count"), differing)
        elif present is None:
            yield Verdict.failed(entry.label, entry.mark("of"), body.of, "no such object")
        else:
            yield Verdict.compared(entry.label, entry.mark("match"), differences(body.match or {}, present))
        return
    objects = [
        candidate
        for candidate in run.world.list(body.kind or "")
        if body.labels.items() <= (candidate["metadata"].get("labels") or {}).items()
    ]
    compared = [(obj, differences(body.match or {}, obj)) for obj in objects]
    fitting = [candidate for candidate, differing in compared if not differing]
    if body.count is not None:
        yield Verdict.compared(entry.label, entry.mark("count"), count_differences(body.count, len(fitting)))
    elif fitting:
        yield Verdict(entry.label, entry.mark())
    elif not compared:
        yield Verdict.failed(entry.label, entry.mark("kind"), f"a {body.kind}", "none")
    else:
        nearest, differing = min(compared, key=lambda pair: len(pair[1]))
        yield Verdict.compared(
            entry.label,
            entry.mark("match"),
            [
                type(difference)(
                    difference.path, difference.expected, difference.actual, f"nearest: {nearest['metadata']['name']}"
                )
                for difference in differing
            ],
        )


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the writers of the fields that are not as expected, and the ends of such objects."""
    body = failure.body
    kind = body.kind or split_reference(body.of)[0]
    names = [body.of] if body.of else [_reference(kind, obj) for obj in failure.run.world.list(kind)]
    paths = [difference.path for difference in failure.verdict.differences if difference.path]
    written = [line for name in names[:PODS] for path in paths for line in failure.why.fields(name, path)]
    lines = list(dict.fromkeys(written))
    if kind in ("NodeClaim", "Node"):
        meant = failure.why.named_claims(failure.why.claims_meant(*split_reference(body.of)[::2])) if body.of else []
        return [*lines, *listed(meant or failure.why.claims(), ITEMS, "NodeClaims")]
    if kind == "Pod":
        label = f"{failure.entry.label}.bound" + (f".{body.of.partition('/')[2]}" if body.of else "")
        return [*lines, *pod_failure_lines(replace(failure, verdict=replace(failure.verdict, label=label)))]
    made = [line for name in names[:ITEMS] for line in failure.why.made(name)]
    refused = failure.why.rejections(
        lambda reference: reference in names if names else reference.startswith(f"{kind}/")
    )
    lines_found = [*lines, *refused, *([] if lines else listed(made, ITEMS, f"{kind}s"))]
    return lines_found or [f"nobody applied or made {body.of or f'any {kind}'}"]


def _reference(kind: str, obj: Mapping[str, Any]) -> str:
    return Key(kind, namespace_of(obj), name_of(obj)).reference
