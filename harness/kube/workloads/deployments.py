"""The decisions of a Deployment's controller about its ReplicaSets, as pure functions of objects.

Source: kubernetes pkg/controller/deployment/{rolling,recreate,sync,progress}.go, util/deployment_util.go.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from harness.kube.api.amounts import share
from harness.kube.api.objects import (
    Object,
    annotations_of,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    owner_reference,
    spec_of,
    status_of,
)
from harness.kube.api.rollouts import ROLLING_UPDATE, progress_deadline, rolling_update, strategy_type
from harness.kube.workloads.templates import same_template, template_hash
from lazyrecords import dataclass

__all__ = [
    "DESIRED",
    "HASH",
    "REVISION",
    "Scaling",
    "Strategy",
    "annotations_for",
    "by_age",
    "changed_revision",
    "deletable",
    "find_new",
    "is_active",
    "is_saturated",
    "is_scaled",
    "max_revision",
    "new_replica_set",
    "newest",
    "only_active",
    "proportional",
    "replicas_of",
    "scaled_down",
    "sizes_of",
    "wanted_of_new",
]

HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
DESIRED = "deployment.kubernetes.io/desired-replicas"
_HISTORY = "deployment.kubernetes.io/revision-history"
_MAX = "deployment.kubernetes.io/max-replicas"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_ROLLBACK = "deprecated.deployment.rollback.to"
_OWN = frozenset({REVISION, _HISTORY, DESIRED, _MAX, _LAST_APPLIED, _ROLLBACK})
"""Annotations that a ReplicaSet does not take over from its Deployment."""
_UNLIMITED = 2**31 - 1
_LONGEST_HISTORY = 2000
_LONGEST_NAME = 253

Scaling = tuple[Object, int]
"""A ReplicaSet and the replicas that it is to have."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A Deployment's spec as far as its rollout depends on it, with defaults.

    `surge` and `unavailable` are numbers of pods; both are 0 where the type is Recreate. `deadline` and `history` are None where
    there is no limit.
    """

    replicas: int
    rolling: bool
    surge: int
    unavailable: int
    paused: bool
    deadline: int | None
    history: int | None

    @staticmethod
    def from_spec(deployment: Object) -> Strategy:
        """Read a Deployment's spec."""
        spec = spec_of(deployment)
        replicas = int(spec.get("replicas", 1))
        strategy = spec.get("strategy") or {}
        rolling = strategy_type(strategy) == ROLLING_UPDATE
        surge = unavailable = 0
        if rolling:
            max_unavailable, max_surge = rolling_update("Deployment", strategy)
            surge = share(max_surge, replicas, up=True)
            unavailable = share(max_unavailable, replicas, up=False)
            if not surge and not unavailable:
                unavailable = 1
            unavailable = min(unavailable, replicas)
        deadline = progress_deadline(spec)
        history = spec.get("revisionHistoryLimit")
        return Strategy(
            replicas,
            rolling,
            surge,
            unavailable,
            bool(spec.get("paused")),
            None if deadline == _UNLIMITED else deadline,
            10 if history is None else None if history == _UNLIMITED else int(history),
        )

    @property
    def most(self) -> int:
        """Return the highest number of pods during a rollout."""
        return self.replicas + self.surge

    @property
    def least(self) -> int:
        """Return the lowest number of available pods during a rollout."""
        return self.replicas - self.unavailable


def replicas_of(replica_sets: Iterable[Object]) -> int:
    """The pods that ReplicaSets are to have."""
    return sum(int(spec_of(replica_set).get("replicas", 1)) for replica_set in replica_sets)


def is_active(replica_set: Object) -> bool:
    """Return whether a ReplicaSet is to have pods."""
    return int(spec_of(replica_set).get("replicas", 1)) > 0


def newest(replica_sets: Sequence[Object]) -> Object | None:
    """The ReplicaSet that was made last; None without one."""
    return max(replica_sets, key=by_age, default=None)


def only_active(replica_sets: Iterable[Object]) -> list[Object]:
    """The ReplicaSets that are to have pods."""
    return [replica_set for replica_set in replica_sets if is_active(replica_set)]


def by_age(replica_set: Object) -> tuple[str, str]:
    """A sort key: the oldest first, then by name."""
    return str(metadata_of(replica_set).get("creationTimestamp") or ""), name_of(replica_set)


def find_new(deployment: Object, replica_sets: Sequence[Object]) -> Object | None:
    """The oldest ReplicaSet of the Deployment's template."""
    template = spec_of(deployment).get("template") or {}
    alike = [
        replica_set
        for replica_set in replica_sets
        if same_template(spec_of(replica_set).get("template") or {}, template, without=HASH)
    ]
    return min(alike, key=by_age, default=None)


def _revision(obj: Object) -> int | None:
    """Return the revision in an object's annotations; None where it is no number."""
    text = annotations_of(obj).get(REVISION, "0")
    return int(text) if text.removeprefix("-").isdecimal() else None


def max_revision(replica_sets: Iterable[Object]) -> int:
    """The highest revision among ReplicaSets, 0 without one."""
    return max((_revision(replica_set) or 0 for replica_set in replica_sets), default=0)


def annotations_for(deployment: Object, strategy: Strategy) -> dict[str, str]:
    """The annotations of a new ReplicaSet but for its revision."""
    own = {key: value for key, value in annotations_of(deployment).items() if key not in _OWN}
    return {**own, **sizes_of(strategy)}


def sizes_of(strategy: Strategy) -> dict[str, str]:
    """The annotations by which a ReplicaSet knows the size of its Deployment."""
    return {DESIRED: str(strategy.replicas), _MAX: str(strategy.most)}


def changed_revision(deployment: Object, new: Object, revision: int) -> dict[str, str]:
    """Return the missing annotations of the present new ReplicaSet: the Deployment's, and its revision, where it is behind."""
    present = annotations_of(new)
    changed = {
        key: value for key, value in annotations_of(deployment).items() if key not in _OWN and present.get(key) != value
    }
    before = _revision(new)
    if before is None or before >= revision:
        return changed
    changed[REVISION] = str(revision)
    if REVISION in present:
        history = [text for text in present.get(_HISTORY, "").split(",") if text]
        while history and len(",".join([*history, present[REVISION]])) > _LONGEST_HISTORY:
            del history[0]
        changed[_HISTORY] = ",".join([*history, present[REVISION]])
    return changed


def is_scaled(strategy: Strategy, replica_sets: Iterable[Object]) -> bool:
    """Return whether the Deployment was scaled since the size was noted on its ReplicaSets."""
    texts = (annotations_of(replica_set).get(DESIRED) for replica_set in only_active(replica_sets))
    return any(text is not None and text.isdecimal() and int(text) != strategy.replicas for text in texts)


def wanted_of_new(strategy: Strategy, replica_sets: Sequence[Object], new: Object | None) -> int:
    """The replicas of the new ReplicaSet as far as they may grow now. `replica_sets` are all, the new one too where it is there."""
    if not strategy.rolling:
        return strategy.replicas
    present = 0 if new is None else replicas_of([new])
    room = strategy.most - replicas_of(replica_sets)
    return present if room <= 0 else present + min(room, strategy.replicas - present)


def new_replica_set(
    deployment: Object, strategy: Strategy, replicas: int, revision: int, collisions: int = 0
) -> dict[str, Any]:
    """The ReplicaSet of a Deployment's template. `collisions`: how often its name was taken by another template's."""
    spec = spec_of(deployment)
    template = spec.get("template") or {}
    digest = template_hash(template, collisions)
    labels = {**labels_of(template), HASH: digest}
    selector = spec.get("selector") or {}
    more = {"minReadySeconds": spec["minReadySeconds"]} if spec.get("minReadySeconds") else {}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{name_of(deployment)[: _LONGEST_NAME - 1 - len(digest)]}-{digest}",
            "namespace": metadata_of(deployment).get("namespace") or "default",
            "labels": labels,
            "annotations": {**annotations_for(deployment, strategy), REVISION: str(revision)},
            "ownerReferences": [owner_reference(deployment)],
        },
        "spec": {
            "replicas": replicas,
            **more,
            "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), HASH: digest}},
            "template": {**template, "metadata": {**(template.get("metadata") or {}), "labels": labels}},
        },
    }


def _available(replica_set: Object) -> int:
    return int(status_of(replica_set).get("availableReplicas") or 0)


def scaled_down(strategy: Strategy, old: Sequence[Object], new: Object) -> list[Scaling]:
    """Return the new sizes of old ReplicaSets that may shrink now, the oldest first.

    Pods that are not available go first, then as many as are too many. Source: rolling.go (reconcileOldReplicaSets,
    cleanupUnhealthyReplicas, scaleDownOldReplicaSetsForRollingUpdate).
    """
    sizes = {name_of(replica_set): replicas_of([replica_set]) for replica_set in sorted(old, key=by_age)}
    if not sum(sizes.values()):
        return []
    missing = replicas_of([new]) - _available(new)
    spare = sum(sizes.values()) + replicas_of([new]) - strategy.least - missing
    if spare <= 0:
        return []
    by_name = {name_of(replica_set): replica_set for replica_set in old}
    wanted = dict(sizes)
    for name, size in sizes.items():
        unhealthy = max(0, min(spare, size - _available(by_name[name])))
        wanted[name] -= unhealthy
        spare -= unhealthy
    surplus = _available(new) + sum(_available(replica_set) for replica_set in old) - strategy.least
    for name in sizes:
        less = max(0, min(wanted[name], surplus))
        wanted[name] -= less
        surplus -= less
    return [(by_name[name], wanted[name]) for name in sizes if wanted[name] != sizes[name]]


def is_saturated(strategy: Strategy, new: Object | None) -> bool:
    """Return whether the new ReplicaSet has all pods that the Deployment wants, and they are available."""
    if new is None:
        return False
    sizes = (replicas_of([new]), annotations_of(new).get(DESIRED), _available(new))
    return sizes == (strategy.replicas, str(strategy.replicas), strategy.replicas)


def proportional(deployment: Object, strategy: Strategy, replica_sets: Sequence[Object]) -> list[Scaling]:
    """Return the new sizes of active ReplicaSets that share a change of the Deployment's size during a rollout.

    Source: sync.go (scale), util/deployment_util.go (GetReplicaSetProportion).
    """
    total = replicas_of(replica_sets)
    more = (strategy.most if strategy.replicas else 0) - total
    # the larger first; of equal ones the newer where pods are added, the older where they are taken away
    ordered = sorted(replica_sets, key=by_age, reverse=more > 0)
    ordered.sort(key=lambda replica_set: -replicas_of([replica_set]))
    sizes: dict[str, int] = {}
    added = 0
    for replica_set in ordered:
        proportion = _proportion(replica_set, deployment, strategy, more - added) if more else 0
        sizes[name_of(replica_set)] = replicas_of([replica_set]) + proportion
        added += proportion
    if more and ordered:
        first = name_of(ordered[0])
        sizes[first] = max(0, sizes[first] + more - added)
    return [(replica_set, sizes[name_of(replica_set)]) for replica_set in ordered]


def _proportion(replica_set: Object, deployment: Object, strategy: Strategy, left: int) -> int:
    size = replicas_of([replica_set])
    if not size or not left:
        return 0
    fraction = -size
    if strategy.replicas:
        text = annotations_of(replica_set).get(_MAX, "")
        before = int(text) if text.isdecimal() and int(text) else int(status_of(deployment).get("replicas") or 0)
        if not before:
            return 0
        fraction = math.floor(size * strategy.most / before + 0.5) - size
    return min(fraction, left) if left > 0 else max(fraction, left)


def deletable(strategy: Strategy, old: Sequence[Object]) -> list[Object]:
    """The old ReplicaSets without pods that the history has no place for, those of the lowest revision."""
    living = [replica_set for replica_set in old if not is_terminating(replica_set)]
    if strategy.history is None or len(living) <= strategy.history:
        return []
    living.sort(key=lambda replica_set: (_revision(replica_set) or 0, by_age(replica_set)))
    return [
        replica_set
        for replica_set in living[: len(living) - strategy.history]
        if not is_active(replica_set)
        and not status_of(replica_set).get("replicas")
        and status_of(replica_set).get("observedGeneration", 0) >= metadata_of(replica_set).get("generation", 1)
    ]
