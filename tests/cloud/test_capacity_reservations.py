"""Capacity reservations count as capacity: what they take of quota and stock, and which VMs they let in."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.market.spec import market_mistakes
from fakeazure.market.wording import MarketError
from tests.cloud.driver import CATALOGUE, SMALL, Driver, error_of

GROUPS = "Microsoft.Compute/capacityReservationGroups"
DRY = [{"size": "Standard_D2s_v5", "zone": "1", "vms": 0}]
ONE = {"held": [{"size": "Standard_D2s_v5", "zone": "1", "quantity": 1}]}


def group_id(driver: Driver, name: str = "held") -> str:
    return driver.path(GROUPS, name, group="rg")


def put(driver: Driver, name: str, group: str = "held", **facts: Any) -> Any:
    """A VM in a reservation group, after its creation has ended."""
    named = {"capacityReservationGroup": {"id": group_id(driver, group)}}
    answer = driver.put_vm(name, capacityReservation=named, **facts)
    driver.cloud.advance(300)
    return answer


def state_of(driver: Driver, name: str) -> str:
    body = driver.get_vm(name).body
    assert body is not None
    return str(body["properties"]["provisioningState"])


def allocated(driver: Driver, member: str = "Standard_D2s_v5-1") -> list[str]:
    query = {"$expand": "instanceView"}
    one = driver.call("GET", f"{group_id(driver)}/capacityReservations/{member}", **query).body
    whole = driver.call("GET", group_id(driver), **query).body
    assert one is not None
    assert whole is not None
    [view] = [one for one in whole["properties"]["instanceView"]["capacityReservations"] if one["name"] == member]
    used = one["properties"]["instanceView"]["utilizationInfo"]
    assert view["utilizationInfo"] == used
    assert used["currentCapacity"] == one["sku"]["capacity"]
    return [vm["id"].rpartition("/")[2] for vm in used["virtualMachinesAllocated"]]


def reserve(driver: Driver, quantity: int, *, size: str = "Standard_D2s_v5", zone: str = "1") -> Any:
    body = {"location": "eastus", "sku": {"name": size, "capacity": quantity}, "zones": [zone]}
    return driver.call("PUT", f"{group_id(driver)}/capacityReservations/{size}-{zone}", body)


def test_a_reserved_vm_is_there_where_nothing_is_left() -> None:
    driver = Driver({"capacity": DRY, "reservations": ONE})
    driver.put_vm("plain")
    driver.cloud.advance(300)
    put(driver, "mine")
    assert (state_of(driver, "plain"), state_of(driver, "mine")) == ("Failed", "Succeeded")
    assert allocated(driver) == ["mine"]
    put(driver, "beyond")
    assert state_of(driver, "beyond") == "Failed", "a VM beyond the quantity is like one without a reservation"
    assert allocated(driver) == ["mine"]
    driver.delete_vm("mine")
    driver.cloud.advance(300)
    assert allocated(driver) == []
    put(driver, "next")
    assert state_of(driver, "next") == "Succeeded"


def test_quota_counts_the_quantity_or_the_vms_where_they_are_more() -> None:
    driver = Driver({"quota": {"cores": 6}, "reservations": {"held": [{**ONE["held"][0], "quantity": 2}]}})
    family = "standardDSv5Family"
    assert (driver.usage("cores"), driver.usage(family)[0], driver.usage("virtualMachines")[0]) == ((4, 6), 4, 0)
    for name in ("a", "b"):
        assert put(driver, name).status == 201
    assert (driver.usage("cores"), driver.usage("virtualMachines")[0]) == ((4, 6), 2)
    assert put(driver, "c").status == 201, "overallocated: it needs quota of its own"
    assert driver.usage("cores") == (6, 6)
    assert allocated(driver) == ["a", "b", "c"]
    status, code, message = error_of(put(driver, "d"))
    assert (status, code) == (409, "OperationNotAllowed")
    assert "exceeding approved Total Regional Cores quota" in message
    driver.delete_vm("a")
    driver.cloud.advance(300)
    assert driver.usage("cores") == (4, 6), "the one that was beyond the quantity has the free place"
    for name in ("b", "c"):
        driver.delete_vm(name)
    driver.cloud.advance(300)
    assert (driver.usage("cores"), driver.usage("virtualMachines")[0]) == ((4, 6), 0)


def test_what_the_group_does_not_reserve_is_refused() -> None:
    driver = Driver({"reservations": ONE})
    for facts in ({"size": "Standard_D4s_v5"}, {"zone": "2"}, {"zone": ""}):
        status, code, message = error_of(put(driver, "x", **facts))
        assert (status, code) == (409, "OperationNotAllowed")
        assert "'held' has no capacity reservation for VM size" in message
    assert error_of(put(driver, "x", priority="Spot"))[:2] == (400, "InvalidParameter")
    status, code, message = error_of(put(driver, "x", group="helt"))
    assert (status, code) == (404, "ResourceNotFound")
    assert "'Microsoft.Compute/capacityReservationGroups/helt' under resource group 'rg'" in message
    wrong = driver.put_vm("x", capacityReservation={"capacityReservationGroup": {"id": "held"}})
    assert error_of(wrong)[:2] == (400, "LinkedInvalidPropertyId")
    assert driver.usage("cores")[0] == 2, "nothing but the reservation"


def test_a_reservation_by_arm_needs_quota_and_stock_as_a_whole() -> None:
    shelf = {"size": "Standard_D2s_v5", "zone": "1", "vms": 3}
    driver = Driver({"capacity": [shelf], "quota": {"cores": 8}})
    driver.call("PUT", group_id(driver), {"location": "eastus", "zones": ["1"]})
    assert error_of(reserve(driver, 5))[:2] == (409, "OperationNotAllowed")
    assert error_of(reserve(driver, 4))[:2] == (409, "ZonalAllocationFailed")
    assert driver.usage("cores") == (0, 8)
    assert reserve(driver, 3).status == 201
    left = driver.cloud.market.stock.shelves[0]
    assert (driver.usage("cores"), left.left) == ((6, 8), 0)
    put(driver, "mine")
    assert (state_of(driver, "mine"), left.left) == ("Succeeded", 0)
    assert reserve(driver, 1).status == 200
    assert (driver.usage("cores"), left.left, allocated(driver)) == ((2, 8), 2, ["mine"])
    assert error_of(driver.call("DELETE", f"{group_id(driver)}/capacityReservations/Standard_D2s_v5-1"))[:2] == (
        409,
        "OperationNotAllowed",
    )
    driver.delete_vm("mine")
    driver.cloud.advance(300)
    assert error_of(driver.call("DELETE", group_id(driver)))[:2] == (409, "OperationNotAllowed")
    assert driver.call("DELETE", f"{group_id(driver)}/capacityReservations/Standard_D2s_v5-1").status == 200
    assert driver.call("DELETE", group_id(driver)).status == 200
    assert (driver.usage("cores"), left.left) == ((0, 8), 3)


@pytest.mark.parametrize("quantity", [-1, 1.5, 1e30, float("inf"), float("nan"), "two"])
def test_a_quantity_that_is_none_is_refused(quantity: Any) -> None:
    driver = Driver({"capacity": [{"size": "Standard_D2s_v5", "zone": "1", "vms": 3}]})
    driver.call("PUT", group_id(driver), {"location": "eastus", "zones": ["1"]})
    assert error_of(reserve(driver, quantity))[:2] == (400, "InvalidRequestContent")
    assert (driver.usage("cores")[0], driver.cloud.market.stock.shelves[0].left) == (0, 3)


def test_a_resize_stays_in_the_group_or_is_refused() -> None:
    members = [*ONE["held"], {"size": "Standard_D4s_v5", "zone": "1", "quantity": 1}]
    driver = Driver({"reservations": {"held": members}, "quota": {"cores": 6}})
    put(driver, "mine")
    assert driver.resize_vm("mine", "Standard_D4s_v5").status == 200
    assert (allocated(driver), allocated(driver, "Standard_D4s_v5-1")) == ([], ["mine"])
    assert error_of(driver.resize_vm("mine", "Standard_D2ds_v5"))[:2] == (409, "OperationNotAllowed")
    assert (allocated(driver), allocated(driver, "Standard_D4s_v5-1")) == ([], ["mine"])
    assert driver.usage("cores") == (6, 6)
    leave = {"properties": {"capacityReservation": {"capacityReservationGroup": {"id": None}}}}
    assert error_of(driver.call("PATCH", driver.vm_path("mine"), leave))[:2] == (409, "OperationNotAllowed")


def test_snapshots_and_deleted_resource_groups_keep_the_sums() -> None:
    driver = Driver({"reservations": ONE})
    put(driver, "mine")
    taken = driver.cloud.snapshot()
    driver.cloud.reset()
    assert allocated(driver) == []
    driver.cloud.restore(taken)
    assert (allocated(driver), driver.usage("cores")[0]) == (["mine"], 2)
    driver.delete_vm("mine")
    driver.cloud.advance(300)
    assert (allocated(driver), driver.usage("cores")[0]) == ([], 2)
    driver.call("DELETE", group_id(driver).partition("/providers")[0])
    driver.cloud.advance(300)
    assert driver.usage("cores")[0] == 0


def test_every_mistake_is_told() -> None:
    size = SMALL[0]["name"]
    spec = {
        "reservations": {
            "a": [{"size": "Standard_D2s_v4", "quantity": 1}, {"size": size, "zone": "7", "quantity": 1}],
            "b": [
                {"size": size, "zone": "1", "quantity": -1},
                {"size": size, "zonne": "1", "quantity": 1},
                {"size": size},
            ],
            "c": [{"size": size, "zone": "1", "quantity": 1}, {"size": size, "zone": "eastus-1", "quantity": 2}],
            "d": [{"size": size, "zone": "1", "quantity": 1}, {"size": "standard_d4s_v5", "quantity": 2}],
            "e": [],
            "f g": [{"size": size, "quantity": 1}],
        }
    }
    assert [str(one) for one in market_mistakes(CATALOGUE, spec)] == [
        "reservations.a[0].size: eastus does not sell 'Standard_D2s_v4'; did you mean 'Standard_D2s_v5'?",
        "reservations.a[1].zone: Standard_D2s_v5 has no zone '7' in eastus; known are 1, 2, 3",
        "reservations.b[0].quantity: a whole number of 0 or more, not -1",
        "reservations.b[1]: unknown field 'zonne'; did you mean 'zone'?",
        "reservations.b[2]: needs quantity",
        "reservations.c[1]: the group has a reservation of Standard_D2s_v5 there already",
        "reservations.d[1].zone: a group is zonal or regional: all of its reservations have a zone, or none",
        "reservations.e: expected a list of reservations, found []",
        "reservations.f g: a group's name has letters, digits, _, . and -, at most 80, not 'f g'",
    ]
    with pytest.raises(MarketError, match="does not sell"):
        Driver(spec)
