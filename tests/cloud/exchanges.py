"""Calls of every operation that is served, with all that a client reads of the answers: status, headers, body.

They are kept as text in `kept_answers/`, so that a change of an answer is seen in the diff of the commit that makes it. Write them anew:
`python -m tests.cloud.exchanges`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fakeazure.arm.messages import Response
from fakeazure.beginning import SUBSCRIPTION, TENANT
from fakeazure.routing import router
from fakeazure.transports.guard import Guard
from fakeazure.transports.wire import Front
from tests.cloud.aks_machine import PROFILE, machine_body
from tests.cloud.driver import MACHINES, NETWORK, VERSIONS, Driver
from tests.cloud.test_deployments import template
from tests.cloud.test_scale_sets import body as set_body

KEPT = Path(__file__).parent / "kept_answers"
SUB = f"/subscriptions/{SUBSCRIPTION}"
COMPUTE_, NETWORK_, IDENTITY_ = "Microsoft.Compute", "Microsoft.Network", "Microsoft.ManagedIdentity"
ROLE = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
GRANT = "grant_type=client_credentials"
SECRET = "the-secret-that-serve-printed"
PRINCIPAL = "11111111-2222-3333-4444-555555555555"


class Exchange:
    """A cloud that is asked, and what was said."""

    def __init__(self, azure: Mapping[str, Any] | None = None, **options: Any) -> None:
        """A small region, in which operations take their time."""
        self.driver = Driver(azure, **options)
        self.routes: set[tuple[str, str]] = set()
        self._front = Front(self.driver.cloud, wall=lambda: 1_800_000_000.0, guard=Guard(SECRET))
        self._said: list[str] = []

    def call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, version: str | None = None, **query: str
    ) -> Response:
        """One call, kept with its answer."""
        return self.kept(method, path, self.driver.call(method, path, body, version, **query))

    def kept(self, method: str, path: str, answer: Response, *, whole: bool = True) -> Response:
        """Keep an answer; without its body, if not `whole`."""
        match = router().find(method, path)
        if match is not None:
            self.routes.add((method, match.route.pattern))
        headers = "".join(f"\n  {name}: {value}" for name, value in answer.headers.items())
        content = answer.body if answer.array is None else answer.array
        shown = "" if content is None or not whole else "\n" + json.dumps(content, indent=1)
        self._said.append(f"{method} {path}\n{answer.status}{headers}{shown}".replace(SUBSCRIPTION, "{subscription}"))
        return answer

    def ended(self, answer: Response) -> None:
        """Poll a long-running operation: at once, and again when it has ended, at each address that there is."""
        headers = [name for name in ("Azure-AsyncOperation", "Location") if name in answer.headers]
        for seconds in (0, 600):
            self.driver.cloud.advance(seconds)
            for header in headers:
                path = answer.headers[header].removeprefix(self.driver.cloud.state.settings.base_url).partition("?")[0]
                self.kept("GET", path, self.driver.poll(answer, header))

    def wire(self, method: str, target: str, raw: str = "", **headers: str) -> None:
        """One HTTP request, kept with its reply; `_` in the name of a header stands for `-`."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        reply = self._front.handle(method, target, sent, raw.encode(), origin="https://fake:8443")
        told = "".join(f"\n  {name}: {value}" for name, value in reply.headers.items())
        body = reply.body.decode()
        if body and "json" in reply.headers["Content-Type"]:
            body = json.dumps(json.loads(body), indent=1)
        self._said.append(f"{method} {target}\n{reply.status}{told}\n{body}".replace(SUBSCRIPTION, "{subscription}"))

    def text(self) -> str:
        """All that was said."""
        return "\n\n".join(self._said) + "\n"


def life(exchange: Exchange, path: str, body: Mapping[str, Any], *, changed: Mapping[str, Any] | None = None) -> None:
    """A resource is made, put again, read, changed and listed."""
    exchange.ended(exchange.call("PUT", path, body))
    exchange.ended(exchange.call("PUT", path, body))
    exchange.call("GET", path)
    exchange.ended(exchange.call("PATCH", path, {"tags": {"changed": "yes"}} if changed is None else changed))
    listed(exchange, path.rpartition("/")[0])


def listed(exchange: Exchange, path: str) -> None:
    """A list of a resource group, and of the subscription where the resource is nested in no other."""
    exchange.call("GET", path)
    head, _, kind = path.rpartition("/providers/")
    if kind.count("/") == 1 and "/resourceGroups/" in head:
        exchange.call("GET", f"{SUB}/providers/{kind}")


def gone(exchange: Exchange, path: str) -> None:
    """A resource is deleted, and then it is not there."""
    exchange.ended(exchange.call("DELETE", path))
    exchange.call("GET", path)


def _plain(kind: str, **more: Any) -> Callable[[Exchange], None]:
    def exchanged(exchange: Exchange) -> None:
        path = exchange.driver.path(kind, "one")
        life(exchange, path, {"location": "eastus", "tags": {"a": "b"}, **more})
        gone(exchange, path)

    return exchanged


def availability_sets(exchange: Exchange) -> None:
    """An availability set, and the sizes that go into it."""
    _plain(f"{COMPUTE_}/availabilitySets", sku={"name": "Aligned"})(exchange)
    path = exchange.driver.path(f"{COMPUTE_}/availabilitySets", "two")
    exchange.call("PUT", path, {"location": "westus"})
    exchange.call("GET", f"{path}/vmSizes")


def galleries(exchange: Exchange) -> None:
    """A gallery of one's own, with an image and its version."""
    path = exchange.driver.path(f"{COMPUTE_}/galleries", "one")
    parts = [path, f"{path}/images/two", f"{path}/images/two/versions/1.0.0"]
    for part in parts:
        life(exchange, part, {"location": "eastus", "properties": {"description": "of ours"}})
    for part in reversed(parts):
        gone(exchange, part)


def reservations(exchange: Exchange) -> None:
    """A group of capacity reservations: empty, with a VM in it, and empty again."""
    driver = exchange.driver
    path = driver.path(f"{COMPUTE_}/capacityReservationGroups", "one")
    member = f"{path}/capacityReservations/two"
    life(exchange, path, {"location": "eastus", "zones": ["1"]})
    body = {"location": "eastus", "zones": ["1"], "sku": {"name": "Standard_D2s_v5", "capacity": 2}}
    life(exchange, member, body, changed={"sku": {"capacity": 3}})
    driver.put_vm("aks-a", capacityReservation={"capacityReservationGroup": {"id": path}})
    driver.put_vm("aks-b")
    for one in (path, member):
        exchange.call("GET", one, None, None, **{"$expand": "instanceView"})
        exchange.call("GET", one)
        gone(exchange, one)
    driver.delete_vm("aks-a")
    driver.cloud.advance(600)
    exchange.call("PATCH", member, {"sku": {"capacity": 0}})
    gone(exchange, member)
    gone(exchange, path)


def disks(exchange: Exchange) -> None:
    """A disk and a snapshot of it."""
    disk, copy = (exchange.driver.path(f"{COMPUTE_}/{kind}", "one") for kind in ("disks", "snapshots"))
    empty = {"creationData": {"createOption": "Empty"}, "diskSizeGB": 200}
    life(exchange, disk, {"location": "eastus", "sku": {"name": "Premium_LRS"}, "properties": empty})
    copied = {"creationData": {"createOption": "Copy", "sourceResourceId": disk}}
    life(exchange, copy, {"location": "eastus", "properties": copied})
    for path in (disk, copy):
        exchange.call("POST", f"{path}/beginGetAccess", {"access": "Read"})
        exchange.ended(exchange.call("POST", f"{path}/beginGetAccess", {"access": "Read", "durationInSeconds": 60}))
        exchange.call("DELETE", path)
        exchange.ended(exchange.call("POST", f"{path}/endGetAccess"))
    gone(exchange, copy)
    gone(exchange, disk)


def keys(exchange: Exchange) -> None:
    """A pair of SSH keys."""
    path = exchange.driver.path(f"{COMPUTE_}/sshPublicKeys", "one")
    life(exchange, path, {"location": "eastus"})
    exchange.call("POST", f"{path}/generateKeyPair")
    exchange.call("PUT", path, {"location": "eastus", "properties": {"publicKey": "nonsense"}})
    gone(exchange, path)


def sizes(exchange: Exchange) -> None:
    """Sizes, what is used of them and what they cost."""
    place = f"{SUB}/providers/{COMPUTE_}"
    exchange.call("GET", f"{place}/skus", None, "2021-07-01", **{"$filter": "location eq 'westus'"})
    exchange.call("GET", f"{place}/locations/westus/vmSizes")
    exchange.driver.put_vm("aks-a", size="Standard_D2ds_v5")
    for name in (COMPUTE_, NETWORK_):
        exchange.call("GET", f"{SUB}/providers/{name}/locations/eastus/usages")
    exchange.call("GET", f"{place}/locations/eastus/placementScores/spot", None, "2025-06-05")
    wanted = {
        "desiredLocations": ["eastus", "westus"],
        "desiredSizes": [{"sku": "Standard_D2s_v5"}, {"sku": "Standard_E2s_v5"}],
        "desiredCount": 5,
        "availabilityZones": True,
    }
    exchange.call("POST", f"{place}/locations/eastus/placementScores/spot/generate", wanted, "2025-06-05")
    exchange.call("GET", "/api/retail/prices", None, None, **{"$filter": "armRegionName eq 'westus'"})


def images(exchange: Exchange) -> None:
    """Images of AKS's community galleries and of the marketplace."""
    places = f"{SUB}/providers/{COMPUTE_}/locations/eastus"
    gallery = f"{places}/communityGalleries/AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2"
    image = f"{gallery}/images/2404gen2containerd"
    versions = exchange.call("GET", f"{image}/versions", None, "2022-03-03").body or {}
    for path in (gallery, image, f"{image}/versions/{versions['value'][0]['name']}", f"{image}/versions/1.2.3"):
        exchange.call("GET", path, None, "2022-03-03")
    exchange.call("GET", f"{gallery}/images", None, "2022-03-03")
    path = f"{places}/publishers"
    for below in ("Canonical/artifacttypes/vmimage/offers", "ubuntu-24_04-lts/skus", "server/versions"):
        exchange.call("GET", path)
        path = f"{path}/{below}"
    exchange.call("GET", path, None, None, **{"$orderby": "name desc", "$top": "1"})
    exchange.call("GET", f"{path}/latest")
    exchange.call("GET", f"{places}/publishers/nobody/artifacttypes/vmimage/offers")
    types = f"{places}/publishers/Microsoft.Azure.Extensions/artifacttypes/vmextension/types"
    for below in (
        "",
        "/customScript/versions",
        "/customScript/versions/2.1.13",
        "/customScript/versions/1",
        "/none/versions",
    ):
        exchange.call("GET", f"{types}{below}")


def machine(exchange: Exchange) -> None:
    """A VM: made, read, tagged, switched off and on, evicted, deleted."""
    driver = exchange.driver
    nic, path = driver.nic_path("aks-a"), driver.vm_path("aks-a")
    life(exchange, nic, driver.nic_body("aks-a"))
    body = driver.vm_body("aks-a", priority="Spot", diagnosticsProfile={"bootDiagnostics": {"enabled": True}})
    body["properties"]["storageProfile"]["dataDisks"] = [{"lun": 0, "createOption": "Empty", "diskSizeGB": 4}]
    life(exchange, path, body)
    exchange.call("GET", path, None, None, **{"$expand": "instanceView"})
    exchange.call("GET", f"{path}/instanceView")
    exchange.call("GET", f"{path}/vmSizes")
    exchange.call("GET", f"{SUB}/providers/{COMPUTE_}/locations/eastus/virtualMachines")
    listed(exchange, path.rpartition("/")[0])
    exchange.call("GET", f"{SUB}/providers/{COMPUTE_}/virtualMachines", statusOnly="true")
    exchange.call("POST", f"{path}/retrieveBootDiagnosticsData")
    exchange.ended(exchange.call("POST", f"{path}/runCommand", {"commandId": "RunShellScript"}))
    for action in ("restart", "redeploy", "reimage", "powerOff", "restart", "start", "deallocate"):
        exchange.ended(exchange.call("POST", f"{path}/{action}"))
        exchange.call("GET", f"{path}/instanceView")
    exchange.ended(exchange.call("POST", f"{path}/start"))
    extensions = {"publisher": "p", "type": "t", "typeHandlerVersion": "1.0", "protectedSettings": {"secret": "s"}}
    life(exchange, f"{path}/extensions/e", {"location": "eastus", "properties": extensions})
    gone(exchange, f"{path}/extensions/e")
    for action in ("reapply", "performMaintenance", "assessPatches", "installPatches"):
        exchange.ended(exchange.call("POST", f"{path}/{action}"))
    for action in ("capture", "convertToManagedDisks", "generalize"):
        exchange.call("POST", f"{path}/{action}")
    for action in ("effectiveRouteTable", "effectiveNetworkSecurityGroups"):
        exchange.ended(exchange.call("POST", f"{nic}/{action}"))
    disk = driver.path(f"{COMPUTE_}/disks", "more")
    empty = {"creationData": {"createOption": "Empty"}, "diskSizeGB": 8}
    driver.call("PUT", disk, {"location": "eastus", "properties": empty})
    driver.cloud.advance(600)
    for part in ({"dataDisksToAttach": [{"diskId": disk}]}, {"dataDisksToDetach": [{"diskId": disk}]}):
        for _ in range(2):
            exchange.ended(exchange.call("POST", f"{path}/attachDetachDataDisks", part))
    exchange.call("POST", f"{path}/simulateEviction")
    driver.cloud.advance(600)
    exchange.call("GET", path)
    driver.put_vm("aks-b")
    gone(exchange, driver.vm_path("aks-b"))
    exchange.call("GET", driver.nic_path("aks-b"))
    driver.put_nic("aks-c")
    gone(exchange, driver.nic_path("aks-c"))


def own_images(exchange: Exchange) -> None:
    """A VM that is generalized, the image of it, and a VM of the image."""
    driver = exchange.driver
    driver.put_vm("aks-a")
    driver.cloud.advance(600)
    path, image = driver.vm_path("aks-a"), driver.path(f"{COMPUTE_}/images", "one")
    source = {"location": "eastus", "properties": {"sourceVirtualMachine": {"id": path}, "hyperVGeneration": "V2"}}
    exchange.call("PUT", image, source)
    driver.call("POST", f"{path}/deallocate")
    driver.cloud.advance(600)
    exchange.call("POST", f"{path}/generalize")
    exchange.call("POST", f"{path}/start")
    exchange.call("GET", f"{path}/instanceView")
    life(exchange, image, source)
    driver.put_nic("aks-b")
    body = driver.vm_body("aks-b")
    body["properties"]["storageProfile"]["imageReference"] = {"id": image}
    exchange.ended(exchange.call("PUT", driver.vm_path("aks-b"), body))
    gone(exchange, image)


def scale_sets(exchange: Exchange) -> None:
    """A scale set of either mode, its instances, and what can be done to one or to all."""
    driver = exchange.driver
    for mode in ("Uniform", "Flexible"):
        path = driver.path(f"{COMPUTE_}/virtualMachineScaleSets", mode.lower())
        life(exchange, path, set_body(driver, 2, orchestrationMode=mode), changed={"sku": {"capacity": 3}})
        exchange.call("GET", f"{path}/instanceView")
        exchange.call("GET", f"{path}/skus")
        exchange.call("GET", f"{path}/virtualMachines")
    path = driver.path(f"{COMPUTE_}/virtualMachineScaleSets", "uniform")
    one = f"{path}/virtualMachines/1"
    exchange.call("GET", one)
    scale_set_networks(exchange)
    exchange.call("GET", f"{path}/rollingUpgrades/latest")
    rolling = exchange.call("POST", f"{path}/osRollingUpgrade")
    exchange.call("GET", f"{path}/rollingUpgrades/latest")
    exchange.ended(rolling)
    for _ in range(2):
        exchange.call("POST", f"{path}/rollingUpgrades/cancel")
        exchange.call("POST", f"{path}/osRollingUpgrade")
    exchange.ended(exchange.call("POST", f"{path}/manualupgrade", {"instanceIds": ["*"]}))
    disk = {"lun": 0, "name": "data", "createOption": "Empty", "diskSizeGB": 4}
    exchange.ended(exchange.call("PUT", one, {"properties": {"storageProfile": {"dataDisks": [disk]}}}))
    exchange.ended(exchange.call("PATCH", one, {"tags": {"a": "b"}}))
    data = driver.path(f"{COMPUTE_}/disks", "data")
    for _ in range(2):
        exchange.ended(exchange.call("POST", f"{one}/attachDetachDataDisks", {"dataDisksToDetach": [{"diskId": data}]}))
    for action in ("restart", "redeploy", "reimage", "powerOff", "start", "deallocate"):
        for of in (path, one):
            exchange.ended(exchange.call("POST", f"{of}/{action}"))
        exchange.call("GET", f"{one}/instanceView")
    exchange.ended(exchange.call("DELETE", one))
    exchange.ended(exchange.call("POST", f"{path}/delete", {"instanceIds": ["0", "9"]}))
    exchange.ended(exchange.call("POST", f"{path}/delete", {"instanceIds": ["0"]}))
    exchange.call("GET", f"{path}/virtualMachines")
    gone(exchange, path)


def scale_set_networks(exchange: Exchange) -> None:
    """The interfaces and public addresses of a set's instances."""
    driver, version = exchange.driver, "2018-10-01"
    path = driver.path(f"{COMPUTE_}/virtualMachineScaleSets", "public")
    body = set_body(driver, 1, zones=["1"])
    nic = body["properties"]["virtualMachineProfile"]["networkProfile"]["networkInterfaceConfigurations"][0]
    nic["properties"]["ipConfigurations"][0]["properties"]["publicIPAddressConfiguration"] = {"name": "pub"}
    driver.call("PUT", path, body)
    instance = f"{path}/virtualMachines/0"
    for scope in (path, instance):
        exchange.call("GET", f"{scope}/networkInterfaces", None, version)
    exchange.call("GET", f"{path}/publicipaddresses", None, version)
    name = nic["name"]
    configurations = f"{instance}/networkInterfaces/{name}/ipConfigurations"
    inner = nic["properties"]["ipConfigurations"][0]["name"]
    for below in ("", f"/{inner}", "/none", f"/{inner}/publicipaddresses", f"/{inner}/publicipaddresses/pub"):
        exchange.call("GET", f"{configurations}{below}", None, version)
    for one in (name, "none"):
        exchange.call("GET", f"{instance}/networkInterfaces/{one}", None, version)


def clusters(exchange: Exchange) -> None:
    """Managed clusters, their pools and versions."""
    driver = exchange.driver
    path = driver.path("Microsoft.ContainerService/managedClusters", "new", group="rg")
    pools = [{"name": "system", "count": 1, "vmSize": "Standard_D2s_v5"}]
    body = {"location": "eastus", "properties": {"agentPoolProfiles": pools, "kubernetesVersion": "1.33"}}
    life(exchange, path, body)
    exchange.call("GET", f"{path}/upgradeProfiles/default")
    exchange.call("GET", f"{path}/availableAgentPoolVersions")
    exchange.call("GET", f"{path}/agentPools/system/upgradeProfiles/default")
    pool = f"{path}/agentPools/second"
    for mode in ("User", "System"):
        wanted = {"mode": mode, "count": 1, "vmSize": "Standard_D2s_v5"}
        exchange.ended(exchange.call("PUT", pool, {"properties": wanted}))
    exchange.call("GET", pool)
    exchange.call("GET", f"{path}/agentPools")
    exchange.call("GET", f"{pool}/machines")
    exchange.ended(exchange.call("POST", f"{pool}/upgradeNodeImageVersion"))
    for one in (path, pool):
        exchange.call("POST", f"{one}/abort")
    exchange.call("PUT", pool, {"properties": {**wanted, "count": 2}})
    exchange.ended(exchange.call("POST", f"{pool}/abort"))
    snapshot = driver.path("Microsoft.ContainerService/snapshots", "one", group="rg")
    life(exchange, snapshot, {"location": "eastus", "properties": {"creationData": {"sourceResourceId": pool}}})
    gone(exchange, snapshot)
    snapshot = driver.path("Microsoft.ContainerService/managedclustersnapshots", "one", group="rg")
    life(exchange, snapshot, {"location": "eastus", "properties": {"creationData": {"sourceResourceId": path}}})
    gone(exchange, snapshot)
    for kind in ("maintenanceConfigurations", "trustedAccessRoleBindings"):
        body = {"properties": {"roles": ["a"]}}
        life(exchange, f"{path}/{kind}/default", body, changed=body)
        gone(exchange, f"{path}/{kind}/default")
    gone(exchange, pool)
    for action in ("rotateClusterCertificates", "rotateServiceAccountSigningKeys"):
        exchange.ended(exchange.call("POST", f"{path}/{action}"))
    exchange.call("POST", f"{path}/runCommand", {})
    exchange.ended(exchange.call("POST", f"{path}/runCommand", {"command": "kubectl get nodes"}))
    for action in ("stop", "start"):
        exchange.ended(exchange.call("POST", f"{path}/{action}"))
    for action in ("listClusterAdminCredential", "listClusterMonitoringUserCredential", "listClusterUserCredential"):
        exchange.call("POST", f"{path}/{action}")
    helper = {"skuCPU": 2, "skuMemory": 8}
    asked = driver.cloud.request(
        "GET", f"{path}/nodeBootstrapping", body={"provisionProfile": PROFILE, "provisionHelperValues": helper}
    )
    exchange.kept("GET", f"{path}/nodeBootstrapping", asked)
    for kind in (
        "kubernetesVersions",
        "nodeImageVersions",
        "orchestrators",
        "meshRevisionProfiles",
        "trustedAccessRoles",
    ):
        exchange.call("GET", f"{SUB}/providers/Microsoft.ContainerService/locations/eastus/{kind}")
    gone(exchange, path)


def machines(exchange: Exchange) -> None:
    """AKS machines: one, two of a batch, one that is put again."""
    pool = exchange.driver.pool_path()
    path = f"{pool}/machines/one"
    for _ in range(2):
        exchange.ended(exchange.call("PUT", path, machine_body(), MACHINES))
    exchange.call("PUT", path, machine_body("Standard_D4s_v5"), MACHINES)
    entries = [{"machineName": name, "zones": ["1"], "tags": {"of": name}} for name in ("two", "three")]
    for header in ({"batchMachines": entries}, {"batchMachines": "two"}, {"batchMachines": ["two"]}, {}):
        sent = {"BatchPutMachine": json.dumps(header)}
        query = {"api-version": MACHINES}
        answer = exchange.driver.cloud.request("PUT", path, query=query, body=machine_body(), headers=sent)
        exchange.ended(exchange.kept("PUT", path, answer))
    exchange.call("GET", path, None, MACHINES)
    exchange.call("GET", f"{pool}/machines", None, MACHINES)
    exchange.ended(exchange.call("POST", f"{pool}/deleteMachines", {"machineNames": ["one", "nine"]}, MACHINES))
    exchange.call("GET", path, None, MACHINES)
    exchange.call("POST", f"{pool}/deleteMachines", {"machineNames": ["nine"]}, MACHINES)
    exchange.call("GET", f"{pool}/machines", None, MACHINES)


def networks(exchange: Exchange) -> None:
    """Networks, security groups, routes, addresses and what uses them."""
    driver = exchange.driver
    network = driver.path(f"{NETWORK_}/virtualNetworks", "one")
    life(
        exchange, network, {"location": "eastus", "properties": {"addressSpace": {"addressPrefixes": ["10.9.0.0/16"]}}}
    )
    subnet = f"{network}/subnets/two"
    for _ in range(2):
        exchange.ended(exchange.call("PUT", subnet, {"properties": {"addressPrefix": "10.9.1.0/24"}}))
    exchange.call("GET", subnet)
    exchange.call("GET", f"{network}/subnets")
    gone(exchange, subnet)
    gone(exchange, network)
    for kind, part, properties in (
        ("networkSecurityGroups", "securityRules", {"priority": 200, "direction": "Inbound", "access": "Allow", "protocol": "Tcp"}),
        ("routeTables", "routes", {"addressPrefix": "10.0.0.0/8", "nextHopType": "None"}),
    ):  # fmt: skip
        path = driver.path(f"{NETWORK_}/{kind}", "one")
        life(exchange, path, {"location": "eastus"})
        life(exchange, f"{path}/{part}/two", {"properties": properties}, changed={"properties": properties})
        gone(exchange, f"{path}/{part}/two")
        gone(exchange, path)
    address = driver.path(f"{NETWORK_}/publicIPAddresses", "one")
    label = {"dnsSettings": {"domainNameLabel": "here"}}
    life(exchange, address, {"location": "eastus", "sku": {"name": "Standard"}, "properties": label})
    six = {"publicIPAddressVersion": "IPv6", "idleTimeoutInMinutes": 9, "ipTags": [{"ipTagType": "x", "tag": "y"}]}
    exchange.call("PUT", driver.path(f"{NETWORK_}/publicIPAddresses", "six"), {"location": "eastus", "properties": six})
    gateway = driver.path(f"{NETWORK_}/natGateways", "one")
    life(exchange, gateway, {"location": "eastus", "properties": {"publicIpAddresses": [{"id": address}]}})
    balancer = driver.path(f"{NETWORK_}/loadBalancers", "one")
    front = {"name": "f", "properties": {"publicIPAddress": {"id": address}}}
    parts = {"frontendIPConfigurations": [front], "backendAddressPools": [{"name": "b"}], "probes": [{"name": "p"}]}
    life(exchange, balancer, {"location": "eastus", "properties": parts})
    for kind in (
        "frontendIPConfigurations",
        "backendAddressPools",
        "loadBalancingRules",
        "probes",
        "inboundNatRules",
        "outboundRules",
    ):
        exchange.call("GET", f"{balancer}/{kind}")
        exchange.call("GET", f"{balancer}/{kind}/b")
        if kind in ("backendAddressPools", "inboundNatRules"):
            for _ in range(2):
                exchange.ended(exchange.call("PUT", f"{balancer}/{kind}/c", {"properties": {}}))
            for _ in range(2):
                exchange.ended(exchange.call("DELETE", f"{balancer}/{kind}/c"))
    for path in (balancer, gateway, address):
        gone(exchange, path)


def peripherals(exchange: Exchange) -> None:
    """What surrounds a network: peerings, prefixes, DNS zones, endpoints, gateways; and questions about it."""
    driver = exchange.driver
    one, two = (driver.path(f"{NETWORK_}/virtualNetworks", name) for name in ("one", "two"))
    for path, prefix in ((one, "10.9.0.0/16"), (two, "10.10.0.0/16")):
        subnets = [{"name": "s", "properties": {"addressPrefix": prefix.replace("/16", "/24")}}]
        properties = {"addressSpace": {"addressPrefixes": [prefix]}, "subnets": subnets}
        driver.call("PUT", path, {"location": "eastus", "properties": properties})
    for path, other in ((one, one), (one, f"{two}3"), (two, one)):
        body = {"properties": {"remoteVirtualNetwork": {"id": other}}}
        exchange.call("PUT", f"{path}/virtualNetworkPeerings/p", body)
    body = {"properties": {"remoteVirtualNetwork": {"id": two}}}
    life(exchange, f"{one}/virtualNetworkPeerings/p", body, changed=body)
    exchange.call("GET", two)
    gone(exchange, f"{one}/virtualNetworkPeerings/p")
    for address in ("10.9.0.0", "10.9.0.9", "10.10.0.9", "x"):
        exchange.call("GET", f"{one}/CheckIPAddressAvailability", None, None, ipAddress=address)
    exchange.call("GET", f"{SUB}/providers/{NETWORK_}/locations/eastus/serviceTags")
    for kind, properties in (
        ("publicIPPrefixes", {"prefixLength": 26}),
        ("privateDnsZones", {}),
        ("dnsZones", {}),
        ("privateEndpoints", {"subnet": {"id": f"{one}/subnets/s"}}),
        ("applicationGateways", {}),
        ("virtualNetworkGateways", {}),
        ("bastionHosts", {}),
    ):
        path = driver.path(f"{NETWORK_}/{kind}", "x.internal" if "Dns" in kind or "dns" in kind else "one")
        location = "global" if "Zones" in kind else "eastus"
        life(exchange, path, {"location": location, "properties": properties})
        if kind == "privateDnsZones":
            life(
                exchange,
                f"{path}/virtualNetworkLinks/l",
                {"location": location, "properties": {"virtualNetwork": {"id": one}}},
            )
            gone(exchange, f"{path}/virtualNetworkLinks/l")
        gone(exchange, path)


def scopes(exchange: Exchange) -> None:
    """Locks and policy assignments at each scope, and preview features."""
    names = exchange.driver.cloud.state.settings
    group = f"{SUB}/resourceGroups/{names.node_resource_group}"
    network = f"{group}/providers/{NETWORK_}/virtualNetworks/aks-vnet-12345678"
    for scope in (SUB, group, network, f"{network}/subnets/aks-subnet"):
        for kind, properties in (
            ("locks", {"level": "CanNotDelete"}),
            ("policyAssignments", {"policyDefinitionId": "/x"}),
        ):
            all_ = f"{scope}/providers/Microsoft.Authorization/{kind}"
            exchange.call("PUT", f"{all_}/one", {"properties": {}} if kind == "locks" else {"properties": properties})
            for _ in range(2):
                exchange.call("PUT", f"{all_}/one", {"properties": properties})
            exchange.call("GET", all_)
            exchange.call("GET", all_, None, None, **{"$filter": "atScope()"})
            exchange.call("GET", f"{all_}/one")
            exchange.call("DELETE", network)
            exchange.call("DELETE", f"{all_}/one")
            exchange.call("DELETE", f"{all_}/one")
            exchange.call("GET", f"{all_}/one")
    for kind in ("policyDefinitions", "policySetDefinitions"):
        all_ = f"{SUB}/providers/Microsoft.Authorization/{kind}"
        exchange.call("PUT", f"{all_}/one", {"properties": {"displayName": "One"}})
        for path in (all_, f"{all_}/one"):
            exchange.call("GET", path)
        exchange.call("DELETE", f"{all_}/one")
        exchange.call("GET", f"{all_}/one")
    lock = f"{group}/providers/Microsoft.Authorization/locks/one"
    exchange.call("PUT", lock, {"properties": {"level": "ReadOnly"}})
    exchange.call("PATCH", group, {"tags": {"a": "b"}})
    exchange.call("DELETE", lock)
    features = f"{SUB}/providers/Microsoft.Features/providers/Microsoft.ContainerService/features"
    one = f"{features}/NodeAutoProvisioningPreview"
    exchange.call("GET", one)
    exchange.call("POST", f"{one}/register")
    exchange.driver.cloud.advance(600)
    for path in (one, features, f"{SUB}/providers/Microsoft.Features/features"):
        exchange.call("GET", path)
    exchange.call("POST", f"{one}/unregister")


def moves(exchange: Exchange) -> None:
    """Resources that move to another group; a group as a template; what is not emulated."""
    driver, group = exchange.driver, f"{SUB}/resourceGroups/rg"
    path = driver.path(f"{NETWORK_}/routeTables", "one", group="rg")
    for name in ("one", "two"):
        driver.call("PUT", driver.path(f"{NETWORK_}/routeTables", name, group="rg"), {"location": "eastus"}, NETWORK)
    driver.call("PUT", f"{path}/routes/r", {"properties": {"addressPrefix": "10.0.0.0/8"}})
    wanted = {"resources": [path], "targetResourceGroup": f"{SUB}/resourceGroups/MC_rg_c_eastus"}
    exchange.ended(exchange.call("POST", f"{group}/exportTemplate", {"resources": ["*"]}))
    exchange.ended(exchange.call("POST", f"{group}/validateMoveResources", wanted))
    exchange.call("POST", f"{group}/moveResources", {**wanted, "targetResourceGroup": group})
    exchange.ended(exchange.call("POST", f"{group}/moveResources", wanted))
    exchange.call("GET", path)
    exchange.call("GET", f"{path.replace('/rg/', '/MC_rg_c_eastus/')}/routes/r")
    network = driver.path(f"{NETWORK_}/virtualNetworks", "aks-vnet-12345678")
    driver.put_nic("aks-a")
    away = {"resources": [network], "targetResourceGroup": group}
    exchange.call("POST", f"{SUB}/resourceGroups/MC_rg_c_eastus/moveResources", away)
    exchange.call(
        "GET", f"{SUB}/resources", None, None, **{"$expand": "createdTime,changedTime,provisioningState", "$top": "2"}
    )
    exchange.call("PUT", f"{group}/providers/Microsoft.KeyVault/vaults/v", {"location": "eastus"}, "2023-07-01")
    exchange.call("GET", f"{path}/providers/microsoft.insights/metrics", None, "2018-01-01")
    exchange.call("GET", "/v1.0/me")
    exchange.call("GET", "/subscriptions/nobody")


def identities(exchange: Exchange) -> None:
    """An identity, whom it trusts, and what it may do."""
    path = exchange.driver.path(f"{IDENTITY_}/userAssignedIdentities", "one")
    life(exchange, path, {"location": "eastus"})
    trusted = {"issuer": "https://issuer", "subject": "system:serviceaccount:a:b", "audiences": ["api://x"]}
    for name, subject in (("two", "b"), ("three", "c")):
        body = {"properties": {**trusted, "subject": f"system:serviceaccount:a:{subject}"}}
        life(exchange, f"{path}/federatedIdentityCredentials/{name}", body, changed=body)
    exchange.call("PUT", f"{path}/federatedIdentityCredentials/four", {"properties": trusted})
    gone(exchange, f"{path}/federatedIdentityCredentials/two")
    gone(exchange, path)


def roles(exchange: Exchange) -> None:
    """Who may do what at a subscription, a group, a resource and a nested one."""
    names = exchange.driver.cloud.state.settings
    group = f"{SUB}/resourceGroups/{names.node_resource_group}"
    network = f"{group}/providers/{NETWORK_}/virtualNetworks/aks-vnet-12345678"
    body = {"properties": {"roleDefinitionId": f"/x/roleDefinitions/{ROLE}", "principalId": PRINCIPAL}}
    scopes = (SUB, group, network, f"{network}/subnets/aks-subnet")
    for number, scope in enumerate(scopes):
        all_, name = f"{scope}/providers/Microsoft.Authorization/roleAssignments", f"{PRINCIPAL[:-1]}{number}"
        exchange.call("PUT", f"{all_}/{name}", body)
        exchange.call("PUT", f"{all_}/{PRINCIPAL[:-1]}9", body)
        exchange.call("GET", f"{all_}/{name}")
        exchange.call("GET", all_, None, None, **{"$filter": "atScope()"} if number % 2 else {})
        definitions = f"{scope}/providers/Microsoft.Authorization/roleDefinitions"
        exchange.call("GET", f"{definitions}/{ROLE}")
        exchange.call("GET", definitions, None, None, **{"$filter": "roleName eq 'Owner'"})
    for number, scope in enumerate(scopes):
        path = f"{scope}/providers/Microsoft.Authorization/roleAssignments/{PRINCIPAL[:-1]}{number}"
        gone(exchange, path)
        exchange.call("DELETE", path)
    exchange.call("GET", f"{SUB}/providers/Microsoft.Authorization/roleDefinitions")
    for scope in (SUB, group):
        own = f"{scope}/providers/Microsoft.Authorization/roleDefinitions/{PRINCIPAL}"
        role = {"roleName": "Own", "permissions": [{"actions": ["*/read"]}], "assignableScopes": [scope]}
        exchange.call("PUT", own, {"properties": role})
        exchange.call("PUT", f"{own[:-1]}6", {"properties": role})
        gone(exchange, own)


def subscriptions(exchange: Exchange) -> None:
    """Subscriptions, their places, providers and groups, and tags."""
    for path in ("/tenants", "/subscriptions", SUB, f"{SUB}/locations", f"{SUB}/resourceGroups", f"{SUB}/resources"):
        exchange.call("GET", path)
    exchange.call("GET", f"{SUB}/providers/Microsoft.ResourceGraph", None, "2021-04-01")
    exchange.call("POST", f"{SUB}/providers/microsoft.resourcegraph/register", None, "2021-04-01")
    exchange.call("GET", f"{SUB}/providers/nobody.Here")
    group = f"{SUB}/resourceGroups/fresh"
    for _ in range(2):
        exchange.call("PUT", group, {"location": "eastus", "tags": {"a": "b"}})
    exchange.call("PUT", group, {"location": "westus"})
    exchange.call("GET", group)
    exchange.call("HEAD", group)
    exchange.call("HEAD", f"{group}er")
    exchange.call("PATCH", group, {"tags": {"c": "d"}})
    network = exchange.driver.path(f"{NETWORK_}/routeTables", "one", group="fresh")
    exchange.call("PUT", network, {"location": "eastus"}, NETWORK)
    exchange.call("GET", f"{group}/resources")
    exchange.call("GET", f"{SUB}/tagNames")
    for scope in (SUB, group, network):
        tags = f"{scope}/providers/Microsoft.Resources/tags/default"
        exchange.call("PUT", tags, {"properties": {"tags": {"x": "1", "y": "2"}}})
        for what in ("Merge", "Delete", "Replace"):
            exchange.call("PATCH", tags, {"operation": what, "properties": {"tags": {"x": "1", "z": "3"}}})
        exchange.call("GET", tags)
        exchange.call("DELETE", tags)
        exchange.call("GET", tags)
    exchange.ended(exchange.call("DELETE", group))
    exchange.call("GET", group)


def deployments(exchange: Exchange) -> None:
    """A template: judged, deployed, listed; and one that fails."""
    driver = exchange.driver
    given = {"secret": {"value": "s"}}
    body = {"properties": {"mode": "incremental", "template": template(driver), "parameters": given}}
    path = driver.path("Microsoft.Resources/deployments", "one")
    exchange.call("POST", f"{path}/validate", body)
    exchange.ended(exchange.call("POST", f"{path}/whatIf", body))
    under_way = exchange.call("PUT", path, body)
    exchange.call("PUT", path, body)
    exchange.ended(under_way)
    exchange.call("GET", path)
    exchange.ended(exchange.call("POST", f"{path}/whatIf", body))
    exchange.call("POST", f"{path}/exportTemplate")
    exchange.call("POST", f"{path}/cancel")
    for place in (path, path.replace("providers/Microsoft.Resources/", "")):
        listed_ = exchange.call("GET", f"{place}/operations").body or {}
        for name in (listed_["value"][0]["operationId"], "none"):
            exchange.call("GET", f"{place}/operations/{name}")
    failing = {"properties": {**body["properties"], "template": template(driver, "Standard_Nope")}}
    other = driver.path("Microsoft.Resources/deployments", "two")
    exchange.ended(exchange.call("PUT", other, failing))
    exchange.call("GET", f"{other}/operations")
    exchange.call("GET", path.rpartition("/")[0])
    gone(exchange, path)
    at_subscription(exchange)


def at_subscription(exchange: Exchange) -> None:
    """A template that makes a group and, in it, a resource."""
    group = {
        "type": "Microsoft.Resources/resourceGroups",
        "apiVersion": "2024-03-01",
        "name": "made",
        "location": "eastus",
    }
    table = {"type": f"{NETWORK_}/routeTables", "apiVersion": "2022-01-01", "name": "t", "location": "eastus"}
    nested = {
        "type": "Microsoft.Resources/deployments",
        "apiVersion": "2022-09-01",
        "name": "inner",
        "resourceGroup": "made",
    }
    nested |= {"dependsOn": ["made"], "properties": {"mode": "Incremental", "template": {"resources": [table]}}}
    body = {"location": "eastus", "properties": {"mode": "Incremental", "template": {"resources": [group, nested]}}}
    path = f"{SUB}/providers/Microsoft.Resources/deployments/one"
    exchange.call("POST", f"{path}/validate", body)
    exchange.ended(exchange.call("POST", f"{path}/whatIf", body))
    exchange.ended(exchange.call("PUT", path, body))
    exchange.call("GET", path)
    exchange.call("POST", f"{path}/exportTemplate")
    exchange.call("POST", f"{path}/cancel")
    for place in (path, path.replace("providers/Microsoft.Resources/", "")):
        operations = exchange.call("GET", f"{place}/operations").body or {}
        exchange.call("GET", f"{place}/operations/{operations['value'][0]['operationId']}")
    exchange.call("GET", path.rpartition("/")[0])
    gone(exchange, path)


def template_specs(exchange: Exchange) -> None:
    """A template spec, its versions, and a deployment that links to one."""
    path = exchange.driver.path("Microsoft.Resources/templateSpecs", "one")
    life(exchange, path, {"location": "eastus"})
    version = {"location": "eastus", "properties": {"mainTemplate": template(exchange.driver)}}
    life(exchange, f"{path}/versions/1", version)
    link = {"mode": "Incremental", "templateLink": {"id": f"{path}/versions/1"}}
    deployment = exchange.driver.path("Microsoft.Resources/deployments", "linked")
    exchange.ended(exchange.call("PUT", deployment, {"properties": link}))
    gone(exchange, f"{path}/versions/1")
    exchange.call("PUT", deployment, {"properties": link})
    gone(exchange, path)


def graph(exchange: Exchange) -> None:
    """Azure Resource Graph: rows as objects and as a table, in pages."""
    for name in ("aks-a", "aks-b", "aks-c"):
        exchange.driver.put_nic(name)
    query = "Resources | where type == 'microsoft.network/networkinterfaces' | order by name asc"
    path, version = "/providers/Microsoft.ResourceGraph/resources", VERSIONS["resourcegraph"]
    asked = {"subscriptions": [SUBSCRIPTION], "query": query}
    answer = exchange.call("POST", path, {**asked, "options": {"resultFormat": "objectArray", "$top": 2}}, version)
    token = (answer.body or {}).get("$skipToken")
    exchange.call("POST", path, {**asked, "options": {"resultFormat": "objectArray", "$skipToken": token}}, version)
    short = {**asked, "query": f"{query} | project name, resourceGroup", "options": {"resultFormat": "table"}}
    exchange.call("POST", path, short, version)
    exchange.call("POST", path, {**asked, "query": "ResourceContainers"}, version)
    exchange.call("POST", path, {**asked, "query": "Nowhere"}, version)


def providers(exchange: Exchange) -> None:
    """The list of providers is as long as all types that are served: what it says of one is kept with `subscriptions`."""
    path = f"{SUB}/providers"
    exchange.kept("GET", path, exchange.driver.call("GET", path), whole=False)
    operations = "/providers/Microsoft.Authorization/providerOperations"
    for name in ("Microsoft.ResourceGraph", "nobody.Here"):
        exchange.call("GET", f"{operations}/{name}", None, "2022-04-01")


def tokens(exchange: Exchange) -> None:
    """Where clients learn of the cloud and get their tokens."""
    for version in ("2015-01-01", "2019-05-01", "2022-09-01"):
        exchange.wire("GET", f"/metadata/endpoints?api-version={version}")
    for tenant in ("common", TENANT, PRINCIPAL):
        scope = "scope=https%3A%2F%2Fmanagement.azure.com%2F.default"
        exchange.wire("POST", f"/{tenant}/oauth2/v2.0/token", f"client_id=c&{scope}&{GRANT}&client_secret={SECRET}")
    resource = "resource=https%3A%2F%2Fmanagement.azure.com"
    for form in (f"client_id=c&{resource}&{GRANT}&client_secret={SECRET}", "client_id=c", "scope=x"):
        exchange.wire("POST", "/common/oauth2/token", form)
    for proof in ("", GRANT, *(f"{GRANT}&{name}=x" for name in ("client_secret", "client_assertion", "password"))):
        exchange.wire("POST", "/common/oauth2/token", f"client_id=c&{resource}&{proof}")
    for target in ("/msi/token?resource=https://management.azure.com", "/metadata/identity/oauth2/token"):
        exchange.wire("GET", target)
        exchange.wire("GET", target, Metadata="true")
        exchange.wire("GET", target, Metadata="true", X_Forwarded_For="10.0.0.1")
        for secret in ("x", SECRET):
            exchange.wire("GET", target, X_IDENTITY_HEADER=secret)
        exchange.wire("PUT", target, X_IDENTITY_HEADER=SECRET, Metadata="true")
    exchange.wire("POST", "/oauth2/token", "resource=https%3A%2F%2Fmanagement.azure.com&client_id=c", Metadata="true")
    for path in ("", "/x", f"/{SECRET}", f"/{SECRET}?scope=https://management.azure.com/.default"):
        exchange.wire("GET", f"/sig-access-token{path}")
    for tenant in ("adfs", "common/v2.0", PRINCIPAL):
        exchange.wire("GET", f"/{tenant}/.well-known/openid-configuration")
    exchange.wire("GET", "/common/discovery/instance?authorization_endpoint=https://fake:8443/common/oauth2/authorize")
    exchange.wire("GET", "/common/userrealm/somebody?api-version=1.0")
    exchange.wire("GET", "/subscriptions?api-version=2022-12-01")
    exchange.wire("GET", "/subscriptions?api-version=2022-12-01", Authorization="Bearer x")


def instance_metadata(exchange: Exchange) -> None:
    """What a VM reads of itself, what is about to happen to it, and what is the fake's own."""
    driver = exchange.driver
    exchange.wire("GET", "/metadata/instance?api-version=2021-02-01", Metadata="true")
    body = driver.vm_body("aks-a", size="Standard_D2ds_v5", priority="Spot", userData="dXNlcg==", licenseType="x")
    body["properties"]["storageProfile"]["dataDisks"] = [{"lun": 3, "createOption": "Empty", "diskSizeGB": 4}]
    linux = {"disablePasswordAuthentication": True, "ssh": {"publicKeys": [{"path": "/p", "keyData": "ssh-rsa A"}]}}
    body["properties"]["osProfile"]["linuxConfiguration"] = linux
    driver.put_nic("aks-a")
    driver.call("PUT", driver.vm_path("aks-a"), {**body, "plan": {"name": "n", "product": "p", "publisher": "q"}})
    driver.cloud.advance(600)
    exchange.wire("GET", "/metadata/instance?api-version=2021-02-01")
    exchange.wire("GET", "/metadata/versions", Metadata="true")
    for path in ("", "/compute", "/network/interface/0", "/network/interface/1", "/compute/nothing"):
        for form in ("json", "text"):
            exchange.wire("GET", f"/metadata/instance{path}?api-version=2021-02-01&format={form}", Metadata="true")
    for version in ("", "?api-version=2020-07-01"):
        exchange.wire("GET", f"/metadata/scheduledevents{version}", Metadata="true")
    exchange.wire("PUT", "/metadata/instance?api-version=2021-02-01", Metadata="true")
    driver.call("POST", f"{driver.vm_path('aks-a')}/simulateEviction")
    exchange.wire("GET", "/metadata/scheduledevents?api-version=2020-07-01", Metadata="true")
    for started in ("nothing", '{"StartRequests": [{"EventId": "x"}]}', '{"StartRequests": []}'):
        exchange.wire("POST", "/metadata/scheduledevents?api-version=2020-07-01", started, Metadata="true")
    for host in ("evil.example", "management.azure.com"):
        exchange.wire("GET", "/_fakeazure/journal", Host=host)
        exchange.wire("GET", "/metadata/versions", Host=host, Metadata="true")
    exchange.wire("GET", "/_fakeazure/journal", Origin="https://evil.example")
    exchange.wire("GET", "/_fakeazure/journal", Sec_Fetch_Site="cross-site")
    exchange.wire("POST", "/_fakeazure/reset")
    for path in ("journal", "nothing", f"console{driver.vm_path('aks-a')}/serial.log", "console/x/serial.log"):
        exchange.wire("GET", f"/_fakeazure/{path}")


AREAS: Mapping[str, Callable[[Exchange], None]] = {
    "application-security-groups": _plain(f"{NETWORK_}/applicationSecurityGroups"),
    "availability-sets": availability_sets,
    "capacity-reservations": reservations,
    "clusters": clusters,
    "deployments": deployments,
    "disk-encryption-sets": _plain(f"{COMPUTE_}/diskEncryptionSets"),
    "disks": disks,
    "galleries": galleries,
    "graph": graph,
    "identities": identities,
    "host-groups": _plain(f"{COMPUTE_}/hostGroups", properties={"platformFaultDomainCount": 1}),
    "images": images,
    "images-of-ours": own_images,
    "instance-metadata": instance_metadata,
    "linked-templates": template_specs,
    "machines": machines,
    "moves": moves,
    "networks": networks,
    "networks-beyond": peripherals,
    "placement-groups": _plain(f"{COMPUTE_}/proximityPlacementGroups"),
    "providers": providers,
    "roles": roles,
    "scale-sets": scale_sets,
    "scopes": scopes,
    "sizes": sizes,
    "ssh-keys": keys,
    "subscriptions": subscriptions,
    "tokens": tokens,
    "virtual-machines": machine,
}
"""What is asked about, as the files are named."""


def made(area: str) -> Exchange:
    """The exchange of an area, from a cloud of its own."""
    exchange = Exchange(retry_after=7) if area == "disks" else Exchange()
    AREAS[area](exchange)
    return exchange


def main(areas: Sequence[str] = tuple(AREAS)) -> None:
    """Write what is kept anew."""
    for area in areas:
        (KEPT / f"{area}.txt").write_text(made(area).text(), encoding="utf-8")


if __name__ == "__main__":
    main()
