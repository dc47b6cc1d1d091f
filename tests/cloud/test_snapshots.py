"""A world begun anew, put away and taken out again."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakeazure.timing import INSTANT
from tests.cloud.driver import Driver


def facts(driver: Driver) -> tuple[object, ...]:
    return (
        sorted(vm.name for vm in driver.cloud.vms()),
        driver.usage("cores"),
        sorted(entry.id.key for entry in driver.cloud.state.store.all()),
        {key: addresses.free for key, addresses in driver.cloud.state.addresses.items()},
        sorted(driver.cloud.state.groups),
    )


def test_reset_is_a_new_beginning() -> None:
    driver = Driver({"quota": {"cores": 4}}, timing=INSTANT)
    before = facts(driver)
    driver.put_vm("a")
    driver.cloud.market.quota.set_limit("cores", 2)
    driver.cloud.reset()
    assert facts(driver) == before
    assert driver.cloud.journal.find(method="PUT") == []
    driver.events.clear()
    assert driver.put_vm("a").status == 201
    assert [type(event).__name__ for event in driver.events] == ["PoweredOn"]  # subscribers stay


def test_snapshot_brings_back_what_was_there() -> None:
    driver = Driver({"quota": {"cores": 8}, "capacity": [{"size": "Standard_D2s_v5", "vms": 2}]}, timing=INSTANT)
    driver.put_vm("a")
    kept, taken = facts(driver), driver.cloud.snapshot()
    driver.put_vm("b")
    driver.delete_vm("a")
    assert facts(driver) != kept
    driver.cloud.restore(taken)
    assert facts(driver) == kept
    assert driver.cloud.market.stock.shelves[0].left == 1
    assert driver.put_vm("b").status == 201
    assert driver.put_vm("c").status == 201  # at its end: nothing is left in stock
    assert [type(event).__name__ for event in driver.events][-1] == "CreationFailed"
    driver.delete_vm("a")
    assert driver.cloud.market.stock.shelves[0].left == 1
    other = Driver({"quota": {"cores": 8}}, timing=INSTANT)
    other.cloud.restore(taken)
    assert facts(other) == kept


def test_no_snapshot_of_what_is_under_way() -> None:
    driver = Driver()
    driver.put_vm("a")
    with pytest.raises(ValueError, match="running: PUT virtualMachines"):
        driver.cloud.snapshot()
    driver.cloud.advance(10)
    assert driver.cloud.snapshot()
    with pytest.raises(ValueError, match="no snapshot"):
        driver.cloud.restore(b"something else")


def test_a_folder_keeps_a_world(tmp_path: Path) -> None:
    driver = Driver()  # with time: what is under way ends first
    driver.put_vm("a")
    driver.cloud.save(tmp_path / "kept")
    again = Driver()
    assert again.cloud.load(tmp_path / "kept")
    assert facts(again) == facts(driver)
    assert again.cloud.vm("a").document["properties"]["provisioningState"] == "Succeeded"
    assert not again.cloud.load(tmp_path / "nothing")
    with pytest.raises(ValueError, match="the snapshot is of another world: its cluster is c, not d"):
        Driver(cluster="d").cloud.load(tmp_path / "kept")
    (tmp_path / "kept" / "world.snapshot").write_bytes(b"fakeazure snapshot 3\nx")
    with pytest.raises(ValueError, match="the snapshot cannot be read"):
        again.cloud.load(tmp_path / "kept")
    assert facts(again) == facts(driver)


def test_what_never_ends_cannot_be_put_away(tmp_path: Path) -> None:
    driver = Driver({"faults": [{"what": "Stuck"}]})
    driver.put_vm("a")
    with pytest.raises(ValueError, match="no snapshot while operations are running"):
        driver.cloud.save(tmp_path)
