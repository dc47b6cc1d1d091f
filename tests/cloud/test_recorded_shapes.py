"""Resources as azure-cli's recordings show them (src/azure-cli/azure/cli/command_modules/vm/tests/latest/recordings)."""

from __future__ import annotations

from typing import Any

from tests.cloud.driver import Driver


def body_of(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status == status, answer.body
    return dict(answer.body)


def test_disk_config_update() -> None:
    driver = Driver()
    path = driver.path("Microsoft.Compute/disks", "d", group="rg")
    sent = {"creationData": {"createOption": "Empty"}, "diskSizeGB": 10}
    body = {"location": "westus", "properties": sent, "sku": {"name": "Premium_LRS"}, "tags": {}}
    answer = driver.call("PUT", path, body, "2023-04-02")
    assert {"Azure-AsyncOperation", "Location"} <= answer.headers.keys()
    body_of(answer, 202)
    for header in ("Azure-AsyncOperation", "Location"):
        assert "/providers/Microsoft.Compute/locations/westus/DiskOperations/" in answer.headers[header]
    driver.cloud.advance(60)
    assert body_of(driver.poll(answer), 200)["status"] == "Succeeded"
    body_of(driver.poll(answer, "Location"), 200)
    found = body_of(driver.call("GET", path, None, "2023-04-02"), 200)
    assert set(found) == {"name", "id", "type", "location", "tags", "sku", "properties"}
    assert found["sku"] == {"name": "Premium_LRS", "tier": "Premium"}
    own = {key: found["properties"].pop(key) for key in ("timeCreated", "uniqueId")}
    assert all(own.values())
    assert found["properties"] == {
        "creationData": {"createOption": "Empty"},
        "diskSizeGB": 10,
        "diskIOPSReadWrite": 120,
        "diskMBpsReadWrite": 25,
        "encryption": {"type": "EncryptionAtRestWithPlatformKey"},
        "networkAccessPolicy": "AllowAll",
        "publicNetworkAccess": "Enabled",
        "provisioningState": "Succeeded",
        "diskState": "Unattached",
        "diskSizeBytes": 10737418240,
        "tier": "P3",
    }
    driver.call("PATCH", path, {"properties": {"diskSizeGB": 200}}, "2023-04-02")
    grown = body_of(driver.call("GET", path, None, "2023-04-02"), 200)["properties"]
    assert (grown["tier"], grown["diskIOPSReadWrite"], grown["diskMBpsReadWrite"]) == ("P15", 1100, 125)


def test_capacity_reservation_operations() -> None:
    driver = Driver()
    group = driver.path("Microsoft.Compute/capacityReservationGroups", "g", group="rg")
    made = body_of(driver.call("PUT", group, {"location": "eastus", "tags": {"key": "val"}, "zones": ["1", "2"]}), 201)
    assert set(made) == {"name", "id", "type", "location", "tags", "zones", "properties"}
    assert made["properties"]["reservationType"] == "Targeted"
    sku = {"capacity": 5, "name": "Standard_D2s_v5"}
    sent = {"location": "eastus", "sku": sku, "tags": {"key": "val"}, "zones": ["1"]}
    found = body_of(driver.call("PUT", f"{group}/capacityReservations/r", sent), 201)
    assert set(found) == {"name", "id", "type", "location", "tags", "sku", "zones", "properties", "etag"}
    assert (found["etag"], found["sku"], found["zones"]) == ('"1"', sku, ["1"])
    assert found["properties"]["platformFaultDomainCount"] == 3
    assert {"reservationId", "timeCreated", "provisioningState"} <= found["properties"].keys()
    assert body_of(driver.call("GET", group), 200)["properties"]["capacityReservations"] == [{"id": found["id"]}]
    again = body_of(driver.call("PUT", f"{group}/capacityReservations/r", {**sent, "sku": {**sku, "capacity": 6}}), 200)
    assert again["properties"]["reservationId"] == found["properties"]["reservationId"]
