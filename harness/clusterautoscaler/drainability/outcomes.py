"""The outcomes of a rule about a pod, and what rules look at.

Sources: autoscaler simulator/drainability/{status,context}.go, utils/drain/drain.go (BlockingPodReason).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from harness.clusterautoscaler.budgets import Budgets
from harness.kube.api.objects import Object
from lazyrecords import dataclass

__all__ = ["DRAINABLE", "SKIPPED", "WAITS", "Blocked", "Context", "Lookup", "Outcome", "Reason", "Status"]

Lookup = Callable[[str, str, str], Object | None]
"""An object by kind, name and namespace."""


class Outcome(StrEnum):
    """The fate of a pod whose node goes."""

    DRAINABLE = "drainable"
    SKIPPED = "skipped"
    WAITS = "waits"
    BLOCKED = "blocked"


class Reason(StrEnum):
    """The reason for which a pod keeps its node."""

    CONTROLLER_NOT_FOUND = "ControllerNotFound"
    MIN_REPLICAS_REACHED = "MinReplicasReached"
    NOT_REPLICATED = "NotReplicated"
    LOCAL_STORAGE = "LocalStorageRequested"
    NOT_SAFE_TO_EVICT = "NotSafeToEvictAnnotation"
    SYSTEM_POD = "UnmovableKubeSystemPod"
    NOT_ENOUGH_PDB = "NotEnoughPdb"


@dataclass(frozen=True, slots=True)
class Status:
    """The outcome of a rule; `text` says why a pod is blocked."""

    outcome: Outcome
    reason: Reason | None = None
    text: str = ""


DRAINABLE = Status(Outcome.DRAINABLE)
SKIPPED = Status(Outcome.SKIPPED)
WAITS = Status(Outcome.WAITS)


@dataclass(frozen=True, slots=True)
class Blocked:
    """A pod that keeps its node, and why."""

    pod: Object
    reason: Reason
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """The state that rules look at beside the pod. `now`: nanoseconds of the clock; without `lookup` no controller is looked for."""

    now: int
    budgets: Budgets
    lookup: Lookup | None = None
