"""Whether a size fits a NodePool, and what a NodeClaim could then ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.requirements import Requirements

__all__ = ["Misfit", "asked_by", "within"]


@dataclass(frozen=True, slots=True)
class Misfit:
    """A NodePool that does not allow a size; `text` is Karpenter's wording."""

    text: str


def asked_by(nodepool: Mapping[str, Any], vocabulary: Vocabulary) -> Requirements:
    """What a NodePool asks for: its requirements, and its labels, which are requirements too (core NodeClaimTemplate)."""
    template = nodepool.get("spec", {}).get("template") or {}
    labels = template.get("metadata", {}).get("labels") or {}
    asked = Requirements.from_node_selector(template.get("spec", {}).get("requirements") or (), vocabulary=vocabulary)
    more = Requirements.from_labels(labels, vocabulary=vocabulary)
    return asked.add(*(more[key] for key in more))


def within(nodepool: Mapping[str, Any], requirements: Requirements, vocabulary: Vocabulary) -> Requirements | Misfit:
    """The requirements of a size narrowed to what the NodePool asks for, or why they do not meet."""
    asked = asked_by(nodepool, vocabulary)
    conflict = requirements.intersects(asked)
    if conflict is not None:
        return Misfit(str(conflict))
    return asked.add(*(requirements[key] for key in requirements))
