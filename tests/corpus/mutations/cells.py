"""One changed input cell, and which releases have how many of them.

A release whose answers are recorded is changed everywhere: an entry of a set is taken away or added, a flag gets the value that it had
before or gets later. Between recorded releases a cell is a boundary: what changed with a release is changed one release too late, and
one too early.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, Policy, ProviderRelease
from harness.karpenter.releases.scheduling import SchedulingRules
from harness.karpenter.validation import Crds

__all__ = ["RECORDED", "Cell", "neighbours"]

RECORDED = ("1.4.0", "1.6.5", "1.6.6", "1.7.2", "1.10.2", "1.13.1", "1.14.0")
"""The releases of which `make record-labels` has written down what the real code answers."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One changed cell, which scenarios of `release` (or policy) may notice. `key` is a label key or the name of a flag.

    The worlds of that release get another release record, other CRDs or other rules of core's simulation, or `patches`: tables of
    modules, by their dotted names, with other contents. What no label depends on may be noticed by golden `vectors`, too.
    """

    release: str
    table: str
    key: str
    change: str
    mutant: ProviderRelease | None = field(default=None, compare=False, repr=False)
    crds: Crds | None = field(default=None, compare=False, repr=False)
    rules: SchedulingRules | None = field(default=None, compare=False, repr=False)
    policy: Policy | None = field(default=None, compare=False, repr=False)
    patches: tuple[tuple[str, Any], ...] = field(default=(), compare=False, repr=False)
    vectors: bool = field(default=False, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.release}: {self.table}: {self.key} {self.change}"


def neighbours(version: str) -> tuple[str, ...]:
    """The release before and the release after."""
    at = ALL_PROVIDER_RELEASES.index(version)
    return (*ALL_PROVIDER_RELEASES[:at][-1:], *ALL_PROVIDER_RELEASES[at + 1 : at + 2])
