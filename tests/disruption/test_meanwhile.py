"""What others did meanwhile is no failure: pods, NodeClaims and volumes that are gone, or that a drain leaves alone.

Sources: core pkg/controllers/node/termination/terminator/eviction.go (Evict), pkg/controllers/node/health/controller.go,
pkg/controllers/node/termination/controller.go (filterVolumeAttachments).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.engine.disruptions import EXPIRED, Disruption
from harness.engine.engine import DONE, ReconcileError
from harness.engine.ports import ADMIN
from harness.karpenter.lifecycle.nodes.drain import Evictions
from harness.karpenter.lifecycle.nodes.forced import forcefully
from harness.karpenter.lifecycle.nodes.repair import NodeRepair
from harness.karpenter.releases import provider
from harness.kube.api.objects import name_of, uid_of
from harness.kube.api.status import ApiError
from harness.testing import nodeclaim, pod, requirement
from harness.world import World
from tests.disruption.test_drain_by_release import attachment
from tests.disruption.test_world import MINUTE, pool, world

SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


class Refusing:
    """A writer to whom deletions and evictions are refused."""

    def __init__(self, error: ApiError) -> None:
        self._error = error

    def patch(self, *told: Any, **named: Any) -> None:
        pass

    def delete(self, *told: Any, **named: Any) -> None:
        raise self._error

    evict = delete


def evicted(of: World, error: ApiError, release: str = "1.14.0") -> None:
    refusing: Any = Refusing(error)
    ports = of.cluster
    queue = Evictions(
        SimpleNamespace(clock=of.clock, enqueue=lambda *told: None),
        ports.view,
        refusing,
        of.recorder,
        provider(release).core,
    )  # type: ignore[arg-type]
    (found,) = of.list("Pod")
    queue.add([found])
    assert queue.reconcile(("default", name_of(found), uid_of(found))) is DONE
    assert queue.left == 1


@pytest.mark.parametrize("code", [404, 409])
def test_a_pod_that_is_gone_or_another_leaves_the_queue(code: int) -> None:
    evicted(world(pool(), pod("p")), ApiError(code, "", "no"))


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ApiError(500, "InternalError", SEVERAL), "eviction does not support multiple PDBs"),
        (ApiError(429, "TooManyRequests", "spent"), "evicting pod violates a PDB"),
        (ApiError(500, "InternalError", "no"), ""),
    ],
)
def test_a_refused_eviction_is_told_where_budgets_are_why(error: ApiError, told: str) -> None:
    of = world(pool(), pod("p"))
    with pytest.raises(ReconcileError):
        evicted(of, error)
    messages = [each.message for each in of.events if each.reason == "FailedDraining"]
    assert messages == ([f"Failed to drain node, {told} (Pod=default/p)"] if told else [])


@pytest.mark.parametrize("code", [404, 409, 422])
def test_a_nodeclaim_that_is_gone_needs_no_repair(code: int) -> None:
    of = world(pool(), pod("p"))
    (node,) = of.list("Node")
    machine = node["spec"]["providerID"].removeprefix("azure://")
    of.cloud.request("POST", f"{machine}/powerOff", query={"api-version": "2025-04-01"})
    of.advance(13 * MINUTE)
    refusing: Any = Refusing(ApiError(code, "", "no"))
    repair = NodeRepair(of.cluster.view, refusing, of.recorder, of.clock, provider("1.14.0"))
    if code == 422:
        with pytest.raises(ReconcileError, match="no"):
            repair.reconcile(name_of(node))
    else:
        assert repair.reconcile(name_of(node)) is DONE


def test_a_nodeclaim_without_a_node_moves_no_pods() -> None:
    told: list[Disruption] = []
    of = World()
    sink: Any = SimpleNamespace(disrupted=told.append)
    claim = nodeclaim(requirement("karpenter.sh/capacity-type", "on-demand"), name="early")
    forcefully(of.cluster.view, sink, of.clock, claim, EXPIRED)
    ((gone,),) = [each.nodes for each in told]
    assert (gone.nodeclaim, gone.node, gone.pods) == ("early", "", 0)


def volume(claim: str) -> dict[str, Any]:
    return {"name": claim, "persistentVolumeClaim": {"claimName": claim}}


@pytest.mark.parametrize(("holds", "gone"), [(True, True), (False, False)], ids=["of a pod that stays", "of nobody"])
def test_a_node_waits_for_no_volumes_of_pods_that_stay(holds: bool, gone: bool) -> None:
    of = world(pool(), pod("p"))
    (node,) = of.list("Node")
    stays = {"nodeName": name_of(node), "tolerations": [{"operator": "Exists"}]}
    volumes = [{"name": "scratch", "emptyDir": {}}, volume("lost"), *([volume("kept")] if holds else [])]
    kept = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "kept", "namespace": "default"},
        "spec": {
            "volumeName": "pv-va0",
            "storageClassName": "",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "8Gi"}},
        },
    }
    of.apply(kept, pod("bare", "1m", "1Mi", **stays), pod("holder", "1m", "1Mi", volumes=volumes, **stays))
    of.apply(attachment("va0", name_of(node)))
    of.settle()
    of.cluster.writer(ADMIN).delete("Node", name_of(node))
    of.advance(110)
    assert (of.get("Node", name_of(node)) is None) == gone
    assert of.get("VolumeAttachment", "va0") is not None
