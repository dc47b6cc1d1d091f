"""What people do with clients beside what Karpenter needs: images of VMs, disks from elsewhere, addresses of instances, locks, moves."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.beginning import SUBSCRIPTION
from fakeazure.timing import INSTANT, Timing
from tests.cloud.driver import Driver, error_of
from tests.cloud.test_scale_sets import body as set_body

SUB = f"/subscriptions/{SUBSCRIPTION}"
SETS = "Microsoft.Compute/virtualMachineScaleSets"
CLUSTERS = "Microsoft.ContainerService/managedClusters"


def read(driver: Driver, path: str, **query: str) -> Any:
    answer = driver.call("GET", path, **query)
    assert answer.status == 200, (path, answer.body)
    return answer.body


def listed(driver: Driver, path: str) -> list[Any]:
    found: list[Any] = read(driver, path)["value"]
    return found


def test_the_os_disk_is_as_large_as_its_image_says() -> None:
    driver = Driver(timing=INSTANT)
    driver.put_nic("a")
    body = driver.vm_body("a")
    del body["properties"]["storageProfile"]["osDisk"]["diskSizeGB"]
    driver.call("PUT", driver.vm_path("a"), body)
    disk = read(driver, driver.vm_path("a"))["properties"]["storageProfile"]["osDisk"]
    assert (disk["diskSizeGB"], disk["osType"]) == (30, "Linux")
    driver.put_nic("b")
    body = driver.vm_body("b")
    windows = {"publisher": "MicrosoftWindowsServer", "offer": "WindowsServer", "sku": "2022-datacenter-g2"}
    body["properties"]["storageProfile"] = {
        "imageReference": {**windows, "version": "latest"},
        "osDisk": {"createOption": "FromImage", "name": "system"},
    }
    assert driver.call("PUT", driver.vm_path("b"), body).status == 201
    disk = read(driver, driver.vm_path("b"))["properties"]["storageProfile"]["osDisk"]
    assert (disk["diskSizeGB"], disk["osType"]) == (127, "Windows")
    assert read(driver, driver.path("Microsoft.Compute/disks", "system"))["properties"]["diskSizeGB"] == 127


def test_a_vm_boots_from_the_image_of_another() -> None:
    driver = Driver(timing=INSTANT)
    driver.put_vm("a")
    image = driver.path("Microsoft.Compute/images", "i")
    wanted = {
        "location": "eastus",
        "properties": {"sourceVirtualMachine": {"id": driver.vm_path("a")}, "hyperVGeneration": "V2"},
    }
    assert driver.call("PUT", image, wanted).status == 400
    assert error_of(driver.call("POST", f"{driver.vm_path('a')}/generalize"))[:2] == (409, "OperationNotAllowed")
    driver.call("POST", f"{driver.vm_path('a')}/deallocate")
    assert driver.call("POST", f"{driver.vm_path('a')}/generalize").status == 200
    assert "generalized" in error_of(driver.call("POST", f"{driver.vm_path('a')}/start"))[2]
    assert driver.call("PUT", image, wanted).status == 201
    disk = read(driver, image)["properties"]["storageProfile"]["osDisk"]
    assert (disk["osType"], disk["osState"], disk["diskSizeGB"]) == ("Linux", "Generalized", 128)
    driver.put_nic("b")
    body = driver.vm_body("b")
    body["properties"]["storageProfile"]["imageReference"] = {"id": image}
    assert driver.call("PUT", driver.vm_path("b"), body).status == 201


def test_a_disk_that_somebody_reads_is_neither_attached_nor_deleted() -> None:
    driver = Driver(timing=INSTANT)
    path = driver.path("Microsoft.Compute/disks", "d")
    driver.call(
        "PUT", path, {"location": "eastus", "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 8}}
    )
    answer = driver.call("POST", f"{path}/beginGetAccess", {"access": "Read", "durationInSeconds": 60})
    assert driver.poll(answer, "Location").body["accessSAS"].startswith("https://md-")  # type: ignore[index]
    driver.put_vm("a")
    attach = {"dataDisksToAttach": [{"diskId": path}]}
    for refused in (
        driver.call("DELETE", path),
        driver.call("POST", f"{driver.vm_path('a')}/attachDetachDataDisks", attach),
    ):
        assert "EndGetAccess" in error_of(refused)[2]
    driver.call("POST", f"{path}/endGetAccess")
    assert driver.call("POST", f"{driver.vm_path('a')}/attachDetachDataDisks", attach).status == 202
    assert read(driver, path)["properties"]["diskState"] == "Attached"
    away = {"dataDisksToDetach": [{"diskId": path}]}
    assert driver.call("POST", f"{driver.vm_path('a')}/attachDetachDataDisks", away).status == 202
    assert driver.call("DELETE", path).status == 202


def test_instances_have_interfaces_with_addresses_that_they_give_back() -> None:
    driver = Driver(timing=INSTANT)
    path = driver.path(SETS, "s")
    free = driver.cloud.state.addresses[next(iter(driver.cloud.state.addresses))].free
    body = set_body(driver, 2)
    nic = body["properties"]["virtualMachineProfile"]["networkProfile"]["networkInterfaceConfigurations"][0]
    nic["properties"]["ipConfigurations"][0]["properties"]["publicIPAddressConfiguration"] = {"name": "p"}
    driver.call("PUT", path, body)
    nics = listed(driver, f"{path}/networkInterfaces")
    inner = [one["properties"]["ipConfigurations"][0]["properties"] for one in nics]
    assert len({one["privateIPAddress"] for one in inner}) == 2
    assert [one["properties"]["virtualMachine"]["id"] for one in nics] == [
        f"{path}/virtualMachines/{n}" for n in (0, 1)
    ]
    publics = listed(driver, f"{path}/publicipaddresses")
    assert [one["publicIPAddress"]["id"] for one in inner] == [one["id"] for one in publics]
    assert len({one["properties"]["ipAddress"] for one in publics}) == 2
    driver.call("DELETE", path)
    assert driver.cloud.state.addresses[next(iter(driver.cloud.state.addresses))].free == free


def test_an_instance_is_outdated_until_it_is_upgraded() -> None:
    driver = Driver(timing=INSTANT)
    path = driver.path(SETS, "s")
    driver.call("PUT", path, set_body(driver, 2))
    driver.call("PATCH", path, {"properties": {"virtualMachineProfile": {"licenseType": "x"}}})

    def latest() -> list[bool]:
        return [one["properties"]["latestModelApplied"] for one in listed(driver, f"{path}/virtualMachines")]

    assert latest() == [False, False]
    driver.call("POST", f"{path}/manualupgrade", {"instanceIds": ["1"]})
    assert latest() == [False, True]


def test_an_instance_takes_and_gives_disks() -> None:
    driver = Driver(timing=INSTANT)
    path, disk = driver.path(SETS, "s"), driver.path("Microsoft.Compute/disks", "d")
    driver.call("PUT", path, set_body(driver, 1))
    empty = {"creationData": {"createOption": "Empty"}, "diskSizeGB": 8}
    driver.call("PUT", disk, {"location": "eastus", "properties": empty})
    instance = f"{path}/virtualMachines/0"

    def attached() -> list[tuple[str, int]]:
        disks = read(driver, instance)["properties"]["storageProfile"]["dataDisks"]
        return [(one["managedDisk"]["id"], one["lun"]) for one in disks]

    answer = driver.call("POST", f"{instance}/attachDetachDataDisks", {"dataDisksToAttach": [{"diskId": disk}]})
    assert answer.status == 202
    assert driver.poll(answer, "Location").body["dataDisks"][0]["lun"] == 0  # type: ignore[index]
    assert (attached(), read(driver, disk)["managedBy"]) == ([(disk, 0)], instance)
    assert driver.call("PATCH", instance, {"tags": {"a": "b"}}).status == 200
    assert (attached(), read(driver, instance)["tags"]) == ([(disk, 0)], {"a": "b"})
    assert driver.call("PATCH", instance, {"properties": {"storageProfile": {"dataDisks": []}}}).status == 200
    assert (attached(), read(driver, instance)["tags"]) == ([], {"a": "b"})
    assert "managedBy" not in read(driver, disk)
    detach = driver.call("POST", f"{instance}/attachDetachDataDisks", {"dataDisksToDetach": [{"diskId": disk}]})
    assert error_of(detach)[0] == 400


def new_cluster(driver: Driver, **properties: Any) -> str:
    path = driver.path(CLUSTERS, "new", group="rg")
    pools = [{"name": "system", "count": 3, "vmSize": "Standard_D2s_v5", "mode": "System"}]
    answer = driver.call("PUT", path, {"location": "eastus", "properties": {"agentPoolProfiles": pools, **properties}})
    assert answer.status == 201, answer.body
    return path


def test_a_new_cluster_brings_what_aks_puts_into_its_node_resource_group() -> None:
    driver = Driver(timing=INSTANT)
    cluster = read(driver, new_cluster(driver))["properties"]
    group = cluster["nodeResourceGroup"]
    found = listed(driver, f"{SUB}/resourceGroups/{group}/resources")
    assert {one["type"].rpartition("/")[2] for one in found} == {
        "loadBalancers",
        "networkSecurityGroups",
        "publicIPAddresses",
        "userAssignedIdentities",
        "virtualMachineScaleSets",
        "virtualNetworks",
    }
    identity = read(driver, cluster["identityProfile"]["kubeletidentity"]["resourceId"])
    assert identity["properties"]["clientId"] == cluster["identityProfile"]["kubeletidentity"]["clientId"]
    [address] = cluster["networkProfile"]["loadBalancerProfile"]["effectiveOutboundIPs"]
    assert read(driver, address["id"])["properties"]["ipAddress"].startswith("20.")
    machines = listed(driver, driver.path(CLUSTERS, "new/agentPools/system/machines", group="rg"))
    assert len(machines) == 3
    assert len({one["properties"]["network"]["ipAddresses"][0]["ip"] for one in machines}) == 3
    assert read(driver, machines[0]["id"]) == machines[0]
    driver.call("DELETE", driver.path(CLUSTERS, "new", group="rg"))
    assert driver.call("GET", f"{SUB}/resourceGroups/{group}").status == 404


def test_a_cluster_in_a_network_of_ones_own_makes_none() -> None:
    driver = Driver(timing=INSTANT)
    subnet = driver.nic_body("x")["properties"]["ipConfigurations"][0]["properties"]["subnet"]["id"]
    pools = [{"name": "system", "count": 1, "vmSize": "Standard_D2s_v5", "vnetSubnetID": subnet}]
    cluster = read(driver, new_cluster(driver, agentPoolProfiles=pools))["properties"]
    found = listed(driver, f"{SUB}/resourceGroups/{cluster['nodeResourceGroup']}/resources")
    assert "virtualNetworks" not in {one["type"].rpartition("/")[2] for one in found}


def test_what_runs_for_a_pool_can_be_aborted() -> None:
    driver = Driver(timing=Timing(resource=60))
    cluster = new_cluster(driver)
    driver.cloud.advance(3600)
    assert error_of(driver.call("POST", f"{cluster}/abort"))[:2] == (400, "OperationNotAllowed")
    pool = f"{cluster}/agentPools/system"
    under_way = driver.call("PUT", pool, {"properties": {"count": 2}})
    assert driver.call("POST", f"{pool}/abort").status == 202
    assert driver.poll(under_way, "Azure-AsyncOperation").body["status"] == "Canceled"  # type: ignore[index]
    assert read(driver, pool)["properties"]["provisioningState"] == "Canceled"


@pytest.mark.parametrize(
    ("level", "method", "status"),
    [
        ("CanNotDelete", "DELETE", 409),
        ("CanNotDelete", "PATCH", 200),
        ("ReadOnly", "PATCH", 409),
        ("ReadOnly", "GET", 200),
    ],
)
@pytest.mark.parametrize("where", ["group", "resource", "below"])
def test_a_lock_holds_at_its_scope_and_below(level: str, method: str, status: int, where: str) -> None:
    driver = Driver(timing=INSTANT)
    path = driver.path("Microsoft.Network/routeTables", "r", group="rg")
    driver.call("PUT", path, {"location": "eastus"})
    driver.call("PUT", f"{path}/routes/one", {"properties": {"addressPrefix": "10.0.0.0/8"}})
    scope = {"group": f"{SUB}/resourceGroups/rg", "resource": path, "below": f"{path}/routes/one"}[where]
    lock = f"{scope}/providers/Microsoft.Authorization/locks/l"
    assert driver.call("PUT", lock, {"properties": {"level": level}}).status == 201
    answer = driver.call(method, path, {"tags": {}} if method == "PATCH" else None)
    expected = status if where != "below" or method == "DELETE" else 200
    assert answer.status == expected
    if expected == 409:
        assert error_of(answer)[1] == "ScopeLocked"
        assert scope in error_of(answer)[2]
    assert driver.call("DELETE", lock).status == 200
    assert driver.call("DELETE", path).status == 200


def test_what_is_moved_is_the_same_elsewhere() -> None:
    driver = Driver(timing=INSTANT)
    network = driver.path("Microsoft.Network/virtualNetworks", "v", group="rg")
    subnets = [{"name": "s", "properties": {"addressPrefix": "10.9.0.0/24"}}]
    space = {"addressPrefixes": ["10.9.0.0/16"]}
    driver.call("PUT", network, {"location": "eastus", "properties": {"addressSpace": space, "subnets": subnets}})
    nic = driver.path("Microsoft.Network/networkInterfaces", "n", group="rg")
    inner = [{"name": "ip", "properties": {"subnet": {"id": f"{network}/subnets/s"}}}]
    driver.call("PUT", nic, {"location": "eastus", "properties": {"ipConfigurations": inner}})
    to = f"{SUB}/resourceGroups/MC_rg_c_eastus"
    wanted = {"resources": [network], "targetResourceGroup": to}
    assert (
        error_of(driver.call("POST", f"{SUB}/resourceGroups/rg/moveResources", wanted))[1]
        == "MissingMoveDependentResources"
    )
    both = {**wanted, "resources": [network, nic]}
    assert driver.call("POST", f"{SUB}/resourceGroups/rg/moveResources", both).status == 202
    assert driver.call("GET", network).status == 404
    moved = network.replace("/rg/", "/MC_rg_c_eastus/")
    shown = read(driver, nic.replace("/rg/", "/MC_rg_c_eastus/"))["properties"]["ipConfigurations"][0]["properties"]
    assert shown["subnet"]["id"] == f"{moved}/subnets/s"
    address = read(driver, f"{moved}/CheckIPAddressAvailability", ipAddress=shown["privateIPAddress"])
    assert address["available"] is False
    assert address["availableIPAddresses"][0] == "10.9.0.5"


def test_a_list_of_resources_tells_times_when_asked() -> None:
    driver = Driver(timing=INSTANT)
    path = driver.path("Microsoft.Network/routeTables", "r", group="rg")
    driver.call("PUT", path, {"location": "eastus"})
    driver.cloud.advance(60)
    driver.call("PATCH", path, {"tags": {"a": "b"}})

    def table(**query: str) -> Any:
        found = read(driver, f"{SUB}/resourceGroups/rg/resources", **query)["value"]
        return next(one for one in found if one["name"] == "r")

    assert {"createdTime", "changedTime", "provisioningState"}.isdisjoint(table())
    shown = table(**{"$expand": "createdTime,changedTime,provisioningState"})
    assert (shown["createdTime"][14:19], shown["changedTime"][14:19]) == ("00:00", "01:00")
    assert shown["provisioningState"] == "Succeeded"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (f"{SUB}/resourceGroups/rg/providers/Microsoft.KeyVault/vaults/v", "Microsoft.KeyVault"),
        (f"{SUB}/providers/microsoft.storage/storageAccounts", "Microsoft.Storage"),
        (f"{SUB}/resourceGroups/rg/providers/Microsoft.Network/routeTables/r/providers/microsoft.insights/metrics", "Microsoft.Insights"),
        ("/providers/Microsoft.Management/managementGroups", "Microsoft.Management"),
        ("/v1.0/servicePrincipals", "Microsoft Graph"),
    ],
)  # fmt: skip
def test_what_is_real_and_not_here_says_so(path: str, name: str) -> None:
    driver = Driver()
    status, code, message = error_of(driver.call("GET", path))
    assert (status, code) == (501, "NotEmulated")
    assert f"'{name}'" in message
    assert "/_fakeazure/coverage" in message


def test_a_namespace_that_nobody_has_is_invalid() -> None:
    assert error_of(Driver().call("GET", f"{SUB}/providers/Contoso.Tea/pots"))[:2] == (404, "InvalidResourceNamespace")


@pytest.mark.parametrize(
    ("path", "cause"),
    [
        (f"{SUB}/resourceGroups/none", "gateway"),
        (f"{SUB}/resourceGroups/rg/providers/Microsoft.Network/routeTables/none", "gateway"),
        (
            f"{SUB}/providers/Microsoft.Compute/locations/eastus/publishers/nobody/artifacttypes/vmimage/offers",
            "service",
        ),
    ],
)
def test_a_failure_says_who_caused_it(path: str, cause: str) -> None:
    assert Driver().call("GET", path).headers["x-ms-failure-cause"] == cause


def test_the_operations_of_a_provider_are_those_that_are_served() -> None:
    path = "/providers/Microsoft.Authorization/providerOperations/microsoft.compute"
    found = {one["name"]: one["operations"] for one in read(Driver(), path)["resourceTypes"]}
    names = {one["name"] for one in found["virtualMachines"]}
    assert names >= {
        f"Microsoft.Compute/virtualMachines/{what}" for what in ("read", "write", "delete", "start/action")
    }
    assert "Microsoft.Compute/skus/write" not in {one["name"] for one in found["skus"]}


def test_a_switch_that_is_sent_as_text_is_a_boolean() -> None:
    driver = Driver(timing=INSTANT)
    body = set_body(driver, 0)
    body["properties"]["virtualMachineProfile"]["networkProfile"]["networkInterfaceConfigurations"][0]["properties"][
        "primary"
    ] = "true"
    driver.call("PUT", driver.path(SETS, "s"), body)
    profile = read(driver, driver.path(SETS, "s"))["properties"]["virtualMachineProfile"]
    assert profile["networkProfile"]["networkInterfaceConfigurations"][0]["properties"]["primary"] is True
