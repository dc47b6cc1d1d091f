"""Why a launch is refused: Azure's status, code, text and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fakeazure.catalog.images import GALLERIES, SNAPSHOT
from fakeazure.cloud import FakeAzure
from fakeazure.market.facts import Size
from fakeazure.market.wording import MarketError
from fakeazure.resources.compute.vm_checks import os_disk_mismatch
from fakeazure.timing import INSTANT
from tests.cloud.driver import NETWORK, Driver, error_of, record

_GALLERY = f"/CommunityGalleries/{GALLERIES['AKSUbuntu']}/images"


def test_family_quota_names_family_limit_usage_and_need() -> None:
    driver = Driver({"quota": {"standardDSv5Family": 10}})
    driver.put_vm("aks-a", size="Standard_D4s_v5")
    driver.put_vm("aks-b", size="Standard_D4s_v5")
    status, code, message = error_of(driver.put_vm("aks-c", size="Standard_D4s_v5"))
    assert (status, code) == (409, "OperationNotAllowed")
    assert message.startswith(
        "Operation could not be completed as it results in exceeding approved standardDSv5Family Cores quota. Additional "
        "details - Deployment Model: Resource Manager, Location: eastus, Current Limit: 10, Current Usage: 8, Additional "
        "Required: 4, (Minimum) New Limit Required: 12. Submit a request for Quota increase at https://aka.ms/"
    )
    assert driver.usage("standardDSv5Family") == (8, 10)
    assert driver.put_vm("aks-d", size="Standard_D2s_v5").status == 201  # two cores are left


def test_family_quota_says_family_also_for_a_family_without_that_word() -> None:
    driver = Driver({"quota": {"Standard NCASv3_T4": 0}})
    _, code, message = error_of(driver.put_vm("aks-a", size="Standard_NC4as_T4_v3", zone="2"))
    assert code == "OperationNotAllowed"
    assert "approved Standard NCASv3_T4 Family Cores quota" in message
    assert "Current Limit: 0, Current Usage: 0" in message


def test_regional_quota_comes_before_family_quota() -> None:
    driver = Driver({"quota": {"cores": 1, "standardDSv5Family": 1}})
    _, code, message = error_of(driver.put_vm("aks-a"))
    assert code == "OperationNotAllowed"
    assert "exceeding approved Total Regional Cores quota" in message
    assert message.endswith("/azure-supportability/regional-quota-requests")


def test_spot_counts_against_low_priority_cores_only() -> None:
    driver = Driver({"quota": {"lowPriorityCores": 3, "cores": 0, "standardDSv5Family": 0}})
    assert driver.put_vm("aks-a", priority="Spot").status == 201
    _, code, message = error_of(driver.put_vm("aks-b", priority="Spot"))
    assert code == "OperationNotAllowed"
    assert "exceeding approved Low Priority Cores quota" in message
    assert "LowPriorityCores" in message  # what clients look for is only in the link, as in Azure
    assert "Family Cores quota" not in message
    assert driver.usage("cores")[0] == 0


def test_quota_is_per_region() -> None:
    driver = Driver({"quota": {"eastus/cores": 0}})
    assert driver.usage("cores", "eastus")[1] == 0
    assert driver.usage("cores", "westus")[1] > 0


@pytest.mark.parametrize(
    ("restriction", "launch", "expected"),
    [
        ({"size": "Standard_D2s_v5"}, {}, "currently not available in location 'eastus'. Please try"),
        ({"family": "standardDSv5Family", "zones": ["1"]}, {}, "location 'eastus' zones '1' for subscription"),
        ({"family": "standardDSv5Family", "zones": ["1"]}, {"zone": "2"}, None),
        ({"family": "standardDSv5Family", "zones": ["1", "2", "3"]}, {"zone": ""}, None),  # regional stays open
        ({"size": "Standard_D2s_v5", "location": "westus"}, {}, None),
    ],
)
def test_restrictions_close_a_size_in_list_and_launch_alike(
    restriction: dict[str, Any], launch: dict[str, str], expected: str | None
) -> None:
    driver = Driver({"restrictions": [restriction]})
    answer = driver.put_vm("aks-a", **launch)
    if expected is None:
        assert answer.status == 201
    else:
        status, code, message = error_of(answer)
        assert (status, code) == (409, "SkuNotAvailable")
        assert expected in message
        [shown] = driver.skus()["Standard_D2s_v5"]["restrictions"]
        assert shown["reasonCode"] == "NotAvailableForSubscription"
        assert shown["values"] == ["eastus"]
        assert shown["type"] == ("Zone" if "zones" in restriction else "Location")


@pytest.mark.parametrize(
    ("launch", "code", "part"),
    [
        (
            {"size": "Standard_Nope"},
            "InvalidParameter",
            "The value Standard_Nope provided for the VM size is not valid",
        ),
        ({"zone": "7"}, "InvalidAvailabilityZone", "The supported zones for location 'eastus' are '1,2,3'"),
        ({"size": "Standard_E2s_v5", "zone": "2"}, "SkuNotAvailable", "zones '2'"),
        ({"size": "Standard_E2s_v5", "priority": "Spot"}, "InvalidParameter", "with Priority 'Spot' is not supported"),
        (
            {"image": f"{_GALLERY}/2404gen2containerd/versions/1.2.3"},
            "GalleryImageNotFound",
            "is not available in eastus",
        ),
        ({"image": f"{_GALLERY}/2404gen2containerd/versions/"}, "GalleryImageNotFound", ""),
        ({"size": "Standard_A2_v2"}, "BadRequest", "cannot boot Hypervisor Generation '2'"),
        (
            {"size": "Standard_D2ps_v5"},
            "BadRequest",
            "only supports a CPU Architecture of 'Arm64', but an image or disk with CPU Architecture 'x64' was given",
        ),
        ({"location": "mars"}, "LocationNotAvailableForResourceType", "location 'mars' is not available"),
        (
            {"size": "Standard_A2_v2", "image": f"{_GALLERY}/2404containerd/versions/{SNAPSHOT}"}
            | {"securityProfile": {"encryptionAtHost": True}},
            "InvalidParameter",
            "encryptionAtHost",
        ),
        ({"additionalCapabilities": {"ultraSSDEnabled": True}}, "InvalidParameter", "UltraSSD"),
    ],
)
def test_what_a_size_or_place_cannot_do(launch: dict[str, Any], code: str, part: str) -> None:
    driver = Driver()
    status, found, message = error_of(driver.put_vm("aks-a", **launch))
    assert found == code
    assert status in (400, 404, 409)
    assert part in message
    assert driver.usage("cores")[0] == 0


@pytest.mark.parametrize(
    "properties",
    [
        {"securityProfile": {"encryptionAtHost": True}},
        {"securityProfile": {"encryptionAtHost": False}, "additionalCapabilities": {"ultraSSDEnabled": False}},
    ],
)
def test_what_a_size_can_do_is_had(properties: dict[str, Any]) -> None:
    driver = Driver()
    made = driver.put_vm("aks-a", **properties)
    assert made.status == 201
    assert made.body is not None
    assert {name: made.body["properties"][name] for name in properties} == properties


@pytest.mark.parametrize(
    ("placement", "gigabytes", "code"),
    [
        ("CacheDisk", 50, None),
        ("CacheDisk", 51, "OS disk of Ephemeral VM with size greater than 50 GB is not allowed"),
        ("ResourceDisk", 75, None),
        ("ResourceDisk", 76, "when the DiffDiskPlacement is ResourceDisk"),
        ("NvmeDisk", 30, "greater than 0 GB"),
    ],
)
def test_ephemeral_os_disk_must_fit(placement: str, gigabytes: int, code: str | None) -> None:
    driver = Driver()
    driver.put_nic("aks-a")
    body = driver.vm_body("aks-a", size="Standard_D2ds_v5")
    disk = body["properties"]["storageProfile"]["osDisk"]
    disk |= {"diskSizeGB": gigabytes, "diffDiskSettings": {"option": "Local", "placement": placement}}
    answer = driver.call("PUT", driver.vm_path("aks-a"), body)
    if code is None:
        assert answer.status == 201
        assert driver.call("GET", driver.path("Microsoft.Compute/disks", "aks-a")).status == 404  # no managed disk
    else:
        assert error_of(answer)[1] == "NotSupported"
        assert code in error_of(answer)[2]


@pytest.mark.parametrize(
    ("capabilities", "failure"),
    [
        ({"CachedDiskBytes": "0", "MaxResourceVolumeMB": "184320"}, False),
        ({"CachedDiskBytes": "53687091200", "MaxResourceVolumeMB": "184320"}, True),
    ],
)
def test_without_a_placement_the_cache_is_taken_where_there_is_one(capabilities: dict[str, str], failure: bool) -> None:
    """Azure chooses CacheDisk where the size has one, else ResourceDisk (kaz 1.4.0 leaves the choice to it)."""
    sku = record("Standard_X", "x", 2, EphemeralOSDiskSupported="True", **capabilities)
    size = Size.of(sku, "eastus")
    disk = {"diskSizeGB": 100, "diffDiskSettings": {"option": "Local"}}
    assert (os_disk_mismatch(size, disk) is not None) == failure


def test_region_without_zones_takes_regional_vms_only() -> None:
    driver = Driver(region="westus")
    nic = driver.nic_body("aks-a") | {"location": "westus"}
    driver.call("PUT", driver.nic_path("aks-a"), nic)
    body = driver.vm_body("aks-a", location="westus")
    answer = driver.call("PUT", driver.vm_path("aks-a"), body)
    status, code, message = error_of(answer)
    assert (status, code) == (400, "InvalidAvailabilityZone")
    assert message.endswith("is not supported. The supported zones for location 'westus' are ''")
    assert driver.call("PUT", driver.vm_path("aks-a"), body | {"zones": []}).status == 201


@pytest.mark.parametrize(
    ("zone", "priority", "code"),
    [
        ("1", "Regular", "ZonalAllocationFailed"),
        ("", "Regular", "AllocationFailed"),
        ("1", "Spot", "OverconstrainedZonalAllocationRequest"),
        ("", "Spot", "OverconstrainedAllocationRequest"),
    ],
)
def test_dry_stock_answers_by_placement_and_priority(zone: str, priority: str, code: str) -> None:
    shelf = {"size": "Standard_D2s_v5", "zone": zone or "regional", "priority": priority, "vms": 0, "at": "start"}
    driver = Driver({"capacity": [shelf]})
    status, found, message = error_of(driver.put_vm("aks-a", zone=zone, priority=priority))
    assert (status, found) == (409, code)
    assert message.startswith("Allocation failed.")
    if priority == "Spot":
        assert ("  - Low Priority VMs\n" in message, "  - Availability Zone\n" in message) == (True, bool(zone))
    assert driver.usage("virtualMachines")[0] == 0
    other = driver.put_vm("aks-b", zone="2" if zone else "1", priority=priority)
    assert other.status == 201


def test_stock_is_counted_and_comes_back() -> None:
    driver = Driver(
        {"capacity": [{"family": "standardDSv5Family", "zone": "1", "cores": 4, "at": "start"}]}, timing=INSTANT
    )
    assert driver.put_vm("aks-a").status == 201
    assert driver.put_vm("aks-b").status == 201
    assert error_of(driver.put_vm("aks-c"))[1] == "ZonalAllocationFailed"
    assert driver.put_vm("aks-d", zone="2").status == 201
    driver.delete_vm("aks-a")
    assert driver.put_vm("aks-c").status == 201


def test_stock_may_name_its_error_and_fail_at_the_end() -> None:
    driver = Driver({"capacity": [{"size": "Standard_D*", "vms": 0, "error": "SkuNotAvailable"}]})
    answer = driver.put_vm("aks-a")
    assert answer.status == 201
    driver.cloud.advance(10)
    body = driver.poll(answer).body
    assert body is not None
    assert body["error"]["code"] == "SkuNotAvailable"
    assert "Following SKUs have failed for Capacity Restrictions: Standard_D2s_v5'" in body["error"]["message"]


def test_market_changes_while_the_world_runs() -> None:
    driver = Driver()
    driver.cloud.market.quota.set_limit("cores", 0)
    assert error_of(driver.put_vm("aks-a"))[1] == "OperationNotAllowed"
    driver.cloud.market.quota.set_limit("cores", 2)
    assert driver.put_vm("aks-a").status == 201
    with pytest.raises(ValueError, match="not negative"):
        driver.cloud.market.quota.set_limit("cores", -1)


def test_an_overconstrained_request_lists_what_it_asked_for() -> None:
    """Recorded of AKS, 2023-06 (jenkins-infra/helpdesk#3584): the ephemeral disk after the zone."""
    driver = Driver({"capacity": [{"size": "Standard_D2ds_v5", "priority": "spot", "vms": 0, "at": "start"}]})
    driver.put_nic("aks-a")
    body = driver.vm_body("aks-a", size="Standard_D2ds_v5", zone="1", priority="Spot")
    assert "Disks" not in error_of(driver.call("PUT", driver.vm_path("aks-a"), body))[2]
    disk = body["properties"]["storageProfile"]["osDisk"]
    disk |= {"diskSizeGB": 30, "diffDiskSettings": {"option": "Local", "placement": "CacheDisk"}}
    message = error_of(driver.call("PUT", driver.vm_path("aks-a"), body))[2]
    assert "  - Availability Zone\n  - Differencing (Ephemeral) Disks\n" in message


@pytest.mark.parametrize("asked", [{}, {"enableAcceleratedNetworking": True}, "IPv6"])
def test_an_overconstrained_request_names_networking_where_it_constrains(asked: Mapping[str, Any] | str) -> None:
    """Recorded without in 2026-04 (jenkins-infra/azure#1416: zone and size only), with in 2023-06 of AKS."""
    driver = Driver({"faults": [{"what": "OverconstrainedZonalAllocationRequest"}]})
    driver.put_nic("aks-a", **(asked if not isinstance(asked, str) else {}))
    if isinstance(asked, str):
        body = driver.nic_body("aks-a")
        [first] = body["properties"]["ipConfigurations"]
        second = {
            "name": "v6",
            "properties": {**first["properties"], "primary": False, "privateIPAddressVersion": asked},
        }
        body["properties"]["ipConfigurations"].append(second)
        assert driver.call("PUT", driver.nic_path("aks-a"), body, NETWORK).status == 200
    message = error_of(driver.call("PUT", driver.vm_path("aks-a"), driver.vm_body("aks-a")))[2]
    line = "  - Networking Constraints (such as Accelerated Networking or IPv6)\n" if asked else ""
    assert f"\n  - Availability Zone\n{line}  - VM Size\n" in message


def test_a_preset_closes_sizes_in_all_zones_of_their_region() -> None:
    """D4s_v5 was not offered to that subscription in southcentralus, D4as_v5 was."""
    market = FakeAzure(region="southcentralus", azure={"preset": "restricted-2023"}).market
    shown = {item["name"]: item["restrictions"] for item in market.skus("southcentralus")}
    assert shown["Standard_D4as_v5"] == []
    assert shown["Standard_D4s_v5"] == [
        {
            "type": "Zone",
            "values": ["southcentralus"],
            "restrictionInfo": {"locations": ["southcentralus"], "zones": ["1", "2", "3"]},
            "reasonCode": "NotAvailableForSubscription",
        }
    ]
    with pytest.raises(MarketError, match=r"preset: unknown value 'restricted-2024'; did you mean 'restricted-2023'\?"):
        FakeAzure(azure={"preset": "restricted-2024"})
