"""The kinds of objects that a cluster knows: where they live and how the API server treats their parts."""

from __future__ import annotations

from collections.abc import Mapping

from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of object.

    `status_subresource`: writes of the object leave `status` alone and writes of `/status` touch only it.
    `status_on_create`: the status given at creation is kept (Nodes: a kubelet creates its Node with one).
    `generation`: `metadata.generation` counts changes of everything but metadata and status.
    `decides`: something here depends on it; others are taken, checked by their shape and kept.
    `custom`: defined by a CustomResourceDefinition, so `application/strategic-merge-patch+json` is refused.
    """

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    status_subresource: bool = True
    status_on_create: bool = False
    generation: bool = True
    custom: bool = False
    decides: bool = True

    @property
    def api_version(self) -> str:
        """Return `group/version`, or the version alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """Return the resource as the API server names it in messages: `pods`, `nodepools.karpenter.sh`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def _core(kind: str, plural: str, namespaced: bool, **flags: bool) -> Kind:
    return Kind("", "v1", kind, plural, namespaced, **{"generation": False, **flags})


_KINDS = (
    _core("Node", "nodes", False, status_on_create=True),
    _core("Pod", "pods", True, generation=True),
    _core("Namespace", "namespaces", False),
    _core("Service", "services", True),
    _core("ConfigMap", "configmaps", True, status_subresource=False),
    _core("Secret", "secrets", True, status_subresource=False),
    _core("ServiceAccount", "serviceaccounts", True, status_subresource=False),
    _core("LimitRange", "limitranges", True, status_subresource=False),
    _core("ResourceQuota", "resourcequotas", True),
    _core("PersistentVolume", "persistentvolumes", False),
    _core("PersistentVolumeClaim", "persistentvolumeclaims", True),
    _core("ReplicationController", "replicationcontrollers", True, generation=True),
    Kind("apps", "v1", "Deployment", "deployments", True),
    Kind("apps", "v1", "ReplicaSet", "replicasets", True),
    Kind("apps", "v1", "DaemonSet", "daemonsets", True),
    Kind("apps", "v1", "StatefulSet", "statefulsets", True),
    Kind(
        *("apps", "v1", "ControllerRevision", "controllerrevisions", True),
        status_subresource=False,
        generation=False,
        decides=False,
    ),
    Kind("batch", "v1", "Job", "jobs", True),
    Kind("batch", "v1", "CronJob", "cronjobs", True),
    Kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", True),
    Kind("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", False, status_subresource=False),
    Kind("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", False, status_subresource=False, generation=False),
    Kind("storage.k8s.io", "v1", "StorageClass", "storageclasses", False, status_subresource=False, generation=False),
    Kind("storage.k8s.io", "v1", "CSINode", "csinodes", False, status_subresource=False, generation=False),
    Kind("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", False, generation=False),
    Kind("coordination.k8s.io", "v1", "Lease", "leases", True, status_subresource=False, generation=False),
    Kind("karpenter.sh", "v1", "NodePool", "nodepools", False, custom=True),
    Kind("karpenter.sh", "v1", "NodeClaim", "nodeclaims", False, custom=True),
    Kind("karpenter.sh", "v1alpha1", "NodeOverlay", "nodeoverlays", False, custom=True),
    Kind("karpenter.azure.com", "v1beta1", "AKSNodeClass", "aksnodeclasses", False, custom=True),
)


def _taken(
    group: str,
    kind: str,
    plural: str,
    namespaced: bool,
    *,
    version: str = "v1",
    status: bool = False,
    counted: bool = True,
) -> Kind:
    """Return a kind on which nothing here depends; `counted`: it has a generation."""
    return Kind(group, version, kind, plural, namespaced, status, generation=counted, decides=False)


_ADMISSION, _RBAC = "admissionregistration.k8s.io", "rbac.authorization.k8s.io"
_NETWORKING, _FLOW = "networking.k8s.io", "flowcontrol.apiserver.k8s.io"

_TAKEN = (
    _taken("", "Endpoints", "endpoints", True, counted=False),
    _taken("", "PodTemplate", "podtemplates", True),
    _taken(_ADMISSION, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False),
    _taken(_ADMISSION, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False),
    _taken(_ADMISSION, "ValidatingAdmissionPolicy", "validatingadmissionpolicies", False, status=True),
    _taken(_ADMISSION, "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", False),
    _taken("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", False, status=True),
    _taken("apiregistration.k8s.io", "APIService", "apiservices", False, status=True, counted=False),
    _taken(
        "autoscaling",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        True,
        version="v2",
        status=True,
        counted=False,
    ),
    _taken(
        "certificates.k8s.io",
        "CertificateSigningRequest",
        "certificatesigningrequests",
        False,
        status=True,
        counted=False,
    ),
    _taken("discovery.k8s.io", "EndpointSlice", "endpointslices", True),
    _taken(_FLOW, "FlowSchema", "flowschemas", False, status=True),
    _taken(_FLOW, "PriorityLevelConfiguration", "prioritylevelconfigurations", False, status=True),
    _taken(_NETWORKING, "IPAddress", "ipaddresses", False, counted=False),
    _taken(_NETWORKING, "Ingress", "ingresses", True, status=True),
    _taken(_NETWORKING, "IngressClass", "ingressclasses", False),
    _taken(_NETWORKING, "NetworkPolicy", "networkpolicies", True),
    _taken(_NETWORKING, "ServiceCIDR", "servicecidrs", False, status=True, counted=False),
    _taken(_RBAC, "ClusterRole", "clusterroles", False, counted=False),
    _taken(_RBAC, "ClusterRoleBinding", "clusterrolebindings", False, counted=False),
    _taken(_RBAC, "Role", "roles", True, counted=False),
    _taken(_RBAC, "RoleBinding", "rolebindings", True, counted=False),
    _taken("storage.k8s.io", "CSIDriver", "csidrivers", False, counted=False),
    _taken("storage.k8s.io", "CSIStorageCapacity", "csistoragecapacities", True, counted=False),
    _taken("storage.k8s.io", "VolumeAttributesClass", "volumeattributesclasses", False, counted=False),
)
"""Kinds that are taken as the API server takes them, and on which nothing here depends."""

KINDS: dict[str, Kind] = {kind.kind: kind for kind in (*_KINDS, *_TAKEN)}
"""Every kind by its name. Names are unique among the groups that are served."""

_ALSO_SERVED = frozenset(
    {("karpenter.azure.com/v1alpha2", "AKSNodeClass"), ("autoscaling/v1", "HorizontalPodAutoscaler")}
)


def served(api_version: str, kind: str) -> Kind | None:
    """Return the kind of an object with this apiVersion and kind, or None when no such resource is served."""
    named = KINDS.get(kind)
    if named is None or (named.api_version != api_version and (api_version, kind) not in _ALSO_SERVED):
        return None
    return named


def place_of(kind: str, namespace: str | None) -> str:
    """Return the namespace of an object: `default` where none is given and the kind has one."""
    named = KINDS.get(kind)
    return (namespace or "default") if named is not None and named.namespaced else ""


_BEFORE_OTHERS: Mapping[str, int] = {
    "Namespace": 0,
    "LimitRange": 1,
    "PriorityClass": 1,
    "ResourceQuota": 1,
    "RuntimeClass": 1,
    "ServiceAccount": 1,
    "StorageClass": 1,
    "AKSNodeClass": 2,
    "NodePool": 3,
}


CREATED_FIRST = frozenset(_BEFORE_OTHERS)
"""The kinds that others refer to."""


def creation_rank(kind: str) -> int:
    """Return the position of a kind among many objects to create: kinds that others refer to come first, the rest as it stands."""
    return _BEFORE_OTHERS.get(kind, len(_BEFORE_OTHERS))
