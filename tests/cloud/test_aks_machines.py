"""AKS machines: created, failed, batched, tagged, deleted."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from fakeazure.events import CreationFailed, Deleted, PoweredOn
from tests.cloud.aks_machine import get, machine_body, properties, put
from tests.cloud.driver import MACHINES, Driver, error_of


def test_machine_is_readable_at_once_and_its_vm_powers_on() -> None:
    driver = Driver()
    answer = put(driver, "default-abc", machine_body())
    assert answer.status == 201
    assert "/Microsoft.ContainerService/locations/eastus/operations/" in answer.headers["Azure-AsyncOperation"]
    shown = properties(get(driver, "default-abc"))
    assert shown["provisioningState"] == "Creating"
    assert "priority" not in shown  # only spot machines say so
    assert shown["status"]["creationTimestamp"] == "2026-01-01T00:00:00.0000000+00:00"
    name = shown["resourceId"].rpartition("/")[2]
    assert name.startswith("aks-aksmanagedap-default-abc-")
    assert name.endswith("-vm")
    assert len(name.split("-")[-2]) == 8
    driver.cloud.advance(10)
    body = driver.poll(answer).body
    assert body is not None
    assert body["status"] == "Succeeded"
    assert properties(get(driver, "default-abc"))["provisioningState"] == "Succeeded"
    [event] = driver.events
    assert isinstance(event, PoweredOn)
    assert event.vm.id == shown["resourceId"]
    assert event.vm.machine is not None
    assert event.vm.machine["name"] == "default-abc"
    assert driver.usage("standardDSv5Family")[0] == 2


def test_a_machine_has_one_network_interface() -> None:
    driver = Driver()
    put(driver, "default-abc", machine_body())
    listed = driver.call("GET", driver.path("Microsoft.Network/networkInterfaces")).body
    assert listed is not None
    [nic] = listed["value"]
    [configuration] = nic["properties"]["ipConfigurations"]
    assert configuration["properties"]["primary"] is True


@pytest.mark.parametrize(
    ("azure", "zone", "priority", "outer", "inner"),
    [
        ({"quota": {"standardDSv5Family": 1}}, "1", "Regular", "QuotaExceeded", "OperationNotAllowed"),
        ({"quota": {"lowPriorityCores": 0}}, "1", "Spot", "QuotaExceeded", "OperationNotAllowed"),
        ({"capacity": [{"zone": "1", "vms": 0}]}, "1", "Regular", "ZonalAllocationFailed", "ZonalAllocationFailed"),
        ({"faults": [{"what": "SkuNotAvailable"}]}, "", "Regular", "SkuNotAvailable", "SkuNotAvailable"),
        (
            {"faults": [{"what": "OverconstrainedZonalAllocationRequest", "at": "end"}]},
            "2",
            "Regular",
            "OverconstrainedZonalAllocationRequest",
            "OverconstrainedZonalAllocationRequest",
        ),
    ],
)
def test_compute_errors_come_late_and_wrapped(
    azure: dict[str, Any], zone: str, priority: str, outer: str, inner: str
) -> None:
    driver = Driver(azure)
    answer = put(driver, "m", machine_body(zone=zone, priority=priority))
    assert answer.status == 201
    driver.cloud.advance(10)
    body = driver.poll(answer).body
    assert body is not None
    assert (body["status"], body["error"]["code"]) == ("Failed", inner)
    shown = properties(get(driver, "m"))
    assert shown["provisioningState"] == "Failed"
    error = shown["status"]["provisioningError"]
    assert error["code"] == outer
    [detail] = error["details"]
    assert detail["code"] == inner
    assert error["message"] == f'Code="{inner}" Message="{detail["message"]}"'
    assert not any(isinstance(event, PoweredOn) for event in driver.events)
    deleted = driver.call("POST", f"{driver.pool_path()}/deleteMachines", {"machineNames": ["m"]}, MACHINES)
    assert deleted.status == 202
    driver.cloud.advance(10)
    assert get(driver, "m").status == 404
    assert driver.usage("virtualMachines")[0] == 0


@pytest.mark.parametrize("azure", [{}, {"restrictions": [{"size": "Standard_D4s_v5"}]}])
def test_sizes_that_are_not_sold_are_refused_at_once(azure: dict[str, Any]) -> None:
    size = "Standard_D4s_v5" if azure else "Standard_Nope"
    driver = Driver(azure)
    status, code, message = error_of(put(driver, "m", machine_body(size)))
    assert (status, code) == (400, "VMSizeNotSupported")
    assert f"Virtual Machine size: '{size}' is not supported for subscription" in message
    assert get(driver, "m").status == 404


def test_full_subnet_fails_the_machine_late() -> None:
    driver = Driver(subnet_prefix="10.224.0.0/29")
    for name in "abc":
        driver.put_nic(name)
    put(driver, "m", machine_body())
    driver.cloud.advance(10)
    error = properties(get(driver, "m"))["status"]["provisioningError"]
    assert error["details"][0]["code"] == "SubnetIsFull"


def test_only_tags_may_change_and_the_etag_guards_them() -> None:
    driver = Driver()
    put(driver, "m", machine_body())
    driver.cloud.advance(10)
    etag = properties(get(driver, "m"))["eTag"]
    changed = machine_body()
    changed["properties"]["tags"] = {"a": "b"}
    assert error_of(put(driver, "m", changed, {"If-Match": "stale"}))[:2] == (412, "ConditionNotMet")
    answer = put(driver, "m", changed, {"If-Match": etag})
    assert answer.status == 200
    assert properties(answer)["tags"] == {"a": "b"}
    assert properties(answer)["eTag"] != etag
    for other in (machine_body(zone="2"), machine_body("Standard_D4s_v5"), machine_body(priority="Spot")):
        assert error_of(put(driver, "m", other))[:2] == (400, "OperationNotAllowed")


def test_batch_creates_many_from_one_template() -> None:
    driver = Driver()
    template = machine_body(zone="")
    entries = [
        {"machineName": "m1", "zones": ["1"], "tags": {"karpenter.sh_nodepool": "one"}},
        {"machineName": "m2", "zones": ["2"], "tags": {"karpenter.sh_nodepool": "two"}},
    ]
    answer = put(driver, "m1", template, {"BatchPutMachine": json.dumps({"batchMachines": entries})})
    assert answer.status == 201
    driver.cloud.advance(10)
    body = driver.call("GET", f"{driver.pool_path()}/machines", None, MACHINES).body
    assert body is not None
    assert [
        (item["name"], item["zones"], item["properties"]["tags"]["karpenter.sh_nodepool"]) for item in body["value"]
    ] == [
        ("m1", ["1"], "one"),
        ("m2", ["2"], "two"),
    ]
    assert [event.vm.zone for event in driver.events] == ["1", "2"]


def test_batch_names_the_refused_machines_in_a_flat_body() -> None:
    driver = Driver()
    put(driver, "old", machine_body(zone="1"))
    entries = [{"machineName": "new", "zones": ["1"], "tags": {}}, {"machineName": "old", "zones": ["3"], "tags": {}}]
    answer = put(driver, "new", machine_body(zone=""), {"BatchPutMachine": json.dumps({"batchMachines": entries})})
    assert answer.body is not None
    assert (answer.status, answer.body["code"]) == (400, "BatchMachineClientError")
    assert [(detail["code"], detail["target"]) for detail in answer.body["details"]] == [("OperationNotAllowed", "old")]
    assert get(driver, "new").status == 200  # a machine that is not named was accepted
    bad = put(driver, "x", machine_body(), {"BatchPutMachine": "{"})
    assert error_of(bad)[:2] == (400, "InvalidRequestContent")


def test_delete_takes_vm_and_nic() -> None:
    driver = Driver()
    put(driver, "m", machine_body())
    driver.cloud.advance(10)
    path = f"{driver.pool_path()}/deleteMachines"
    answer = driver.call("POST", path, {"machineNames": ["m", "unknown"]}, MACHINES)
    assert answer.status == 202
    assert properties(get(driver, "m"))["provisioningState"] == "Deleting"
    driver.cloud.advance(10)
    assert driver.poll(answer, "Location").status == 200
    assert error_of(get(driver, "m"))[:2] == (404, "NotFound")
    assert [type(event) for event in driver.events] == [PoweredOn, Deleted]
    nics = driver.call("GET", driver.path("Microsoft.Network/networkInterfaces")).body
    assert nics is not None
    assert nics["value"] == []
    status, code, message = error_of(driver.call("POST", path, {"machineNames": ["m"]}, MACHINES))
    assert (status, code) == (400, "InvalidParameter")
    assert "Cannot find any valid machines" in message


def test_delete_while_creating() -> None:
    driver = Driver()
    put(driver, "m", machine_body())
    driver.cloud.advance(5)
    driver.call("POST", f"{driver.pool_path()}/deleteMachines", {"machineNames": ["m"]}, MACHINES)
    driver.cloud.advance(60)
    assert get(driver, "m").status == 404
    assert [type(event) for event in driver.events] == [Deleted]
    assert driver.usage("cores")[0] == 0


def test_stuck_machine_and_drift() -> None:
    driver = Driver({"faults": [{"what": "Stuck"}]})
    put(driver, "m", machine_body())
    driver.cloud.advance(3600)
    assert properties(get(driver, "m"))["provisioningState"] == "Creating"
    driver.cloud.drift_machine(f"{driver.pool_path()}/machines/m", "ClusterUpgrade")
    status = properties(get(driver, "m"))["status"]
    assert (status["driftAction"], status["driftReason"]) == ("Recreate", "ClusterUpgrade")


def test_failed_vm_tells_that_creation_failed() -> None:
    driver = Driver({"faults": [{"what": "AllocationFailed", "at": "end"}]})
    put(driver, "m", machine_body(zone=""))
    driver.cloud.advance(10)
    assert [type(event) for event in driver.events] == [CreationFailed]


def test_pool_and_cluster_must_exist() -> None:
    driver = Driver()
    pool = driver.pool_path()
    assert error_of(driver.call("GET", pool.replace("aksmanagedap", "x") + "/machines", None, MACHINES))[:2] == (
        404,
        "NotFound",
    )
    missing = driver.call("GET", pool.replace("managedClusters/c", "managedClusters/d") + "/machines", None, MACHINES)
    assert error_of(missing)[:2] == (404, "ResourceNotFound")
    assert properties(driver.call("GET", pool, None, MACHINES))["type"] == "VirtualMachines"
    assert driver.call("PUT", pool.replace("aksmanagedap", "more"), {"properties": {}}, MACHINES).status == 201
    body = driver.call("GET", pool.rpartition("/")[0], None, MACHINES).body
    assert body is not None
    assert [item["name"] for item in body["value"]] == ["aksmanagedap", "more"]
    long = put(driver, "m" * 35, machine_body())
    assert error_of(long)[:2] == (400, "InvalidRequestContent")


def test_newer_images_show_in_both_lists() -> None:
    driver = Driver()
    driver.cloud.publish_image("2404gen2containerd", "202601.05.0")
    sub = driver.cloud.state.settings.subscription
    place = f"/subscriptions/{sub}/providers/Microsoft.Compute/locations/eastus/communityGalleries"
    gallery = f"{place}/AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2/images"
    body = driver.call("GET", f"{gallery}/2404gen2containerd/versions", None, "2025-03-03").body
    assert body is not None
    assert [(item["name"], item["properties"]["publishedDate"]) for item in body["value"]] == [
        ("202601.05.0", "2026-01-05T00:00:00+00:00"),
        ("202512.18.0", "2025-12-18T00:00:00+00:00"),
    ]
    fips = driver.call("GET", f"{gallery}/2204fipscontainerd/versions", None, "2025-03-03")
    assert error_of(fips)[:2] == (404, "GalleryImageNotFound")
    versions = f"/subscriptions/{sub}/providers/Microsoft.ContainerService/locations/eastus/nodeImageVersions"
    listed = driver.call("GET", versions, None, MACHINES).body
    assert listed is not None
    names = {item["fullName"] for item in listed["value"]}
    assert {"AKSUbuntu-2404gen2containerd-202601.05.0", "AKSUbuntu-2204fipscontainerd-202404.09.0"} <= names
    with pytest.raises(KeyError, match="unknown image definition"):
        driver.cloud.publish_image("windows", "1")


def test_aks_itself_can_refuse_or_fail_by_machine() -> None:
    where = {"resource": "machines", "name": "m2"}
    faults = [
        {"what": "InternalOperationError", "where": where},
        {"what": "AllocationFailed", "where": {"resource": "machines", "size": "Standard_D4s_v5"}, "at": "end"},
    ]
    driver = Driver({"faults": faults})
    entries: list[dict[str, Any]] = [{"machineName": name, "zones": ["1"], "tags": {}} for name in ("m1", "m2")]
    answer = put(driver, "m1", machine_body(zone=""), {"BatchPutMachine": json.dumps({"batchMachines": entries})})
    assert answer.body is not None
    assert (answer.status, answer.body["code"]) == (500, "BatchMachineInternalServerError")
    [detail] = json.loads(answer.body["message"])["details"]
    assert (detail["code"], detail["target"]) == ("InternalOperationError", "m2")
    assert put(driver, "m3", machine_body("Standard_D4s_v5")).status == 201
    driver.cloud.advance(10)
    assert properties(get(driver, "m3"))["status"]["provisioningError"]["code"] == "AllocationFailed"
    assert [event.vm.machine["name"] for event in driver.events if event.vm.machine is not None] == ["m1"]
    assert driver.cloud.unfired() == []


def test_upgraded_cluster_gives_new_machines_its_version() -> None:
    driver = Driver()
    driver.cloud.upgrade_cluster("1.35.0")
    body = machine_body()
    del body["properties"]["kubernetes"]["orchestratorVersion"]
    put(driver, "m", body)
    driver.cloud.advance(10)
    assert "KUBERNETES_VERSION=1.35.0" in base64.b64decode(driver.events[0].vm.custom_data).decode()


@pytest.mark.parametrize(
    ("mode", "priority", "headers", "status"),
    [
        ("System", "Spot", None, 400),
        ("System", "Spot", {"AllowSpotVMSystemNode": "false"}, 400),
        ("System", "Spot", {"AllowSpotVMSystemNode": "true"}, 201),
        ("System", "Regular", None, 201),
        ("User", "Spot", None, 201),
    ],
)
def test_a_spot_machine_is_of_mode_system_only_where_that_is_asked_for(
    mode: str, priority: str, headers: dict[str, str] | None, status: int
) -> None:
    body = machine_body(priority=priority)
    body["properties"]["mode"] = mode
    driver = Driver()
    answer = put(driver, "default-abc", body, headers)
    assert answer.status == status
    if status == 400:
        assert error_of(answer)[1] == "InvalidParameter"
        assert get(driver, "default-abc").status == 404


def test_the_vm_of_a_machine_has_the_image_that_is_named() -> None:
    driver = Driver()
    made = put(driver, "default-abc", machine_body())
    vm = driver.cloud.vm(properties(made)["resourceId"].rpartition("/")[2])
    image = vm.document["properties"]["storageProfile"]["imageReference"]["id"]
    assert image.endswith("/galleries/AKSUbuntu/images/2404gen2containerd/versions/202512.18.0")
    arm = put(driver, "default-arm", machine_body("Standard_D2ps_v5"))
    driver.cloud.advance(10)
    failed = driver.poll(arm).body
    assert failed is not None
    assert "CPU Architecture" in str(failed)
