"""What the comparison of two Karpenters on one case says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from plainlines import joined

__all__ = ["Comparison", "Difference", "Result"]

_WIDTH = 300


class Result(StrEnum):
    """AGREE: what came of it is the same, but for kept differences. The last two were not compared."""

    AGREE = "agree"
    DIFFER = "differ"
    VIRTUAL = "needs virtual time"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact that differs; `kept` is the reason why it may, empty where it may not."""

    fact: str
    simulated: Any
    real: Any
    kept: str = ""

    def __str__(self) -> str:
        left, right = _apart(self.simulated, self.real)
        return joined([self.fact, f"    simulated  {left}", f"    real       {right}"])


@dataclass(frozen=True, slots=True)
class Comparison:
    """Of one case. `reason` belongs to what was not compared. `facts` counts what is the same; `drawn` is what chance decided in each."""

    case: str
    release: str
    mode: str
    result: Result
    reason: str = ""
    differences: Sequence[Difference] = ()
    facts: int = 0
    drawn: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seconds: float = 0.0
    rows: int = 0
    """Rows of label tables that are about a Node, and of which the real one says the same."""

    @property
    def kept(self) -> Sequence[Difference]:
        """The differences that are allowed, each with its reason."""
        return [each for each in self.differences if each.kept]

    @property
    def first(self) -> Difference | None:
        """The first difference that is not allowed; None when all are."""
        return next((each for each in self.differences if not each.kept), None)

    def to_json(self) -> dict[str, Any]:
        """As JSON has it, for another process."""
        return {
            "case": self.case,
            "release": self.release,
            "mode": self.mode,
            "result": str(self.result),
            "reason": self.reason,
            "differences": [[each.fact, each.simulated, each.real, each.kept] for each in self.differences],
            "facts": self.facts,
            "drawn": {name: list(each) for name, each in self.drawn.items()},
            "seconds": self.seconds,
            "rows": self.rows,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Comparison:
        """The comparison that `to_json` wrote."""
        differences = tuple(Difference(*each) for each in value["differences"])
        return cls(**{**value, "result": Result(value["result"]), "differences": differences})


def _apart(left: Any, right: Any) -> tuple[str, str]:
    """Both values as text; of lists what only one of them has, if the rest is the same."""
    if isinstance(left, list) and isinstance(right, list):
        only = [each for each in left if each not in right], [each for each in right if each not in left]
        if any(only):
            left, right = only
    return _text(left), _text(right)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}… ({len(text)} characters)"
