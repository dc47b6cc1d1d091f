"""The next writes of a workload's controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from harness.kube.api.objects import Object, is_terminating
from harness.kube.scheduling.pods import is_terminal
from lazyrecords import dataclass

__all__ = ["Plan", "living"]


@dataclass(frozen=True, slots=True)
class Plan:
    """Objects to create and pods to delete, in order; `counts` is the status that follows, empty where its controller counts by itself."""

    create: tuple[Object, ...] = ()
    delete: tuple[Object, ...] = ()
    counts: Mapping[str, Any] = field(default_factory=dict, compare=False)


def living(pods: Sequence[Object]) -> list[Object]:
    """The pods that are neither terminating nor ended."""
    return [pod for pod in pods if not is_terminating(pod) and not is_terminal(pod)]
