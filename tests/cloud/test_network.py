"""Networks, subnets, NICs: references are checked, addresses are counted, a NIC belongs to one VM."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.arm.messages import Response
from fakeazure.seed import subnet_id
from fakeazure.timing import Timing
from tests.cloud.driver import NETWORK, Driver, error_of


def test_subnet_runs_full_and_takes_addresses_back() -> None:
    driver = Driver(subnet_prefix="10.224.0.0/29")  # eight addresses, five of them Azure's
    addresses = []
    for name in "abc":
        body = driver.put_nic(name).body
        assert body is not None
        addresses.append(body["properties"]["ipConfigurations"][0]["properties"]["privateIPAddress"])
    assert addresses == ["10.224.0.4", "10.224.0.5", "10.224.0.6"]
    assert error_of(driver.put_nic("d")) == (
        400,
        "SubnetIsFull",
        "Subnet aks-subnet with address prefix 10.224.0.0/29 does not have enough capacity for 1 IP addresses.",
    )
    assert driver.put_nic("b").status == 200  # again, with the address it has
    driver.call("DELETE", driver.nic_path("b"), None, NETWORK)
    body = driver.put_nic("d").body
    assert body is not None
    assert body["properties"]["ipConfigurations"][0]["properties"]["privateIPAddress"] == "10.224.0.5"


def test_node_subnet_mode_takes_an_address_per_pod() -> None:
    driver = Driver(subnet_prefix="10.224.0.0/28")
    body = driver.nic_body("a")
    first = body["properties"]["ipConfigurations"][0]
    more = [{"name": f"ipconfig{n}", "properties": {**first["properties"], "primary": False}} for n in range(1, 11)]
    body["properties"]["ipConfigurations"] = [first, *more]
    assert driver.call("PUT", driver.nic_path("a"), body, NETWORK).status == 201
    assert error_of(driver.put_nic("b"))[1] == "SubnetIsFull"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ([None], [True]),
        ([False], [False]),
        (["true"], [True]),
        ([None, True], [False, True]),
        ([True, False], [True, False]),
    ],
)
def test_one_configuration_of_a_nic_is_primary(given: list[bool | str | None], shown: list[bool]) -> None:
    answer = put_configurations(Driver(), [{} if primary is None else {"primary": primary} for primary in given]).body
    assert answer is not None
    assert [one["properties"]["primary"] for one in answer["properties"]["ipConfigurations"]] == shown


def test_a_null_is_as_an_absent_primary_and_one_of_ipv6_is_none() -> None:
    for stated, shown in (({"primary": None}, True), ({"privateIPAddressVersion": "IPv6"}, False)):
        answer = put_configurations(Driver(), [stated]).body
        assert answer is not None
        [configuration] = answer["properties"]["ipConfigurations"]
        assert configuration["properties"]["primary"] is shown


NONE = (
    "Network Interface a specifies multiple IPConfigurations but none of the IPConfigurations is specified as Primary."
)


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        ([None, None], "NetworkInterfaceMustHaveOneOneIPConfigAsPrimary", NONE),
        ([False, None], "NetworkInterfaceMustHaveOneOneIPConfigAsPrimary", NONE),
        ([True, True], "NetworkInterfaceMustHaveOneOneIPConfigAsPrimary", "multiple IPConfigurations as Primary"),
        (["yes"], "InvalidRequestContent", "'primary' must be a boolean."),
        ([1, False], "InvalidRequestContent", "'primary' must be a boolean."),
    ],
)
def test_a_nic_has_one_primary_configuration(given: list[Any], code: str, message: str) -> None:
    """The first text is that of Azure/azure-sdk-for-go#259. A NIC that was there is as before."""
    driver = Driver()
    driver.put_nic("a")
    before = driver.call("GET", driver.nic_path("a"), None, NETWORK).body
    answer = put_configurations(driver, [{"primary": primary} for primary in given])
    status, found_code, found_message = error_of(answer)
    assert (status, found_code) == (400, code)
    assert message in found_message
    assert driver.call("GET", driver.nic_path("a"), None, NETWORK).body == before


@pytest.mark.parametrize("name", ["enableAcceleratedNetworking", "enableIPForwarding"])
def test_switches_of_a_nic_may_be_text(name: str) -> None:
    driver = Driver()
    for given, shown in (("false", False), ("True", True), (None, False)):
        body = driver.put_nic("a", **{name: given}).body
        assert body is not None
        assert body["properties"][name] is shown


@pytest.mark.parametrize("name", ["enableAcceleratedNetworking", "enableIPForwarding"])
def test_a_nic_with_a_switch_that_is_none_takes_no_address(name: str) -> None:
    driver = Driver(subnet_prefix="10.224.0.0/29")  # eight addresses, five of them Azure's
    driver.put_nic("a")
    for nic in ("a", "b", "c", "d"):
        assert error_of(driver.put_nic(nic, **{name: "on"}))[1] == "InvalidRequestContent"
    assert [driver.put_nic(nic).status for nic in ("b", "c", "d")] == [201, 201, 400]


def put_configurations(driver: Driver, given: list[dict[str, Any]]) -> Response:
    """PUT the NIC `a` with configurations that have these properties beside their subnet."""
    body = driver.nic_body("a")
    [first] = body["properties"]["ipConfigurations"]
    inner = {key: value for key, value in first["properties"].items() if key != "primary"}
    body["properties"]["ipConfigurations"] = [
        {"name": f"ip{n}", "properties": {**inner, **properties}} for n, properties in enumerate(given)
    ]
    return driver.call("PUT", driver.nic_path("a"), body, NETWORK)


def test_references_must_exist() -> None:
    driver = Driver()
    balancer = driver.path("Microsoft.Network/loadBalancers", "kubernetes")
    for pool, good in (("kubernetes", True), ("gone", False)):
        body = driver.nic_body("a")
        inner = body["properties"]["ipConfigurations"][0]["properties"]
        inner["loadBalancerBackendAddressPools"] = [{"id": f"{balancer}/backendAddressPools/{pool}"}]
        answer = driver.call("PUT", driver.nic_path("a"), body, NETWORK)
        assert (answer.status == 201) is good
    status, code, message = error_of(answer)
    assert (status, code) == (400, "InvalidResourceReference")
    assert f"{balancer}/backendAddressPools/gone" in message  # the client looks for the id that it sent
    group = driver.path("Microsoft.Network/networkSecurityGroups", "gone")
    assert error_of(driver.put_nic("b", networkSecurityGroup={"id": group}))[1] == "InvalidResourceReference"
    body = driver.nic_body("c")
    body["properties"]["ipConfigurations"][0]["properties"]["subnet"] = {"id": subnet_id(driver.cloud.state) + "x"}
    assert error_of(driver.call("PUT", driver.nic_path("c"), body, NETWORK))[1] == "InvalidResourceReference"
    answer = driver.call("PUT", driver.vm_path("d"), driver.vm_body("d"))
    assert error_of(answer)[1] == "InvalidResourceReference"


def test_nic_belongs_to_one_vm() -> None:
    driver = Driver()
    driver.put_vm("a")
    nic = driver.call("GET", driver.nic_path("a"), None, NETWORK).body
    assert nic is not None
    assert nic["properties"]["virtualMachine"]["id"] == driver.vm_path("a")
    body = driver.vm_body("a") | {"name": "b"}
    assert error_of(driver.call("PUT", driver.vm_path("b"), body))[1] == "InvalidParameter"
    assert error_of(driver.call("DELETE", driver.nic_path("a"), None, NETWORK))[1] == "NicInUse"
    assert driver.put_nic("a").status == 200  # a PUT of the same NIC keeps its VM
    assert error_of(driver.call("DELETE", driver.nic_path("a"), None, NETWORK))[1] == "NicInUse"


def test_a_refused_launch_leaves_no_reservation_unless_asked_for() -> None:
    driver = Driver({"quota": {"cores": 0}})
    assert driver.put_vm("a").status == 409
    assert driver.cloud.state.nic_reservations == {}


def test_nic_of_a_refused_launch_stays_reserved_where_asked_for() -> None:
    driver = Driver({"quota": {"cores": 0}}, timing=Timing(nic_reserved=180))
    assert driver.put_vm("a").status == 409
    status, code, message = error_of(driver.call("DELETE", driver.nic_path("a"), None, NETWORK))
    assert (status, code) == (400, "NicReservedForAnotherVm")
    assert driver.vm_path("a") in message
    body = driver.vm_body("a") | {"name": "b"}
    driver.cloud.market.quota.set_limit("cores", 10)
    assert error_of(driver.call("PUT", driver.vm_path("b"), body))[1] == "NicReservedForAnotherVm"
    assert driver.call("PUT", driver.vm_path("a"), driver.vm_body("a")).status == 201  # its own VM may have it
    driver.cloud.vanish("a")
    driver.put_nic("a")
    assert driver.call("DELETE", driver.nic_path("a"), None, NETWORK).status == 202  # nor is it kept for it any longer
    driver.cloud.market.quota.set_limit("cores", 0)
    assert driver.put_vm("c").status == 409
    driver.cloud.advance(180)
    assert driver.call("DELETE", driver.nic_path("c"), None, NETWORK).status == 202


def test_nic_can_take_time() -> None:
    driver = Driver(timing=Timing(nic=2))
    answer = driver.put_nic("a")
    assert "/Microsoft.Network/locations/eastus/operations/" in answer.headers["Azure-AsyncOperation"]
    driver.cloud.advance(2)
    body = driver.poll(answer).body
    assert body is not None
    assert body["status"] == "Succeeded"
    gone = driver.call("DELETE", driver.nic_path("a"), None, NETWORK)
    assert gone.status == 202
    assert "/operationResults/" in gone.headers["Location"]
    assert driver.poll(gone, "Location").status == 202
    driver.cloud.advance(2)
    assert driver.poll(gone, "Location").status == 204


def test_network_of_the_cluster_is_there_and_can_be_changed() -> None:
    driver = Driver()
    vnet = driver.path("Microsoft.Network/virtualNetworks", "aks-vnet-12345678")
    body = driver.call("GET", vnet, None, NETWORK).body
    assert body is not None
    assert body["properties"]["resourceGuid"]
    assert [subnet["name"] for subnet in body["properties"]["subnets"]] == ["aks-subnet"]
    missing = driver.call("GET", f"{vnet}/subnets/nope", None, NETWORK)
    assert error_of(missing)[:2] == (404, "NotFound")
    added = driver.call("PUT", f"{vnet}/subnets/more", {"properties": {"addressPrefix": "10.225.0.0/24"}}, NETWORK)
    assert added.status == 201
    bad = driver.call("PUT", f"{vnet}/subnets/bad", {"properties": {"addressPrefix": "10.225.0.7/24"}}, NETWORK)
    assert error_of(bad)[:2] == (400, "InvalidRequestContent")
    groups = driver.call("GET", driver.path("Microsoft.Network/networkSecurityGroups"), None, NETWORK).body
    assert groups is not None
    assert [item["name"] for item in groups["value"]] == ["aks-agentpool-12345678-nsg"]
    balancers = driver.call("GET", driver.path("Microsoft.Network/loadBalancers"), None, NETWORK).body
    assert balancers is not None
    [balancer] = balancers["value"]
    assert all({"id", "name", "properties"} <= set(pool) for pool in balancer["properties"]["backendAddressPools"])


def test_a_subnet_is_found_by_every_spelling_until_it_goes() -> None:
    driver = Driver()
    vnet = driver.path("Microsoft.Network/virtualNetworks", "aks-vnet-12345678")
    spellings = [f"{vnet}/subnets/aks-subnet", f"{vnet.upper()}/subnets/AKS-subnet", f"/{vnet}/subnets//aks-subnet/"]
    [body, *others] = [driver.call("GET", path, None, NETWORK).body for path in spellings]
    assert body is not None
    assert body["name"] == "aks-subnet"
    assert others == [body, body]
    assert driver.call("DELETE", vnet, None, NETWORK).status == 200
    assert error_of(driver.call("GET", spellings[0], None, NETWORK))[:2] == (404, "ResourceNotFound")
    assert driver.call("DELETE", vnet.partition("/providers/")[0]).status == 202
    assert error_of(driver.call("GET", spellings[0], None, NETWORK))[:2] == (404, "ResourceGroupNotFound")


def test_patch_changes_tags_only() -> None:
    driver = Driver()
    before = driver.put_nic("a").body
    patched = driver.call("PATCH", driver.nic_path("a"), {"tags": {"x": "y"}}, NETWORK)
    assert patched.status == 200
    assert patched.body is not None
    assert before is not None
    assert patched.body == {**before, "tags": {"x": "y"}}
    assert before["tags"] != {"x": "y"}  # what was handed out before does not change


def test_deleting_a_nic_is_answered_202_and_polled_as_real_clients_expect() -> None:
    driver = Driver()
    driver.put_nic("a")
    answer = driver.call("DELETE", driver.nic_path("a"), None, NETWORK)
    assert answer.status == 202
    assert {"Azure-AsyncOperation", "Location"} <= set(answer.headers)
    assert (driver.poll(answer).body or {})["status"] == "Succeeded"
    assert driver.call("DELETE", driver.nic_path("a"), None, NETWORK).status == 204  # it is not there
