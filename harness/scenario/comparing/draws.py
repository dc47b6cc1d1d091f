"""The simulated runs of one case, as chance may go: the one beside which a real run is held is the one whose zones it drew, too.

A topology spread takes any of the zones with the fewest pods (core ``pkg/controllers/provisioning/scheduling/topologygroup.go``: Go's map
order), where regional offerings are a zone of their own. What follows from a zone (sizes that are sold there, labels, the request to
Azure) is no chance, so it is compared with a run that drew the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from harness.kube.api.labels import ZONE

if TYPE_CHECKING:
    from harness.world.facts import Facts

__all__ = ["MOST_DRAWS", "Draws"]

MOST_DRAWS = 16
"""So many more runs are tried; of three of four zones one is missed once in a hundred cases."""

Outcome = tuple["Facts", Mapping[str, str]]
"""Facts, and the verdicts of the expectations."""


class Draws:
    """Simulated runs of one case. `again` runs it with another seed."""

    def __init__(self, first: Outcome, again: Callable[[int], Outcome]) -> None:
        self._first, self._again = first, again
        self._runs = [first]

    def like(self, real: Facts, differs: Callable[[Outcome], bool]) -> Outcome:
        """Return the run whose NodeClaims are pinned to the same zones as those of `real`; where it `differs`, one that does not
        and was launched into the same zones. The first run where no draw comes to that.
        """
        pinned = self._with(_pinned, real)
        if pinned is not None and not differs(pinned):
            return pinned
        return self._with(_launched, real, differs) or pinned or self._first

    def _with(
        self, zones: Callable[[Facts], tuple[str, ...]], real: Facts, differs: Callable[[Outcome], bool] | None = None
    ) -> Outcome | None:
        """Return the first run with these zones that does not differ; None where no draw has as many, or these."""
        wanted = zones(real)
        if len(wanted) != len(zones(self._first[0])):
            return None
        return next(
            (run for run in self._drawn() if zones(run[0]) == wanted and not (differs is not None and differs(run))),
            None,
        )

    def _drawn(self) -> Iterator[Outcome]:
        """The runs, made as far as somebody looks at them."""
        yield from self._runs
        while len(self._runs) <= MOST_DRAWS:
            self._runs.append(self._again(len(self._runs)))
            yield self._runs[-1]


def _launched(facts: Facts) -> tuple[str, ...]:
    """The zones that chance decided: those that NodeClaims are pinned to, and those that launches tried."""
    return (*_pinned(facts), *sorted(facts.drawn))


def _pinned(facts: Facts) -> tuple[str, ...]:
    """The zones that the scheduler pinned NodeClaims to, each with its NodePool."""
    return tuple(
        sorted(
            f"{name.rpartition(' ')[0]} {text}"
            for name, claim in (facts.found.get("NodeClaims") or {}).items()
            for text in claim["NodeClaim"]["requirements"]
            if text.startswith(f"{ZONE} In ") and "," not in text
        )
    )
