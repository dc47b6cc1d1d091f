"""`attachDetachDataDisks` of VMs and of instances: how many disks, at which LUNs, and what a request must say."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.timing import INSTANT
from tests.cloud.changes import DISKS, SETS, empty_disk
from tests.cloud.driver import Driver, error_of
from tests.cloud.test_scale_sets import body as set_body

MOST = 4
"""Data disks of the size of these machines, Standard_D2s_v5."""


@pytest.fixture
def driver() -> Driver:
    made = Driver(timing=INSTANT, catalogue=None)
    made.put_vm("a")
    assert made.call("PUT", made.path(SETS, "s"), set_body(made, 1)).status == 201
    for number in range(MOST + 1):
        assert made.call("PUT", made.path(DISKS, f"d{number}"), empty_disk()).status < 300
    return made


def machines(driver: Driver) -> tuple[str, str]:
    return driver.vm_path("a"), f"{driver.path(SETS, 's')}/virtualMachines/0"


def data_disks(driver: Driver, machine: str) -> list[dict[str, Any]]:
    shown = driver.call("GET", machine).body
    assert shown is not None
    return list(shown["properties"]["storageProfile"].get("dataDisks", ()))


def disk_id(driver: Driver, number: int) -> dict[str, Any]:
    return {"diskId": driver.path(DISKS, f"d{number}")}


@pytest.mark.parametrize("count", [MOST + 1, 70, 5000])
def test_the_size_says_how_many_disks_a_machine_takes(driver: Driver, count: int) -> None:
    words = f"The maximum number of data disks allowed to be attached to a VM of this size is {MOST}."
    for machine in machines(driver):
        body = {"dataDisksToAttach": [disk_id(driver, number) for number in range(count)]}
        refused = driver.call("POST", f"{machine}/attachDetachDataDisks", body)
        assert error_of(refused) == (409, "OperationNotAllowed", words)
        assert data_disks(driver, machine) == []


def test_as_many_as_the_size_says_are_taken(driver: Driver) -> None:
    for machine in machines(driver):
        every = [disk_id(driver, number) for number in range(MOST)]
        assert driver.call("POST", f"{machine}/attachDetachDataDisks", {"dataDisksToAttach": every}).status == 202
        assert [disk["lun"] for disk in data_disks(driver, machine)] == [0, 1, 2, 3]
        swap = {"dataDisksToDetach": [every[1]], "dataDisksToAttach": [disk_id(driver, MOST)]}
        assert driver.call("POST", f"{machine}/attachDetachDataDisks", swap).status == 202
        assert sorted(disk["lun"] for disk in data_disks(driver, machine)) == [0, 1, 2, 3]
        away = [every[number] for number in (0, 2, 3)] + [disk_id(driver, MOST)]
        assert driver.call("POST", f"{machine}/attachDetachDataDisks", {"dataDisksToDetach": away}).status == 202


def test_a_disk_without_a_lun_gets_one_that_no_other_asks_for(driver: Driver) -> None:
    machine, _ = machines(driver)
    body = {
        "dataDisksToAttach": [disk_id(driver, 0), {**disk_id(driver, 1), "lun": 0}, {**disk_id(driver, 2), "lun": 63}]
    }
    assert driver.call("POST", f"{machine}/attachDetachDataDisks", body).status == 202
    assert [disk["lun"] for disk in data_disks(driver, machine)] == [1, 0, 63]


@pytest.mark.parametrize(
    ("part", "code", "words"),
    [
        ({"lun": -1}, "InvalidParameter", "Value '-1' must be between '0' and '63' inclusive."),
        ({"lun": 64}, "InvalidParameter", "Value '64' must be between '0' and '63' inclusive."),
        ({"lun": 1.7}, "InvalidRequestContent", "'lun' must be a whole number"),
        ({"lun": "x"}, "InvalidRequestContent", "'lun' must be a number"),
        ({"diskId": None}, "InvalidParameter", "Required parameter 'dataDisksToAttach.diskId' is missing (null)."),
        ({"diskId": ""}, "InvalidParameter", "Required parameter 'dataDisksToAttach.diskId' is missing (null)."),
    ],
)
def test_what_is_attached_is_a_disk_at_a_lun(driver: Driver, part: dict[str, Any], code: str, words: str) -> None:
    for machine in machines(driver):
        body = {"dataDisksToAttach": [{**disk_id(driver, 0), **part}]}
        status, refused, message = error_of(driver.call("POST", f"{machine}/attachDetachDataDisks", body))
        assert (status, refused) == (400, code)
        assert words in message
        assert data_disks(driver, machine) == []


@pytest.mark.parametrize("lun", [-1, 64, 1.7])
def test_the_disks_of_a_vm_have_such_luns_too(driver: Driver, lun: float) -> None:
    disk = {"lun": lun, "createOption": "Attach", "managedDisk": {"id": driver.path(DISKS, "d0")}}
    for machine in machines(driver):
        patch = {"properties": {"storageProfile": {"dataDisks": [disk]}}}
        assert error_of(driver.call("PATCH", machine, patch))[0] == 400
        assert data_disks(driver, machine) == []


def test_what_is_detached_is_a_disk(driver: Driver) -> None:
    for machine in machines(driver):
        refused = error_of(driver.call("POST", f"{machine}/attachDetachDataDisks", {"dataDisksToDetach": [{}]}))
        words = "Required parameter 'dataDisksToDetach.diskId' is missing (null)."
        assert refused == (400, "InvalidParameter", words)


def test_disks_without_an_id_stay() -> None:
    """Unmanaged disks, which have a `vhd` and no `managedDisk`."""
    from fakeazure.arm.ids import ResourceId
    from fakeazure.resources.compute.vm_disks import attached_and_detached

    vm = ResourceId.parse(Driver().vm_path("a"))
    blobs = [{"lun": lun, "name": f"u{lun}", "vhd": {"uri": f"https://x/{lun}.vhd"}} for lun in (0, 2)]
    after = attached_and_detached(vm, blobs, {"dataDisksToAttach": [{"diskId": "/d"}]}, MOST)
    assert [disk["lun"] for disk in after] == [0, 2, 1]
