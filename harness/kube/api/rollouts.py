"""A workload's rollout as its spec asks for it, with the API server's defaults.

Source: kubernetes pkg/apis/apps/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["ROLLING_UPDATE", "min_ready_seconds", "progress_deadline", "rolling_update", "strategy_type"]

ROLLING_UPDATE = "RollingUpdate"
_AMOUNTS: Mapping[str, Mapping[str, int | str]] = {
    "Deployment": {"maxUnavailable": "25%", "maxSurge": "25%"},
    "DaemonSet": {"maxUnavailable": 1, "maxSurge": 0},
}
_PROGRESS_DEADLINE = 600


def strategy_type(strategy: Mapping[str, Any]) -> str:
    """The type of a Deployment's `strategy`, or of another workload's `updateStrategy`."""
    return strategy.get("type") or ROLLING_UPDATE


def rolling_update(kind: str, strategy: Mapping[str, Any]) -> tuple[int | str, int | str]:
    """`maxUnavailable` and `maxSurge` of a Deployment or a DaemonSet that is replaced step by step."""
    stated = strategy.get("rollingUpdate") or {}
    unavailable, surge = (
        default if stated.get(field) is None else stated[field] for field, default in _AMOUNTS[kind].items()
    )
    return unavailable, surge


def min_ready_seconds(spec: Mapping[str, Any]) -> int:
    """The seconds for which a pod has to be ready until it is available."""
    return int(spec.get("minReadySeconds") or 0)


def progress_deadline(spec: Mapping[str, Any]) -> int:
    """Return the seconds within which a Deployment has to make progress."""
    seconds = spec.get("progressDeadlineSeconds")
    return _PROGRESS_DEADLINE if seconds is None else int(seconds)
