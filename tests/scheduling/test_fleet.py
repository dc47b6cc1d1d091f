"""The machines of a cluster after each of many changes are those that the same objects make from nothing."""

from collections import Counter
from random import Random

import pytest

from harness.karpenter.releases import PROVIDER_RELEASES
from harness.karpenter.scheduling.nodes.cluster_state import ClusterState, is_deleting
from harness.karpenter.scheduling.nodes.fleet import StateNodes
from harness.karpenter.scheduling.nodes.state import pods_on
from harness.karpenter.scheduling.pods.volumes import VolumeLookup
from harness.karpenter.scheduling.snapshot import ClusterSnapshot

CORE = PROVIDER_RELEASES["1.14.0"].core
POOL = {"karpenter.sh/nodepool": "default"}


class Changing:
    """Objects as a store keeps them: never changed in place, in order of creation."""

    def __init__(self, random: Random) -> None:
        self.random, self.number = random, 0
        self.kinds: dict[str, dict[str, dict]] = {"nodeclaims": {}, "nodes": {}, "pods": {}, "csinodes": {}}
        self.deleting: frozenset[str] = frozenset()

    def machine(self) -> str:
        return self.random.choice(["", *(f"azure:///{number}" for number in range(6))])

    def make(self, kind: str, name: str) -> dict:
        random = self.random
        meta = {"name": name, "namespace": "default" if kind == "pods" else ""}
        if random.random() < 0.1:
            meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        if kind == "nodeclaims":
            return {"metadata": {**meta, "labels": POOL}, "status": {"providerID": self.machine()}}
        if kind == "nodes":
            labels = random.choice([{}, POOL, {**POOL, "node.kubernetes.io/instance-type": "D2"}])
            labels = {**labels, "karpenter.sh/registered": random.choice(["true", "false"])}
            amounts = {"cpu": random.choice(["2", "4"])}
            return {
                "metadata": {**meta, "labels": labels},
                "spec": {"providerID": self.machine()},
                "status": {"allocatable": amounts},
            }
        if kind == "csinodes":
            return {
                "metadata": meta,
                "spec": {"drivers": [{"name": "d", "allocatable": {"count": random.randint(1, 9)}}]},
            }
        container = {"resources": {"requests": {"cpu": random.choice(["100m", "1"])}}}
        node = random.choice(["", *(f"nodes-{number}" for number in range(8))])
        phase = random.choice(["Running", "Running", "Succeeded"])
        return {"metadata": meta, "spec": {"containers": [container], "nodeName": node}, "status": {"phase": phase}}

    def change(self) -> None:
        random = self.random
        kind = random.choice([*self.kinds, "pods", "deleting"])
        if kind == "deleting":
            names = [f"{each}-{number}" for each in ("nodes", "nodeclaims") for number in range(8)]
            self.deleting = frozenset(random.sample(names, random.randint(0, 4)))
            return
        objects = self.kinds[kind]
        name = f"{kind}-{random.randrange(30 if kind == 'pods' else 8)}"
        if name in objects and random.random() < 0.3:
            del objects[name]
        else:
            objects[name] = self.make(kind, name)

    def snapshot(self) -> ClusterSnapshot:
        lists = {kind: list(objects.values()) for kind, objects in self.kinds.items()}
        return ClusterSnapshot(**lists, deleting=self.deleting)


def told(state: ClusterState) -> dict:
    def of(node):
        pods = list(map(id, node.placed)), list(map(id, pods_on(node)))
        rooms = node.free(), node.capacity(), node.volume_limits
        return id(node.node), id(node.nodeclaim), node.name, node.deleting, node.registered, pods, rooms

    return {
        "machines": [(each, of(node)) for each, node in state.fleet.by_provider.items()],
        "nodes": [id(node) for node in state.nodes] == [id(node) for node in state.fleet.by_provider.values()],
        "names": [(name, of(node)) for name, node in state.by_node.items()],
        "unbound": list(map(id, state.unbound)),
        "deleting": [id(node.nodeclaim) for node in state.fleet.having(is_deleting).values()],
        "really": [id(node.nodeclaim) for node in state.nodes if node.deleting],
        "sorted": [id(node.nodeclaim) for node in state.fleet.in_order(where_it_stands)],
        "counts": dict(state.fleet.counts(what_it_is)),
        "counted": Counter(map(what_it_is, state.nodes)),
        "bound": {f"nodes-{number}": list(map(id, state.fleet.bound_to(f"nodes-{number}"))) for number in range(8)},
    }


def told_of_earlier(fleet):
    """What is found out about a fleet, as if for the first time."""
    fleet.remembered.clear()
    ordered = list(map(id, fleet.in_order(where_it_stands)))
    return list(map(id, fleet.having(is_deleting).values())), dict(fleet.counts(what_it_is)), ordered


def where_it_stands(node):
    """Where pods would try it; a place of its own, or none."""
    return None if node.deleting else (not node.registered, node.name)


def what_it_is(node):
    return node.registered, node.deleting, len(node.pods)


@pytest.mark.parametrize("seed", range(12))
def test_after_every_change_the_state_is_that_made_from_nothing(seed):
    random = Random(seed)
    world, known = Changing(random), StateNodes()
    kept = 0
    before: dict[int, object] = {}
    fleet, earlier = None, None
    for _ in range(300):
        for _ in range(random.choice([0, 1, 1, 1, 5])):
            world.change()
        snapshot = world.snapshot()
        state = ClusterState(snapshot, VolumeLookup(snapshot), CORE, known)
        found = told(state)
        assert found == told(ClusterState(snapshot, VolumeLookup(snapshot), CORE))
        assert (found["deleting"], found["counts"]) == (found["really"], found["counted"])
        assert not before or earlier == told_of_earlier(fleet), "a fleet tells of its own moment"
        fleet = state.fleet
        earlier = told_of_earlier(fleet)
        kept += sum(id(node) in before for node in state.nodes)
        before = {id(node): node for node in state.nodes}
    assert kept > 300, "what has not changed stays what it was"


@pytest.mark.parametrize("later", [False, True])
def test_machines_with_a_nodeclaim_stand_before_all_others(later):
    """By their NodeClaims, then by their Nodes, whatever these are called."""
    claims = [{"metadata": {"name": name}, "status": {"providerID": f"azure:///{name}"}} for name in ("z", "c")]
    nodes = [{"metadata": {"name": name}, "spec": {"providerID": f"azure:///{name}"}} for name in ("b", "a", "z")]
    known = StateNodes()
    if later:
        first = ClusterSnapshot(nodeclaims=claims[:1], nodes=nodes[:1])
        ClusterState(first, VolumeLookup(first), CORE, known)
    snapshot = ClusterSnapshot(nodeclaims=claims, nodes=nodes)
    found = ClusterState(snapshot, VolumeLookup(snapshot), CORE, known).fleet.by_provider
    assert [each.removeprefix("azure:///") for each in found] == ["c", "z", "a", "b"]


def test_nothing_new_is_made_where_nothing_has_changed():
    world, known = Changing(Random(1)), StateNodes()
    for _ in range(60):
        world.change()
    first, second = (
        ClusterState(each, VolumeLookup(each), CORE, known) for each in (world.snapshot(), world.snapshot())
    )
    assert first.fleet is second.fleet
    assert first.nodes


def test_a_look_that_fails_leaves_nothing_half_known():
    world, known = Changing(Random(2)), StateNodes()
    for _ in range(60):
        world.change()
    snapshot = world.snapshot()

    def fails(*given):
        raise ValueError("an amount that cannot be read")

    with pytest.raises(ValueError, match="cannot be read"):
        known.look(snapshot, fails)
    state = ClusterState(snapshot, VolumeLookup(snapshot), CORE, known)
    assert told(state) == told(ClusterState(snapshot, VolumeLookup(snapshot), CORE))
