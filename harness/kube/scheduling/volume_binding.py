"""The volumes of a pod as kube-scheduler's VolumeBinding and VolumeZone plugins judge them: claims, and where their volumes are.

Not simulated: matching of unbound claims with volumes that wait for a consumer, and storage capacity; a class that can provision
counts as able to, wherever its allowedTopologies let it.
Sources: kubernetes pkg/scheduler/framework/plugins/{volumebinding,volumezone}, pkg/volume/util (CheckNodeAffinity, GetDefaultClass).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from harness.kube.api.claims import claim_name
from harness.kube.api.labels import BETA_REGION, BETA_ZONE, REGION, ZONE
from harness.kube.api.objects import (
    Object,
    annotations_of,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.scheduling.node_affinity import term_matches
from harness.kube.scheduling.volume_limits import VolumeLimits
from lazyrecords import dataclass

__all__ = [
    "BIND_COMPLETED",
    "SELECTED_NODE",
    "Lookup",
    "PodVolumes",
    "default_class",
    "is_reserved_for",
    "waits_for_consumer",
]

Lookup = Callable[[str, str, str], Object | None]
"""Finds an object by kind, name and namespace."""

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
"""The annotation of a claim that has, or had, a volume."""

SELECTED_NODE = "volume.kubernetes.io/selected-node"
"""The annotation of a claim by which kube-scheduler says for which node a volume is to be made."""

_NO_PROVISIONER = "kubernetes.io/no-provisioner"
_IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"
_ELSEWHERE = "node(s) didn't match PersistentVolume's node affinity"
_NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
_OTHER_ZONE = "node(s) had no available volume zone"

_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")

_GENERAL: Mapping[str, str] = {
    BETA_ZONE: ZONE,
    BETA_REGION: REGION,
}
"""The labels that say where a volume is, the old ones to the ones in use."""

_WHERE = (*_GENERAL, *_GENERAL.values())


@dataclass(frozen=True, slots=True)
class PodVolumes:
    """The claims of one pod. `problem` keeps the pod from every node; the `waiting` claims have no volume yet.

    `alone` are the names of claims for one pod alone (ReadWriteOncePod). `named` are the volumes of the claims that the
    pod names: VolumeZone does not look at those of its ephemeral volumes. `limits` holds the volumes that count against
    the limits of a node's drivers.
    """

    problem: str | None
    volumes: tuple[Object, ...] = ()
    classes: tuple[Object, ...] = ()
    waiting: tuple[Object, ...] = ()
    alone: tuple[str, ...] = ()
    named: tuple[Object, ...] = ()
    limits: VolumeLimits | None = field(default=None, compare=False)

    @staticmethod
    def for_pod(pod: Object, lookup: Lookup) -> PodVolumes | None:
        """The state of the pod's claims; None for a pod without claims."""
        claims = [
            (name, volume.get("ephemeral") is None)
            for volume in spec_of(pod).get("volumes") or ()
            if (name := claim_name(pod, volume))
        ]
        if not claims:
            return None
        volumes: list[Object] = []
        classes: list[Object] = []
        waiting: list[Object] = []
        alone: list[str] = []
        named: list[Object] = []
        for name, is_named in claims:
            claim = lookup("PersistentVolumeClaim", name, namespace_of(pod))
            problem = _problem(claim, name)
            if problem is not None or claim is None:
                return PodVolumes(problem)
            spec = spec_of(claim)
            if "ReadWriteOncePod" in (spec.get("accessModes") or ()):
                alone.append(name)
            volume = spec.get("volumeName")
            if volume and BIND_COMPLETED in annotations_of(claim):
                bound = lookup("PersistentVolume", volume, "")
                if bound is None:
                    return PodVolumes(f'persistentvolume "{volume}" not found')
                volumes.append(bound)
                if is_named:
                    named.append(bound)
                continue
            storage = lookup("StorageClass", spec.get("storageClassName") or "", "")
            if volume or storage is None or not waits_for_consumer(storage):
                return PodVolumes(_IMMEDIATE)
            classes.append(storage)
            waiting.append(claim)
        limits = VolumeLimits.for_pod(pod, lookup)
        return PodVolumes(None, tuple(volumes), tuple(classes), tuple(waiting), tuple(alone), tuple(named), limits)

    def reasons(self, node: Object) -> tuple[str, ...]:
        """Return why the volumes cannot be used on this node; empty where they can."""
        reasons: list[str] = []
        if not all(_reaches(volume, node) for volume in self.volumes):
            reasons.append(_ELSEWHERE)
        if not all(_provisions(storage, node) for storage in self.classes):
            reasons.append(_NO_VOLUME)
        if not reasons and not all(_in_zone(volume, node) for volume in self.named):
            reasons.append(_OTHER_ZONE)
        return tuple(reasons)


def default_class(classes: Sequence[Object]) -> str | None:
    """Return the name of the StorageClass of claims that name none: the newest of those marked as default, of these the first by name."""
    chosen = [
        candidate for candidate in classes if any(annotations_of(candidate).get(key) == "true" for key in _DEFAULT)
    ]
    chosen.sort(key=name_of)
    chosen.sort(key=lambda candidate: str(metadata_of(candidate).get("creationTimestamp") or ""), reverse=True)
    return name_of(chosen[0]) if chosen else None


def waits_for_consumer(storage: Object) -> bool:
    """Return whether claims of this StorageClass are bound only when a pod needs them."""
    return bool(storage.get("volumeBindingMode") == "WaitForFirstConsumer")


def _problem(claim: Object | None, name: str) -> str | None:
    if claim is None:
        return f'persistentvolumeclaim "{name}" not found'
    if status_of(claim).get("phase") == "Lost":
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{spec_of(claim).get("volumeName")}"'
    if is_terminating(claim):
        return f'persistentvolumeclaim "{name}" is being deleted'
    return None


def _reaches(volume: Object, node: Object) -> bool:
    required = (spec_of(volume).get("nodeAffinity") or {}).get("required")
    if required is None:
        return True
    return any(term_matches(term, node) for term in required.get("nodeSelectorTerms") or ())


def _provisions(storage: Object, node: Object) -> bool:
    if storage.get("provisioner") in (None, "", _NO_PROVISIONER):
        return False
    terms: Sequence[Object] = storage.get("allowedTopologies") or ()
    labels = labels_of(node)
    return not terms or any(
        all(
            labels.get(expression["key"]) in expression["values"]
            for expression in term.get("matchLabelExpressions") or ()
        )
        for term in terms
    )


def _in_zone(volume: Object, node: Object) -> bool:
    """Return whether a volume's own zone and region labels name the node's; several of one volume stand between double underscores."""
    nodes = labels_of(node)
    if not any(key in nodes for key in _WHERE):
        return True
    own = labels_of(volume)
    return all(
        nodes.get(key, nodes.get(_GENERAL.get(key, key))) in own[key].split("__") for key in _WHERE if key in own
    )


def is_reserved_for(volume: Object, claim: Object) -> bool:
    """Return whether the volume is reserved for this claim, or is bound to it."""
    reference = spec_of(volume).get("claimRef") or {}
    if (reference.get("name"), reference.get("namespace")) != (name_of(claim), namespace_of(claim)):
        return False
    return reference.get("uid") in (None, "", uid_of(claim))
