"""The provider's changes of an AKSNodeClass: Kubernetes version, images, subnet, LocalDNS, readiness, hash.

Source: kaz pkg/controllers/nodeclass/{status,hash,termination}.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from harness.engine.access import Access
from harness.engine.engine import DONE, ReconcileError, Result, Router, Wait
from harness.engine.ports import Change, ChangeType, Cloud, key_by_name, of_types
from harness.karpenter.labels.azure import NODE_CLASS_HASH, NODE_CLASS_HASH_VERSION
from harness.karpenter.launch.nodeclass_hash import nodeclass_hash
from harness.karpenter.launch.subnets import Subnet
from harness.karpenter.lifecycle.conditions import Conditions
from harness.karpenter.lifecycle.names import nodeclass_of
from harness.karpenter.lifecycle.nodeclasses.maintenance import WindowError, is_open
from harness.karpenter.lifecycle.nodeclasses.node_images import Images, NodeImages, kept
from harness.karpenter.lifecycle.refusals import retried_after_refusals
from harness.karpenter.releases import LocalDnsSource, ProviderOptions, ProviderRelease
from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition_is,
    finalizers_of,
    finalizers_without,
    is_terminating,
    name_of,
    spec_of,
    status_of,
)
from harness.kube.api.patch import merge_diff
from harness.kube.api.versions import Version
from harness.wording import pretty_slice
from lazyrecords import dataclass

FINALIZER = "karpenter.azure.com/termination"
_REFRESH = 180.0
_TOLD_AGAIN, _NAMED = 600.0, 5
"""A deletion that waits is told every so many seconds, with as many NodeClaims by name."""
_VERSION_TTL = 900.0
_AGAIN = Result(_REFRESH, Wait.ALARM)
_NO_IMAGES = {
    "SIGRequiredForFIPS": (
        "FIPS images require UseSIG to be enabled, but UseSIG is false (note: UseSIG is only supported in AKS managed NAP)"
    ),
    "ImagesNotFound": "ImageSelectors did not match any Images",
}
"""The reasons why there are no images."""


@dataclass(frozen=True, slots=True)
class _Subnet:
    """The problem of a subnet, none if ``reason`` is empty. ``retry``: the error after which it is looked at again."""

    reason: str = ""
    message: str = ""
    retry: str | None = None


_FINE = _Subnet()


@dataclass(frozen=True, slots=True)
class _Found:
    """The results of one look: the Kubernetes version of new nodes, their images or why there are none (None: nobody
    can tell), the subnet.
    """

    version: str
    images: Images | str | None
    subnet: _Subnet


class NodeClasses:
    """Resolves AKSNodeClasses; a key is a NodeClass's name."""

    name = "nodeclass.status"
    backoff = (0.1, 60.0)

    def __init__(
        self,
        access: Access,
        cloud: Cloud,
        *,
        release: ProviderRelease,
        options: ProviderOptions,
        region: str,
        kubernetes: str,
    ) -> None:
        self._view, self._writer, self._sink, self._clock = access.view, access.writer, access.sink, access.clock
        self._cloud = cloud
        self._release = release
        self._options = options
        self._region = region
        self._server, self._kubernetes = kubernetes, kubernetes
        self._read_at = self._clock.seconds
        self._hashes: dict[str, tuple[Mapping[str, Any], str]] = {}
        self._rested: dict[str, tuple[Object, _Found]] = {}
        """By name, the NodeClasses for which nothing was left to write, and what was found then. Objects are never changed in place, and
        the rest of what decides is this controller's own: the same findings about the same object leave nothing to write again."""
        self._node_images = NodeImages(self._clock, cloud, release=release, options=options, region=region)

    def upgraded(self, kubernetes: str) -> None:
        """The API server runs another version, which the provider notices when it reads the version again (within 15 minutes)."""
        self._server = kubernetes

    def _version(self, nodeclass: Object) -> str:
        """The Kubernetes version of new nodes: the API server's as last read, never older than the one before (kubernetesversion.go)."""
        if self._clock.seconds - self._read_at >= _VERSION_TTL:
            self._kubernetes, self._read_at = self._server, self._clock.seconds
        recorded = str(status_of(nodeclass).get("kubernetesVersion") or "")
        before, now = Version.find(recorded), Version.find(self._kubernetes)
        return recorded if before is not None and now is not None and before > now else self._kubernetes

    def watches(self) -> Mapping[str, Router]:
        """AKSNodeClasses, and deleted NodeClaims, for which an AKSNodeClass may be waiting."""
        return {"AKSNodeClass": key_by_name, "NodeClaim": self._of_claim}

    @of_types(ChangeType.DELETED)
    def _of_claim(self, change: Change) -> Iterable[Hashable]:
        ref = spec_of(change.object).get("nodeClassRef") or {}
        return (str(ref.get("name")),) if ref.get("kind") == "AKSNodeClass" else ()

    def reconcile(self, key: Hashable) -> Result:
        """Resolves one NodeClass, or removes the finalizer of a deleted one once no NodeClaim uses it."""
        name = str(key)
        nodeclass = self._view.get("AKSNodeClass", name)
        if nodeclass is None:
            return DONE
        if is_terminating(nodeclass):
            return self._finalize(nodeclass)
        rested = self._rested.get(name)
        if rested is None or rested[0] is not nodeclass:
            rested, nodeclass = None, self._hashed(self._held(nodeclass))
        findings = self._find(nodeclass)
        if (rested is None or rested[1] != findings) and not self._write(nodeclass, findings):
            self._rested[name] = nodeclass, findings
        if findings.subnet.retry is not None:
            raise ReconcileError(findings.subnet.retry)
        # what cannot be understood stays so until somebody changes it: nothing that a world has to wait for
        return _AGAIN if findings.images is not None else Result(self.backoff[1], Wait.ALARM)

    def _held(self, nodeclass: Object) -> Object:
        """The NodeClass with the finalizer."""
        finalizers = finalizers_of(nodeclass)
        if FINALIZER in finalizers:
            return nodeclass
        return self._writer.patch(
            "AKSNodeClass", name_of(nodeclass), {"metadata": {"finalizers": [*finalizers, FINALIZER]}}
        )

    def _find(self, nodeclass: Object) -> _Found:
        """Read the state of Azure and of the API server that concerns the NodeClass; each question is asked each time."""
        version = self._version(nodeclass)
        images = self._images(nodeclass, version)
        looks_at_subnet = "SubnetsReady" in self._release.nodeclass_conditions
        return _Found(version, images, self._subnet(nodeclass) if looks_at_subnet else _FINE)

    def _write(self, nodeclass: Object, findings: _Found) -> bool:
        """Write the findings into the status. Return whether that changes it."""
        needed, subnet = self._release.nodeclass_conditions, findings.subnet
        conditions = Conditions(nodeclass, needed, self._clock.timestamp())
        status: dict[str, Any] = dict(status_of(nodeclass))
        status["kubernetesVersion"] = findings.version
        conditions.set_true("KubernetesVersionReady")
        if findings.images is not None:
            self._set_images(findings.images, status, conditions)
        if "SubnetsReady" in needed:
            if subnet.reason:
                conditions.set_false("SubnetsReady", subnet.reason, subnet.message)
            else:
                conditions.set_true("SubnetsReady")
        if "ValidationSucceeded" in needed:
            conditions.set_true("ValidationSucceeded")
        if self._release.local_dns is LocalDnsSource.STATUS:
            self._local_dns(nodeclass, status, conditions)
        status["conditions"] = conditions.items
        patch = merge_diff(status_of(nodeclass), status)
        if patch:
            with retried_after_refusals(Wait.POLL):
                self._writer.patch("AKSNodeClass", name_of(nodeclass), {"status": patch}, subresource="status")
        return bool(patch)

    def _hashed(self, nodeclass: Object) -> Object:
        """Write the hash by which drift is detected.

        NodeClaims with another hash version are not simulated (nodeclass/hash/controller.go).
        """
        spec, entry = spec_of(nodeclass), self._hashes.get(name_of(nodeclass))
        if entry is None or entry[0] is not spec:
            entry = spec, nodeclass_hash(nodeclass, self._release.nodeclass_hash_fields)
            self._hashes[name_of(nodeclass)] = entry
        marks = {
            NODE_CLASS_HASH: entry[1],
            NODE_CLASS_HASH_VERSION: self._release.nodeclass_hash_version,
        }
        if marks.items() <= annotations_of(nodeclass).items():
            return nodeclass
        return self._writer.patch("AKSNodeClass", name_of(nodeclass), {"metadata": {"annotations": marks}})

    def _finalize(self, nodeclass: Object) -> Result:
        name = name_of(nodeclass)
        using = [name_of(claim) for claim in self._view.list("NodeClaim") if nodeclass_of(claim) == name]
        if using:
            text = f"Waiting on NodeClaim termination for {pretty_slice(using, _NAMED)}"
            self._sink.event(nodeclass, "Normal", "WaitingOnNodeClaimTermination", text)
            return Result(_TOLD_AGAIN, Wait.ALARM)
        finalizers = finalizers_without(nodeclass, FINALIZER)
        self._writer.patch("AKSNodeClass", name_of(nodeclass), {"metadata": {"finalizers": finalizers}})
        return DONE

    def _images(self, nodeclass: Object, version: str) -> Images | str | None:
        """The images to use from now on, or the reason why there are none; None where nobody can tell whether it is time for others."""
        spec, status = spec_of(nodeclass), status_of(nodeclass)
        if self._release.asks_fips(spec) and not self._options.use_sig:
            return "SIGRequiredForFIPS"
        goal = self._node_images.newest(spec, version)
        if condition_is(nodeclass, "ImagesReady") and status.get("kubernetesVersion") == version:
            try:
                if not is_open(self._view, self._clock, self._release):
                    goal = kept(status.get("images") or (), goal)
            except WindowError as error:
                self._sink.log("error", self.name, "Reconciler error", error=f"checking maintenance window, {error}")
                return None
        return goal or "ImagesNotFound"

    def _set_images(self, images: Images | str, status: dict[str, Any], conditions: Conditions) -> None:
        if isinstance(images, str):
            status.pop("images", None)
            conditions.set_false("ImagesReady", images, _NO_IMAGES[images])
        else:
            status["images"] = list(images)
            conditions.set_true("ImagesReady")

    def _subnet(self, nodeclass: Object) -> _Subnet:
        """Checks the subnet."""
        own = spec_of(nodeclass).get("vnetSubnetID")
        subnet_id = own or self._options.subnet_id
        subnet, cluster = Subnet.read(subnet_id), Subnet.read(self._options.subnet_id)
        if subnet is None:
            return _Subnet("SubnetIDInvalid", f"Failed to parse vnetSubnetID {subnet_id}")
        if cluster is not None and subnet_id != self._options.subnet_id:
            same = _vnet(subnet) == _vnet(cluster)
            managed = cluster.managed_by_aks(self._options.node_resource_group)
            if same and managed and self._release.managed_subnets_refused:
                text = f"custom subnet cannot be in the same VNet as cluster managed VNet: {subnet_id}"
                return _Subnet("SubnetIDInvalid", text)
            if not same:
                text = (
                    "vnetSubnetID does not match the cluster subscription, resource group, or virtual network: "
                    f"{subnet_id}"
                )
                return _Subnet("SubnetIDInvalid", text)
        answer = self._cloud.request("GET", subnet_id, query={"api-version": "2022-01-01"})
        if answer.status == 404:
            text = f"resource not found: {subnet_id}"
            return _Subnet("SubnetNotFound", text, retry=text)
        if answer.status != 200:
            message = str(((answer.body or {}).get("error") or {}).get("message") or answer.status)
            return _Subnet("SubnetUnknownError", f"unknown error getting subnet: {message}", retry=message)
        return _FINE

    def _local_dns(self, nodeclass: Object, status: dict[str, Any], conditions: Conditions) -> None:
        mode = (spec_of(nodeclass).get("localDNS") or {}).get("mode")
        enabled = mode == "Required"
        if mode == "Preferred":
            version = Version.find(status["kubernetesVersion"]) or Version(0)
            enabled = status.get("localDNSState") == "Enabled" or version.reaches(
                self._release.local_dns_preferred_from
            )
        status["localDNSState"] = "Enabled" if enabled else "Disabled"
        conditions.set_true("LocalDNSReady")


def _vnet(subnet: Subnet) -> tuple[str, ...]:
    return (subnet.subscription.lower(), subnet.resource_group.lower(), subnet.vnet.lower())
