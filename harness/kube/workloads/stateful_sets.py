"""The pods of a StatefulSet, and their claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition_is,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    owner_reference,
    spec_of,
    status_of,
)
from harness.kube.api.rollouts import ROLLING_UPDATE, min_ready_seconds, strategy_type
from harness.kube.workloads.availability import is_available
from harness.kube.workloads.plans import Plan
from harness.kube.workloads.revisions import REVISION_LABEL
from harness.kube.workloads.templates import pod_from_template
from lazyrecords import dataclass

__all__ = ["Revisions", "claim_owners", "stateful_set"]


@dataclass(frozen=True, slots=True)
class Revisions:
    """The two templates of which a StatefulSet's pods are made, by the names of their ControllerRevisions."""

    current: str
    update: str
    current_template: Mapping[str, Any]
    update_template: Mapping[str, Any]

    @staticmethod
    def only(owner: Object, name: str = "") -> Revisions:
        """Return the revisions of a StatefulSet whose template has never changed."""
        template = spec_of(owner).get("template") or {}
        return Revisions(name, name, template, template)


def stateful_set(owner: Object, pods: Sequence[Object], revisions: Revisions | None = None, now: str = "") -> Plan:
    """Keep pods `<name>-0 … n-1`, one at a time where they are ordered; a pod's claims come before it, and outlive it.

    `counts` of the plan is the status. Source: kubernetes pkg/controller/statefulset/stateful_set_control.go (updateStatefulSet).
    """
    return _Update(owner, pods, revisions or Revisions.only(owner), now).plan()


class _Update:
    """One reconciliation of a StatefulSet; an ordered one acts on its first wrong pod alone."""

    def __init__(self, owner: Object, pods: Sequence[Object], revisions: Revisions, now: str) -> None:
        spec = spec_of(owner)
        self._owner, self._revisions, self._now = owner, revisions, now
        self._ordered = spec.get("podManagementPolicy") != "Parallel"
        self._seconds = min_ready_seconds(spec)
        self._size = int(spec.get("replicas", 1))
        self._start = int((spec.get("ordinals") or {}).get("start") or 0)
        strategy = spec.get("updateStrategy") or {}
        self._rolls = strategy_type(strategy) == ROLLING_UPDATE
        self._partition = int((strategy.get("rollingUpdate") or {}).get("partition") or 0)
        by_ordinal = {_ordinal(pod, name_of(owner)): pod for pod in pods}
        self._replicas = [by_ordinal.pop(self._start + index, None) for index in range(self._size)]
        self._condemned = [pod for _, pod in sorted(by_ordinal.items(), reverse=True) if _ >= 0]
        self._create: list[Object] = []
        self._delete: list[Object] = []
        self._status = self._counted(pods)

    def plan(self) -> Plan:
        """Return the pods to create and to delete, and the status."""
        if self._keep() and self._scale_down() and self._rolls:
            self._update()
        self._complete()
        return Plan(tuple(self._create), tuple(self._delete), self._status)

    def _counted(self, pods: Sequence[Object]) -> dict[str, Any]:
        revisions = [labels_of(pod).get(REVISION_LABEL, "") for pod in pods if not is_terminating(pod)]
        ready = [pod for pod in pods if status_of(pod).get("phase") == "Running" and condition_is(pod, "Ready")]
        return {
            "replicas": len(pods),
            "readyReplicas": len(ready),
            "availableReplicas": sum(is_available(pod, self._seconds, self._now) for pod in ready),
            "currentReplicas": revisions.count(self._revisions.current),
            "updatedReplicas": revisions.count(self._revisions.update),
            "currentRevision": self._revisions.current,
            "updateRevision": self._revisions.update,
        }

    def _is_up(self, pod: Object | None) -> bool:
        """Return whether a pod is available and stays."""
        return pod is not None and is_available(pod, self._seconds, self._now) and not is_terminating(pod)

    def _keep(self) -> bool:
        """Create missing replicas; return whether all are there, so that something else may be done."""
        for index, pod in enumerate(self._replicas):
            if pod is None:
                self._make(self._start + index)
            elif status_of(pod).get("phase") in ("Failed", "Succeeded"):
                if not is_terminating(pod):
                    self._delete.append(pod)
            elif status_of(pod).get("phase", "Pending") == "Pending":
                self._create.extend(_claims(self._owner, name_of(pod)).values())
            if self._ordered and not self._is_up(pod):
                return False
        return True

    def _make(self, ordinal: int) -> None:
        name = f"{name_of(self._owner)}-{ordinal}"
        claims = _claims(self._owner, name)
        old = self._rolls and ordinal < self._start + self._partition
        revisions = self._revisions
        template = revisions.current_template if old else revisions.update_template
        pod = _stateful_pod(self._owner, template, name, claims)
        revision = revisions.current if old else revisions.update
        if revision:
            pod["metadata"]["labels"][REVISION_LABEL] = revision
        self._create += [*claims.values(), pod]

    def _scale_down(self) -> bool:
        """Delete surplus pods, the highest first; return whether none is left. An ordered one waits for those below it."""
        lowest = [pod for pod in reversed(self._condemned) if not self._is_up(pod)]
        unhealthy = (
            None if any(pod is None or not self._is_up(pod) for pod in self._replicas) else next(iter(lowest), None)
        )
        for pod in self._condemned:
            if is_terminating(pod):
                if self._ordered:
                    return False
                continue
            if self._ordered and pod is not unhealthy and not self._is_up(pod):
                return False
            self._delete.append(pod)
            if self._ordered:
                return False
        return True

    def _update(self) -> None:
        """Delete the highest pod of another revision, once all above it are available."""
        for index in reversed(range(self._partition, self._size)):
            pod = self._replicas[index]
            if pod is not None and self._is_old(pod):
                self._delete.append(pod)
                self._status["currentReplicas"] -= 1
                return
            if not self._is_up(pod):
                return

    def _is_old(self, pod: Object) -> bool:
        """Return whether a pod is of another revision, and stays so far."""
        stays = not is_terminating(pod) and pod not in self._delete
        return stays and labels_of(pod).get(REVISION_LABEL, "") != self._revisions.update

    def _complete(self) -> None:
        status = self._status
        counts = [status[field] for field in ("updatedReplicas", "readyReplicas", "replicas")]
        if self._rolls and counts == [self._size] * 3:
            status["currentReplicas"] = status["updatedReplicas"]
            status["currentRevision"] = status["updateRevision"]


def _ordinal(pod: Object, owner: str) -> int:
    """The number at the end of a pod's name; -1 for one that has none."""
    prefix, _, number = name_of(pod).rpartition("-")
    return int(number) if prefix == owner and number.isdecimal() else -1


def claim_owners(owner: Object, pods: Sequence[Object]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the names of the claims of a StatefulSet's pods, each with its owners: who owns a claim takes it along.

    Source: kubernetes pkg/controller/statefulset/stateful_set_utils.go (updateClaimOwnerRefForSetAndPod).
    """
    spec = spec_of(owner)
    policy = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    deleted, scaled = policy.get("whenDeleted") == "Delete", policy.get("whenScaled") == "Delete"
    start = int((spec.get("ordinals") or {}).get("start") or 0)
    for pod in pods:
        condemned = not start <= _ordinal(pod, name_of(owner)) < start + int(spec.get("replicas", 1))
        owners = [owner_reference(pod)] if scaled and condemned else [owner_reference(owner)] if deleted else []
        for claim in _claims(owner, name_of(pod)).values():
            yield name_of(claim), owners


def _claims(owner: Object, pod: str) -> dict[str, dict[str, Any]]:
    """The claims of one pod of a StatefulSet, by the name of their template."""
    selected = (spec_of(owner).get("selector") or {}).get("matchLabels") or {}
    claims: dict[str, dict[str, Any]] = {}
    for template in spec_of(owner).get("volumeClaimTemplates") or ():
        meta: dict[str, Any] = {
            "name": f"{name_of(template)}-{pod}",
            "namespace": metadata_of(owner).get("namespace") or "default",
            "labels": {**labels_of(template), **selected},
        }
        if annotations_of(template):
            meta["annotations"] = dict(annotations_of(template))
        spec = dict(spec_of(template))
        claims[name_of(template)] = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": meta,
            "spec": spec,
        }
    return claims


def _stateful_pod(
    owner: Object, template: Mapping[str, Any], name: str, claims: Mapping[str, Object]
) -> dict[str, Any]:
    """A pod with its claims as volumes, in the place of volumes of the same name."""
    pod = pod_from_template(owner, template, name=name)
    pod["metadata"]["labels"] |= {
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": name.rpartition("-")[2],
    }
    if claims:
        others = [volume for volume in pod["spec"].get("volumes") or () if volume.get("name") not in claims]
        own = [
            {"name": volume, "persistentVolumeClaim": {"claimName": name_of(claim)}} for volume, claim in claims.items()
        ]
        pod["spec"]["volumes"] = [*own, *others]
    return pod
