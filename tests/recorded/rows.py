"""Facts of real machines, errors and runs, each held against what is computed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from harness.reality.rules import share_off
from lazyrecords import dataclass

FOLDER = Path(__file__).parent


class Verdict(StrEnum):
    """How a recorded value and ours stand to each other."""

    EXACT = "exact"
    NEAR = "within the bound"
    DIFFERENT = "different"
    INCOMPARABLE = "not comparable"


@dataclass(frozen=True, slots=True)
class Row:
    """One fact: of which object, which field, what was recorded, what is computed here. `bound` is the largest share it may be off."""

    source: str
    object: str
    field: str
    recorded: str
    ours: str
    bound: float = 0.0
    why: str = ""
    """Why it cannot be compared; empty where it can."""

    @property
    def off(self) -> float:
        """The share by which a quantity differs."""
        share = share_off(self.recorded, self.ours)
        return 1.0 if share is None else share

    @property
    def verdict(self) -> Verdict:
        """What the comparison says."""
        if self.why:
            return Verdict.INCOMPARABLE
        if self.recorded == self.ours:
            return Verdict.EXACT
        return Verdict.NEAR if self.bound and self.off <= self.bound else Verdict.DIFFERENT


@cache
def entries(name: str) -> tuple[Mapping[str, Any], ...]:
    """The entries of one of the recorded files."""
    return tuple(yaml.safe_load((FOLDER / name).read_text(encoding="utf-8")))


def all_rows() -> Iterator[Row]:
    """Every fact that is recorded."""
    from tests.recorded.clusters import cluster_rows
    from tests.recorded.errors import error_rows
    from tests.recorded.machines import machine_rows
    from tests.recorded.runs import run_rows

    yield from machine_rows()
    yield from run_rows()
    yield from error_rows()
    yield from cluster_rows()
