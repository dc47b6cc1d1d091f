"""Updates in place: what becomes of machines that run when the tags of their AKSNodeClass change."""

from types import SimpleNamespace
from typing import Any

import pytest

from harness.engine.ports import ADMIN, Change, ChangeType
from harness.karpenter.provider.in_place import InPlaceUpdates
from harness.karpenter.provider.machine_updates import machine_update, vm_update
from harness.nodes.timing import Timing
from harness.testing import nodeclaim, nodeclass, nodepool, pod
from harness.world import World
from tests.corridor.conftest import SMALL

HASH = "karpenter.azure.com/in-place-update-hash"
NIC = {"resource": "networkInterfaces", "method": "PATCH"}
OLD, NEW = {"team": "shop", "old": "1"}, {"team": "payments", "old": None, "cost/center": "42"}


def tagged(walk: Any, **world: Any) -> World:
    """A world with one machine that was launched with the old tags."""
    made: World = walk(nodeclass(imageFamily="Ubuntu2204", tags=OLD), nodepool(SMALL), pod("p1"), **world).world
    return made


def retag(world: World, **tags: str | None) -> None:
    world.ports.writer(ADMIN).patch("AKSNodeClass", "default", {"spec": {"tags": tags}})


def patches(world: World) -> list[tuple[str, int]]:
    return [(call.resource, call.status) for call in world.calls() if call.method == "PATCH"]


def put(world: World) -> list[int]:
    return [call.status for call in world.calls() if call.method == "PUT" and call.resource == "machines"]


def own_tags(tags: Any) -> dict[str, str]:
    """Those that the AKSNodeClass asks for."""
    return {key: value for key, value in tags.items() if not key.startswith(("karpenter", "compute"))}


def tags_of_vm(world: World) -> dict[str, str]:
    (vm,) = world.vms()
    return own_tags(vm.tags)


def hash_of(world: World) -> str:
    (claim,) = world.list("NodeClaim")
    return str(claim["metadata"]["annotations"][HASH])


def errors(world: World) -> list[str]:
    return [
        str(line.values["error"])
        for line in world.log
        if line.controller == "nodeclaim.inplaceupdate" and line.level == "error"
    ]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ({"a": "1", "b": "2"}, None),
        ({"a": "1", "b": "2", "c": "3"}, {"tags": {"a": "1", "b": "2", "c": "3"}}),
        ({"a": "1", "b": "other"}, {"tags": {"a": "1", "b": "other"}}),
        ({"a": "1"}, {"tags": {"a": "1"}}),
        ({}, {"tags": {}}),
        (None, None),
    ],
    ids=["as they are", "one more", "another value", "one less", "none left", "do not count"],
)
def test_tags_of_a_vm_are_replaced_as_a_whole(tags: dict[str, str] | None, expected: Any) -> None:
    assert vm_update({"tags": {"a": "1", "b": "2"}}, tags, ()) == expected


def test_identities_are_added_and_never_taken_away() -> None:
    vm = {"identity": {"type": "UserAssigned", "userAssignedIdentities": {"/own": {}, "/first": {"clientId": "c"}}}}
    assert vm_update(vm, None, ()) is None
    assert vm_update(vm, None, ("/first",)) is None
    added = {"type": "UserAssigned", "userAssignedIdentities": {"/second": {}}}
    assert vm_update(vm, None, ("/first", "/second")) == {"identity": added}
    assert vm_update({}, {}, ("/second",)) == {"identity": added}


def test_a_machine_is_put_back_with_its_new_tags() -> None:
    machine = {"name": "m", "zones": ["1"], "properties": {"eTag": "e", "mode": "User", "tags": {"a": "1", "old": "x"}}}
    assert machine_update(machine, {"a": "1", "old": "x"}) is None
    assert machine_update(machine, {"a": "2"}) == {
        "name": "m",
        "zones": ["1"],
        "properties": {"eTag": "e", "mode": "User", "tags": {"a": "2"}},
    }
    assert machine["properties"] == {"eTag": "e", "mode": "User", "tags": {"a": "1", "old": "x"}}


def test_nothing_is_asked_of_azure_where_nothing_changes(walk: Any) -> None:
    world = tagged(walk)
    before = hash_of(world)
    world.advance(600)
    world.ports.writer(ADMIN).patch("AKSNodeClass", "default", {"metadata": {"labels": {"a": "b"}}})
    retag(world, team="shop")
    world.advance(60)
    assert patches(world) == []
    assert hash_of(world) == before


@pytest.mark.parametrize(
    ("old", "new", "looked_at"),
    [
        (None, nodeclass(), True),
        (nodeclass(), nodeclass(tags={"a": "1"}), True),
        (nodeclass(tags={"a": "1"}), nodeclass(tags={"a": "2"}), True),
        (nodeclass(tags={"a": "1"}), nodeclass(), True),
        (nodeclass(), nodeclass(tags={}), False),
        (nodeclass(tags={"a": "1"}), nodeclass(tags={"a": "1"}, osDiskSizeGB=200), False),
    ],
)
def test_nodeclaims_are_looked_at_when_tags_change(old: Any, new: Any, looked_at: bool) -> None:
    """Kaz pkg/controllers/nodeclaim/inplaceupdate/predicates.go, which compares the maps."""
    view: Any = SimpleNamespace(list=lambda kind: [nodeclaim(name="a"), nodeclaim(name="b", nodeclass="other")])
    nothing: Any = SimpleNamespace(tags_count=True)
    watched = InPlaceUpdates(view, nothing, nothing, nothing).watches()["AKSNodeClass"]
    change = Change(ChangeType.ADDED if old is None else ChangeType.MODIFIED, new, old, 1)
    assert list(watched(change)) == (["a"] if looked_at else [])


def test_a_resource_that_azure_refuses_is_tried_again_and_the_vm_comes_last(walk: Any) -> None:
    world = tagged(walk)
    before = hash_of(world)
    refusal = {"what": "Strange", "status": 409, "message": "not now", "where": NIC}
    world.change_azure({"faults": [refusal]})
    retag(world, **NEW)
    assert world.settle().quiescent
    assert patches(world) == [
        ("networkInterfaces", 409),
        ("networkInterfaces", 200),
        ("extensions", 200),
        ("virtualMachines", 200),
    ]
    assert tags_of_vm(world) == {"team": "payments", "cost_center": "42"}
    assert hash_of(world) != before
    (claim,) = world.list("NodeClaim")
    name = claim["metadata"]["name"]
    (error,) = errors(world)
    assert error.startswith(
        f"processing VM instance for nodeClaim {name}: applying patch to VM for nodeClaim {name}: failed to apply update to VM, "
        f'updating NIC tags for "aks-{name}": PATCH https://management.azure.com/subscriptions/'
    )
    assert "ERROR CODE: Strange" in error


def test_a_world_in_which_an_update_keeps_failing_comes_to_rest(walk: Any) -> None:
    world = tagged(walk)
    before = hash_of(world)
    world.change_azure({"faults": [{"what": "Strange", "status": 403, "message": "no", "times": 12, "where": NIC}]})
    retag(world, **NEW)
    assert world.settle().quiescent
    assert set(patches(world)) == {("networkInterfaces", 403)}
    assert hash_of(world) == before
    world.advance(180)
    assert tags_of_vm(world) == {"team": "payments", "cost_center": "42"}


@pytest.mark.parametrize(("times", "updated"), [(9, True), (10, True), (11, False)])
def test_ten_failures_in_a_row_are_waited_for(walk: Any, times: int, updated: bool) -> None:
    world = tagged(walk)
    world.change_azure({"faults": [{"what": "Strange", "status": 403, "message": "no", "times": times, "where": NIC}]})
    retag(world, **NEW)
    assert world.settle().quiescent
    assert (tags_of_vm(world) == {"team": "payments", "cost_center": "42"}) is updated


@pytest.mark.parametrize(
    ("resource", "options", "what"),
    [
        (
            "virtualMachines",
            {},
            "processing VM instance for nodeClaim {name}: getting VM for nodeClaim {name}: getting azure VM aks-{name}: ",
        ),
        (
            "machines",
            {"provision_mode": "aksmachineapi"},
            "processing AKS machine instance for nodeClaim {name}: getting AKS machine {name} from instance provider: ",
        ),
    ],
)
@pytest.mark.parametrize(("status", "found"), [(404, "nodeclaim not found, "), (403, "")])
def test_a_machine_that_is_not_there_is_a_nodeclaim_that_is_not_found(
    walk: Any, resource: str, options: dict[str, Any], what: str, status: int, found: str
) -> None:
    world = tagged(walk, **options)
    where = {"resource": resource, "method": "GET"}
    world.change_azure({"faults": [{"what": "Strange", "status": status, "message": "no", "where": where}]})
    retag(world, **NEW)
    world.settle()
    (claim,) = world.list("NodeClaim")
    start = what.format(name=claim["metadata"]["name"])
    between = "failed to get VM instance, " if resource == "virtualMachines" and not found else ""
    assert errors(world)[0].startswith(f"{start}{found}{between}GET https://management.azure.com/subscriptions/")


def test_tags_that_change_while_an_update_waits_are_not_lost(walk: Any) -> None:
    world = tagged(walk)
    world.change_azure({"faults": [{"what": "TooManyRequests", "retryAfter": 30, "where": NIC}]})
    retag(world, **NEW)
    world.advance(5)
    retag(world, team="third")
    world.advance(5)
    assert patches(world) == [("networkInterfaces", 429)]
    world.advance(60)
    assert tags_of_vm(world) == {"team": "third", "cost_center": "42"}
    assert len(patches(world)) == 7


@pytest.mark.parametrize("mode", ["aksscriptless", "bootstrappingclient"])
@pytest.mark.parametrize(("release", "updated"), [("1.6.2", False), ("1.6.3", True), ("1.14.0", True)])
def test_a_vm_may_lack_the_billing_extension_since_1_6_3(walk: Any, release: str, updated: bool, mode: str) -> None:
    world = tagged(walk, karpenter=release, provision_mode=mode)
    (vm,) = world.vms()
    path = f"{vm.id}/extensions/computeAksLinuxBilling"
    world.cloud.request("DELETE", path, query={"api-version": "2025-04-01"})
    retag(world, **NEW)
    world.settle()
    assert (tags_of_vm(world) == {"team": "payments", "cost_center": "42"}) is updated
    told = [line for line in world.log if line.message == "extension not found when updating tags"]
    assert len(told) == updated


def test_a_machine_that_has_changed_meanwhile_is_read_again(walk: Any) -> None:
    world = tagged(walk, provision_mode="aksmachineapi")
    mismatch = {"what": "ConditionNotMet", "status": 412, "where": {"resource": "machines", "method": "PUT"}}
    world.change_azure({"faults": [mismatch]})
    retag(world, **NEW)
    assert world.settle().quiescent
    assert put(world) == [201, 412, 200]
    (error,) = errors(world)
    assert 'failed to begin update AKS machine "' in error


@pytest.mark.parametrize("release", ["1.7.2", "1.14.0"])
def test_a_machine_keeps_its_time_of_creation(walk: Any, release: str) -> None:
    world = tagged(walk, karpenter=release, provision_mode="aksmachineapi")
    retag(world, **NEW)
    world.settle()
    key = "karpenter.azure.com_aksmachine_creationtimestamp"
    bodies = [call.body or {} for call in world.calls() if call.method == "PUT" and call.resource == "machines"]
    created, updated = (body["properties"]["tags"] for body in bodies)
    assert updated.get(key) == created.get(key)
    assert (key in created) is (release == "1.7.2")
    assert own_tags(updated) == {"team": "payments", "cost_center": "42"}


def test_a_nodeclaim_that_is_not_registered_is_looked_at_again_a_minute_after_the_last_look() -> None:
    world = World(timing=Timing(boot=100.0))
    world.apply(nodeclass(imageFamily="Ubuntu2204", tags=OLD), nodepool(SMALL), pod("p1"))
    world.advance(30)
    retag(world, **NEW)
    world.advance(119)
    assert patches(world) == []
    said = [line.at for line in world.log if line.message == "can't update yet as the claim is not registered"]
    assert said == [30.0, 90.0]
    world.advance(2)
    assert tags_of_vm(world) == {"team": "payments", "cost_center": "42"}


def test_a_nodeclaim_that_is_being_deleted_is_left_alone(walk: Any) -> None:
    world = tagged(walk)
    (claim,) = world.list("NodeClaim")
    writer = world.ports.writer(ADMIN)
    writer.patch(
        "Pod", "p1", {"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}}, namespace="default"
    )
    writer.delete("NodeClaim", claim["metadata"]["name"])
    retag(world, **NEW)
    world.advance(30)
    assert patches(world) == []


def test_an_aksnodeclass_that_is_made_anew_with_other_tags_counts(walk: Any) -> None:
    world = tagged(walk)
    known = hash_of(world)
    world.delete("AKSNodeClass", "default")
    world.ports.writer(ADMIN).patch("AKSNodeClass", "default", {"metadata": {"finalizers": None}})
    world.apply(nodeclass(imageFamily="Ubuntu2204", tags={"team": "payments"}))
    world.settle()
    world.advance(60)
    assert tags_of_vm(world) == {"team": "payments"}
    assert hash_of(world) != known


def test_nodeclaims_of_another_nodeclass_are_left_alone(walk: Any) -> None:
    world = tagged(walk)
    world.apply(nodeclass("other", imageFamily="Ubuntu2204", tags=OLD))
    world.settle()
    world.ports.writer(ADMIN).patch("AKSNodeClass", "other", {"spec": {"tags": NEW}})
    world.settle()
    assert patches(world) == []
