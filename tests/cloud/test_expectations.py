"""What a test expects of the calls that a cloud got."""

from __future__ import annotations

import pytest

from fakeazure.timing import INSTANT
from tests.cloud.driver import Driver


@pytest.fixture
def driver() -> Driver:
    """Two VMs in zone 2, one of which is deleted, and one refused."""
    driver = Driver({"quota": {"cores": 4}}, timing=INSTANT)
    for name in ("a", "b"):
        assert driver.put_vm(name, zone="2").status == 201
    assert driver.put_vm("c", zone="2").status == 409
    driver.delete_vm("a")
    return driver


def test_no_vm_outside_a_zone(driver: Driver) -> None:
    vms = driver.cloud.calls.where(method="PUT", resource="virtualMachines")
    vms.each(zone="2")
    vms.where(accepted=True).each(size="standard_d2*", priority="Regular")
    driver.put_vm("d", zone="3")
    with pytest.raises(AssertionError) as failed:
        driver.cloud.calls.where(method="PUT", resource="virtualMachines").each(zone="2")
    first, second = str(failed.value).splitlines()
    assert first == "1 of 4 calls with method='PUT', resource='virtualMachines' are without zone='2'"
    assert second.split(": ", 1)[1].startswith("PUT virtualMachines/d 201 size=Standard_D2s_v5 zones=['3']")


def test_everything_that_was_made_is_gone(driver: Driver) -> None:
    nics = driver.cloud.calls.where(method="PUT", resource="networkInterfaces")
    nics.where(name="a").all_gone()
    with pytest.raises(
        AssertionError, match=r"of 3 calls .* there still is what 2 made\n  \d+: PUT networkInterfaces/b 201"
    ):
        nics.all_gone()
    driver.delete_vm("b")
    driver.call("DELETE", driver.nic_path("c"))
    nics.all_gone()


def test_counts(driver: Driver) -> None:
    calls = driver.cloud.calls
    calls.where(method="PUT", resource="virtualMachines").times(3)
    calls.where(code="OperationNotAllowed", status=409).times(1)
    calls.where(code="TooManyRequests").never()
    assert [call.name for call in calls.where(method="DELETE")] == ["a"]
    with pytest.raises(AssertionError, match="0 calls with method='DELETE' expected, 1 found"):
        calls.where(method="DELETE").never()


def test_an_expectation_about_nothing_fails(driver: Driver) -> None:
    none = driver.cloud.calls.where(resource="disks")
    assert len(none) == 0
    with pytest.raises(AssertionError, match="there are no calls with resource='disks'"):
        none.each(status=200)
    with pytest.raises(AssertionError, match="there are no calls"):
        none.all_gone()
    with pytest.raises(TypeError, match="a call has no fact 'sise'; it has method, resource,"):
        driver.cloud.calls.where(sise="x")
