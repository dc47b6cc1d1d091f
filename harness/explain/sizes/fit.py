"""The fit of a size to a NodePool, and the requirements of a NodeClaim then."""

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
    """Return the requirements of a NodePool and its labels, which are requirements too (core NodeClaimTemplate)."""
    template = nodepool.get("spec", {}).get("template") or {}
    labels = template.get("metadata", {}).get("labels") or {}
    requirements = Requirements.from_node_selector(
        template.get("spec", {}).get("requirements") or (), vocabulary=vocabulary
    )
    more = Requirements.from_labels(labels, vocabulary=vocabulary)
    return requirements.add(*(more[key] for key in more))


def within(nodepool: Mapping[str, Any], requirements: Requirements, vocabulary: Vocabulary) -> Requirements | Misfit:
    """The requirements of a size narrowed to what the NodePool asks for, or why they do not meet."""
    own = asked_by(nodepool, vocabulary)
    conflict = requirements.intersects(own)
    if conflict is not None:
        return Misfit(str(conflict))
    return own.add(*(requirements[key] for key in requirements))
