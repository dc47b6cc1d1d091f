"""What the provider writes on an AKSNodeClass: Kubernetes version, images, subnet, LocalDNS, readiness, hash.

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
from harness.karpenter.lifecycle.nodeclasses.maintenance import WindowError, is_open
from harness.karpenter.lifecycle.nodeclasses.node_images import NodeImages, kept
from harness.karpenter.releases import LocalDnsSource, ProviderOptions, ProviderRelease
from harness.kube.api.objects import Object, annotations_of, finalizers_of, is_terminating, name_of, spec_of, status_of
from harness.kube.api.patch import merge_diff
from harness.kube.api.versions import Version

FINALIZER = "karpenter.azure.com/termination"
_REFRESH = 180.0
_VERSION_TTL = 900.0
_NO_SIG = (
    "FIPS images require UseSIG to be enabled, but UseSIG is false (note: UseSIG is only supported in AKS managed NAP)"
)


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
        self._node_images = NodeImages(self._clock, cloud, release=release, options=options, region=region)

    def upgraded(self, kubernetes: str) -> None:
        """The API server runs another version, which the provider notices when it reads the version again (within 15 minutes)."""
        self._server = kubernetes

    def _version(self, nodeclass: Object) -> str:
        """The Kubernetes version of new nodes: the API server's as last read, never older than the one before (kubernetesversion.go)."""
        if self._clock.seconds - self._read_at >= _VERSION_TTL:
            self._kubernetes, self._read_at = self._server, self._clock.seconds
        known = str(status_of(nodeclass).get("kubernetesVersion") or "")
        before, now = Version.find(known), Version.find(self._kubernetes)
        return known if before is not None and now is not None and before > now else self._kubernetes

    def watches(self) -> Mapping[str, Router]:
        """AKSNodeClasses, and deleted NodeClaims, for which an AKSNodeClass may be waiting."""
        return {"AKSNodeClass": key_by_name, "NodeClaim": self._of_claim}

    @of_types(ChangeType.DELETED)
    def _of_claim(self, change: Change) -> Iterable[Hashable]:
        ref = spec_of(change.object).get("nodeClassRef") or {}
        return (str(ref.get("name")),) if ref.get("kind") == "AKSNodeClass" else ()

    def reconcile(self, key: Hashable) -> Result:
        """Resolves one NodeClass, or removes the finalizer of a deleted one once no NodeClaim uses it."""
        nodeclass = self._view.get("AKSNodeClass", str(key))
        if nodeclass is None:
            return DONE
        if is_terminating(nodeclass):
            return self._finalize(nodeclass)
        if FINALIZER not in finalizers_of(nodeclass):
            nodeclass = self._writer.patch(
                "AKSNodeClass", name_of(nodeclass), {"metadata": {"finalizers": [*finalizers_of(nodeclass), FINALIZER]}}
            )
        nodeclass = self._hashed(nodeclass)
        needed = self._release.nodeclass_conditions
        conditions = Conditions(nodeclass, needed, self._clock.timestamp())
        status: dict[str, Any] = dict(status_of(nodeclass))
        known, status["kubernetesVersion"] = status.get("kubernetesVersion"), self._version(nodeclass)
        conditions.set_true("KubernetesVersionReady")
        understood = self._images(nodeclass, status, conditions, upgraded=known != status["kubernetesVersion"])
        problem = self._subnet(nodeclass, conditions) if "SubnetsReady" in needed else None
        if "ValidationSucceeded" in needed:
            conditions.set_true("ValidationSucceeded")
        if self._release.local_dns is LocalDnsSource.STATUS:
            self._local_dns(nodeclass, status, conditions)
        status["conditions"] = conditions.items
        patch = merge_diff(status_of(nodeclass), status)
        if patch:
            self._writer.patch("AKSNodeClass", name_of(nodeclass), {"status": patch}, subresource="status")
        if problem is not None:
            raise ReconcileError(problem)
        # what cannot be understood stays so until somebody changes it: nothing that a world has to wait for
        return Result(_REFRESH if understood else self.backoff[1], Wait.ALARM)

    def _hashed(self, nodeclass: Object) -> Object:
        """Writes the hash by which drift is detected.

        NodeClaims with another hash version are not simulated (nodeclass/hash/controller.go).
        """
        spec, known = spec_of(nodeclass), self._hashes.get(name_of(nodeclass))
        if known is None or known[0] is not spec:
            known = spec, nodeclass_hash(nodeclass, self._release.nodeclass_hash_fields)
            self._hashes[name_of(nodeclass)] = known
        marks = {
            NODE_CLASS_HASH: known[1],
            NODE_CLASS_HASH_VERSION: self._release.nodeclass_hash_version,
        }
        if marks.items() <= annotations_of(nodeclass).items():
            return nodeclass
        return self._writer.patch("AKSNodeClass", name_of(nodeclass), {"metadata": {"annotations": marks}})

    def _finalize(self, nodeclass: Object) -> Result:
        using = [
            claim
            for claim in self._view.list("NodeClaim")
            if (spec_of(claim).get("nodeClassRef") or {}).get("name") == name_of(nodeclass)
        ]
        if using:
            return Result(600.0, Wait.ALARM)
        kept = [each for each in finalizers_of(nodeclass) if each != FINALIZER]
        self._writer.patch("AKSNodeClass", name_of(nodeclass), {"metadata": {"finalizers": kept or None}})
        return DONE

    def _images(self, nodeclass: Object, status: dict[str, Any], conditions: Conditions, *, upgraded: bool) -> bool:
        """Brings the images up to date, if it is time to. False where nobody can tell whether it is."""
        spec = spec_of(nodeclass)
        if self._release.asks_fips(spec) and not self._options.use_sig:
            status.pop("images", None)
            conditions.set_false("ImagesReady", "SIGRequiredForFIPS", _NO_SIG)
            return True
        goal = self._node_images.newest(spec, status["kubernetesVersion"])
        if conditions.is_true("ImagesReady") and not upgraded:
            try:
                if not is_open(self._view, self._clock, self._release):
                    goal = kept(status.get("images") or (), goal)
            except WindowError as error:
                self._sink.log("error", self.name, "Reconciler error", error=f"checking maintenance window, {error}")
                return False
        if not goal:
            status.pop("images", None)
            conditions.set_false("ImagesReady", "ImagesNotFound", "ImageSelectors did not match any Images")
            return True
        status["images"] = list(goal)
        conditions.set_true("ImagesReady")
        return True

    def _subnet(self, nodeclass: Object, conditions: Conditions) -> str | None:
        """Checks the subnet. Returns what to retry on."""
        own = spec_of(nodeclass).get("vnetSubnetID")
        subnet_id = own or self._options.subnet_id
        subnet, cluster = Subnet.read(subnet_id), Subnet.read(self._options.subnet_id)
        if subnet is None:
            conditions.set_false("SubnetsReady", "SubnetIDInvalid", f"Failed to parse vnetSubnetID {subnet_id}")
            return None
        if cluster is not None and subnet_id != self._options.subnet_id:
            same = _vnet(subnet) == _vnet(cluster)
            managed = cluster.managed_by_aks(self._options.node_resource_group)
            if same and managed and self._release.managed_subnets_refused:
                text = f"custom subnet cannot be in the same VNet as cluster managed VNet: {subnet_id}"
                conditions.set_false("SubnetsReady", "SubnetIDInvalid", text)
                return None
            if not same:
                text = (
                    "vnetSubnetID does not match the cluster subscription, resource group, or virtual network: "
                    f"{subnet_id}"
                )
                conditions.set_false("SubnetsReady", "SubnetIDInvalid", text)
                return None
        answer = self._cloud.request("GET", subnet_id, query={"api-version": "2022-01-01"})
        if answer.status == 404:
            conditions.set_false("SubnetsReady", "SubnetNotFound", f"resource not found: {subnet_id}")
            return f"resource not found: {subnet_id}"
        if answer.status != 200:
            message = str(((answer.body or {}).get("error") or {}).get("message") or answer.status)
            conditions.set_false("SubnetsReady", "SubnetUnknownError", f"unknown error getting subnet: {message}")
            return message
        conditions.set_true("SubnetsReady")
        return None

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
