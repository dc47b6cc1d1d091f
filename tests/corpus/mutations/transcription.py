"""The design documents' decisions as docs/seeds/decisions.yaml transcribes them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

from harness.explain.labels.design_documents import decisions
from harness.karpenter.releases import Policy

__all__ = ["as_transcribed", "transcribed"]

DECISIONS = Path(__file__).resolve().parents[3] / "docs" / "seeds" / "decisions.yaml"


@cache
def transcribed() -> Mapping[str, Mapping[str, tuple[str, str, str]]]:
    """By document and key: may a pod ask for it, may a NodePool set it, is it written."""
    tables = yaml.load(DECISIONS.read_text(), Loader=yaml.BaseLoader)  # yes and no are words
    return {name: {key: tuple(cells) for key, cells in rows.items()} for name, rows in tables.items()}


def as_transcribed(policy: Policy) -> bool:
    """Whether the policy decides about every key what the document does."""
    rows = transcribed()[policy.name]
    return all(tuple(str(one.answer) for one in decisions(policy, key)) == cells for key, cells in rows.items())
