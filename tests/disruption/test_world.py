"""Nodes leave in a world as they do in Karpenter: turns, commands, their queue, and those that go without a command."""

from collections.abc import Mapping
from typing import Any

import pytest

from harness.engine.ports import ADMIN
from harness.karpenter.disruption.execution.actions import ClusterActions
from harness.kube.api.objects import Object
from harness.kube.api.status import ApiError
from harness.testing import deployment, nodeclass, nodepool, pod, requirement
from harness.world import World

MINUTE = 60.0
EVERYTHING = [{"nodes": "100%"}]


def pool(disruption: Mapping[str, Any] | None = None, **template: Any) -> dict[str, Any]:
    return nodepool(
        requirement("karpenter.sh/capacity-type", "on-demand"),
        requirement("node.kubernetes.io/instance-type", "Standard_D2s_v5", "Standard_D4s_v5", "Standard_D8s_v5"),
        disruption={"consolidateAfter": "30s", "budgets": EVERYTHING, **(disruption or {})},
        **template,
    )


NODECLASS = nodeclass()


def world(*objects: Object, **inputs: Any) -> World:
    made = World(**inputs)
    made.apply(NODECLASS, *objects)
    assert made.settle().quiescent
    return made


def sizes(of: World) -> list[str]:
    return sorted(node["metadata"]["labels"]["node.kubernetes.io/instance-type"] for node in of.list("Node"))


def conditions(of: World, kind: str) -> list[str]:
    found = [each for claim in of.list("NodeClaim") for each in claim["status"]["conditions"] if each["type"] == kind]
    return [each["reason"] for each in found]


def messages(of: World, reason: str) -> set[str]:
    return {event.message for event in of.events if event.reason == reason}


def test_a_world_that_settles_waits_for_no_turn():
    of = world(pool(), deployment("web", 3))
    of.apply(deployment("web", 0))
    before = of.clock.seconds
    assert of.settle().quiescent
    assert of.clock.seconds - before < 10
    assert len(of.list("Node")) == 1
    assert of.disruptions == ()


@pytest.mark.parametrize("release", ["1.6.5", "1.7.2", "1.10.2", "1.13.1", "1.14.0"])
def test_an_empty_node_goes(release):
    of = world(pool(), deployment("web", 3), karpenter=release)
    of.apply(deployment("web", 0))
    of.advance(2 * MINUTE)
    assert of.list("Node") == of.list("NodeClaim") == []
    assert not of.cloud.request("GET", of.karpenter.provider._arm.options.machines_id).body.get("value")
    (found,) = of.disruptions
    assert (found.reason, found.decision, found.method, found.replacements) == ("Empty", "delete", "Emptiness", ())
    assert found.ended is not None


def test_the_validation_takes_a_quarter_of_a_minute_and_turns_keep_to_ten_seconds():
    of = world(pool(), deployment("web", 3))
    of.apply(deployment("web", 0))
    of.advance(2 * MINUTE)
    (found,) = of.disruptions
    turns = (found.at - 15) / 10
    assert turns == int(turns)


def test_a_node_too_large_is_replaced_and_its_pods_move():
    of = world(pool(), deployment("big", 4), deployment("small", 1, "500m"))
    assert sizes(of) == ["Standard_D8s_v5"]
    of.apply(deployment("big", 0))
    of.advance(5 * MINUTE)
    assert sizes(of) == ["Standard_D2s_v5"]
    (found,) = of.disruptions
    assert (found.decision, found.method) == ("replace", "SingleNodeConsolidation")
    assert round(found.savings, 5) == round(
        0.384 - 0.01056, 5
    )  # core takes the cheapest offering of the size, spot too
    (pod,) = of.list("Pod")
    assert pod["status"]["phase"] == "Running"
    events = [event.reason for event in of.events if event.reason.startswith("Disruption")]
    assert events.index("DisruptionLaunching") < events.index("DisruptionTerminating")
    assert messages(of, "Evicted") == {"Evicted pod: Underutilized"}


def test_a_changed_policy_counts_for_nodes_that_are_there():
    of = world(pool({"consolidationPolicy": "WhenEmpty"}), deployment("big", 4), deployment("small", 1, "500m"))
    of.apply(deployment("big", 0))
    of.advance(5 * MINUTE)
    assert sizes(of) == ["Standard_D8s_v5"]
    of.apply(pool())
    of.advance(5 * MINUTE)
    assert sizes(of) == ["Standard_D2s_v5"]


def test_a_changed_template_makes_nodes_drift_one_after_the_other():
    of = world(pool(), deployment("web", 3, "3"))
    first = {claim["metadata"]["name"] for claim in of.list("NodeClaim")}
    of.apply(pool(expireAfter="100h"))
    of.settle()
    assert conditions(of, "Drifted") == ["NodePoolDrifted"] * len(first)
    of.advance(20 * MINUTE)
    assert {claim["metadata"]["name"] for claim in of.list("NodeClaim")} & first == set()
    assert [one.reason for one in of.disruptions][: len(first)] == ["Drifted"] * len(first)
    assert all(pod["status"]["phase"] == "Running" for pod in of.list("Pod"))


def test_a_requirement_that_the_node_does_not_meet_any_more_is_drift():
    of = world(pool(), deployment("web", 1))
    changed = pool()
    changed["spec"]["template"]["spec"]["requirements"][1]["values"] = ["Standard_D4s_v5"]
    of.apply(changed)
    of.advance(5 * MINUTE)
    assert sizes(of) == ["Standard_D4s_v5"]
    assert [one.method for one in of.disruptions] == ["Drift"]


def test_a_changed_nodeclass_is_drift_of_the_provider():
    of = world(pool(), deployment("web", 1))
    of.apply({**NODECLASS, "spec": {"imageFamily": "AzureLinux"}})
    of.settle()
    assert conditions(of, "Drifted") == ["NodeClassDrift"]
    of.advance(5 * MINUTE)
    assert conditions(of, "Drifted") == []


def test_a_machine_that_aks_wants_made_anew_drifts_within_five_minutes():
    of = world(pool(), deployment("web", 1), provision_mode="aksmachineapi")
    (claim,) = of.list("NodeClaim")
    of.cloud.drift_machine(claim["metadata"]["annotations"]["karpenter.azure.com/aks-machine-resource-id"], "Network")
    of.advance(10 * MINUTE)
    (found,) = of.disruptions
    assert found.reason == "Drifted"
    assert found.nodes[0].nodeclaim == claim["metadata"]["name"]


def test_an_expired_node_goes_before_another_is_there():
    of = world(pool(expireAfter="1h"), deployment("web", 1))
    of.advance(61 * MINUTE)
    (found,) = of.disruptions
    assert (found.reason, found.at, found.replacements) == ("Expired", 3601.0, ())
    assert [event.message for event in of.events if event.reason == "Evicted"] == ["Evicted pod: Forceful Termination"]


def test_an_unhealthy_node_is_repaired_behind_its_gate():
    for gate, reasons in ((False, []), (True, ["Unhealthy"])):
        options = {"feature_gates": {"NodeRepair": "true"}} if gate else {}
        of = world(pool({"consolidateAfter": "Never"}), deployment("web", 1), options=options)
        (node,) = of.list("Node")
        now = of.clock.timestamp()
        node["status"]["conditions"] = [
            {**each, "status": "False", "lastTransitionTime": now} if each["type"] == "Ready" else each
            for each in node["status"]["conditions"]
        ]
        of.cluster.writer(ADMIN).update(node, subresource="status")
        of.advance(11 * MINUTE)
        assert [one.reason for one in of.disruptions if one.reason == "Unhealthy"] == reasons


def test_a_command_whose_replacement_fails_is_taken_back():
    of = world(pool(), deployment("big", 4), deployment("small", 1, "500m"))
    (node,) = of.list("Node")
    of.change_azure({"capacity": [{"size": f"Standard_D{cpus}s_v5", "vms": 0} for cpus in (2, 4)]})
    of.apply(deployment("big", 0))
    of.advance(60)
    found = of.disruptions[0]
    while found.ended is None:
        of.advance(1)
    assert found.problem.startswith("replacement was deleted, NodeClaim.karpenter.sh")
    (kept,) = of.list("Node")
    assert kept["metadata"]["name"] == node["metadata"]["name"]
    assert not kept["spec"].get("taints")
    assert conditions(of, "DisruptionReason") == []


SPREAD_OUT = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
        ]
    }
}


def two_empty_nodes() -> World:
    rules = {"consolidationPolicy": "WhenEmpty", "budgets": [{"nodes": "1"}]}
    of = world(pool(rules), deployment("web", 2, affinity=SPREAD_OUT))
    of.advance(60 * MINUTE)
    of.apply(deployment("web", 0, affinity=SPREAD_OUT))
    return of


def test_a_node_that_is_protected_during_the_wait_leaves_the_turn_to_the_other():
    undisturbed, of = two_empty_nodes(), two_empty_nodes()
    undisturbed.advance(5 * MINUTE)
    first, second = undisturbed.disruptions
    of.advance(first.at - 5 - of.clock.seconds)  # ten of the fifteen seconds are over
    protection = {"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}}
    of.cluster.writer(ADMIN).patch("Node", first.nodes[0].node, protection)
    of.advance(5 * MINUTE)
    (found,) = of.disruptions
    assert found.nodes[0].node == second.nodes[0].node
    assert found.at == first.at + 10 + 15


def test_a_taint_that_cannot_be_written_ends_the_turn_only(monkeypatch):
    of = world(pool(), deployment("web", 3))
    of.apply(deployment("web", 0))
    real, refused = ClusterActions._set_taints, []

    def first_refused(self, node, taints):
        if not refused:
            refused.append(node)
            raise ApiError(409, "Conflict", "the object has been modified")
        real(self, node, taints)

    monkeypatch.setattr(ClusterActions, "_set_taints", first_refused)
    of.advance(3 * MINUTE)
    assert refused
    assert of.list("Node") == []
    assert not [line for line in of.log if line.message == "Reconciler error"]


def test_a_dear_overlay_on_a_running_node_brings_a_replacement():
    two = pool({"consolidateAfter": "0s"})
    two["spec"]["template"]["spec"]["requirements"][1]["values"] = ["Standard_D2s_v5", "Standard_D2as_v5"]
    of = world(two, deployment("web", 1), options={"feature_gates": {"NodeOverlay": "true"}})
    of.advance(2 * MINUTE)
    (size,) = sizes(of)
    key = "node.kubernetes.io/instance-type"
    spec = {"requirements": [{"key": key, "operator": "In", "values": [size]}], "priceAdjustment": "+300%"}
    of.apply({"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": {"name": "dear"}, "spec": spec})
    of.advance(10 * MINUTE)
    assert sizes(of) == [{"Standard_D2s_v5": "Standard_D2as_v5", "Standard_D2as_v5": "Standard_D2s_v5"}[size]]


def test_a_restart_forgets_commands_and_the_next_turn_frees_their_nodes():
    of = world(pool(), deployment("big", 4), deployment("small", 1, "500m"))
    of.apply(deployment("big", 0))
    of.advance(60)
    (found,) = of.disruptions
    assert found.ended is None
    of.restart_karpenter()
    of.advance(30)
    old = of.get("Node", found.nodes[0].node)
    assert not old["spec"].get("taints")


def test_what_keeps_a_node_is_told():
    protected = deployment("web", 1)
    protected["spec"]["template"]["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": "true"}
    of = world(pool(), protected)
    of.advance(2 * MINUTE)
    (pod,) = of.list("Pod")
    text = f'Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=default/{pod["metadata"]["name"]})'
    assert text in messages(of, "DisruptionBlocked")


def test_a_quiet_day_costs_few_steps():
    of = world(pool({"consolidateAfter": "1m"}), deployment("web", 20))
    of.advance(3600)
    assert of.advance(86_400).steps < 2_000


def test_what_a_limit_leaves_depends_on_the_node_that_goes():
    """Of two nodes whose pods ask for the same, the larger one alone leaves enough of the NodePool's limit for its replacement."""
    sizes = ("Standard_E2s_v5", "Standard_D4s_v5", "Standard_F8s_v2")
    disruption = {"consolidateAfter": "30s", "budgets": [{"nodes": "100%"}]}
    made = nodepool(
        requirement("karpenter.sh/capacity-type", "on-demand"),
        requirement("node.kubernetes.io/instance-type", *sizes),
        disruption=disruption,
    )
    of = World()
    of.apply(NODECLASS, made)
    for name, size in (("small", sizes[1]), ("large", sizes[2])):
        of.apply(pod(name, "1", "10Gi", nodeSelector={"node.kubernetes.io/instance-type": size}))
    of.settle()
    for name, cost in (("small", "1"), ("large", "1000")):  # so the small one is looked at first
        bound = of.get("Pod", name, "default")["spec"]["nodeName"]
        stays = pod(f"{name}-stays", "500m", "10Gi", nodeName=bound)
        stays["metadata"]["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": cost}
        of.delete("Pod", name, "default")
        of.apply(stays)
    changed = of.get("NodePool", "default")
    changed["spec"]["limits"] = {"cpu": "8"}
    of.apply(changed)
    of.advance(600)
    proposed = {event.object.name for event in of.events if event.reason == "ConsolidationCandidate"}
    assert proposed & {node["metadata"]["name"] for node in of.list("Node")} == {bound}
    assert not of.disruptions  # the replacement would be over the limit until the node has gone


def test_a_size_that_is_not_sold_any_more_is_drift_from_an_hour_of_age_on() -> None:
    """Nothing happens to the NodeClaim in between: only the look that is taken every five minutes finds it."""
    of = world(pool({"budgets": [{"nodes": "0"}]}), deployment("web", 1))
    of.change_azure({"restrictions": [{"size": size} for size in sizes(of)]})
    of.advance(10 * MINUTE)
    of.restart_karpenter()  # which reads the sizes anew
    of.advance(48 * MINUTE)
    assert conditions(of, "Drifted") == []
    of.advance(8 * MINUTE)
    assert conditions(of, "Drifted") == ["InstanceTypeNotFound"]


def test_a_static_nodepool_that_wants_fewer_nodes_gives_some_up():
    gates = {"feature_gates": {"StaticCapacity": "true"}}
    of = world(pool() | {"spec": pool()["spec"] | {"replicas": 3}}, options=gates)
    assert len(of.list("Node")) == 3
    of.apply(pool() | {"spec": pool()["spec"] | {"replicas": 1}})
    of.advance(5)
    assert len([each for each in of.list("NodeClaim") if "deletionTimestamp" not in each["metadata"]]) == 1


def test_a_pod_that_goes_makes_a_node_wait_anew():
    of = world(pool(), deployment("web", 2))
    of.advance(2 * MINUTE)
    assert conditions(of, "Consolidatable") == ["Consolidatable"]
    of.apply(deployment("web", 1))
    of.advance(2)
    assert conditions(of, "Consolidatable") == []
    of.advance(MINUTE)
    assert conditions(of, "Consolidatable") == ["Consolidatable"]
