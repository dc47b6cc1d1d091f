"""What can be done to a VM that exists, and the lists that tell how it is."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.beginning import SUBSCRIPTION
from tests.cloud.driver import Driver, error_of

COMPUTE = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute"


def running(**options: Any) -> Driver:
    driver = Driver(**options)
    driver.put_vm("aks-a")
    driver.cloud.advance(10)
    driver.events.clear()
    return driver


@pytest.mark.parametrize("action", ["restart", "redeploy", "reimage"])
def test_a_running_vm_goes_off_and_on(action: str) -> None:
    driver = running()
    answer = driver.call("POST", f"{driver.vm_path('aks-a')}/{action}")
    assert (answer.status, driver.events) == (202, [])
    driver.cloud.advance(5)
    assert [type(event).__name__ for event in driver.events] == ["PoweredOff", "PoweredOn"]
    assert driver.poll(answer, "Location").status == 200


def test_a_vm_that_is_off_is_not_restarted() -> None:
    driver = running()
    driver.call("POST", f"{driver.vm_path('aks-a')}/deallocate")
    driver.cloud.advance(5)
    assert error_of(driver.call("POST", f"{driver.vm_path('aks-a')}/restart"))[:2] == (409, "OperationNotAllowed")
    command = {"commandId": "RunShellScript"}
    assert error_of(driver.call("POST", f"{driver.vm_path('aks-a')}/runCommand", command))[0] == 409
    assert driver.call("POST", f"{driver.vm_path('aks-a')}/redeploy").status == 202


def test_a_command_answers_at_its_end() -> None:
    driver = running()
    answer = driver.call("POST", f"{driver.vm_path('aks-a')}/runCommand", {"commandId": "RunShellScript"})
    assert driver.poll(answer, "Location").status == 202
    driver.cloud.advance(5)
    for header, found in (
        ("Location", lambda body: body),
        ("Azure-AsyncOperation", lambda body: body["properties"]["output"]),
    ):
        poll = driver.poll(answer, header)
        assert (poll.status, found(poll.body)["value"][0]["code"]) == (200, "ProvisioningState/succeeded")
    assert error_of(driver.call("POST", f"{driver.vm_path('aks-a')}/runCommand", {}))[1] == "InvalidRequestContent"


def test_lists_tell_status_and_place() -> None:
    driver = running()
    for path, query, count, view in (
        (f"{COMPUTE}/virtualMachines", {}, 1, False),
        (f"{COMPUTE}/virtualMachines", {"statusOnly": "true"}, 1, True),
        (f"{COMPUTE}/locations/eastus/virtualMachines", {}, 1, False),
        (f"{COMPUTE}/locations/westus/virtualMachines", {}, 0, False),
    ):
        body = driver.call("GET", path, **query).body
        assert body is not None
        assert len(body["value"]) == count
        assert all(("instanceView" in vm["properties"]) is view for vm in body["value"])


def test_sizes_are_those_of_the_sku_list() -> None:
    driver = running(azure={"restrictions": [{"size": "Standard_D4s_v5", "location": "eastus"}]})
    for path in (f"{COMPUTE}/locations/eastus/vmSizes", f"{driver.vm_path('aks-a')}/vmSizes"):
        body = driver.call("GET", path).body
        assert body is not None
        sizes = {size["name"]: size for size in body["value"]}
        assert sizes["Standard_D2s_v5"]["memoryInMB"] == 8192
        assert "Standard_D4s_v5" not in sizes


def test_console_is_told_where_diagnostics_are_on() -> None:
    driver = running()
    path = f"{driver.vm_path('aks-a')}/retrieveBootDiagnosticsData"
    assert error_of(driver.call("POST", path))[0] == 409
    driver.call(
        "PATCH", driver.vm_path("aks-a"), {"properties": {"diagnosticsProfile": {"bootDiagnostics": {"enabled": True}}}}
    )
    body = driver.call("POST", path).body
    assert body is not None
    assert body["serialConsoleLogBlobUri"].endswith("/virtualMachines/aks-a/serial.log")
