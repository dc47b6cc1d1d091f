"""How long a node drains at least, what is told of it meanwhile, and when Karpenter asks whether its instance is gone, by release."""

from __future__ import annotations

import pytest

from harness.engine.clock import SECOND
from harness.kube.api.objects import Object, condition, name_of
from harness.testing import deployment, nodeclass, nodepool, requirement
from harness.world import World


def course(release: str, pods: int) -> tuple[list[tuple[str, str]], float]:
    """The conditions Drained and VolumesDetached one after the other, and the seconds from the deletion until the instance goes."""
    world = World(karpenter=release)
    world.apply(nodeclass(), nodepool(), deployment())
    world.settle()
    (claim,) = world.list("NodeClaim")
    if not pods:
        world.apply(deployment(replicas=0))
        world.settle()
    begun = world.clock.seconds
    world.delete("NodeClaim", name_of(claim))
    world.advance(60)
    steps: list[tuple[str, str]] = []
    for change in world.view.changes(0, "NodeClaim"):
        for kind in ("Drained", "VolumesDetached"):
            found = condition(change.object, kind)
            if name_of(change.object) == name_of(claim) and found and (kind, found["status"]) not in steps:
                steps.append((kind, found["status"]))
    (gone,) = (
        write.at for write in world.journal if write.key.kind == "NodeClaim" and terminates(write.before, write.after)
    )
    return steps, (gone - world.clock.start) / SECOND - begun


def terminates(before: Object | None, after: Object | None) -> bool:
    """Whether a write says that the instance is being terminated."""
    kind = "InstanceTerminating"
    return (
        after is not None and condition(after, kind) is not None and (before is None or condition(before, kind) is None)
    )


@pytest.mark.parametrize("release", ["1.10.2", "1.14.0"])
def test_a_node_drains_for_five_seconds_since_core_1_10(release: str) -> None:
    steps, seconds = course(release, pods=0)
    assert steps == [("Drained", "Unknown"), ("Drained", "True"), ("VolumesDetached", "True")]
    assert seconds == pytest.approx(5, abs=1)


@pytest.mark.parametrize("release", ["1.6.5", "1.7.2"])
def test_an_empty_node_has_nothing_to_drain_before(release: str) -> None:
    steps, seconds = course(release, pods=0)
    assert steps == [("Drained", "True"), ("VolumesDetached", "True")]
    assert seconds == pytest.approx(0, abs=0.5)


@pytest.mark.parametrize("release", ["1.6.5", "1.7.2"])
def test_a_node_with_pods_says_that_it_drains(release: str) -> None:
    steps, _ = course(release, pods=1)
    assert steps == [("Drained", "Unknown"), ("Drained", "True"), ("VolumesDetached", "True")]


@pytest.mark.parametrize("pods", [0, 1])
def test_core_1_4_has_no_such_conditions(pods: int) -> None:
    steps, _ = course("1.4.0", pods)
    assert steps == []


def attachment(name: str, node: str) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": name},
        "spec": {"attacher": "disk.csi.azure.com", "nodeName": node, "source": {"persistentVolumeName": f"pv-{name}"}},
    }


def told(world: World, *reasons: str) -> list[tuple[str, str, str]]:
    """The events of these reasons, each once, in order: the kind of the object, the reason, the message."""
    return list(
        dict.fromkeys((each.object.kind, each.reason, each.message) for each in world.events if each.reason in reasons)
    )


def with_volumes(release: str, count: int) -> World:
    """A node that is deleted while volumes are attached to it, two minutes later."""
    world = World(karpenter=release)
    world.apply(nodeclass(), nodepool(), deployment())
    world.settle()
    (node,) = world.list("Node")
    world.apply(*(attachment(f"va{number}", name_of(node)) for number in range(count)))
    world.delete("Node", name_of(node))
    world.advance(110)
    assert world.get("Node", name_of(node)) is not None
    return world


AWAITED = "Awaiting deletion of bound volumeattachments"


@pytest.mark.parametrize(
    ("count", "names"), [(2, "va0, va1"), (5, "va0, va1, va2, va3, va4"), (7, "va0, va1, va2, va3, va4 and 2 other(s)")]
)
def test_a_node_says_for_which_volumes_it_waits(count: int, names: str) -> None:
    world = with_volumes("1.14.0", count)
    reason = "AwaitingVolumeDetachment"
    assert told(world, reason) == [("Node", reason, f"{AWAITED} ({names})")]
    for number in range(count):
        world.delete("VolumeAttachment", f"va{number}")
    world.advance(120)
    assert not [each for each in world.list("Node") if each["metadata"].get("deletionTimestamp")]


@pytest.mark.parametrize(("release", "says"), [("1.4.0", False), ("1.5.1", False), ("1.6.1", True)])
def test_of_volumes_is_told_since_core_1_6(release: str, says: bool) -> None:
    assert bool(told(with_volumes(release, 1), "AwaitingVolumeDetachment")) == says


@pytest.mark.parametrize(("release", "drains"), [("1.4.0", True), ("1.4.1", True), ("1.6.1", False), ("1.14.0", False)])
def test_up_to_core_1_5_a_node_drains_before_its_instance_is_asked_for(release: str, drains: bool) -> None:
    world = World(karpenter=release)
    world.apply(nodeclass(), nodepool(requirement("karpenter.sh/capacity-type", "spot")), deployment())
    world.settle()
    (node,) = world.list("Node")
    world.evict(name_of(node))
    world.advance(300)
    text = "Failed to drain node, 1 pods are waiting to be evicted"
    assert told(world, "FailedDraining") == ([("Node", "FailedDraining", text)] if drains else [])
    assert name_of(node) not in {name_of(each) for each in world.list("Node")}


PDB = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "web"},
    "spec": {"minAvailable": "100%", "selector": {"matchLabels": {"app": "web"}}},
}


@pytest.mark.parametrize(
    ("release", "text"),
    [
        ("1.4.0", "evicting pod default/{} violates a PDB"),
        ("1.5.5", "evicting pod violates a PDB (Pod=default/{})"),
        ("1.6.1", ""),
        ("1.14.0", ""),
    ],
)
def test_up_to_core_1_5_a_refused_eviction_is_told_of_a_node_called_as_the_pod(release: str, text: str) -> None:
    """Elsewhere it is told of the Node itself, whose own event of that reason hides it."""
    world = World(karpenter=release)
    world.apply(nodeclass(), nodepool(), deployment(), PDB)
    world.settle()
    (claim,), (pod,) = world.list("NodeClaim"), world.list("Pod")
    world.delete("NodeClaim", name_of(claim))
    world.advance(60)
    found = [each for each in world.events if each.reason == "FailedDraining" and "evicting" in each.message]
    assert [(each.object.name, each.message) for each in found] == (
        [(name_of(pod), f"Failed to drain node, {text.format(name_of(pod))}")] if text else []
    )


@pytest.mark.parametrize(("release", "again"), [("1.4.0", False), ("1.5.5", False), ("1.6.1", True), ("1.14.0", True)])
def test_a_terminating_pod_is_deleted_again_since_core_1_6(release: str, again: bool) -> None:
    """It would outlive the deadline of its Node."""
    world = World(karpenter=release)
    pods = deployment()
    pods["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 3600
    pool = nodepool()
    pool["spec"]["template"]["spec"]["terminationGracePeriod"] = "10m"
    world.apply(nodeclass(), pool, pods)
    world.settle()
    (claim,), (pod,) = world.list("NodeClaim"), world.list("Pod")
    world.delete("Pod", name_of(pod), "default")
    world.delete("NodeClaim", name_of(claim))
    world.advance(120)
    told = [each for each in world.events if each.reason == "Disrupted" and each.object.name == name_of(pod)]
    assert bool(told) == again


@pytest.mark.parametrize(("release", "seconds"), [("1.4.0", 60.0), ("1.7.2", 61.0), ("1.14.0", 61.0)])
def test_volumes_are_waited_for_until_the_deadline(release: str, seconds: float) -> None:
    """Each second a look; since core 1.6 the deadline's own moment is still in time. The instance takes ten seconds more to go."""
    pool = nodepool(requirement("node.kubernetes.io/instance-type", "Standard_D2s_v5"))
    pool["spec"]["template"]["spec"]["terminationGracePeriod"] = "60s"
    world = World(karpenter=release)
    world.apply(nodeclass(), pool, deployment())
    world.settle()
    (node,) = world.list("Node")
    world.apply(attachment("va", name_of(node)))
    world.advance(-world.clock.now % SECOND / SECOND)  # deadlines are of whole seconds
    begun = world.clock.now
    world.delete("Node", name_of(node))
    world.settle()
    (gone,) = (write.at for write in world.journal if write.key.kind == "Node" and write.after is None)
    assert (gone - begun) / SECOND == seconds + 10
