"""The taint of a command on a Node that no command has chosen (core pkg/controllers/disruption/controller.go Reconcile)."""

from harness import World
from harness.engine.clock import SECOND
from harness.engine.ports import ADMIN
from harness.karpenter.labels.core import DISRUPTED_TAINT
from harness.testing import nodeclass, nodepool, pod


def test_it_goes_at_the_next_look_and_keeps_pods_away_until_then() -> None:
    world = World()
    world.apply(nodeclass(), nodepool(), pod())
    world.settle()
    (node,) = world.list("Node")
    name, start, revision = node["metadata"]["name"], world.clock.now, world.revision
    world.cluster.writer(ADMIN).patch("Node", name, {"spec": {"taints": [dict(DISRUPTED_TAINT)]}})
    world.apply(pod("late", cpu="100m", memory="100Mi"))
    world.advance(12)
    removed = [
        entry
        for entry in world.journal.entries
        if entry.revision > revision and entry.key.kind == "Node" and entry.identity.by == "karpenter"
    ]
    assert [(one.after or {}).get("spec", {}).get("taints") for one in removed] == [None]
    assert 0 < removed[0].at - start <= 10 * SECOND
    assert world.get("Pod", "late")["spec"]["nodeName"] == name  # type: ignore[index]
