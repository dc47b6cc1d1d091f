"""Drift as the Azure provider finds it: AKSNodeClass, Kubernetes version, kubelet identity, image, subnet, cluster configuration.

Source: kaz pkg/cloudprovider/{cloudprovider,drift}.go, pkg/apis/v1beta1/aksnodeclass_status.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from harness.karpenter.labels.azure import (
    AKS_KUBELET_IDENTITY,
    AKS_MACHINE_ID,
    NODE_CLASS_HASH,
    NODE_CLASS_HASH_VERSION,
)
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.launch import LaunchError
from harness.karpenter.launch.bodies.names import resource_name
from harness.karpenter.launch.images import node_image_version
from harness.karpenter.lifecycle.instance_provider import CloudProviderError
from harness.karpenter.releases import ProviderOptions, ProviderRelease
from harness.karpenter.releases.flag_values import DriftImage
from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    spec_of,
    status_of,
)

__all__ = ["Instances", "ProviderDrift"]

_SYNCED = frozenset({"", "Synced"})

_Check = Callable[[Object, Object], str]


class Instances(Protocol):
    """Azure's data about running instances. Every call may raise CloudProviderError."""

    def drift_action(self, machine: str) -> str:
        """The ``driftAction`` of an AKS machine, "" without one."""
        ...

    def image(self, claim: Object) -> str | None:
        """The image of a NodeClaim's VM, by id, or of its AKS machine, as AKS names it; None when it does not say."""
        ...

    def subnet(self, claim: Object) -> str | None:
        """The subnet of the network interface of a NodeClaim's VM, "" when it has none; None without an interface."""
        ...


class _Objects(Protocol):
    """The part of a View that is used here."""

    def get(self, kind: str, name: str) -> Object | None: ...

    def indexed(self, index: str, value: str) -> Sequence[Object]: ...


class _Events(Protocol):
    """The part of a Sink that is used here."""

    def event(self, obj: Object, type: str, reason: str, message: str) -> object: ...


class ProviderDrift:
    """Compares a NodeClaim with what its AKSNodeClass would make of it now."""

    def __init__(
        self,
        objects: _Objects,
        events: _Events,
        instances: Instances,
        options: ProviderOptions,
        release: ProviderRelease,
    ) -> None:
        self._objects = objects
        self._events = events
        self._instances = instances
        self._options = options
        self._release = release

    def reason(self, claim: Object) -> str:
        """The provider's reason why a NodeClaim has drifted, "" when it has not or this cannot be told. Raises CloudProviderError."""
        nodeclass = self._nodeclass(claim)
        if nodeclass is None:
            return ""
        if self._release.drift_of_machines and not status_of(claim).get("providerID"):
            raise CloudProviderError(f"nodeclaim {name_of(claim)} is missing provider ID")
        return next((reason for check in self._checks(claim) if (reason := check(claim, nodeclass))), "")

    def _nodeclass(self, claim: Object) -> Object | None:
        """The AKSNodeClass to which the NodePool (not the NodeClaim) refers; None when it does not exist or is being deleted."""
        pool = self._objects.get("NodePool", labels_of(claim).get(NODEPOOL) or "")
        template: Any = spec_of(pool).get("template") if pool is not None else None
        ref = ((template or {}).get("spec") or {}).get("nodeClassRef")
        if pool is None or ref is None:
            return None
        nodeclass = self._objects.get("AKSNodeClass", str(ref.get("name") or ""))
        if nodeclass is None or is_terminating(nodeclass):
            self._events.event(pool, "Warning", "NodeClassResolutionError", "Failed resolving NodeClass")
            return None
        return nodeclass

    def _checks(self, claim: Object) -> Sequence[_Check]:
        if self._machine(claim) is not None:
            return _hash_drift, self._version_drift, self._image_drift, self._machine_drift
        of_vms: tuple[_Check, ...] = (_hash_drift, self._version_drift, self._identity_drift, self._image_drift)
        return (*of_vms, self._subnet_drift) if self._release.drift_of_subnets else of_vms

    def _machine(self, claim: Object) -> str | None:
        """The name of its AKS machine; None for a plain VM."""
        resource = annotations_of(claim).get(AKS_MACHINE_ID)
        return None if resource is None or not self._release.drift_of_machines else resource.rpartition("/")[2]

    def _version_drift(self, claim: Object, nodeclass: Object) -> str:
        version = status_of(nodeclass).get("kubernetesVersion")
        if not version or not _is_current(nodeclass, "KubernetesVersionReady"):
            return ""
        node = self._node(claim)
        if node is None:
            return ""
        runs = str((status_of(node).get("nodeInfo") or {}).get("kubeletVersion") or "").removeprefix("v")
        return "K8sVersionDrift" if runs != version else ""

    def _identity_drift(self, claim: Object, _: Object) -> str:
        node = self._node(claim)
        identity = labels_of(node).get(AKS_KUBELET_IDENTITY) if node is not None else None
        return "KubeletIdentityDrift" if identity and identity != self._options.kubelet_identity_client_id else ""

    def _node(self, claim: Object) -> Object | None:
        """The NodeClaim's Node; None when it is being deleted or does not exist yet. Raises CloudProviderError when there are several."""
        provider_id = str(status_of(claim).get("providerID") or "")
        nodes = self._objects.indexed("nodes-by-provider-id", provider_id)
        if len(nodes) > 1:
            raise CloudProviderError(f"multiple found for provider id '{provider_id}'")
        return nodes[0] if nodes and not is_terminating(nodes[0]) else None

    def _image_drift(self, claim: Object, nodeclass: Object) -> str:
        source = self._release.drift_image
        used = self._instances.image(claim) if source is DriftImage.INSTANCE_FIRST else ""
        if used is None or not _is_current(nodeclass, "ImagesReady"):
            return ""
        images = [str(image["id"]) for image in status_of(nodeclass).get("images") or ()]
        if not images:
            raise CloudProviderError("no images exist for the given constraints")
        if source is DriftImage.INSTANCE:
            used = self._instances.image(claim)
        elif source is DriftImage.NODECLAIM:
            used = str(status_of(claim).get("imageID") or "")
            if not used:
                raise CloudProviderError("no image ID found in nodeClaim status")
        if used is None:
            return ""
        current = images if self._machine(claim) is None else _machine_images(images)
        return "" if used in current else "ImageDrift"

    def _machine_drift(self, claim: Object, _: Object) -> str:
        action = self._instances.drift_action(self._machine(claim) or "")
        return "" if action in _SYNCED else "ClusterConfigDrift"

    def _subnet_drift(self, claim: Object, nodeclass: Object) -> str:
        used = self._instances.subnet(claim)
        if used is None:
            return ""
        if not used:
            raise CloudProviderError(f"no subnet found for nic: {resource_name(name_of(claim))}")
        named = spec_of(nodeclass).get("vnetSubnetID")
        return "SubnetDrift" if used != (self._options.subnet_id if named is None else named) else ""


def _hash_drift(claim: Object, nodeclass: Object) -> str:
    """NodeClassDrift where the hashes differ; hashes of different hash versions are not compared."""
    mine, theirs = annotations_of(claim), annotations_of(nodeclass)
    hashed_both = all(
        key in annotations for key in (NODE_CLASS_HASH, NODE_CLASS_HASH_VERSION) for annotations in (mine, theirs)
    )
    if not hashed_both or mine[NODE_CLASS_HASH_VERSION] != theirs[NODE_CLASS_HASH_VERSION]:
        return ""
    return "NodeClassDrift" if mine[NODE_CLASS_HASH] != theirs[NODE_CLASS_HASH] else ""


def _is_current(nodeclass: Object, kind: str) -> bool:
    """Return whether a condition is True for the AKSNodeClass's present generation."""
    state = condition(nodeclass, kind)
    generation = metadata_of(nodeclass).get("generation", 0)
    return state is not None and state["status"] == "True" and state.get("observedGeneration", 0) == generation


def _machine_images(images: Sequence[str]) -> list[str]:
    """The images by AKS's node image versions; only images of AKS's own galleries have one."""
    versions = []
    for image in images:
        try:
            versions.append(node_image_version(image))
        except LaunchError:
            continue
    return versions
