"""The header of a trace, and the base of its facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from harness.trace.values import Recorded
from lazyrecords import dataclass

__all__ = ["VERSION", "Fact", "Header"]

VERSION = 1
"""The version of the format. A reader reads this one and all before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header(Recorded):
    """The first line: the simulated world. `epoch` is t = 0 in seconds since 1970, `command` makes the trace again.

    `spot_discount`: the part by which spot is supposed to cost less than on demand from the start; `spot_discount_changes`: virtual second
    → what it is since then, "" where the list has its own prices again.
    """

    trace: int = field(default=VERSION, metadata={"always": True})
    harness: str
    release: str
    kubernetes: str
    region: str
    mode: str
    seed: int
    cluster: str
    karpenter: str
    epoch: float
    spot_discount: str = ""
    spot_discount_changes: Mapping[str, str] = field(default_factory=dict)
    scenario: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""


@dataclass(frozen=True, slots=True)
class Fact(Recorded):
    """An event at `t`, in virtual seconds since the start."""

    fact: ClassVar[str] = ""
    t: float
