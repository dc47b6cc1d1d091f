"""The effect of topology on a pod's wish for a zone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.karpenter.labels.azure import REGIONAL_ZONE
from harness.karpenter.requirements import Requirements
from harness.karpenter.scheduling.reasons.ledger import PoolTried
from harness.kube.api.labels import ZONE
from harness.kube.api.objects import spec_of

__all__ = ["no_zone"]


def no_zone(pod: Mapping[str, Any], entry: PoolTried) -> str:
    """Return the sentence that a spread, or affinity to other pods, put a pod into zone `0`; empty where it did not, or
    the pod itself asks for that.
    """
    if entry.reason is None or ZONE not in entry.requirements:
        return ""
    zone = entry.requirements[ZONE]
    if zone.complement or zone.values != frozenset({REGIONAL_ZONE}):
        return ""
    own = Requirements.from_pod(pod, vocabulary=entry.requirements.vocabulary, strict=True)
    if ZONE in own and own[ZONE].values == zone.values:
        return ""
    spread = any(
        constraint.get("topologyKey") == ZONE for constraint in spec_of(pod).get("topologySpreadConstraints") or ()
    )
    who = "the topology spread" if spread else "affinity to other pods"
    return f"{who} over {ZONE} chose zone {REGIONAL_ZONE}: a machine in no availability zone"
