"""The result of comparing two Karpenters on one case."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import takewhile
from operator import eq
from typing import Any

from plainlines import joined

__all__ = ["Comparison", "Difference", "Result", "weight"]

_WIDTH = 300
_BEFORE = 60
"""Characters that are shown before the place where two texts come apart."""
_PARTS = ("NodeClaims", "Disruptions", "Azure", "Nodes of others", "Pods", "Ready", "expectations")
"""Facts by their weight; the objects that Karpenter makes explain the rest."""
_OF_CLAIM = ("requirements", "labels", "taints", "requests", "image", "Azure", "Node", "there", "conditions")
"""Facts of one NodeClaim by their weight."""


class Result(StrEnum):
    """AGREE: the outcomes are the same, but for kept differences. The last two were not compared."""

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
    """The comparison of one case. `reason` belongs to cases that were not compared. `facts` counts the equal facts; `drawn` are the draws
    of chance in each."""

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
    """Rows of label tables about a Node on which the real one agrees."""

    @property
    def kept(self) -> Sequence[Difference]:
        """The differences that are allowed, each with its reason."""
        return [difference for difference in self.differences if difference.kept]

    @property
    def first(self) -> Difference | None:
        """The weightiest difference that is not allowed; None when all are."""
        return min(
            (difference for difference in self.differences if not difference.kept),
            key=lambda difference: weight(difference.fact),
            default=None,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as JSON has it, for another process."""
        return {
            "case": self.case,
            "release": self.release,
            "mode": self.mode,
            "result": str(self.result),
            "reason": self.reason,
            "differences": [
                [difference.fact, difference.simulated, difference.real, difference.kept]
                for difference in self.differences
            ],
            "facts": self.facts,
            "drawn": {name: list(draws) for name, draws in self.drawn.items()},
            "seconds": self.seconds,
            "rows": self.rows,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Comparison:
        """The comparison that `to_json` wrote."""
        differences = tuple(Difference(*difference) for difference in value["differences"])
        return cls(**{**value, "result": Result(value["result"]), "differences": differences})


def weight(fact: str) -> tuple[int, int]:
    """Return the rank of a fact, 0 for the weightiest: decisions of Karpenter come before their consequences, and Events come last."""
    part, *keys = re.findall(r"[^\[\]]+", fact)
    if any(key.startswith("Events") for key in (part, *keys)):
        return len(_PARTS), 0
    of_claim = next((number for number, name in enumerate(_OF_CLAIM) if name in keys), len(_OF_CLAIM))
    return (_PARTS.index(part) if part in _PARTS else len(_PARTS) - 1), of_claim


def _apart(left: Any, right: Any) -> tuple[str, str]:
    """Return both values as text, from shortly before the place where they come apart; of lists the items of one side alone, if the rest is
    equal."""
    if isinstance(left, list) and isinstance(right, list):
        only = [item for item in left if item not in right], [item for item in right if item not in left]
        if any(only):
            left, right = only
    mine, theirs = (
        value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
        for value in (left, right)
    )
    start = max(0, sum(takewhile(bool, map(eq, mine, theirs))) - _BEFORE)
    if max(len(mine), len(theirs)) <= _WIDTH:
        start = 0
    return _text(mine, start), _text(theirs, start)


def _text(text: str, start: int) -> str:
    whole = text[start : start + _WIDTH]
    before = f"… ({start} characters) …" if start else ""
    return f"{before}{whole}" + (f"… ({len(text)} characters)" if start + _WIDTH < len(text) else "")
