"""The facts of actions on a world from outside: steps, and objects that are applied or deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

from harness.trace.header import Fact
from lazyrecords import dataclass

__all__ = ["Applied", "Step"]


@dataclass(frozen=True, slots=True)
class Step(Fact):
    """The beginning of a step from outside: `settle`, `advance: 10m`."""

    fact: ClassVar[str] = "step"
    text: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Applied(Fact):
    """An object was applied or deleted by the user; `refused` are the API server's reasons why not."""

    fact: ClassVar[str] = "object"
    object: str
    verb: str
    manifest: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""
    line: int = 0
    refused: Sequence[str] = ()
