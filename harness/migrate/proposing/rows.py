"""Rows: each says of a field of an agent pool, or of the autoscaler's profile, what became of it and why."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

from harness.wording import shortened
from lazyrecords import dataclass

__all__ = ["AUTOSCALER_POOL", "Row", "Verdict", "undecided_row", "value_text"]

AUTOSCALER_POOL = "autoscaler profile"
"""Stands in the place of a pool's name in the rows of the cluster's autoscaler profile."""

_LONG = 60


class Verdict(StrEnum):
    """Fate of a field."""

    MAPPED = "mapped"
    NO_EFFECT = "no effect"
    """The field decides nothing of a machine or a pod, or says what is so in any case."""
    NO_EQUIVALENT = "no equivalent"
    """Machines of Karpenter's cannot have it, with the release that was chosen."""
    UNKNOWN = "unknown"
    """A field that AKS's API has not had so far."""


@dataclass(frozen=True, slots=True)
class Row:
    """`pool` had `field` with `value`; `text` says what takes its place, or why nothing does, `source` how that is known."""

    pool: str
    field: str
    value: str
    verdict: Verdict
    text: str
    source: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the row as a JSON object."""
        plain = {"pool": self.pool, "field": self.field, "value": self.value, "verdict": str(self.verdict)}
        return {**plain, "text": self.text, **({"source": self.source} if self.source else {})}


def value_text(value: Any) -> str:
    """Return a value as a row shows it: a text as it is, the rest as JSON, both cut after 60 characters."""
    return shortened(value if isinstance(value, str) else json.dumps(value, default=str), _LONG)


def undecided_row(pool: str, field: str) -> Row:
    """Return the row of a field whose value a plan of Terraform's does not know."""
    text = "the plan does not know its value: `terraform show -json` of the state does, once the plan is applied"
    return Row(pool, field, "known after apply", Verdict.UNKNOWN, text, "Terraform: resource_changes after_unknown")
