"""What Azure's provider calls drift, check by check and release by release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from harness.karpenter.lifecycle.instance_provider import CloudProviderError
from harness.karpenter.provider.drift import ProviderDrift
from harness.karpenter.releases import ProviderOptions, provider

GROUP = "karpenter.azure.com"
HASH, HASH_VERSION = f"{GROUP}/aksnodeclass-hash", f"{GROUP}/aksnodeclass-hash-version"
IDENTITY = "kubernetes.azure.com/kubelet-identity-client-id"
GALLERY = (
    "/subscriptions/s/resourceGroups/AKS-Ubuntu/providers/Microsoft.Compute/galleries/AKSUbuntu/images/2404/versions/"
)
COMMUNITY = "/CommunityGalleries/AKSUbuntu-1/images/2404/versions/"
OPTIONS = replace(ProviderOptions(), kubelet_identity_client_id="mine", subnet_id="/default")
Json = dict[str, Any]


@dataclass
class Cluster:
    """One NodeClaim that is as its AKSNodeClass wants it; tests change what they are about."""

    nodeclass: Json | None = field(
        default_factory=lambda: {
            "metadata": {"name": "default", "generation": 3, "annotations": {HASH: "1", HASH_VERSION: "v3"}},
            "spec": {},
            "status": {
                "kubernetesVersion": "1.34.0",
                "images": [{"id": GALLERY + "2"}, {"id": COMMUNITY + "2"}],
                "conditions": [
                    {"type": kind, "status": "True", "observedGeneration": 3}
                    for kind in ("ImagesReady", "KubernetesVersionReady")
                ],
            },
        }
    )
    claim: Json = field(
        default_factory=lambda: {
            "metadata": {
                "name": "claim",
                "labels": {"karpenter.sh/nodepool": "pool"},
                "annotations": {HASH: "1", HASH_VERSION: "v3"},
            },
            "spec": {},
            "status": {"providerID": "azure:///vm", "imageID": GALLERY + "2"},
        }
    )
    nodes: list[Json] = field(
        default_factory=lambda: [
            {
                "metadata": {"name": "node", "labels": {IDENTITY: "mine"}},
                "spec": {"providerID": "azure:///vm"},
                "status": {"nodeInfo": {"kubeletVersion": "v1.34.0"}},
            }
        ]
    )
    images: Mapping[str, str | None] = field(default_factory=dict)
    subnets: Mapping[str, str] = field(default_factory=dict)
    actions: Mapping[str, str] = field(default_factory=lambda: {"machine": ""})
    events: list[tuple[str, str]] = field(default_factory=list)
    ref: Json | None = field(default_factory=lambda: {"group": GROUP, "kind": "AKSNodeClass", "name": "default"})

    def get(self, kind: str, name: str) -> Json | None:
        if kind == "AKSNodeClass":
            return self.nodeclass if name == "default" else None
        pool = {"metadata": {"name": "pool"}, "spec": {"template": {"spec": {"nodeClassRef": self.ref}}}}
        return pool if name == "pool" else None

    def indexed(self, index: str, value: str) -> Sequence[Json]:
        return [each for each in self.nodes if each["spec"]["providerID"] == value]

    def event(self, obj: Mapping[str, Any], type: str, reason: str, message: str) -> None:
        self.events.append((reason, message))

    def drift_action(self, machine: str) -> str:
        return self.actions[machine]

    def image(self, claim: Mapping[str, Any]) -> str | None:
        if not self.images:
            raise CloudProviderError("no VM")
        return self.images["claim"]

    def subnet(self, claim: Mapping[str, Any]) -> str | None:
        return self.subnets.get("claim")

    def status(self) -> Json:
        assert self.nodeclass is not None
        found: Json = self.nodeclass["status"]
        return found

    def as_machine(self, image: str) -> Cluster:
        self.claim["metadata"]["annotations"][f"{GROUP}/aks-machine-resource-id"] = "/subscriptions/s/machines/machine"
        self.claim["status"]["imageID"] = image
        return self

    def reason(self, release: str = "1.14.0") -> str:
        return ProviderDrift(self, self, self, OPTIONS, provider(release)).reason(self.claim)

    def error(self, release: str = "1.14.0") -> str:
        with pytest.raises(CloudProviderError) as raised:
            self.reason(release)
        return str(raised.value)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def test_a_node_that_is_as_wanted_has_not_drifted(cluster: Cluster) -> None:
    assert cluster.reason() == ""


def test_the_first_reason_counts(cluster: Cluster) -> None:
    cluster.claim["metadata"]["annotations"][HASH] = "2"
    cluster.nodes[0]["status"]["nodeInfo"]["kubeletVersion"] = "v1.33.0"
    cluster.claim["status"]["imageID"] = GALLERY + "1"
    assert cluster.reason() == "NodeClassDrift"
    cluster.claim["metadata"]["annotations"][HASH] = "1"
    assert cluster.reason() == "K8sVersionDrift"
    cluster.nodes[0]["status"]["nodeInfo"]["kubeletVersion"] = "1.34.0"
    assert cluster.reason() == "ImageDrift"
    cluster.nodes[0]["metadata"]["labels"][IDENTITY] = "another"
    assert cluster.reason() == "KubeletIdentityDrift"


def test_hashes_of_two_versions_are_not_compared(cluster: Cluster) -> None:
    cluster.claim["metadata"]["annotations"] |= {HASH: "2", HASH_VERSION: "v2"}
    assert cluster.reason() == ""


def test_a_node_without_the_label_of_the_identity_has_not_drifted(cluster: Cluster) -> None:
    cluster.nodes[0]["metadata"]["labels"] = {}
    assert cluster.reason() == ""


@pytest.mark.parametrize("change", [{"status": "False"}, {"status": "Unknown"}, {"observedGeneration": 2}])
def test_what_is_not_ready_or_about_an_older_generation_is_not_compared(cluster: Cluster, change: Json) -> None:
    cluster.status().update(kubernetesVersion="1.35.0", images=[])
    images, version = cluster.status()["conditions"]
    images |= change
    assert cluster.reason() == "K8sVersionDrift"
    version |= change
    assert cluster.reason() == ""


def test_a_condition_that_names_no_generation_is_about_none(cluster: Cluster) -> None:
    """Go reads 0 (kaz pkg/apis/v1beta1/aksnodeclass_status.go), and generations begin at 1."""
    assert cluster.nodeclass is not None
    cluster.nodeclass["metadata"]["generation"] = 1
    cluster.status().update(kubernetesVersion="1.35.0", images=[])
    for each in cluster.status()["conditions"]:
        del each["observedGeneration"]
    assert cluster.reason() == ""


def test_the_node_must_be_there_once_and_stay(cluster: Cluster) -> None:
    cluster.nodes[0]["status"]["nodeInfo"]["kubeletVersion"] = "v1.33.0"
    gone = {**cluster.nodes[0], "metadata": {"name": "node", "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert replace(cluster, nodes=[gone]).reason() == ""
    assert replace(cluster, nodes=[]).reason() == ""
    assert replace(cluster, nodes=cluster.nodes * 2).error() == "multiple found for provider id 'azure:///vm'"


def test_images_must_be_known_on_both_sides(cluster: Cluster) -> None:
    del cluster.claim["status"]["imageID"]
    assert cluster.error() == "no image ID found in nodeClaim status"
    cluster.status()["images"] = []
    assert cluster.error() == "no images exist for the given constraints"


def test_a_claim_without_provider_id_is_an_error_since_there_are_machines(cluster: Cluster) -> None:
    del cluster.claim["status"]["providerID"]
    assert cluster.error("1.7.2") == "nodeclaim claim is missing provider ID"
    cluster.claim["metadata"]["annotations"][HASH] = "2"
    assert cluster.reason("1.6.8") == "NodeClassDrift"


def test_machines_are_compared_by_the_name_of_the_image(cluster: Cluster) -> None:
    assert cluster.as_machine("AKSUbuntu-2404-2").reason() == ""
    assert cluster.as_machine("AKSUbuntu-2404-1").reason() == "ImageDrift"
    cluster.status()["images"] = [{"id": COMMUNITY + "2"}]  # has no name with AKS
    assert cluster.as_machine("AKSUbuntu-2404-2").reason() == "ImageDrift"


def test_the_identity_of_a_machine_is_not_compared(cluster: Cluster) -> None:
    cluster.nodes[0]["metadata"]["labels"][IDENTITY] = "another"
    assert cluster.as_machine("AKSUbuntu-2404-2").reason() == ""


@pytest.mark.parametrize(
    ("action", "reason"), [("", ""), ("Synced", ""), ("Recreate", "ClusterConfigDrift"), ("Else", "ClusterConfigDrift")]
)
def test_whatever_azure_wants_done_with_a_machine_is_drift(cluster: Cluster, action: str, reason: str) -> None:
    cluster.actions = {"machine": action}
    assert cluster.as_machine("AKSUbuntu-2404-2").reason() == reason


def test_without_nodepool_or_nodeclass_there_is_no_drift(cluster: Cluster) -> None:
    cluster.claim["metadata"]["annotations"][HASH] = "2"
    assert replace(cluster, nodeclass=None).reason() == ""
    assert cluster.events == [("NodeClassResolutionError", "Failed resolving NodeClass")]
    assert replace(cluster, ref={"name": "another"}).reason() == ""
    assert len(cluster.events) == 2
    assert replace(cluster, ref=None).reason() == ""
    cluster.claim["metadata"]["labels"] = {"karpenter.sh/nodepool": "gone"}
    assert cluster.reason() == ""
    assert len(cluster.events) == 2


def test_until_1_7_the_image_is_read_from_azure(cluster: Cluster) -> None:
    cluster.images = {"claim": GALLERY + "1"}
    assert cluster.reason("1.7.2") == cluster.reason("1.6.8") == "ImageDrift"
    assert cluster.reason("1.10.0") == ""
    cluster.images = {"claim": None}
    assert cluster.reason("1.7.2") == cluster.reason("1.6.8") == ""


def test_until_1_6_azure_is_asked_for_the_image_even_if_there_is_none_to_compare_with(cluster: Cluster) -> None:
    cluster.status()["conditions"][0]["status"] = "False"
    assert cluster.reason("1.7.2") == ""
    assert cluster.error("1.6.8") == "no VM"


def test_until_1_7_the_subnet_is_compared(cluster: Cluster) -> None:
    cluster.images = {"claim": GALLERY + "2"}
    assert cluster.reason("1.7.2") == ""  # no network interface
    cluster.subnets = {"claim": "/another"}
    assert cluster.reason("1.7.2") == "SubnetDrift"
    assert cluster.reason("1.10.0") == ""
    assert cluster.nodeclass is not None
    cluster.nodeclass["spec"]["vnetSubnetID"] = "/another"
    assert cluster.reason("1.7.2") == ""
    cluster.subnets = {"claim": ""}
    assert cluster.error("1.7.2") == "no subnet found for nic: aks-claim"
