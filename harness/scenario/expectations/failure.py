"""A failed expectation, with the run and its trace, which explain it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from harness.kube.api.objects import name_of, namespace_of
from harness.scenario.expectations.matching import differences
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.wording import listed
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.explain.traces.why import Why
    from harness.scenario.running.run import Run

__all__ = ["ITEMS", "PODS", "FailedExpectation", "fits", "pod_key", "same_object", "texts_by_count"]

ITEMS = 8
"""The number of things of one kind that are listed under an expectation."""

PODS = 3
"""The number of pods whose story is listed under an expectation."""


@dataclass(frozen=True, slots=True)
class FailedExpectation:
    """One failed verdict, its entry and its run. `why` explains that run's trace."""

    run: Run
    why: Why
    entry: Entry
    verdict: Verdict

    @property
    def kind(self) -> str:
        """Return the key in `then`, as Python spells it."""
        return self.entry.expectation.kind

    @property
    def body(self) -> Any:
        """Return the expectation."""
        return self.entry.expectation.body

    @property
    def part(self) -> str:
        """Return the part of the expectation: `are.karpenter.sh/capacity-type`, `calls[0]`; empty for all of it."""
        label, whole = self.verdict.label, self.entry.label
        return label.removeprefix(whole).removeprefix(".") if label.startswith(whole) else ""

    def below(self, field: str) -> str:
        """The rest of `part` below a field: the key of a map; empty when it is about something else."""
        head, _, rest = self.part.partition(".")
        return rest if head == field else ""


def fits(wanted: Mapping[str, Any], fact: Any) -> bool:
    """Return whether the fields of a fact are as expected; None expects nothing."""
    return not any(differences(value, getattr(fact, key), key) for key, value in wanted.items() if value is not None)


def same_object(name: str, wanted: str) -> bool:
    """Return whether two references, one with namespace default perhaps, mean the same object."""
    return name.replace("/default/", "/") == wanted.replace("/default/", "/")


def pod_key(pod: Mapping[str, Any]) -> str:
    """`namespace/name`."""
    return f"{namespace_of(pod) or 'default'}/{name_of(pod)}"


def texts_by_count(noun: str, texts: Iterable[str]) -> list[str]:
    """Return each text with the number of times it is there, the most frequent first."""
    counts = Counter(texts)
    return listed([f"{number} × {text}" for text, number in counts.most_common()], ITEMS, f"kinds of {noun}")
