"""A small client of the cloud under test: what a controller does, in one call each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fakeazure.arm.messages import Response
from fakeazure.beginning import SUBSCRIPTION
from fakeazure.catalog.images import GALLERIES, SNAPSHOT
from fakeazure.cloud import FakeAzure
from fakeazure.events import Event
from fakeazure.seed import subnet_id

COMPUTE, NETWORK, MACHINES = "2025-04-01", "2022-01-01", "2026-04-02-preview"
VERSIONS = {
    "compute": COMPUTE,
    "network": NETWORK,
    "containerservice": MACHINES,
    "resourcegraph": "2024-04-01",
    "managedidentity": "2024-11-30",
    "authorization": "2022-04-01",
    "features": "2021-07-01",
}
IMAGE = f"/CommunityGalleries/{GALLERIES['AKSUbuntu']}/images/2404gen2containerd/versions/{SNAPSHOT}"
TAGS = {"karpenter.sh_nodepool": "default", "karpenter.azure.com_cluster": "c"}


def record(
    name: str,
    family: str,
    vcpus: int,
    *,
    zones: tuple[str, ...] = ("1", "2", "3"),
    location: str = "eastus",
    **capabilities: str,
) -> dict[str, Any]:
    """A SKU record with the capabilities that a launch is judged by."""
    values = {
        "vCPUs": str(vcpus),
        "MemoryGB": str(vcpus * 4),
        "CpuArchitectureType": "x64",
        "HyperVGenerations": "V1,V2",
        "LowPriorityCapable": "True",
        "PremiumIO": "True",
        "EphemeralOSDiskSupported": "False",
        "EncryptionAtHostSupported": "True",
        **capabilities,
    }
    return {
        "resourceType": "virtualMachines",
        "name": name,
        "tier": "Standard",
        "size": name.removeprefix("Standard_"),
        "family": family,
        "locations": [location],
        "locationInfo": [{"location": location, "zones": list(zones), "zoneDetails": []}],
        "capabilities": [{"name": key, "value": value} for key, value in values.items()],
        "restrictions": [],
    }


class SmallRegion:
    """A region of a few sizes."""

    def __init__(self, name: str, zones: tuple[str, ...], skus: tuple[dict[str, Any], ...]) -> None:
        self.name = name
        self.zones = zones
        self.skus = skus
        self.by_name: Mapping[str, Mapping[str, Any]] = {sku["name"]: sku for sku in skus}
        self.prices: Mapping[str, float] = {sku["name"]: 0.1 * index for index, sku in enumerate(skus, 1)}
        self.spot_prices = self.prices


_DSV5, _ESV5 = "standardDSv5Family", "standardESv5Family"
SMALL = (
    record("Standard_D2s_v5", _DSV5, 2),
    record("Standard_D4s_v5", _DSV5, 4),
    record("Standard_E2s_v5", _ESV5, 2, zones=("1", "3"), LowPriorityCapable="False"),
    record("Standard_D2ps_v5", "standardDPSv5Family", 2, CpuArchitectureType="Arm64", HyperVGenerations="V2"),
    record("Standard_A2_v2", "standardAv2Family", 2, HyperVGenerations="V1", EncryptionAtHostSupported="False"),
    record("Standard_NC4as_T4_v3", "Standard NCASv3_T4", 4, GPUs="1", zones=("2",)),
    record(
        "Standard_D2ds_v5",
        "standardDDSv5Family",
        2,
        EphemeralOSDiskSupported="True",
        CachedDiskBytes="53687091200",
        MaxResourceVolumeMB="76800",
    ),
)


class SmallCatalogue:
    """Two regions: eastus with zones, westus without."""

    as_of = None

    def __init__(self) -> None:
        west = tuple(record(sku["name"], sku["family"], 2, zones=(), location="westus") for sku in SMALL[:2])
        self._regions = {
            "eastus": SmallRegion("eastus", ("1", "2", "3"), SMALL),
            "westus": SmallRegion("westus", (), west),
        }

    @property
    def regions(self) -> tuple[str, ...]:
        return tuple(self._regions)

    def zones(self, region: str) -> tuple[str, ...]:
        return self._regions[region].zones

    def region(self, name: str) -> SmallRegion:
        return self._regions[name]

    def unlisted(self, name: str) -> frozenset[str]:
        return frozenset()


CATALOGUE = SmallCatalogue()


# what Azure's SDKs take for success: others they raise as errors
_STATUSES: Mapping[str, tuple[int, ...]] = {
    "GET": (200,),
    "HEAD": (200, 204),
    "PUT": (200, 201, 202),
    "PATCH": (200, 202),
    "POST": (200, 202, 204),
    "DELETE": (200, 202, 204),
}


class Driver:
    """A cloud and a client that talks to it in process."""

    def __init__(self, azure: Mapping[str, Any] | None = None, **options: Any) -> None:
        self.cloud = FakeAzure(azure=azure or MappingProxyType({}), **{"catalogue": CATALOGUE, **options})
        self.events: list[Event] = []
        self.cloud.subscribe(self.events.append)

    def path(self, kind: str, name: str = "", *, group: str | None = None) -> str:
        names = self.cloud.state.settings
        head = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group or names.node_resource_group}/providers"
        return f"{head}/{kind}" + (f"/{name}" if name else "")

    def vm_path(self, name: str) -> str:
        return self.path("Microsoft.Compute/virtualMachines", name)

    def nic_path(self, name: str) -> str:
        return self.path("Microsoft.Network/networkInterfaces", name)

    def cluster_path(self) -> str:
        names = self.cloud.state.settings
        return self.path("Microsoft.ContainerService/managedClusters", names.cluster, group=names.resource_group)

    def pool_path(self, name: str = "aksmanagedap") -> str:
        return f"{self.cluster_path()}/agentPools/{name}"

    def call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, version: str | None = None, **query: str
    ) -> Response:
        """One call; without a version with one that its namespace has."""
        if version is None:
            namespace = path.lower().rpartition("/providers/microsoft.")[2].partition("/")[0]
            version = VERSIONS.get(namespace, "2021-04-01")
        answer = self.cloud.request(method, path, query={"api-version": version, **query}, body=body)
        assert answer.status >= 400 or answer.status in _STATUSES[method.upper()], (method, path, answer.status)
        return answer

    def nic_body(self, name: str, **properties: Any) -> dict[str, Any]:
        inner = {"primary": True, "privateIPAllocationMethod": "Dynamic", "subnet": {"id": subnet_id(self.cloud.state)}}
        return {
            "location": "eastus",
            "tags": TAGS,
            "properties": {"ipConfigurations": [{"name": name, "properties": inner}], **properties},
        }

    def put_nic(self, name: str, **properties: Any) -> Response:
        return self.call("PUT", self.nic_path(name), self.nic_body(name, **properties), NETWORK)

    def vm_body(
        self,
        name: str,
        *,
        size: str = "Standard_D2s_v5",
        zone: str = "1",
        priority: str = "Regular",
        location: str = "eastus",
        image: str = IMAGE,
        **properties: Any,
    ) -> dict[str, Any]:
        spot = {"evictionPolicy": "Delete", "billingProfile": {"maxPrice": -1}} if priority == "Spot" else {}
        inner: dict[str, Any] = {
            "hardwareProfile": {"vmSize": size},
            "priority": priority,
            "storageProfile": {
                "imageReference": {"communityGalleryImageId": image},
                "osDisk": {"name": name, "createOption": "FromImage", "deleteOption": "Delete", "diskSizeGB": 128},
            },
            "networkProfile": {
                "networkInterfaces": [
                    {"id": self.nic_path(name), "properties": {"primary": True, "deleteOption": "Delete"}}
                ]
            },
            "osProfile": {"adminUsername": "azureuser", "computerName": name, "customData": "IyEvYmluL2Jhc2g="},
            **spot,
            **properties,
        }
        body = {"name": name, "location": location, "tags": TAGS, "properties": inner}
        return {**body, "zones": [zone] if zone else []}

    def put_vm(self, name: str, **facts: Any) -> Response:
        """NIC, then VM, as Karpenter does."""
        nic = self.put_nic(name)
        assert nic.status in (200, 201), nic.body
        return self.call("PUT", self.vm_path(name), self.vm_body(name, **facts))

    def resize_vm(self, name: str, size: str) -> Response:
        return self.call("PATCH", self.vm_path(name), {"properties": {"hardwareProfile": {"vmSize": size}}})

    def get_vm(self, name: str, **query: str) -> Response:
        return self.call("GET", self.vm_path(name), None, COMPUTE, **query)

    def delete_vm(self, name: str) -> Response:
        return self.call("DELETE", self.vm_path(name), None, COMPUTE, forceDeletion="true")

    def poll(self, answer: Response, header: str = "Azure-AsyncOperation") -> Response:
        base = self.cloud.state.settings.base_url
        path, _, query = answer.headers[header].removeprefix(base).partition("?")
        return self.cloud.request("GET", path, query=dict(part.split("=") for part in query.split("&")))

    def usage(self, name: str, location: str = "eastus") -> tuple[int, int]:
        """(used, limit)."""
        path = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations/{location}/usages"
        body = self.call("GET", path).body
        assert body is not None
        item = next(item for item in body["value"] if item["name"]["value"] == name)
        return item["currentValue"], item["limit"]

    def skus(self, location: str = "eastus") -> dict[str, Mapping[str, Any]]:
        path = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/skus"
        body = self.call("GET", path, None, "2021-07-01", **{"$filter": f"location eq '{location}'"}).body
        assert body is not None
        return {item["name"]: item for item in body["value"] if item["resourceType"] == "virtualMachines"}


def error_of(answer: Response) -> tuple[int, str, str]:
    """(status, code, message) of a refusal."""
    assert answer.body is not None
    envelope = answer.body.get("error", answer.body)
    return answer.status, envelope["code"], envelope["message"]
