"""Kinds that a Kubernetes API server knows and this one does not keep, and what the absence of simulated behaviour means.

Source: the API reference of Kubernetes 1.34, by group and in every version; groups that were served once included.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.kube.api.kinds import KINDS

__all__ = ["BUILT_IN_GROUPS", "CONSEQUENCES", "NOT_KEPT", "kept_as", "unserved"]

NOT_KEPT: Mapping[str, tuple[str, ...]] = {
    "": ("Binding", "ComponentStatus", "Event"),
    "admissionregistration.k8s.io": ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"),
    "authentication.k8s.io": ("SelfSubjectReview", "TokenRequest", "TokenReview"),
    "authorization.k8s.io": (
        "LocalSubjectAccessReview",
        "SelfSubjectAccessReview",
        "SelfSubjectRulesReview",
        "SubjectAccessReview",
    ),
    "certificates.k8s.io": ("ClusterTrustBundle", "PodCertificateRequest"),
    "coordination.k8s.io": ("LeaseCandidate",),
    "events.k8s.io": ("Event",),
    "extensions": ("PodSecurityPolicy",),
    "internal.apiserver.k8s.io": ("StorageVersion",),
    "policy": ("Eviction", "PodSecurityPolicy"),
    "resource.k8s.io": (
        "DeviceClass",
        "DeviceTaintRule",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "ResourceSlice",
    ),
    "storagemigration.k8s.io": ("StorageVersionMigration",),
}
"""Kinds that no object is kept of (requests, reviews), that only alpha and beta versions serve, and those of devices."""

CONSEQUENCES: Mapping[str, str] = {
    "HorizontalPodAutoscaler": "replicas stay as written",
    **dict.fromkeys(
        ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"), "devices are not allocated"
    ),
}
"""Consequences of the absence of a kind for pods and Nodes, of kinds that can have any."""

_MOVED: Mapping[str, tuple[str, ...]] = {
    "extensions": ("Deployment", "DaemonSet", "ReplicaSet", "Ingress", "NetworkPolicy")
}

BUILT_IN_GROUPS = frozenset({*NOT_KEPT, *(kind.group for kind in KINDS.values() if not kind.custom)})
"""The API groups that are Kubernetes' own. All others are somebody's CustomResourceDefinitions."""


def unserved(api_version: str, kind: str) -> str:
    """Return the refusal of an object whose kind is not served: that of an API server, or, where a real one has the kind, our own."""
    if kind in NOT_KEPT.get(api_version.rpartition("/")[0], ()):
        meaning = CONSEQUENCES.get(kind)
        return f"{kind} of {api_version} is not simulated" + (f": {meaning}" if meaning else "")
    return f'no matches for kind "{kind}" in version "{api_version}"'


def kept_as(group: str, kind: str) -> str | None:
    """Return the apiVersion under which this server keeps a kind of this group, whatever the version of the request; None for others."""
    served_kind = KINDS.get(kind)
    if served_kind is not None and (served_kind.group == group or kind in _MOVED.get(group, ())):
        return served_kind.api_version
    return None
