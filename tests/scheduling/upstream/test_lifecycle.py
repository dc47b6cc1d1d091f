"""NodeClaims that fail, initialize and end.

Source: core pkg/controllers/{nodeclaim/lifecycle,node/termination}, kaz pkg/controllers/nodeclaim/garbagecollection.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.engine.ports import ADMIN
from harness.testing import nodeclass, nodepool, pod
from tests.corridor.conftest import SMALL, Walk

Json = dict[str, Any]

TERMINATES = "karpenter.sh/nodeclaim-termination-timestamp"


def condition(obj: Json, kind: str) -> str:
    return next((each["status"] for each in obj["status"]["conditions"] if each["type"] == kind), "")


def change(way: Walk, kind: str, name: str, **spec: Any) -> None:
    """A user's change of an object's spec."""
    way.world.cluster.writer(ADMIN).patch(kind, name, {"spec": spec})


def test_two_launches_that_fail() -> None:
    """should update NodeRegistrationHealthy status condition to False if it was previously set to True and there are
    >=2 registration failures
    """
    way = Walk(nodeclass(), nodepool(SMALL), pod("p1"))
    assert condition(way.world.get("NodePool", "default"), "NodeRegistrationHealthy") == "True"
    refusal = {"what": "Strange", "message": "no", "status": 403, "times": "always"}
    way.world.change_azure({"faults": [refusal]})
    way.world.apply(pod("second", cpu="1500m"))
    way.world.advance(5 * 60)
    assert condition(way.world.get("NodePool", "default"), "NodeRegistrationHealthy") == "True"
    way.world.advance(6 * 60)
    assert condition(way.world.get("NodePool", "default"), "NodeRegistrationHealthy") == "False"


def failing_launches(way: Walk) -> None:
    refusal = {"what": "Strange", "message": "no", "status": 403, "times": "always"}
    way.world.change_azure({"faults": [refusal]})
    way.world.apply(pod("second", cpu="1500m"))


def healthy(way: Walk) -> str:
    return condition(way.world.get("NodePool", "default"), "NodeRegistrationHealthy")


def test_before_outcomes_were_counted_a_launch_that_fails_says_nothing() -> None:
    """Of core 1.7 (pkg/controllers/nodeclaim/lifecycle/liveness.go): only a registration that takes too long does, if nothing is known."""
    way = Walk(nodeclass(), nodepool(SMALL), karpenter="1.7.2")
    failing_launches(way)
    way.world.advance(11 * 60)
    assert healthy(way) == "Unknown"


@pytest.mark.parametrize("release", ["1.7.2", "1.6.6", "1.4.0"])
def test_before_outcomes_were_counted_the_first_node_that_does_not_register_makes_it_unhealthy(release: str) -> None:
    way = Walk(nodeclass(), nodepool(SMALL), pod("p1"), karpenter=release, times={"boot": 3600.0})
    way.world.advance(20 * 60)
    assert healthy(way) == "False"


def test_before_outcomes_were_counted_one_that_is_healthy_stays_so() -> None:
    way = Walk(nodeclass(), nodepool(SMALL), pod("p1"), karpenter="1.7.2")
    way.world.change_timing(boot=3600.0)
    way.world.apply(pod("second", cpu="1500m"))
    way.world.advance(40 * 60)
    assert healthy(way) == "True"


@pytest.mark.parametrize(("release", "status"), [("1.7.2", "True"), ("1.10.2", "Unknown"), ("1.14.0", "Unknown")])
def test_a_nodeclaim_that_a_user_made_counts_for_its_label_up_to_core_1_7(release: str, status: str) -> None:
    mine = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": "mine", "labels": {"karpenter.sh/nodepool": "default"}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": [SMALL],
        },
    }
    assert healthy(Walk(nodeclass(), nodepool(SMALL), mine, karpenter=release)) == status


def test_what_the_condition_says_counts_after_a_restart() -> None:
    """should pre-hydrate the buffer with the status condition: one failure after a success leaves it healthy, one after failures not"""
    way = Walk(nodeclass(), nodepool(SMALL), pod("p1"))
    failing_launches(way)
    way.world.advance(11 * 60)
    assert healthy(way) == "False"
    way.world.restart_karpenter()
    way.world.cloud.market.faults.all.clear()
    way.world.advance(20 * 60)
    assert len(way.world.list("Node")) == 2
    assert healthy(way) == "False"  # two failures and one success


def test_a_taint_that_says_that_the_node_is_not_ready() -> None:
    """should not consider the Node to be initialized while a readiness.k8s.io/ taint is present, and initialize once it is removed"""
    taint = {"key": "readiness.k8s.io/network", "effect": "NoSchedule"}
    way = Walk(nodeclass(), nodepool(SMALL, taints=[taint]), pod("p1", tolerations=[{"operator": "Exists"}]))
    assert (condition(way.claim, "Registered"), condition(way.claim, "Initialized")) == ("True", "Unknown")
    change(way, "Node", way.node["metadata"]["name"], taints=[])
    way.world.settle()
    assert condition(way.claim, "Initialized") == "True"


def test_when_the_grace_period_ends_is_written_down() -> None:
    """should annotate the node if the NodeClaim has a terminationGracePeriod"""
    kept = pod("p1")
    kept["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": "true"}
    way = Walk(nodeclass(), nodepool(SMALL, terminationGracePeriod="5m"), kept)
    name = way.claim["metadata"]["name"]
    way.world.delete("NodeClaim", name)
    way.world.advance(1)
    claim = way.world.get("NodeClaim", name)
    assert claim["metadata"]["deletionTimestamp"] < claim["metadata"]["annotations"][TERMINATES]


def test_a_nodeclaim_that_has_no_machine() -> None:
    """should not call Delete() on the CloudProvider if the NodeClaim hasn't been launched yet"""
    refusal = {"what": "Strange", "message": "no", "status": 403, "times": "always"}
    way = Walk(nodeclass(), nodepool(SMALL), pod("p1"), azure={"faults": [refusal]})
    way.world.delete("Pod", "p1")
    for claim in way.world.list("NodeClaim"):
        way.world.delete("NodeClaim", claim["metadata"]["name"])
    way.world.settle()
    assert way.world.list("NodeClaim") == []
    assert [path for _, _, path, _, _ in way.calls("DELETE") if path.startswith("virtualMachines/")] == []


@pytest.mark.parametrize("critical", ["system-cluster-critical", "system-node-critical"])
def test_important_pods_go_last(critical: str) -> None:
    """should evict non-critical pods first"""
    important = pod("important", cpu="100m", priorityClassName=critical)
    important["metadata"]["namespace"] = "kube-system"
    way = Walk(nodeclass(), nodepool(SMALL), important, pod("plain", cpu="100m"))
    way.world.delete("NodeClaim", way.claim["metadata"]["name"])
    way.world.settle()
    gone = [
        entry.key.name
        for entry in way.world.journal
        if entry.key.kind == "Pod" and entry.verb == "delete" and entry.key.name in ("important", "plain")
    ]
    assert list(dict.fromkeys(gone)) == ["plain", "important"]


def test_draining_takes_five_seconds() -> None:
    """should not finish draining until minDrainTime has passed"""
    way = Walk(nodeclass(), nodepool(SMALL), pod("p1"))
    name = way.claim["metadata"]["name"]
    way.world.delete("Pod", "p1")
    way.world.settle()
    way.world.delete("NodeClaim", name)
    way.world.advance(4)
    assert condition(way.world.get("NodeClaim", name), "Drained") == "Unknown"
    way.world.advance(3)
    assert condition(way.world.get("NodeClaim", name), "Drained") == "True"
    way.world.settle()
    assert way.world.get("NodeClaim", name) is None


def test_a_machine_that_belongs_to_nobody() -> None:
    """should delete an instance if there is no NodeClaim owner"""
    way = Walk(nodeclass(), nodepool(SMALL), pod("p1"))
    way.world.delete("Pod", "p1")
    way.world.settle()
    name = way.claim["metadata"]["name"]
    writer = way.world.cluster.writer(ADMIN)
    writer.patch("NodeClaim", name, {"metadata": {"finalizers": []}})
    writer.patch("Node", way.node["metadata"]["name"], {"metadata": {"finalizers": []}})
    way.world.delete("NodeClaim", name)
    assert way.world.get("NodeClaim", name) is None
    assert len(way.world.vms()) == 1
    way.world.advance(10 * 60)
    assert way.world.vms() == []
