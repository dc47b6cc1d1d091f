"""Pods as older core releases read them: rewritten before the simulation, so that the simulation itself has one way.

Core < 1.14 ``pkg/utils/resources/resources.go`` (Ceiling), core <= 1.8 the same file (MergeResourceLimitsIntoRequests),
``pkg/controllers/provisioning/scheduling/volumetopology.go`` (Inject).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.karpenter.scheduling.pods.volumes import VolumeError, VolumeLookup
from harness.kube.api.objects import Object, spec_of, status_of, with_spec

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def without_actual_resources(pod: Object) -> Object:
    """The pod without what its containers have while they are being resized: what they ask for counts."""
    status = status_of(pod)
    resources = {
        field: [{**entry, "resources": None} for entry in status[field]]
        for field in ("containerStatuses", "initContainerStatuses")
        if any(entry.get("resources") is not None for entry in status.get(field) or ())
    }
    return {**pod, "status": {**status, **resources}} if resources else pod


def with_limits_as_requests(pod: Object) -> Object:
    """The pod with each container's limits as requests where it has none, and without pod-level resources."""
    spec = spec_of(pod)
    completed = {
        field: [_completed(container) for container in spec[field]]
        for field in ("containers", "initContainers")
        if spec.get(field)
    }
    changed = any(
        ours is not theirs
        for field, containers in completed.items()
        for ours, theirs in zip(containers, spec[field], strict=True)
    )
    if not changed and not spec.get("resources"):
        return pod
    return with_spec(pod, **{**completed, "resources": None})


def _completed(container: Mapping[str, Any]) -> Mapping[str, Any]:
    resources = container.get("resources") or {}
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    if limits.keys() <= requests.keys():
        return container
    return {**container, "resources": {**resources, "requests": {**limits, **requests}}}


def with_volumes_in_affinity(pod: Object, volumes: VolumeLookup) -> Object:
    """The pod with what its volumes demand of nodes in every required node affinity term; as it is when that is unknown."""
    if not spec_of(pod).get("volumes"):
        return pod
    try:
        demanded = volumes.first_terms(pod)
    except VolumeError:
        return pod
    return _with_expressions(pod, demanded) if demanded else pod


def _with_expressions(pod: Object, expressions: Sequence[Mapping[str, Any]]) -> Object:
    affinity = spec_of(pod).get("affinity") or {}
    nodes = affinity.get("nodeAffinity") or {}
    terms = (nodes.get(_REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
    extended = [{**term, "matchExpressions": [*(term.get("matchExpressions") or ()), *expressions]} for term in terms]
    return with_spec(pod, affinity={**affinity, "nodeAffinity": {**nodes, _REQUIRED: {"nodeSelectorTerms": extended}}})
