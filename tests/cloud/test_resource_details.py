"""Details of resources: what is refused at the edge, what is taken over from what, what is there when something is gone."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure import FakeAzure
from fakeazure.arm.ids import ResourceId
from fakeazure.beginning import SUBSCRIPTION
from fakeazure.coverage import nearest
from fakeazure.resources.images import _marketplace
from fakeazure.resources.network import network_interfaces
from fakeazure.resources.sizes.retail_prices import PAGE
from fakeazure.routing import router
from fakeazure.timing import INSTANT, Timing
from tests.cloud.aks_machine import machine_body, put
from tests.cloud.driver import COMPUTE, MACHINES, NETWORK, Driver, error_of
from tests.cloud.test_clusters_and_pools import CLUSTERS, put_cluster
from tests.cloud.test_deployments import operations, resource, shown
from tests.cloud.test_deployments import put as deploy
from tests.cloud.test_scale_sets import KIND as SETS
from tests.cloud.test_scale_sets import body as set_body
from tests.cloud.test_scale_sets import names

ASSIGNMENTS = "Microsoft.Authorization/roleAssignments"
READER, CONTRIBUTOR = "acdd72a7-3385-48ef-bd42-f606fba81ae7", "b24988ac-6180-42a0-ab88-20f7382dd24c"


def assigned(driver: Driver, scope: str, name: str, principal: str, role: str = READER) -> Any:
    body = {"properties": {"principalId": principal, "roleDefinitionId": role and f"/x/{role}"}}
    return driver.call("PUT", f"{scope}/providers/{ASSIGNMENTS}/{name}", body, "2022-04-01")


def listed(driver: Driver, scope: str, filter_: str = "") -> list[str]:
    query = {"$filter": filter_} if filter_ else {}
    body = driver.call("GET", f"{scope}/providers/{ASSIGNMENTS}", None, "2022-04-01", **query).body
    assert body is not None
    return sorted(one["name"] for one in body["value"])


def test_who_has_a_role_at_a_scope() -> None:
    driver = Driver()
    subscription = f"/subscriptions/{SUBSCRIPTION}"
    group = f"{subscription}/resourceGroups/MC_rg_c_eastus"
    assert assigned(driver, subscription, "top", "p").status == 201
    assert assigned(driver, group, "low", "p").status == 201
    assert assigned(driver, group, "other", "q").status == 201
    assert assigned(driver, group, "more", "p", CONTRIBUTOR).status == 201
    assert error_of(assigned(driver, group, "again", "p"))[1] == "RoleAssignmentExists"
    for principal, role in (("", READER), ("p", ""), ("", "")):
        assert error_of(assigned(driver, group, "none", principal, role))[0] == 400
    assert listed(driver, subscription) == ["low", "more", "other", "top"]
    assert listed(driver, subscription, "atScope()") == ["top"]
    assert listed(driver, group) == ["low", "more", "other", "top"]
    assert listed(driver, group, "principalId eq 'q'") == ["other"]
    assert listed(driver, f"{subscription}/resourceGroups/rg") == ["top"]


def test_a_vm_and_a_cluster_show_the_ids_of_their_identities() -> None:
    driver = Driver(timing=INSTANT)
    path = driver.path("Microsoft.ManagedIdentity/userAssignedIdentities", "mine")
    mine = {"location": "eastus", "properties": {"principalId": "P", "clientId": "C"}}
    assert driver.call("PUT", path, mine).status == 201
    made = driver.call("GET", path).body
    assert made is not None
    ids = {key: made["properties"][key] for key in ("principalId", "clientId")}
    other = path.replace("/mine", "/absent")
    identity = {"type": "UserAssigned", "userAssignedIdentities": {path: {}, other: {}}}
    body = driver.vm_body("a")
    driver.put_nic("a")
    vm = driver.call("PUT", driver.vm_path("a"), {**body, "identity": identity}).body
    cluster = driver.call(
        "PUT",
        driver.path(CLUSTERS, "new", group="rg"),
        {
            "location": "eastus",
            "identity": identity,
            "properties": {"agentPoolProfiles": [{"name": "system", "count": 1}]},
        },
    ).body
    for found in (vm, cluster):
        assert found is not None
        users = found["identity"]["userAssignedIdentities"]
        assert users[path] == ids
        assert users[other].keys() == ids.keys()
        assert None not in users[other].values()
        assert users[other] != ids


def test_what_a_pool_of_its_own_version_can_be_upgraded_to() -> None:
    driver = Driver(timing=INSTANT)
    put_cluster(driver)
    path = driver.path(CLUSTERS, "new", group="rg")
    driver.call(
        "PUT", f"{path}/agentPools/old", {"properties": {"count": 0, "orchestratorVersion": "1.33.6"}}, MACHINES
    )
    driver.call("PUT", f"{path}/agentPools/same", {"properties": {"count": 0}}, MACHINES)
    body = driver.call("GET", f"{path}/upgradeProfiles/default", None, MACHINES).body
    assert body is not None
    found = {one["name"]: one["kubernetesVersion"] for one in body["properties"]["agentPoolProfiles"]}
    assert (found["old"], found["same"]) == ("1.33.6", "1.34.3")


@pytest.mark.parametrize("zones", [["1", "2"], ["1", "2", "3"]])
def test_a_vm_is_in_one_zone(zones: list[str]) -> None:
    driver = Driver(timing=INSTANT)
    driver.put_nic("a")
    answer = driver.call("PUT", driver.vm_path("a"), {**driver.vm_body("a"), "zones": zones})
    assert error_of(answer)[0] == 400
    assert "a virtual machine is in one zone at most" in error_of(answer)[2]


def test_a_nic_of_another_vm_is_named_with_it() -> None:
    driver = Driver(timing=INSTANT)
    driver.put_vm("a")
    network = {"networkInterfaces": [{"id": driver.nic_path("a")}]}
    message = error_of(driver.call("PUT", driver.vm_path("b"), driver.vm_body("b", networkProfile=network)))[2]
    assert driver.nic_path("a") in message
    assert driver.vm_path("a") in message


def test_a_nic_is_kept_for_the_vm_that_was_refused_as_long_as_told() -> None:
    for reserved, status in ((1.0, 400), (0.0, 201)):
        driver = Driver({"quota": {"lowPriorityCores": 0}}, timing=Timing(nic_reserved=reserved))
        assert driver.put_vm("a", priority="Spot").status == 409
        network = {"networkInterfaces": [{"id": driver.nic_path("a")}]}
        assert driver.call("PUT", driver.vm_path("b"), driver.vm_body("b", networkProfile=network)).status == status


def disk_of(driver: Driver, name: str, **disk: Any) -> Any:
    body = driver.vm_body(name)
    body["properties"]["storageProfile"]["osDisk"] = {"name": name, "createOption": "FromImage", **disk}
    driver.put_nic(name)
    answer = driver.call("PUT", driver.vm_path(name), body)
    if answer.status >= 400:
        return answer
    return driver.call("GET", driver.path("Microsoft.Compute/disks", name), None, "2025-01-02")


def test_the_disk_of_a_vm() -> None:
    driver = Driver(timing=INSTANT)
    found = disk_of(driver, "a").body
    assert (found["properties"]["diskSizeGB"], found["sku"]["name"]) == (30, "Premium_LRS")
    found = disk_of(driver, "b", diskSizeGB=1, managedDisk={"storageAccountType": "Standard_LRS"}).body
    assert (found["properties"]["diskSizeGB"], found["sku"]["name"]) == (1, "Standard_LRS")
    assert error_of(disk_of(driver, "c", diskSizeGB=0))[0] == 400


def test_an_extension_of_a_vm_that_is_gone_stays_gone() -> None:
    driver = Driver(timing=Timing(vm_create=0, vm_delete=0, extension=30))
    driver.put_vm("a")
    path = f"{driver.vm_path('a')}/extensions/e"
    body = {"location": "eastus", "properties": {"publisher": "p", "type": "t", "typeHandlerVersion": "1.0"}}
    started = driver.call("PUT", path, body, COMPUTE)
    driver.delete_vm("a")
    driver.cloud.advance(60)
    assert driver.call("GET", path, None, COMPUTE).status == 404
    assert driver.poll(started).body["status"] == "Succeeded"


def test_starting_what_runs_tells_nobody() -> None:
    driver = Driver(timing=INSTANT)
    driver.put_vm("a")
    before = len(driver.events)
    driver.call("POST", f"{driver.vm_path('a')}/start", None, COMPUTE)
    assert len(driver.events) == before
    driver.call("POST", f"{driver.vm_path('a')}/deallocate", None, COMPUTE)
    assert len(driver.events) == before + 1


def test_a_reservation_group_without_a_name_is_none() -> None:
    driver = Driver(timing=INSTANT)
    assert driver.put_vm("a", capacityReservation={"capacityReservationGroup": {"id": ""}}).status == 201


def test_the_largest_scale_set() -> None:
    driver = Driver(timing=INSTANT)
    for capacity in (-1, 1001):
        message = error_of(driver.call("PUT", driver.path(SETS, "s"), set_body(driver, capacity)))[2]
        assert "'capacity' must be between 0 and 1000." in message


@pytest.mark.parametrize("mode", ["Uniform", "Flexible"])
def test_instances_of_a_set_take_zones_in_turn_and_its_tags(mode: str) -> None:
    driver = Driver(timing=INSTANT)
    path = driver.path(SETS, "s")
    body = {**set_body(driver, 1, orchestrationMode=mode), "tags": {"team": "alpha"}}
    assert driver.call("PUT", path, body).status in (200, 201)
    driver.call("PATCH", path, {"sku": {"capacity": 4}})
    found = driver.call("GET", f"{path}/virtualMachines").body
    assert found is not None
    zones = [one["zones"] for one in found["value"]]
    assert sorted(zones) == [["1"], ["1"], ["2"], ["2"]]
    assert [one["tags"] for one in found["value"]] == [{"team": "alpha"}] * 4
    untagged = driver.path(SETS, "u")
    driver.call("PUT", untagged, set_body(driver, 1, orchestrationMode=mode))
    [one] = (driver.call("GET", f"{untagged}/virtualMachines").body or {})["value"]
    assert one["tags"] == {}


def test_vms_of_a_flexible_set_are_counted_and_powered() -> None:
    driver = Driver(timing=INSTANT)
    path = driver.path(SETS, "s")
    driver.call("PUT", path, set_body(driver, 3, orchestrationMode="Flexible"))
    first, *_ = names(driver)
    assert driver.call("POST", f"{path}/deallocate", {"instanceIds": [first]}).status in (200, 202)
    statuses = driver.call("GET", driver.vm_path(first), **{"$expand": "instanceView"}).body
    assert statuses is not None
    assert statuses["properties"]["instanceView"]["statuses"][-1]["code"] == "PowerState/deallocated"
    assert driver.call("POST", f"{path}/delete", {"instanceIds": [first]}).status == 202
    found = driver.call("GET", path).body
    assert found is not None
    assert found["sku"]["capacity"] == 2


def test_resources_within_resources_of_a_template() -> None:
    driver = Driver(timing=INSTANT)
    inner = resource("subnets", "s", NETWORK, properties={"addressPrefix": "10.9.0.0/24"}, location="eastus")
    network = resource(
        "Microsoft.Network/virtualNetworks",
        "n",
        NETWORK,
        location="eastus",
        properties={"addressSpace": {"addressPrefixes": ["10.9.0.0/16"]}},
        resources=[inner],
    )
    output = "[reference(resourceId('Microsoft.Network/virtualNetworks', 'n')).addressSpace.addressPrefixes[0]]"
    short = "[reference('Microsoft.Network/virtualNetworks/n').addressSpace.addressPrefixes[0]]"
    outputs = {"a": {"type": "string", "value": output}, "b": {"type": "string", "value": short}}
    deploy(driver, {"resources": [network], "outputs": outputs})
    driver.cloud.advance(30)
    assert shown(driver)["provisioningState"] == "Succeeded", shown(driver)
    assert {key: one["value"] for key, one in shown(driver)["outputs"].items()} == {
        "a": "10.9.0.0/16",
        "b": "10.9.0.0/16",
    }
    subnet = f"{driver.path('Microsoft.Network/virtualNetworks', 'n')}/subnets/s"
    assert driver.call("GET", subnet, None, NETWORK).status == 200


def test_a_resource_whose_expressions_are_wrong_fails_its_deployment() -> None:
    driver = Driver(timing=INSTANT)
    disk = resource("Microsoft.Compute/disks", "d", "2025-01-02", location="[reference('nothing').x]")
    answer = deploy(driver, {"resources": [disk]})
    driver.cloud.advance(30)
    error = shown(driver)["error"]
    assert (error["code"], error["details"][0]["code"]) == ("DeploymentFailed", "InvalidTemplate")
    assert driver.poll(answer).body["error"]["code"] == "DeploymentFailed"
    assert operations(driver, "statusCode") == ["BadRequest"]


@pytest.mark.parametrize(("status", "told"), [(409, "Conflict"), (404, "NotFound"), (499, "499")])
def test_a_failed_operation_of_a_deployment_tells_its_status(status: int, told: str) -> None:
    fault = {"what": "Mine", "message": "m", "status": status, "where": {"resource": "disks", "method": "PUT"}}
    driver = Driver({"faults": [fault]}, timing=INSTANT)
    disk = resource("Microsoft.Compute/disks", "d", "2025-01-02", location="eastus")
    deploy(driver, {"resources": [disk]})
    driver.cloud.advance(30)
    assert operations(driver, "statusCode") == [told]


def test_which_nics_narrow_where_a_vm_can_be() -> None:
    driver = Driver(timing=INSTANT)
    found = {}
    for name, fast, version in (("plain", False, "IPv4"), ("fast", True, "IPv4"), ("six", False, "IPv6")):
        body = driver.nic_body(name, enableAcceleratedNetworking=fast)
        body["properties"]["ipConfigurations"][0]["properties"]["privateIPAddressVersion"] = version
        driver.call("PUT", driver.nic_path(name), body, NETWORK)
        found[name] = network_interfaces.constrains(driver.cloud.state, ResourceId.parse(driver.nic_path(name)))
    gone = ResourceId.parse(driver.nic_path("gone"))
    assert (found, network_interfaces.constrains(driver.cloud.state, gone)) == (
        {"plain": False, "fast": True, "six": True},
        False,
    )


def test_a_nic_that_fails_says_so_and_one_that_is_gone_does_not() -> None:
    fault = {"what": "InternalServerError", "at": "end", "where": {"resource": "networkInterfaces"}, "times": 2}
    driver = Driver({"faults": [fault]}, timing=Timing(nic=10))
    driver.put_nic("a")
    driver.put_nic("b")
    driver.cloud.state.store.remove(ResourceId.parse(driver.nic_path("b")))
    driver.cloud.advance(11)
    body = driver.call("GET", driver.nic_path("a"), None, NETWORK).body
    assert body is not None
    assert body["properties"]["provisioningState"] == "Failed"
    assert driver.call("GET", driver.nic_path("b"), None, NETWORK).status == 404


def test_a_pool_of_a_load_balancer_that_is_not_there() -> None:
    driver = Driver()
    body = driver.nic_body("a")
    inner = body["properties"]["ipConfigurations"][0]["properties"]
    gone = driver.path("Microsoft.Network/loadBalancers", "gone")
    for pool in (f"{gone}/backendAddressPools/x", gone):
        inner["loadBalancerBackendAddressPools"] = [{"id": pool}]
        assert error_of(driver.call("PUT", driver.nic_path("a"), body, NETWORK))[1] == "InvalidResourceReference"


def test_a_subnet_keeps_its_addresses_unless_it_gets_others() -> None:
    driver = Driver()
    network = driver.path("Microsoft.Network/virtualNetworks", "n")
    space = {"location": "eastus", "properties": {"addressSpace": {"addressPrefixes": ["10.9.0.0/16"]}}}
    driver.call("PUT", network, space, NETWORK)

    def made(prefix: str) -> int:
        answer = driver.call("PUT", f"{network}/subnets/s", {"properties": {"addressPrefix": prefix}}, NETWORK)
        return answer.status

    def first(name: str) -> str:
        body = driver.nic_body(name)
        body["properties"]["ipConfigurations"][0]["properties"]["subnet"] = {"id": f"{network}/subnets/s"}
        found = driver.call("PUT", driver.nic_path(name), body, NETWORK).body
        assert found is not None
        return str(found["properties"]["ipConfigurations"][0]["properties"]["privateIPAddress"])

    assert made("10.9.0.0/24") == 201
    assert first("a") == "10.9.0.4"
    assert made("10.9.0.0/24") == 200
    assert first("b") == "10.9.0.5"
    driver.call("DELETE", driver.nic_path("a"), None, NETWORK)
    driver.call("DELETE", driver.nic_path("b"), None, NETWORK)
    assert made("10.9.1.0/24") == 200
    assert first("c") == "10.9.1.4"


@pytest.mark.parametrize(("priority", "status"), [(99, 400), (100, 201), (4096, 201), (4097, 400)])
def test_priorities_of_rules(priority: int, status: int) -> None:
    driver = Driver(timing=INSTANT)
    group = driver.path("Microsoft.Network/networkSecurityGroups", "g")
    rule = {
        "name": "r",
        "properties": {
            "priority": priority,
            "direction": "Inbound",
            "access": "Allow",
            "protocol": "*",
            "sourceAddressPrefix": "*",
            "destinationAddressPrefix": "*",
            "sourcePortRange": "*",
            "destinationPortRange": "*",
        },
    }
    body = {"location": "eastus", "properties": {"securityRules": [rule]}}
    assert driver.call("PUT", group, body, NETWORK).status == status


def scores(driver: Driver, **body: Any) -> Any:
    path = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations/eastus/placementScores/spot/generate"
    return driver.call("POST", path, {"desiredSizes": [{"sku": "Standard_D2s_v5"}], **body}, "2025-06-05").body


def test_scores_of_places() -> None:
    driver = Driver({"capacity": [{"size": "Standard_D2s_v5", "zone": "1", "vms": 1}]})
    zonal = scores(driver, availabilityZones=True)["placementScores"]
    assert [one["availabilityZone"] for one in zonal] == ["1", "2", "3"]
    assert zonal[0]["score"] == "High", "one VM is wanted, and one is there"
    for more in ({"desiredCount": 0}, {"desiredCount": 1}):
        assert scores(driver, availabilityZones=True, **more)["placementScores"][0]["score"] == "High"
    assert scores(driver, availabilityZones=True, desiredCount=2)["placementScores"][0]["score"] == "Medium"
    both = scores(driver, desiredLocations=["westus", "eastus"])["placementScores"]
    assert [one["region"] for one in both] == ["westus", "eastus"]
    assert [one["region"] for one in scores(driver)["placementScores"]] == ["eastus"]


def test_pages_of_prices() -> None:
    azure = FakeAzure(region="eastus")

    def asked(**query: str) -> Any:
        return azure.request("GET", "/api/retail/prices", query={"$filter": "armRegionName eq 'eastus'", **query}).body

    first = asked()
    total, skip = len(first["Items"]), 0
    assert total == PAGE
    while True:
        body = asked(**{"$skip": str(skip)})
        if body["NextPageLink"] is None:
            break
        skip += PAGE
        assert f"skip={skip}" in body["NextPageLink"]
    count = skip + len(body["Items"])
    for skipped, more in ((count - PAGE, False), (count - PAGE - 1, True)):
        page = asked(**{"$skip": str(skipped)})
        assert (len(page["Items"]), page["NextPageLink"] is not None) == (PAGE, more)
    wrong = azure.request("GET", "/api/retail/prices", query={"$filter": "armRegionName is 'eastus'"})
    assert wrong.status == 400
    assert wrong.body is not None
    assert wrong.body["Error"]["Code"] == "InvalidFilter"


def test_generations_of_marketplace_images() -> None:
    images = {
        sku: _marketplace("canonical", "ubuntu-24_04-lts", sku, "latest")
        for sku in ("server", "server-gen1", "server-arm64", "gen1or2")
    }
    assert {
        sku: (image.generation, image.architecture) if image is not None else None for sku, image in images.items()
    } == {
        "server": ("V2", "x64"),
        "server-gen1": ("V1", "x64"),
        "server-arm64": ("V2", "Arm64"),
        "gen1or2": ("V1", "x64"),  # its name tells generation 1
    }


@pytest.mark.parametrize(
    ("method", "path", "told"),
    [
        ("GET", "Microsoft.Compute/virtualMachine/a", "GET Microsoft.Compute/virtualMachines"),
        ("DELETE", "Microsoft.Compute/virtualMachine/a", "DELETE Microsoft.Compute/virtualMachines"),
        ("PUT", "Microsoft.Compute/virtualMachine/a", "PUT Microsoft.Compute/virtualMachines"),
        ("BREW", "Microsoft.Compute/virtualMachine/a", "Microsoft.Compute/virtualMachines"),
        ("GET", "Microsoft.Nothing/things/a", None),
    ],
)
def test_the_nearest_operation(method: str, path: str, told: str | None) -> None:
    found = nearest(router().routes, method, f"/subscriptions/s/resourceGroups/g/providers/{path}")
    assert (found is None) if told is None else (found is not None and found.endswith(told))


@pytest.mark.parametrize(("what", "status"), [("InternalServerError", "Failed"), ("Stuck", "Creating")])
def test_aks_itself_fails_or_never_ends(what: str, status: str) -> None:
    at = {} if what == "Stuck" else {"at": "end"}
    driver = Driver({"faults": [{"what": what, **at, "where": {"resource": "machines", "method": "PUT"}}]})
    put(driver, "m", machine_body())
    driver.cloud.advance(900)
    found = driver.call("GET", f"{driver.pool_path()}/machines/m", None, MACHINES).body
    assert found is not None
    assert found["properties"]["provisioningState"] == status
    assert driver.cloud.vms() == []
