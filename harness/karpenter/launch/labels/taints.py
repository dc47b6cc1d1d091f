"""Taints that a node starts with (kaz ``pkg/utils/taints.go``)."""

from collections.abc import Mapping
from typing import Any

from harness.karpenter.labels.core import UNREGISTERED_TAINT

__all__ = ["claim_taints", "render"]


def claim_taints(nodeclaim: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """General and startup taints of a NodeClaim; the latter end with the unregistered taint unless either list has it."""
    spec = nodeclaim.get("spec") or {}
    general, startup = list(spec.get("taints") or ()), list(spec.get("startupTaints") or ())
    if not any(
        taint.get("key") == UNREGISTERED_TAINT["key"] and taint.get("effect") == UNREGISTERED_TAINT["effect"]
        for taint in general + startup
    ):
        startup.append(UNREGISTERED_TAINT)
    return general, startup


def render(taint: Mapping[str, Any]) -> str:
    """``key=value:effect``, as kubelet's flag takes it."""
    key, value, effect = taint.get("key") or "", taint.get("value") or "", taint.get("effect") or ""
    if not effect:
        return f"{key}={value}" if value else key
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"
