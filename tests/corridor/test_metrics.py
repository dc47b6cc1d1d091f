"""What happened in a world is counted under upstream's names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.engine.disruptions import Disrupted, Disruption
from harness.engine.names import NodeName
from harness.engine.ports import ADMIN
from harness.testing import daemonset, node, nodeclass, nodepool, pod, requirement
from harness.world import World
from harness.world.metrics.conditions import _ends

SCENARIOS = Path(__file__).parents[2] / "scenarios" / "lifecycle"
PREFIX = "karpenter_"


def settled(scenario: str = "spot-eviction.yaml", **inputs: Any) -> World:
    """A world with the objects of a file's first scenario."""
    world = World(**inputs)
    world.apply((SCENARIOS / scenario).read_text().split("\n---\n", 1)[1].split("\n---\nscenario:", 1)[0])
    world.settle(allow_rejections=True)
    return world


def test_a_launch_and_its_end() -> None:
    world = settled()
    created = world.metrics()
    assert created.value("karpenter_nodeclaims_created_total", reason="provisioned", nodepool="default") == 1
    assert created.value("karpenter_nodes_created_total") == created.value("karpenter_cluster_state_node_count") == 1
    assert created.value("karpenter_nodepools_usage", resource_type="nodes") == 1
    assert created.value("karpenter_nodepools_cost_total", nodepool="default") > 0
    assert created.value("karpenter_nodeclaims_terminated_total") == 0
    (claim,) = world.list("NodeClaim")
    world.delete("Deployment", "web")
    world.delete("NodeClaim", claim["metadata"]["name"])
    world.settle()
    ended = world.metrics()
    zone = claim["metadata"]["labels"]["topology.kubernetes.io/zone"]
    assert ended.value("karpenter_nodeclaims_terminated_total", zone=zone, capacity_type="spot") == 1
    assert ended.value("karpenter_nodes_terminated_total", zone=zone) == 1
    assert ended.value("karpenter_nodeclaims_disrupted_total") == 0  # somebody else's decision
    assert ended.value("karpenter_cluster_state_node_count") == 0


def test_what_releases_tell() -> None:
    world = settled(karpenter="1.7.2")
    (sample,) = [each for each in world.metrics() if each.name == "karpenter_nodes_created_total"]
    assert dict(sample.labels) == {"nodepool": "default"}
    assert not [each for each in world.metrics() if each.name == "karpenter_nodepools_cost_total"]


def test_a_launch_that_fails_and_a_pod_without_a_place() -> None:
    told = settled(azure={"quota": {"lowPriorityCores": 0}}).metrics()
    assert told.value("karpenter_nodeclaims_created_total") == 1
    assert told.value("karpenter_nodeclaims_disrupted_total", reason="insufficient_capacity") == 1
    assert told.value("karpenter_nodeclaims_terminated_total") == 1
    assert told.value("karpenter_scheduler_unschedulable_pods_count", controller="provisioner") == 1


def test_decisions() -> None:
    world = settled()
    (claim,) = (each["metadata"]["name"] for each in world.list("NodeClaim"))
    gone = (Disrupted(claim, NodeName("n"), "default"),)
    world.recorder.disrupted(Disruption(1, "Drifted", "replace", gone, ("r",), "Drift", ended=2))
    world.recorder.disrupted(
        Disruption(
            3, "Underutilized", "replace", gone, ("r", "s"), "MultiNodeConsolidation", problem="too late", missing=2
        )
    )
    told = world.metrics()
    decisions = "karpenter_voluntary_disruption_decisions_total"
    assert told.value(decisions, reason="drifted", decision="replace", consolidation_type="") == 1
    assert told.value(decisions, reason="underutilized", consolidation_type="multi") == 1
    assert told.value("karpenter_nodeclaims_disrupted_total", reason="drifted", capacity_type="spot") == 1
    # upstream writes the decision where the type should stand
    assert told.value("karpenter_voluntary_disruption_queue_failures_total", consolidation_type="replace") == 2


def test_how_a_nodeclaim_ends_is_told_since_core_1_15() -> None:
    """Core ``pkg/controllers/disruption/queue.go`` recordCandidateDisrupted, ``pkg/utils/nodeclaim`` DisruptionTerminationMode."""
    world = settled(karpenter="next")
    (claim,) = (each["metadata"]["name"] for each in world.list("NodeClaim"))
    gone = (Disrupted(claim, NodeName("n"), "default", pods=3, policy="WhenEmptyOrUnderutilized"),)
    for method, reason in (("Drift", "Drifted"), ("SingleNodeConsolidation", "Underutilized")):
        world.recorder.disrupted(Disruption(1, reason, "replace", gone, ("r",), method, ended=2))
    failed = Disruption(3, "Empty", "delete", gone, ("r",), "Emptiness", problem="too late", missing=1)
    world.recorder.disrupted(failed)
    told = world.metrics()
    for name, count in (("karpenter_nodeclaims_disrupted_total", 1), ("karpenter_pods_disruption_initiated_total", 3)):
        assert told.value(name, reason="drifted", consolidation_policy="", termination_mode="graceful") == count
        policy = "when_empty_or_underutilized"
        assert told.value(name, reason="underutilized", consolidation_policy=policy, capacity_type="spot") == count
    assert told.value("karpenter_voluntary_disruption_queue_failures_total", consolidation_type="empty") == 1
    before = settled(karpenter="1.14.0").metrics()
    assert not [each for each in before if {"termination_mode", "dynamic_resources"} & each.labels.keys()]
    assert told.value("karpenter_pods_bound_duration_seconds_count", dynamic_resources="false") > 0


@pytest.mark.parametrize(("patience", "mode"), [("0s", "forceful"), ("1h", "eventual"), (None, "graceful")])
def test_pods_of_a_node_that_expires_are_counted_since_core_1_15(patience: str | None, mode: str) -> None:
    pool = nodepool()
    pool["spec"]["template"]["spec"]["expireAfter"] = "1h"
    if patience is not None:
        pool["spec"]["template"]["spec"]["terminationGracePeriod"] = patience
    world = World(karpenter="next")
    world.apply(nodeclass(), pool, pod("a"), pod("b", cpu="100m"))
    world.settle()
    world.advance(3700)
    told = world.metrics()
    assert told.value("karpenter_nodeclaims_disrupted_total", reason="expired", termination_mode=mode) == 1
    assert told.value("karpenter_pods_disruption_initiated_total", reason="expired", termination_mode=mode) == 2


def test_pods_of_a_node_without_machine_are_counted_since_core_1_15() -> None:
    """Core ``pkg/controllers/nodeclaim/garbagecollection/controller.go``, every two minutes."""
    world = settled(karpenter="next")
    (vm,), (node,) = world.vms(), world.list("Node")
    world.advance(238 - world.clock.seconds)
    world.cloud.vanish(vm.name)
    conditions = node["status"]["conditions"]
    silent = [{**each, "status": "Unknown"} if each["type"] == "Ready" else each for each in conditions]
    name = node["metadata"]["name"]
    world.cluster.writer(ADMIN).patch("Node", name, {"status": {"conditions": silent}}, subresource="status")
    world.advance(60)
    told = world.metrics()
    assert told.value("karpenter_nodeclaims_disrupted_total", reason="garbage_collected") == 1
    assert told.value("karpenter_pods_disruption_initiated_total", reason="garbage_collected") == 1


def test_how_they_are_shown() -> None:
    told = settled().metrics()
    lines = told.text().splitlines()
    assert lines[0] == "# TYPE karpenter_nodeclaims_created_total counter"
    series = 'karpenter_nodeclaims_created_total{min_values_relaxed="false",nodepool="default",reason="provisioned"}'
    assert lines[1] == f"{series} 1"
    assert str(told).splitlines()[0].split() == [series, "1"]
    with pytest.raises(
        LookupError, match="there is no metric karpenter_nodes_create; did you mean 'karpenter_nodes_created_total'"
    ):
        told.value("karpenter_nodes_create")
    with pytest.raises(LookupError, match="there is no metric karpenter_nodes_lifetime_duration_seconds; did you mean"):
        told.value("karpenter_nodes_lifetime_duration_seconds")


def test_distributions_are_told_as_prometheus_tells_them() -> None:
    world = settled()
    (claim,) = world.list("NodeClaim")
    world.advance(3600)
    world.delete("Deployment", "web")
    world.delete("NodeClaim", claim["metadata"]["name"])
    world.settle()
    lines = world.metrics().text().splitlines()
    first = lines.index("# TYPE karpenter_nodes_lifetime_duration_seconds histogram")
    name, pool = "karpenter_nodes_lifetime_duration_seconds", 'nodepool="default"'
    assert f'{name}_bucket{{{pool},le="2700"}} 0' in lines[first + 1 :]
    assert f'{name}_bucket{{{pool},le="7200"}} 1' in lines[first + 1 :]
    assert lines[first + 22].startswith(f'{name}_bucket{{{pool},le="+Inf"}}')
    told = world.metrics()
    lived = told.value(f"{name}_sum", nodepool="default")
    assert 3600 < lived < 4000
    assert told.value(f"{name}_count") == told.value("karpenter_nodes_drained_total") == 1
    going = told.value("karpenter_nodes_termination_duration_seconds_sum")
    assert 0 < going < 120
    assert "_bucket" not in str(told)


def test_conditions() -> None:
    world = settled()
    told = world.metrics()
    labels = {"type": "Launched", "karpenter_sh_nodepool": "default"}
    assert told.value("operator_nodeclaim_status_condition_count", status="True", **labels) == 1
    assert told.value("operator_nodeclaim_status_condition_transitions_total", status="True", **labels) == 1
    waited = "operator_nodeclaim_status_condition_transition_seconds"
    # nobody wrote that it was Unknown before: it is so from the start, and to become Unknown is no transition
    assert told.value(f"{waited}_count", status="Unknown", type="Launched") == 1
    assert told.value("operator_nodeclaim_status_condition_transitions_total", status="Unknown") == 0
    assert (
        told.value("operator_aksnodeclass_status_condition_transition_seconds_count", status="Unknown", type="Ready")
        == 1
    )
    assert (
        told.value(
            "operator_nodepool_status_condition_transitions_total", type="NodeRegistrationHealthy", status="Unknown"
        )
        == 0
    )
    assert told.value(f"{waited}_count", status="Unknown", type="Registered") == 1
    assert 30 < told.value(f"{waited}_sum", status="Unknown", type="Registered") < 60
    assert told.value("operator_nodepool_status_condition_count", type="Ready", status="True", name="default") == 1
    assert told.value("operator_aksnodeclass_status_condition_count", type="Ready", status="True") == 1
    before = told.value("operator_node_status_condition_current_status_seconds", type="Ready")
    world.advance(100)
    after = world.metrics().value("operator_node_status_condition_current_status_seconds", type="Ready")
    assert after == pytest.approx(before + 100)
    (claim,) = world.list("NodeClaim")
    world.delete("NodeClaim", claim["metadata"]["name"])
    world.settle()
    told = world.metrics()
    assert told.value("operator_nodeclaim_termination_duration_seconds_count", karpenter_sh_nodepool="default") == 1
    assert told.value("operator_nodeclaim_status_condition_count", name=claim["metadata"]["name"]) == 0


def test_pods_are_bound_and_start() -> None:
    told = settled().metrics()
    bound = told.value("karpenter_pods_bound_duration_seconds_count")
    assert bound == told.value("karpenter_pods_startup_duration_seconds_count") > 0
    assert told.value("karpenter_pods_bound_duration_seconds_bucket", le="+Inf") == bound
    waited = told.value("karpenter_pods_bound_duration_seconds_sum")
    assert 0 < waited <= told.value("karpenter_pods_startup_duration_seconds_sum")


def test_each_node_and_pod() -> None:
    world = settled()
    (node,), (pod,) = world.list("Node"), world.list("Pod")
    told = world.metrics()
    name, labels = node["metadata"]["name"], node["metadata"]["labels"]
    own = {"node_name": name, "nodepool": "default", "instance_type": labels["node.kubernetes.io/instance-type"]}
    for metric, amounts in (("allocatable", "allocatable"), ("system_overhead", "capacity")):
        assert told.value(f"karpenter_nodes_{metric}", resource_type="cpu", managed="true", **own) > 0, amounts
    requested = told.value("karpenter_nodes_total_pod_requests", resource_type="cpu", **own)
    there = told.value("karpenter_nodes_allocatable", resource_type="cpu", **own)
    assert told.value("karpenter_nodes_total_pod_requests", resource_type="pods", **own) == 1
    assert told.value("karpenter_cluster_utilization_percent", resource_type="cpu") == 100 * requested / there > 0
    assert told.value("karpenter_nodes_current_lifetime_seconds", **own) > 0
    place = {"node": name, "scheduled": "true", "ready": "true", "managed": "true", "capacity_type": "spot"}
    assert told.value("karpenter_pods_state", phase="Running", zone=labels["topology.kubernetes.io/zone"], **place) == 1
    owner = told.value("karpenter_pods_state", owner=f"/apis/apps/v1/namespaces/default/replicasets/{_owner(pod)}")
    assert owner == 1
    assert told.value("karpenter_pods_unbound_time_seconds") == told.value("karpenter_pods_unstarted_time_seconds") == 0
    assert "karpenter_nodes_allocatable" not in str(told)  # some thirty labels and five resources for each Node
    assert f'karpenter_pods_unbound_time_seconds{{name="{pod["metadata"]["name"]}"' not in told.text()


def _owner(pod: dict[str, Any]) -> str:
    return str(pod["metadata"]["ownerReferences"][0]["name"])


def test_pods_since_karpenter_took_them_up() -> None:
    told = settled().metrics()
    name = "karpenter_pods_provisioning_bound_duration_seconds"
    assert told.value(f"{name}_count") == told.value("karpenter_pods_scheduling_decision_duration_seconds_count") == 1
    waited = told.value("karpenter_pods_scheduling_decision_duration_seconds_sum")
    assert 1 <= waited < 2  # the batch window
    since_placed, since_created = told.value(f"{name}_sum"), told.value("karpenter_pods_bound_duration_seconds_sum")
    assert since_created - since_placed == pytest.approx(waited)
    started = told.value("karpenter_pods_provisioning_startup_duration_seconds_sum")
    assert since_placed <= started < told.value("karpenter_pods_startup_duration_seconds_sum")
    for part in ("unbound", "unstarted", "scheduling_undecided"):
        assert told.value(f"karpenter_pods_provisioning_{part}_time_seconds") == 0


def test_a_pod_that_has_a_place_and_waits_for_it() -> None:
    world = settled()
    world.apply({**world.list("Deployment")[0], "spec": {**world.list("Deployment")[0]["spec"], "replicas": 9}})
    world.advance(0.5)
    undecided = world.metrics()
    seconds = undecided.value("karpenter_pods_provisioning_scheduling_undecided_time_seconds")
    waiting = [pod for pod in world.list("Pod") if not pod["spec"].get("nodeName")]
    assert waiting
    assert 0 < seconds <= 0.5 * len(waiting)
    assert undecided.value("karpenter_pods_provisioning_unbound_time_seconds") == 0  # no place is known yet
    world.advance(10)
    placed = world.metrics()
    assert placed.value("karpenter_pods_provisioning_scheduling_undecided_time_seconds") == 0
    name = waiting[0]["metadata"]["name"]
    assert 8 < placed.value("karpenter_pods_provisioning_unbound_time_seconds", name=name) < 10
    assert 8 < placed.value("karpenter_pods_provisioning_unstarted_time_seconds", name=name) < 10


def test_evictions_and_how_long_a_nodeclaim_takes_to_go() -> None:
    world = settled()
    (claim,), (pod,) = world.list("NodeClaim"), world.list("Pod")
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}}
    world.apply({**budget, "spec": {"maxUnavailable": 0, "selector": {"matchLabels": pod["metadata"]["labels"]}}})
    world.delete("NodeClaim", claim["metadata"]["name"])
    world.advance(60)
    told = world.metrics()
    assert told.value("karpenter_pods_eviction_requests_total", code="429") > 1
    assert told.value("karpenter_pods_eviction_requests_total", code="200") == 0
    assert told.value("karpenter_pods_drained_total") == 0
    world.delete("PodDisruptionBudget", "web")
    world.settle()
    told = world.metrics()
    assert told.value("karpenter_pods_eviction_requests_total", code="200") == 1
    assert told.value("karpenter_pods_drained_total", reason="Forceful Termination") == 1
    took = "karpenter_nodeclaims_termination_duration_seconds"
    assert told.value(f"{took}_count", nodepool="default") == 1
    assert told.value(f"{took}_sum") > 60
    of_machine = told.value("karpenter_nodeclaims_instance_termination_duration_seconds_sum", nodepool="default")
    assert 0 < of_machine < told.value(f"{took}_sum") - 60


def test_nodes_that_are_repaired() -> None:
    world = settled(options={"feature_gates": {"NodeRepair": "true"}})
    (node,), (claim,) = world.list("Node"), world.list("NodeClaim")
    now = world.clock.timestamp()
    ready = {"type": "Ready", "status": "False", "lastTransitionTime": now}
    others = [each for each in node["status"]["conditions"] if each["type"] != "Ready"]
    broken = {**node, "status": {**node["status"], "conditions": [*others, ready]}}
    world.cluster.writer(ADMIN).update(broken, subresource="status")
    world.advance(1200)
    told = world.metrics()
    own = {"nodepool": "default", "capacity_type": "spot", "image_id": claim["status"]["imageID"]}
    assert told.value("karpenter_nodeclaims_unhealthy_disrupted_total", condition="ready", **own) == 1
    assert told.value("karpenter_nodeclaims_disrupted_total", reason="unhealthy") == 1


def test_the_last_write_on_a_real_api_server_leaves_the_object_without_finalizers() -> None:
    going = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["f"]}}
    assert _ends(going, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
    assert _ends(going, None)
    assert not _ends(going, going)
    assert not _ends({"metadata": {}}, None)  # nobody said when
    assert not _ends(None, going)
    without = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert not _ends(without, without)  # a Node whose pods are ended by a kubelet, say


def container(requests: dict[str, str], limits: dict[str, str], name: str = "c") -> dict[str, Any]:
    return {"name": name, "image": "i", "resources": {"requests": requests, "limits": limits}}


def test_limits_of_pods_on_each_node() -> None:
    world = World()
    early = container({"cpu": "500m"}, {"cpu": "2"}, name="early")
    web = pod("web", initContainers=[early], containers=[container({"cpu": "1"}, {"cpu": "1"})])
    agent = daemonset(containers=[container({"cpu": "500m"}, {"cpu": "750m"})])
    on_demand = nodepool(requirement("karpenter.sh/capacity-type", "on-demand"))
    world.apply(nodeclass(), on_demand, web, agent)
    world.settle()
    told = world.metrics()
    assert told.value("karpenter_nodes_total_pod_requests", resource_type="cpu") == 1.5
    assert told.value("karpenter_nodes_total_pod_limits", resource_type="cpu") == 2.75
    assert told.value("karpenter_nodes_total_pod_limits", resource_type="memory") == 0
    assert told.value("karpenter_nodes_total_pod_limits", resource_type="pods") == 2
    assert told.value("karpenter_nodes_total_daemon_limits", resource_type="cpu") == 0.75
    assert told.value("karpenter_nodes_total_daemon_limits", resource_type="pods") == 1


def test_a_pod_that_waits_is_told_by_name() -> None:
    world = settled(azure={"quota": {"lowPriorityCores": 0}})
    world.advance(600)
    (pod,) = world.list("Pod")
    told = world.metrics()
    name = pod["metadata"]["name"]
    assert told.value("karpenter_pods_unbound_time_seconds", name=name, namespace="default") >= 600
    assert told.value("karpenter_pods_unstarted_time_seconds", name=name) >= 600
    assert told.value("karpenter_pods_state", name=name, phase="Pending", scheduled="false", node="", zone="") == 1


def test_what_older_releases_say_of_nodes_and_pods() -> None:
    told = settled(karpenter="1.7.2").metrics()
    (state,) = [each for each in told if each.name == "karpenter_pods_state"]
    assert not {"ready", "managed"} & set(state.labels)
    assert all("managed" not in each.labels for each in told if each.name == "karpenter_nodes_allocatable")
    (state,) = [each for each in settled(karpenter="1.13.1").metrics() if each.name == "karpenter_pods_state"]
    assert "ready" in state.labels
    assert "managed" not in state.labels


def test_conditions_under_the_names_of_old() -> None:
    world = settled()
    told = world.metrics()
    (claim,) = world.list("NodeClaim")
    own = {"kind": "NodeClaim", "group": "karpenter.sh", "name": claim["metadata"]["name"]}
    assert told.value("operator_status_condition_count", type="Launched", status="True", **own) == 1
    for metric in ("status_condition_transitions_total", "status_condition_transition_seconds_count"):
        for kind in ("NodeClaim", "NodePool"):
            once = told.value(f"operator_{kind.lower()}_{metric}", type="Ready")
            assert told.value(f"operator_{metric}", kind=kind, type="Ready") == once
    assert told.value("operator_status_condition_count", kind="Node") == 0
    assert told.value("operator_node_status_condition_count") > 0
    assert "operator_status_condition_count" not in str(told)
    world.delete("Deployment", "web")
    world.delete("NodeClaim", own["name"])
    world.settle()
    assert world.metrics().value("operator_termination_duration_seconds_count", kind="NodeClaim") == 1


def test_a_condition_that_does_not_say_since_when() -> None:
    world = World()
    world.apply(node("own"))
    name = "operator_node_status_condition_current_status_seconds"
    assert world.metrics().value(name, type="Ready") == (2**63 - 1) / 1e9
    silent = [{"type": "Ready", "status": "False"}]
    world.cluster.writer(ADMIN).patch("Node", "own", {"status": {"conditions": silent}}, subresource="status")
    lasted = "operator_node_status_condition_transition_seconds"
    told = world.metrics()
    assert (told.value(f"{lasted}_count", type="Ready"), told.value(f"{lasted}_sum", type="Ready")) == (1, 0)
