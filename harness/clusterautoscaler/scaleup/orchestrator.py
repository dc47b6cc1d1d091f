"""One attempt to scale up: which groups would help which pods, the option that is taken, and the groups that grow.

Source: autoscaler core/scaleup/orchestrator/{orchestrator,skippedreasons,rejectedreasons}.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field

from harness.clusterautoscaler.expanders.choice import Draw, best_option
from harness.clusterautoscaler.expanders.options import Option
from harness.clusterautoscaler.expanders.priority import Priorities
from harness.clusterautoscaler.nodegroups import NodeGroup, Resize
from harness.clusterautoscaler.profile import Profile
from harness.clusterautoscaler.scaleup.balancing import balanced
from harness.clusterautoscaler.scaleup.equivalence import PodGroup, pod_groups
from harness.clusterautoscaler.scaleup.estimator import estimate, node_limit
from harness.clusterautoscaler.scaleup.similarity import are_similar
from harness.clusterautoscaler.snapshot import Snapshot, reasons_text
from harness.kube.api.objects import Object
from harness.kube.scheduling.placement import NodeInfo
from lazyrecords import dataclass

__all__ = ["BACKED_OFF", "MAX_SIZE_REACHED", "NOT_READY", "ScaleUp", "Unhelped", "plan_scale_up"]

BACKED_OFF = "in backoff after failed scale-up"
MAX_SIZE_REACHED = "max node group size reached"
NOT_READY = "not ready for scale-up"


@dataclass(frozen=True, slots=True)
class Unhelped:
    """A pod that no group can help, with the reasons of groups against it, and of groups that are not asked."""

    pod: Object
    rejected: Mapping[str, Sequence[str]]
    skipped: Mapping[str, str]

    @property
    def message(self) -> str:
        """The text of the event NotTriggerScaleUp (processors/status/eventing_scale_up_processor.go).

        Go's order of the reasons is by chance.
        """
        reasons = Counter(reason for texts in self.rejected.values() for reason in texts)
        reasons.update(self.skipped.values())
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        return f"pod didn't trigger scale-up: {listed}"


@dataclass(frozen=True, slots=True)
class ScaleUp:
    """The result of an attempt: the groups that grow, the pods for whom they do, and those whom nothing helps."""

    resizes: tuple[Resize, ...] = ()
    triggered: tuple[Object, ...] = ()
    unhelped: tuple[Unhelped, ...] = ()
    awaiting: tuple[Object, ...] = ()
    """Pods that another group will help later."""

    @property
    def message(self) -> str:
        """The text of the event TriggeredScaleUp."""
        return f"pod triggered scale-up: [{' '.join(map(str, self.resizes))}]"


@dataclass(frozen=True, slots=True)
class _Groups:
    """The groups of pods that each node group could help, and the reasons of groups against the others."""

    helped: dict[str, list[int]] = field(default_factory=dict)
    rejections: dict[int, dict[str, tuple[str, ...]]] = field(default_factory=dict)


def plan_scale_up(
    pods: Sequence[Object],
    groups: Sequence[NodeGroup],
    templates: Mapping[str, NodeInfo],
    snapshot: Snapshot,
    profile: Profile,
    unsafe: Mapping[str, str],
    draw: Draw,
    priorities: Priorities | None = None,
) -> ScaleUp:
    """Return which groups grow for these pods (ScaleUp). `unsafe`: the groups that may not grow now, each with its reason."""
    likes = pod_groups(pods)
    skipped = _skipped(groups, templates, unsafe)
    valid = [group for group in groups if group.id not in skipped]
    schedulable = _schedulable(likes, valid, templates, snapshot)
    options = []
    for group in valid:
        similar = _similar(group, groups, templates, schedulable, skipped, profile)
        helped = [likes[index] for index in schedulable.helped[group.id]]
        limit = node_limit(group, similar, profile.max_nodes_per_scale_up)
        count, packed = estimate(helped, templates[group.id], snapshot, limit) if helped else (0, [])
        if count and packed:
            options.append(Option(group, count, tuple(packed)))
    best = best_option(profile.expander, options, templates, draw, priorities)
    unhelped = _unhelped(likes, schedulable, skipped)
    if best is None:
        return ScaleUp(unhelped=unhelped)
    similar = _similar(best.group, groups, templates, schedulable, skipped, profile)
    resizes = balanced([best.group, *similar], best.count)
    return ScaleUp(tuple(resizes), tuple(best.pods), unhelped, _awaiting(likes, schedulable, best.group.id))


def _skipped(
    groups: Sequence[NodeGroup], templates: Mapping[str, NodeInfo], unsafe: Mapping[str, str]
) -> dict[str, str]:
    """Return the groups that are not asked (filterValidScaleUpNodeGroups)."""
    skipped: dict[str, str] = {}
    for group in groups:
        if group.id in unsafe:
            skipped[group.id] = unsafe[group.id]
        elif group.target >= group.maximum:
            skipped[group.id] = MAX_SIZE_REACHED
        elif group.id not in templates:
            skipped[group.id] = NOT_READY
    return skipped


def _schedulable(
    likes: Sequence[PodGroup], groups: Sequence[NodeGroup], templates: Mapping[str, NodeInfo], snapshot: Snapshot
) -> _Groups:
    """Return what each group's next node would take, with one pod for all like it (SchedulablePodGroups)."""
    schedulable = _Groups()
    for group in groups:
        with_node = snapshot.fork()
        with_node.add(templates[group.id])
        helped = schedulable.helped[group.id] = []
        for index, like in enumerate(likes):
            failure = with_node.failure(like[0], templates[group.id].name)
            if failure is None:
                helped.append(index)
            else:
                schedulable.rejections.setdefault(index, {})[group.id] = reasons_text(failure)
    return schedulable


def _similar(
    group: NodeGroup,
    groups: Sequence[NodeGroup],
    templates: Mapping[str, NodeInfo],
    schedulable: _Groups,
    skipped: Mapping[str, str],
    profile: Profile,
) -> list[NodeGroup]:
    """Return the groups like this one that help the same pods (ComputeSimilarNodeGroups)."""
    if not profile.balance_similar_node_groups or not schedulable.helped.get(group.id):
        return []
    helped = set(schedulable.helped[group.id])
    return [
        other
        for other in groups
        if other.id != group.id
        and other.id not in skipped
        and helped <= set(schedulable.helped.get(other.id, ()))
        and are_similar(templates[group.id], templates[other.id])
    ]


def _unhelped(likes: Sequence[PodGroup], schedulable: _Groups, skipped: Mapping[str, str]) -> tuple[Unhelped, ...]:
    helped = {index for indexes in schedulable.helped.values() for index in indexes}
    return tuple(
        Unhelped(pod, schedulable.rejections.get(index, {}), skipped)
        for index, like in enumerate(likes)
        if index not in helped
        for pod in like
    )


def _awaiting(likes: Sequence[PodGroup], schedulable: _Groups, best: str) -> tuple[Object, ...]:
    helped = {index for indexes in schedulable.helped.values() for index in indexes}
    return tuple(pod for index in sorted(helped - set(schedulable.helped[best])) for pod in likes[index])
