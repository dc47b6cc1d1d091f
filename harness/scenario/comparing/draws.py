"""The simulated runs of one case, as chance may go: the one beside which a real run is held is the one whose zones it drew, too.

A topology spread takes any of the zones with the fewest pods (core ``pkg/controllers/provisioning/scheduling/topologygroup.go``: Go's map
order), where regional offerings are a zone of their own. What follows from a zone (sizes that are sold there, labels, the request to
Azure) is no chance, so it is compared with a run that drew the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from harness.kube.api.labels import ZONE

if TYPE_CHECKING:
    from harness.world.facts import Facts

__all__ = ["Draws"]

_MOST = 16
"""So many more runs are tried; of three of four zones one is missed once in a hundred cases."""

Outcome = tuple["Facts", Mapping[str, str]]
"""Facts, and the verdicts of the expectations."""


class Draws:
    """Simulated runs of one case. `again` runs it with another seed."""

    def __init__(self, first: Outcome, again: Callable[[int], Outcome]) -> None:
        self._first, self._again = first, again
        self._known: dict[tuple[str, ...], Outcome] = {_pinned(first[0]): first}
        self._tried = 0

    def like(self, real: Facts) -> Outcome:
        """Return the run whose NodeClaims are pinned to the same zones as those of `real`, the first one where no draw is like it."""
        wanted = _pinned(real)
        if len(wanted) != len(_pinned(self._first[0])):
            return self._first
        while wanted not in self._known and self._tried < _MOST:
            self._tried += 1
            made = self._again(self._tried)
            self._known.setdefault(_pinned(made[0]), made)
        return self._known.get(wanted, self._first)


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
