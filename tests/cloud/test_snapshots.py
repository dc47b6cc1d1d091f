"""A world begun anew, put away and taken out again: nothing that can be asked tells it from the one that went on."""

from __future__ import annotations

import ast
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fakeazure.arm.throttling import Bucket
from fakeazure.cloud import FakeAzure
from fakeazure.snapshots.layout import ACTIONS, FIELDS
from fakeazure.state import State
from fakeazure.timers import START, ManualClock
from fakeazure.timing import INSTANT, Timing
from tests.cloud import driver as client
from tests.cloud import exchanges
from tests.cloud.driver import Driver
from tests.cloud.twins import Twins
from tests.project.tree import ROOT


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


def test_a_snapshot_holds_what_arm_never_shows_and_no_journal() -> None:
    driver = Driver()
    driver.put_vm("a")
    driver.cloud.attach_kubeconfig("a kubeconfig that somebody gave")
    content = gzip.decompress(driver.cloud.snapshot()).decode()
    assert "IyEvYmluL2Jhc2g=" not in json.dumps(driver.get_vm("a").body, default=dict)
    assert "IyEvYmluL2Jhc2g=" in content
    assert "a kubeconfig that somebody gave" in content
    driver.call("GET", driver.vm_path("asked-for-and-not-there"))
    assert driver.cloud.journal.find(name="asked-for-and-not-there")
    assert "asked-for-and-not-there" not in gzip.decompress(driver.cloud.snapshot()).decode()


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


@pytest.fixture
def twins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each driver's cloud has a twin that is saved and loaded before each request."""
    monkeypatch.setattr(client, "FakeAzure", Twins)


@pytest.mark.usefixtures("twins")
@pytest.mark.parametrize("area", exchanges.AREAS)
def test_each_kind_of_resource_answers_as_if_it_had_never_been_saved(area: str) -> None:
    cloud = exchanges.made(area).driver.cloud
    assert isinstance(cloud, Twins)
    assert cloud.saved == cloud.compared > 0 or area == "tokens"  # which no request to ARM is about


MARKET: Mapping[str, Any] = {
    "quota": {"cores": 20, "westus/standardDSv5Family": 2},
    "capacity": [{"size": "Standard_D2s_v5", "zone": "1", "vms": 2}, {"size": "Standard_D4s_v5", "cores": 4}],
    "restrictions": [{"size": "Standard_E2s_v5", "zones": ["1"]}],
    "prices": {"Standard_D2s_v5": 0.5},
    "images": "released",
    "reservations": {"mine": [{"size": "Standard_D2s_v5", "zone": "2", "quantity": 1}]},
    "faults": [
        {"what": "InternalOperationError", "where": {"name": "ends-badly*"}, "at": "end", "times": 2},
        {"what": "Stuck", "where": {"name": "stuck"}},
        {"what": "TooManyRequests", "where": {"name": "late"}, "when": {"skip": 1}},
        {"what": "InternalServerError", "where": {"name": "by-chance*"}, "probability": 0.5, "times": "always"},
        {"what": "Stuck", "where": {"resource": "networkInterfaces", "name": "nic-stuck"}},
        {
            "what": "InternalOperationError",
            "where": {"resource": "networkInterfaces", "name": "nic-bad"},
            "at": "end",
        },
        {"what": "InternalOperationError", "where": {"method": "DELETE", "name": "undying"}, "at": "end"},
        {"what": "InternalOperationError", "where": {"resource": "extensions"}, "at": "end"},
    ],
}


def look(driver: Driver) -> None:
    """Ask for all that there is."""
    for kind in ("virtualMachines", "disks", "virtualMachineScaleSets"):
        driver.call("GET", f"{exchanges.SUB}/providers/Microsoft.Compute/{kind}")
    driver.call("GET", f"{exchanges.SUB}/providers/Microsoft.Compute/locations/eastus/usages")
    driver.call("GET", f"{exchanges.SUB}/resources")


@pytest.mark.usefixtures("twins")
def test_what_is_under_way_goes_on_and_what_failed_stays_failed() -> None:
    """Creations, deletions and evictions at every stage; faults that are half used up, operations that never end."""
    driver = Driver(MARKET, throttle={"writes": Bucket(40, 0.1)}, timing=Timing(graph_lag=30), retry_after=3)
    for name in ("nic-stuck", "nic-bad"):
        driver.put_nic(name)
    for number in range(3):
        driver.put_vm(f"ends-badly-{number}")
        driver.cloud.advance(3)
    driver.put_vm("stuck")
    for number in range(6):
        driver.put_vm(f"by-chance-{number}", size="Standard_A2_v2", zone="2")
    for _ in range(3):
        driver.put_vm("late", zone="3")
    group = driver.path("Microsoft.Compute/capacityReservationGroups", "mine")
    driver.put_vm("reserved", zone="2", capacityReservation={"capacityReservationGroup": {"id": group}})
    driver.put_vm("undying", zone="3", priority="Spot")
    driver.cloud.advance(100)
    driver.call("POST", f"{driver.vm_path('undying')}/simulateEviction")
    driver.call("PUT", f"{driver.vm_path('undying')}/extensions/e", {"location": "eastus", "properties": {"a": 1}})
    driver.delete_vm("undying")
    for name in ("reserved", "stuck", "ends-badly-0", "nobody"):
        driver.delete_vm(name)
        driver.cloud.advance(1)
        look(driver)
    for _ in range(6):
        driver.cloud.advance(20)
        look(driver)
        driver.call("POST", "/providers/Microsoft.ResourceGraph/resources", {"query": "Resources | count"})


@pytest.mark.usefixtures("twins")
def test_deployments_that_run_and_that_failed_are_as_they_were() -> None:
    driver = Driver()
    disk = {"type": "Microsoft.Compute/disks", "apiVersion": "2023-04-02", "location": "eastus"}
    empty = {"properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 4}}
    first = {"name": "[concat(parameters('head'), '-', variables('tail'))]", "location": "[resourceGroup().location]"}
    second = {"name": "second", "dependsOn": ["[resourceId('Microsoft.Compute/disks', 'd-1')]"]}
    runs = {
        "parameters": {"head": {"type": "string"}},
        "variables": {"tail": "1"},
        "resources": [{**disk, **empty, **second}, {**disk, **empty, **first}],
        "outputs": {"unique": {"type": "string", "value": "[uniqueString(resourceGroup().id)]"}},
    }
    fails = {"resources": [{**disk, "name": "d", "location": "nowhere", "properties": {}}]}
    for name, wanted in (("runs", runs), ("fails", fails)):
        path = driver.path("Microsoft.Resources/deployments", name)
        given = {"head": {"value": "d"}} if name == "runs" else {}
        driver.call("PUT", path, {"properties": {"template": wanted, "parameters": given, "mode": "Incremental"}})
    for _ in range(8):
        driver.cloud.advance(2)
        for name in ("runs", "fails"):
            path = driver.path("Microsoft.Resources/deployments", name)
            state = (driver.call("GET", path).body or {})["properties"]["provisioningState"]
            driver.call("GET", f"{path}/operations")
            assert state == {"runs": state, "fails": "Failed"}[name]
    assert (driver.call("GET", driver.path("Microsoft.Resources/deployments", "runs")).body or {})["properties"][
        "provisioningState"
    ] == "Succeeded"


OWN = {
    "": {
        *("settings", "timing", "types", "actions", "send", "guids", "events", "graph"),
        *("store", "operations", "throttle", "timers", "market"),
    },
    "operations": {"_timers", "_guids", "base_url", "retry_after"},
    "throttle": {"_buckets"},
    "timers": {"_read", "_running_at", "hooks", "failed"},
    "market": {
        *("catalogue", "quota", "restrictions", "stock", "faults", "prices", "images", "reservations"),
        *("_families", "_lists", "_sizes", "_views"),
    },
    "market.faults": {"_last"},
    "market.reservations": {"_quota", "_stock"},
}
"""Attributes that are the world's own: what it was made from, what is found out again, and the parts whose attributes are kept."""


@pytest.mark.parametrize("owner", sorted({path.rpartition(".")[0] for path in FIELDS} | OWN.keys()))
def test_every_attribute_of_a_world_is_kept_or_its_own(owner: str) -> None:
    part: object = Driver().cloud.state
    for name in owner.split(".") if owner else ():
        part = getattr(part, name)
    kept = {path.rpartition(".")[2] for path in FIELDS if path.rpartition(".")[0] == owner}
    assert vars(part).keys() == kept | OWN.get(owner, set())


def calls() -> Iterator[tuple[Path, ast.Call, set[str]]]:
    """Every call in the cloud, with the names of the functions that are made within others in its module."""
    for path in sorted((ROOT / "fakeazure").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        inner = {
            node.name
            for outer in functions
            for node in ast.walk(outer)
            if isinstance(node, ast.FunctionDef) and node is not outer
        }
        inner -= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        yield from ((path, node, inner) for node in ast.walk(tree) if isinstance(node, ast.Call))


def test_what_an_operation_will_do_is_no_function_made_within_another() -> None:
    """Which no snapshot could hold. Those that are named are actions of a snapshot."""
    names = {action.__name__ for action in ACTIONS.values()}
    seen = 0
    for path, call, inner in calls():
        where = f"{path.relative_to(ROOT)}:{call.lineno}"
        later = [word.value for word in call.keywords if word.arg in ("finish", "failed")]
        if isinstance(call.func, ast.Attribute) and call.func.attr == "after" and len(call.args) == 2:
            later.append(call.args[1])
        assert not any(isinstance(value, ast.Lambda) for value in later), where
        assert not any(isinstance(value, ast.Name) and value.id in inner for value in later), where
        if (
            isinstance(call.func, ast.Name)
            and call.func.id == "partial"
            and [ast.unparse(argument) for argument in call.args[1:2]] == ["state"]
        ):
            assert ast.unparse(call.args[0]).rpartition(".")[2] in names, where
            seen += 1
    assert seen > 20


def test_a_clock_of_ours_goes_on_from_the_snapshot_and_never_back() -> None:
    driver = Driver()
    driver.cloud.advance(500)
    driver.put_vm("a")
    taken = driver.cloud.snapshot()
    behind, ahead = Driver(), Driver(clock=ManualClock(START + 100_000))
    due: list[float] = []
    for other in (behind, ahead):
        other.cloud.on_schedule(due.append)
        other.cloud.restore(taken)
    assert (behind.cloud.now(), ahead.cloud.now()) == (START + 500, START + 100_000)
    assert due == [driver.cloud.next_due()] * 2  # who drives it is told
    assert ahead.cloud.run_until() == 1
    assert ahead.cloud.vm("a").document["properties"]["provisioningState"] == "Succeeded"
    assert behind.cloud.vm("a").document["properties"]["provisioningState"] == "Creating"


def test_a_world_with_guids_of_its_own_goes_on_with_them() -> None:
    driver = Driver(ids=iter(f"own-{number}" for number in range(1000)).__next__)
    driver.put_vm("a")
    taken = driver.cloud.snapshot()
    plain = Driver()
    plain.cloud.restore(taken)
    assert plain.cloud.vm("a").document == driver.cloud.vm("a").document
    driver.cloud.restore(Driver().cloud.snapshot())
    assert driver.put_nic("b").headers["x-ms-request-id"].startswith("own-")


def test_restrictions_of_a_snapshot_hold_for_sizes_that_were_asked_for_before() -> None:
    size = "Standard_D2s_v5"
    closed = Driver({"restrictions": [{"size": size}]})
    open_ = Driver({"reservations": {"mine": [{"size": size, "zone": "1", "quantity": 1}]}})
    open_.cloud.restore(closed.cloud.snapshot())
    assert open_.put_vm("a", size=size).error_code == "SkuNotAvailable"


def test_no_snapshot_from_within_an_event() -> None:
    """The rest of what happens would be lost."""
    driver, refused = Driver(), list[str]()

    def subscriber(event: object) -> None:
        with pytest.raises(ValueError) as error:
            driver.cloud.snapshot()
        refused.append(str(error.value))

    driver.cloud.subscribe(subscriber)
    driver.put_vm("a")
    driver.cloud.advance(60)
    assert refused == ["no snapshot while something happens: take it after the request, or after run_until"]
    assert driver.cloud.snapshot()


def test_what_is_no_json_is_named(tmp_path: Path) -> None:
    driver = Driver(timing=INSTANT)
    body = {**driver.nic_body("a"), "tags": {"a": "b"}}
    body["properties"]["strange"] = {1, 2}
    driver.call("PUT", driver.nic_path("a"), body, client.NETWORK)
    state: State = driver.cloud.state
    disk = driver.path("Microsoft.Compute/disks", "d")
    driver.call(
        "PUT",
        disk,
        {
            "location": "eastus",
            "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 4, "nan": float("nan")},
        },
    )
    with pytest.raises(ValueError, match=r"^\$\['store'\]\[0\]\[\d+\]\['document'\].*: (nan|a set) is no JSON$"):
        driver.cloud.snapshot()
    assert state is driver.cloud.state


def test_a_folder_keeps_a_world(tmp_path: Path) -> None:
    driver = Driver()
    driver.put_vm("a")
    driver.cloud.save(tmp_path / "kept")
    again = Driver()
    assert again.cloud.load(tmp_path / "kept")
    assert facts(again) == facts(driver)
    assert again.cloud.vm("a").document["properties"]["provisioningState"] == "Creating"
    again.cloud.advance(60)
    assert again.cloud.vm("a").document["properties"]["provisioningState"] == "Succeeded"
    assert not again.cloud.load(tmp_path / "nothing")
    with pytest.raises(ValueError, match="the snapshot is of another world: its cluster is c, not d"):
        Driver(cluster="d").cloud.load(tmp_path / "kept")
    assert (tmp_path / "kept" / "world.json.gz").stat().st_mode & 0o077 == 0


def test_what_never_ends_is_kept_too(tmp_path: Path) -> None:
    driver = Driver({"faults": [{"what": "Stuck"}]})
    made = driver.put_vm("a")
    driver.cloud.save(tmp_path)
    again = Driver()
    again.cloud.load(tmp_path)
    again.cloud.advance(3600)
    assert json.loads(json.dumps(again.poll(made).body)) == driver.poll(made).body
    assert isinstance(again.cloud, FakeAzure)
