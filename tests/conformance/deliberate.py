"""Differences from the real code that are wanted, each with its reason. The aim is an empty table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.conformance.compare import Difference

__all__ = ["DELIBERATE", "Deliberate", "reason_for"]


@dataclass(frozen=True, slots=True)
class Deliberate:
    """Where we differ on purpose: the op, the releases (all when empty), a pattern for the whole path, and why."""

    op: str
    path: str
    reason: str
    releases: frozenset[str] = frozenset()

    def covers(self, release: str, op: str, difference: Difference) -> bool:
        """Whether this entry explains `difference`."""
        return (
            op == self.op
            and (not self.releases or release in self.releases)
            and re.fullmatch(self.path, difference.path) is not None
        )


DELIBERATE: tuple[Deliberate, ...] = ()


def reason_for(
    release: str, op: str, found: Sequence[Difference], table: Sequence[Deliberate] = DELIBERATE
) -> str | None:
    """The reasons that explain all of `found`, or None when one of them has none."""
    reasons = []
    for difference in found:
        entry = next((entry for entry in table if entry.covers(release, op, difference)), None)
        if entry is None:
            return None
        reasons.append(entry.reason)
    return "; ".join(dict.fromkeys(reasons))
