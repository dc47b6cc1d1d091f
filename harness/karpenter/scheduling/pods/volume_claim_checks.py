"""Pods that Karpenter ignores because of their volumes, and its sentence, as each release has it.

Core ``pkg/controllers/provisioning/scheduling/volumetopology.go`` (ValidatePersistentVolumeClaims),
``pkg/utils/volume``.
"""

from collections.abc import Mapping
from typing import Any

from harness.karpenter.releases.scheduling import SchedulingRules, VolumeClaimChecks
from harness.karpenter.scheduling.pods.volumes import VolumeLookup, VolumeNotFound
from harness.kube.api.objects import Object, annotations_of, is_terminating, name_of, namespace_of, spec_of, status_of
from harness.kube.go.text import quote

_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"


def volume_claim_problem(pod: Object, volumes: VolumeLookup, rules: SchedulingRules) -> str | None:
    """Return the reason if a pod is ignored because of a claim of its volumes."""
    problem_of = _early_problem if rules.volume_claim_checks is VolumeClaimChecks.EXISTENCE else _problem
    for volume in spec_of(pod).get("volumes") or ():
        try:
            claim = volumes.claim(pod, volume)
        except VolumeNotFound as error:
            return _missing_claim(pod, volume, error, rules)
        if claim is not None and (reason := problem_of(claim, volumes, rules)):
            return reason
    return None


def _missing_claim(pod: Object, volume: Mapping[str, Any], error: VolumeNotFound, rules: SchedulingRules) -> str:
    name = VolumeLookup.claim_name(pod, volume)
    if rules.plain_errors:
        return f"getting persistent volume claim {quote(name or '')}, {error}"
    return f"getting persistent volume claim, {error} (PersistentVolumeClaim={name})"


def _early_problem(claim: Object, volumes: VolumeLookup, rules: SchedulingRules) -> str | None:
    """Only what a claim names has to exist."""
    name, plain = name_of(claim), rules.plain_errors
    volume_name, class_name = _names(claim)
    try:
        if volume_name:
            volumes.volume(volume_name)
        elif class_name:
            volumes.storage_class(class_name)
        else:
            detail = f"{name} must define a storage class"
            return (
                f"unbound pvc {detail}"
                if plain
                else f"unbound pvc must define a storage class (PersistentVolumeClaim={name})"
            )
    except VolumeNotFound as error:
        kind, other = ("volume", volume_name) if volume_name else ("storage class", class_name)
        if plain:
            return f"failed to validate pvc {quote(name)} with {kind} {quote(other)}, {error}"
        if volume_name:
            return f"failed to validate pvc, {error} (PersistentVolume={other}, PersistentVolumeClaim={name})"
        return f"failed to validate storage class, {error} (PersistentVolumeClaim={name}, StorageClass={other})"
    return None


def _problem(claim: Object, volumes: VolumeLookup, rules: SchedulingRules) -> str | None:
    """Return the problem that kube-scheduler would refuse too."""
    reference = f"{namespace_of(claim)}/{name_of(claim)}"
    volume_name, class_name = _names(claim)
    detail = f"PersistentVolumeClaim={reference}"
    if is_terminating(claim):
        return f"persistentvolumeclaim is being deleted ({detail})"
    if status_of(claim).get("phase") == "Lost":
        return (
            f"persistentvolumeclaim bound to non-existent persistentvolume (PersistentVolume={volume_name}, {detail})"
        )
    if volume_name:
        problem = _volume_problem(volume_name, volumes, rules)
        if problem:
            return f"failed to validate pvc, {problem} (PersistentVolume={volume_name}, {detail}, StorageClass={class_name})"
        if _BIND_COMPLETED not in annotations_of(claim):
            return (
                "pvc is considered unbound because it does not contain annotation "
                f"(PersistentVolume={volume_name}, PersistentVolumeClaim={name_of(claim)}, annotation={_BIND_COMPLETED})"
            )
        return None
    if not class_name:
        return f"unbound pvc must define a storage class ({detail}, StorageClass=)"
    try:
        storage_class = volumes.storage_class(class_name)
    except VolumeNotFound as error:
        return f"failed to validate pvc, failed to get storage class, {error} ({detail}, StorageClass={class_name})"
    if storage_class.get("volumeBindingMode") == "Immediate":
        return (
            "failed to validate pvc, pvc with immediate volume binding mode must be bound "
            f"({detail}, StorageClass={class_name})"
        )
    return None


def _volume_problem(name: str, volumes: VolumeLookup, rules: SchedulingRules) -> str:
    try:
        volume = volumes.volume(name)
    except VolumeNotFound as error:
        return str(error)
    deletion_counts = rules.volume_claim_checks is VolumeClaimChecks.DELETION
    return "persistentvolume is being deleted" if deletion_counts and is_terminating(volume) else ""


def _names(claim: Object) -> tuple[str, str]:
    spec = spec_of(claim)
    return spec.get("volumeName") or "", spec.get("storageClassName") or ""
