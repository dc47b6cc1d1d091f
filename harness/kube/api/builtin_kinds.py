"""Kinds that a Kubernetes API server knows and this one does not keep: they neither make Nodes nor decide where a pod goes.

Source: the API reference of Kubernetes 1.34, by group and in every version; groups that were served once included.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.kube.api.kinds import KINDS

__all__ = ["BUILT_IN_GROUPS", "CONSEQUENCES", "NOT_KEPT", "kept_as"]

NOT_KEPT: Mapping[str, tuple[str, ...]] = {
    "": (
        "Binding",
        "ComponentStatus",
        "Endpoints",
        "Event",
        "PodTemplate",
        "ReplicationController",
    ),
    "admissionregistration.k8s.io": (
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    ),
    "apiextensions.k8s.io": ("CustomResourceDefinition",),
    "apiregistration.k8s.io": ("APIService",),
    "authentication.k8s.io": ("SelfSubjectReview", "TokenRequest", "TokenReview"),
    "authorization.k8s.io": (
        "LocalSubjectAccessReview",
        "SelfSubjectAccessReview",
        "SelfSubjectRulesReview",
        "SubjectAccessReview",
    ),
    "autoscaling": ("HorizontalPodAutoscaler",),
    "certificates.k8s.io": ("CertificateSigningRequest", "ClusterTrustBundle", "PodCertificateRequest"),
    "coordination.k8s.io": ("LeaseCandidate",),
    "discovery.k8s.io": ("EndpointSlice",),
    "events.k8s.io": ("Event",),
    "extensions": ("Ingress", "NetworkPolicy", "PodSecurityPolicy"),
    "flowcontrol.apiserver.k8s.io": ("FlowSchema", "PriorityLevelConfiguration"),
    "internal.apiserver.k8s.io": ("StorageVersion",),
    "networking.k8s.io": ("IPAddress", "Ingress", "IngressClass", "NetworkPolicy", "ServiceCIDR"),
    "policy": ("Eviction", "PodSecurityPolicy"),
    "rbac.authorization.k8s.io": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "resource.k8s.io": (
        "DeviceClass",
        "DeviceTaintRule",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "ResourceSlice",
    ),
    "storage.k8s.io": ("CSIDriver", "CSIStorageCapacity", "VolumeAttributesClass"),
    "storagemigration.k8s.io": ("StorageVersionMigration",),
}

CONSEQUENCES: Mapping[str, str] = {
    "ReplicationController": "its pods are missing here",
    "HorizontalPodAutoscaler": "replicas stay as written",
    "ResourceClaim": "devices are not allocated",
    "ResourceClaimTemplate": "devices are not allocated",
}
"""Consequences of the absence of a kind for pods and Nodes, of kinds that can have any."""

_MOVED: Mapping[str, tuple[str, ...]] = {"extensions": ("Deployment", "DaemonSet", "ReplicaSet")}

BUILT_IN_GROUPS = frozenset({*NOT_KEPT, *(kind.group for kind in KINDS.values() if not kind.custom)})
"""The API groups that are Kubernetes' own. All others are somebody's CustomResourceDefinitions."""


def kept_as(group: str, kind: str) -> str | None:
    """Return the apiVersion under which this server keeps a kind of this group, whatever the version of the request; None for others."""
    served_kind = KINDS.get(kind)
    if served_kind is not None and (served_kind.group == group or kind in _MOVED.get(group, ())):
        return served_kind.api_version
    return None
