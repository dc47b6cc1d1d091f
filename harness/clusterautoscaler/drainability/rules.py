"""The rules in their order; the first that says something decides.

Source: autoscaler simulator/drainability/rules/rules.go (Default), simulator/drain.go (GetPodsToMove).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.clusterautoscaler.drainability.daemon_set import daemon_set
from harness.clusterautoscaler.drainability.disruption_budget import disruption_budget
from harness.clusterautoscaler.drainability.local_storage import local_storage
from harness.clusterautoscaler.drainability.long_terminating import long_terminating
from harness.clusterautoscaler.drainability.mirror import mirror
from harness.clusterautoscaler.drainability.outcomes import Blocked, Context, Outcome, Status
from harness.clusterautoscaler.drainability.replica_count import replica_count
from harness.clusterautoscaler.drainability.replicated import replicated
from harness.clusterautoscaler.drainability.safe_to_evict import not_safe_to_evict, on_completion, safe_to_evict
from harness.clusterautoscaler.drainability.system import system
from harness.clusterautoscaler.drainability.terminal import terminal
from harness.clusterautoscaler.pods import is_daemon_set_pod
from harness.clusterautoscaler.profile import Profile
from harness.kube.api.objects import Object
from lazyrecords import dataclass

__all__ = ["Moves", "pods_to_move", "status_of_pod"]

_Rule = Callable[[Object, Context], Status | None]


@dataclass(frozen=True, slots=True)
class Moves:
    """The pods of a node that goes: those that need another node, those that end by themselves, and the one that keeps it."""

    pods: tuple[Object, ...] = ()
    daemons: tuple[Object, ...] = ()
    on_completion: tuple[Object, ...] = ()
    blocked: Blocked | None = None


def status_of_pod(pod: Object, context: Context, profile: Profile) -> Status | None:
    """Return the outcome of the first rule that says something about a pod; None where none does."""
    statuses = (rule(pod, context) for rule in _rules(profile))
    return next((status for status in statuses if status is not None), None)


def pods_to_move(pods: Sequence[Object], context: Context, profile: Profile) -> Moves:
    """Return what becomes of a node's pods; the first that keeps it ends the search."""
    moving: list[Object] = []
    daemons: list[Object] = []
    waiting: list[Object] = []
    for pod in pods:
        status = status_of_pod(pod, context, profile)
        if status is None or status.outcome is Outcome.DRAINABLE:
            (daemons if is_daemon_set_pod(pod) else moving).append(pod)
        elif status.outcome is Outcome.WAITS:
            waiting.append(pod)
        elif status.outcome is Outcome.BLOCKED and status.reason is not None:
            return Moves(blocked=Blocked(pod, status.reason, status.text))
    return Moves(tuple(moving), tuple(daemons), tuple(waiting))


def _rules(profile: Profile) -> tuple[_Rule, ...]:
    return (
        mirror,
        long_terminating,
        *((replica_count(profile),) if profile.skip_nodes_with_custom_controller_pods else ()),
        daemon_set,
        safe_to_evict,
        terminal,
        on_completion,
        replicated(profile),
        *((system(profile),) if profile.skip_nodes_with_system_pods else ()),
        not_safe_to_evict,
        *((local_storage,) if profile.skip_nodes_with_local_storage else ()),
        disruption_budget,
    )
