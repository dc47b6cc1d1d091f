"""Disks of VMs: one owner from the moment in which a request is accepted, whatever comes in between, also from several threads."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakeazure.arm.messages import Response
from fakeazure.timing import Timing
from fakeazure.transports.live import Pump, WallClock
from fakeazure.transports.wire import Front
from tests.cloud.changes import DISKS, SETS, Change, attached, empty_disk, wrong
from tests.cloud.driver import Driver, error_of
from tests.cloud.test_scale_sets import body as set_body

IN_USE = (409, "ConflictingUserInput")


def two_vms(**options: object) -> Driver:
    driver = Driver(**{"timing": Timing(resource=30), **options})
    for name in ("a", "b"):
        driver.put_vm(name)
    driver.call("PUT", driver.path(SETS, "s"), set_body(driver, 2))
    driver.call("PUT", driver.path(DISKS, "d"), empty_disk())
    driver.cloud.advance(3600) if "clock" not in options else driver.cloud.run_until()
    return driver


def patch(driver: Driver, vm: str, *disks: str) -> Response:
    return driver.call("PATCH", driver.vm_path(vm), attached(driver, *disks))


STEPS: Mapping[str, Change] = {
    "attach a": lambda d: patch(d, "a", "d"),
    "attach b": lambda d: patch(d, "b", "d"),
    "detach a": lambda d: patch(d, "a"),
    "put a": lambda d: d.call("PUT", d.vm_path("a"), d.vm_body("a")),
    "tag a": lambda d: d.call("PATCH", d.vm_path("a"), {"tags": {"x": "y"}}),
    "resize a": lambda d: d.resize_vm("a", "Standard_D4s_v5"),
    "delete a": lambda d: d.delete_vm("a"),
    "put disk": lambda d: d.call("PUT", d.path(DISKS, "d"), empty_disk(managedBy="x", diskState="Unattached")),
    "patch disk": lambda d: d.call("PATCH", d.path(DISKS, "d"), {"managedBy": "x", "properties": {"diskState": "x"}}),
    "attach instance": lambda d: d.call("PUT", d.path(SETS, "s") + "/virtualMachines/0", attached(d, "d")),
    "detach instance": lambda d: d.call("PUT", d.path(SETS, "s") + "/virtualMachines/0", attached(d)),
    "delete instance": lambda d: d.call("DELETE", d.path(SETS, "s") + "/virtualMachines/0"),
    "delete set": lambda d: d.call("DELETE", d.path(SETS, "s")),
    "delete disk": lambda d: d.call("DELETE", d.path(DISKS, "d")),
}


def judge(steps: Sequence[str], pause: float) -> None:
    driver = two_vms()
    for step in steps:
        assert STEPS[step](driver).status < 500
        driver.cloud.advance(pause)
    driver.cloud.advance(86_400)
    assert wrong(driver.cloud) == [], steps


@pytest.mark.parametrize("first", STEPS)
def test_after_any_two_steps_a_disk_has_the_owner_that_names_it(first: str) -> None:
    for second, pause in itertools.product(STEPS, (0, 3600)):
        judge((first, second), pause)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*STEPS]), min_size=3, max_size=6), st.sampled_from((0, 20, 3600)))
def test_in_any_order_a_disk_has_the_owner_that_names_it(steps: list[str], pause: float) -> None:
    judge(steps, pause)


def test_a_disk_on_its_way_to_one_vm_is_refused_to_another() -> None:
    driver = two_vms()
    assert patch(driver, "a", "d").status == 200
    refused = patch(driver, "b", "d")
    disk, (a, b) = driver.path(DISKS, "d"), map(driver.vm_path, "ab")
    assert error_of(refused) == (
        *IN_USE,
        f"Cannot attach the disk d to VM {b} because it is already attached to VM {a}. A disk can be attached to only one VM at "
        "a time.",
    )
    assert refused.body is not None
    assert refused.body["error"]["target"] == disk
    assert error_of(driver.call("DELETE", disk))[:2] == (409, "OperationNotAllowed")
    driver.delete_vm("a")
    assert error_of(patch(driver, "b", "d"))[:2] == IN_USE  # until it is gone
    driver.cloud.advance(3600)
    assert patch(driver, "b", "d").status == 200


def test_a_disk_that_may_be_shared_has_as_many_owners() -> None:
    driver = two_vms()
    driver.put_vm("c")
    disk = driver.path(DISKS, "shared")
    driver.call("PUT", disk, empty_disk(maxShares=2))
    assert [patch(driver, vm, "shared").status for vm in "abc"] == [200, 200, 409]
    shown = driver.call("GET", disk).body
    assert shown is not None
    assert (shown["managedBy"], shown["managedByExtended"]) == (driver.vm_path("a"), [*map(driver.vm_path, "ab")])
    patch(driver, "a")
    shown = driver.call("GET", disk).body
    assert shown is not None
    assert (shown["managedBy"], "managedByExtended" in shown) == (driver.vm_path("b"), False)


def test_a_vm_takes_no_disk_that_is_there_without_attaching_it() -> None:
    driver = two_vms()
    disk = [{"lun": 0, "name": "d", "createOption": "Empty", "diskSizeGB": 8}]
    for body in ({"dataDisks": disk}, {"osDisk": {"name": "d", "createOption": "FromImage"}}):
        driver.put_nic("c")
        storage = {**driver.vm_body("c")["properties"]["storageProfile"], **body}
        refused = driver.call("PUT", driver.vm_path("c"), driver.vm_body("c", storageProfile=storage))
        words = "Disk d already exists in resource group MC_RG_C_EASTUS. Only CreateOption.Attach is supported."
        assert error_of(refused) == (*IN_USE, words)
    assert driver.cloud.state.store.get(driver.vm_path("c")) is None


def test_a_refused_change_of_a_vm_leaves_all_of_it_as_it_was() -> None:
    driver = two_vms()
    patch(driver, "a", "d")
    before = driver.get_vm("b").body
    change = {**attached(driver, "d"), "tags": {"new": "tag"}}
    change["properties"]["hardwareProfile"] = {"vmSize": "Standard_D4s_v5"}
    assert error_of(driver.call("PATCH", driver.vm_path("b"), change))[:2] == IN_USE
    assert (driver.get_vm("b").body, driver.usage("cores")[0]) == (before, 8)


@pytest.mark.parametrize(
    ("disks", "status", "code"),
    [
        ([{"lun": 0, "managedDisk": {"id": "/x"}}], 400, "LinkedInvalidPropertyId"),
        ([{"lun": 0, "createOption": "Attach", "managedDisk": {"id": "{disk}gone"}}], 404, "ResourceNotFound"),
        (
            [{"lun": 0, "managedDisk": {"id": "{disk}d"}}, {"lun": 1, "managedDisk": {"id": "{disk}D"}}],
            400,
            "InvalidParameter",
        ),
        ([{"lun": 0, "name": "x"}, {"lun": 0, "name": "y"}], 400, "InvalidParameter"),
        ([{"lun": lun, "name": f"d{lun}"} for lun in range(65)], 409, "OperationNotAllowed"),
    ],
)
def test_disks_that_cannot_be_are_refused(disks: list[dict[str, object]], status: int, code: str) -> None:
    driver = two_vms()
    for disk in disks:
        if isinstance(managed := disk.get("managedDisk"), dict):
            disk["managedDisk"] = {"id": managed["id"].replace("{disk}", driver.path(DISKS, "x")[:-1])}
    answer = driver.call("PATCH", driver.vm_path("a"), {"properties": {"storageProfile": {"dataDisks": disks}}})
    assert error_of(answer)[:2] == (status, code)
    assert wrong(driver.cloud) == []


def test_an_instance_of_a_scale_set_takes_a_disk_as_a_vm_does() -> None:
    driver = two_vms()
    assert STEPS["attach instance"](driver).status == 200
    instance = driver.path(SETS, "s") + "/virtualMachines/0"
    shown = driver.call("GET", driver.path(DISKS, "d")).body
    assert shown is not None
    assert shown["managedBy"] == instance
    words = f"Cannot attach the disk d to VM {driver.vm_path('a')} because it is already attached to VM {instance}. A disk can be "
    assert error_of(patch(driver, "a", "d")) == (*IN_USE, words + "attached to only one VM at a time.")
    STEPS["delete set"](driver)
    assert error_of(patch(driver, "a", "d"))[:2] == IN_USE
    driver.cloud.advance(3600)
    assert patch(driver, "a", "d").status == 200


def test_a_disk_marked_to_be_detached_is_detached() -> None:
    driver = two_vms()
    patch(driver, "a", "d")
    change = attached(driver, "d")
    change["properties"]["storageProfile"]["dataDisks"][0]["toBeDetached"] = True
    driver.call("PATCH", driver.vm_path("a"), change)
    assert patch(driver, "b", "d").status == 200


@pytest.mark.parametrize("seed", range(3))
def test_from_several_threads_a_disk_has_the_owner_that_names_it(seed: int) -> None:
    clock = WallClock(speed=20_000)
    driver = two_vms(clock=clock)
    front = Front(driver.cloud, authenticate=False)
    raised: list[Exception] = []

    def work(number: int) -> None:
        rng = random.Random(f"{seed}/{number}")
        try:
            for _ in range(60):
                step = STEPS[rng.choice([*STEPS])]
                with front.lock:
                    assert step(driver).status < 500
                    driver.put_vm("a") if rng.random() < 0.05 else None
        except Exception as error:
            raised.append(error)

    with Pump(front, clock):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    while (due := driver.cloud.next_due()) is not None:
        driver.cloud.run_until(due)
    assert raised == []
    assert wrong(driver.cloud) == []
