"""Which pods Karpenter tells ReplicaSets to remove first, with the gate PodDeletionCostManagement of core 1.15.0.

Core ``pkg/controllers/pod/deletioncost/{ranking,controller}.go``; the oracle's op ``disrupt`` holds it to the real code.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.karpenter.disruption.costs import eviction_cost
from harness.karpenter.disruption.deletion_ranking import deletion_costs
from harness.karpenter.releases import provider
from tests.disruption.fleet import Json, machine, nodepool, pod, situation

COST = "controller.kubernetes.io/pod-deletion-cost"
BUDGET = [{"nodes": "100%"}]


def costs(machines: list[tuple[Json, Json]], pods: list[Json], **how: Any) -> dict[str, int | None]:
    """The cost that is written for each pod."""
    how = {"pools": [nodepool(budgets=BUDGET)], **how}
    found = deletion_costs(situation(machines, pods, release=provider("next"), **how))
    return {each.pod["metadata"]["name"]: each.cost for each in found}


def test_nodes_that_save_most_for_the_moving_of_their_pods_come_first() -> None:
    machines = [machine("a", "four"), machine("b", "eight"), machine("c", "four")]
    pods = [pod("on-a", "a"), pod("on-b", "b"), pod("on-c", "c"), pod("also-on-c", "c")]
    assert costs(machines, pods) == {"on-b": -3, "on-a": -2, "on-c": -1, "also-on-c": -1}


def test_drifted_nodes_come_before_them() -> None:
    machines = [machine("a", "eight"), machine("b", "two", conditions=("Drifted",))]
    assert costs(machines, [pod("on-a", "a"), pod("on-b", "b")]) == {"on-b": -2, "on-a": -1}


def test_pods_of_nodes_that_go_already_have_the_lowest_cost() -> None:
    machines = [machine("a"), machine("b"), machine("c")]
    machines[1][0]["spec"]["taints"] = [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]
    machines[2][1]["metadata"]["deletionTimestamp"] = "2026-01-07T10:29:00Z"
    pods = [pod("on-a", "a"), pod("on-b", "b"), pod("on-c", "c")]
    assert costs(machines, pods) == {"on-b": -(2**31), "on-c": -(2**31), "on-a": -1}


def test_what_the_budgets_do_not_allow_loses_its_cost() -> None:
    machines = [machine("a", "eight"), machine("b", "four")]
    pods = [pod("on-a", "a", annotations={COST: "-2"}), pod("on-b", "b", annotations={COST: "-1"})]
    assert costs(machines, pods, pools=[nodepool(budgets=[{"nodes": "1"}])]) == {"on-a": -1, "on-b": None}


@pytest.mark.parametrize(
    ("pods", "how"),
    [
        ([{"annotations": {"karpenter.sh/do-not-disrupt": "true"}}], {}),
        ([{"ownerReferences": []}], {}),
        (
            [{"ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "controller": True}]}],
            {},
        ),
        ([], {"pools": [nodepool(consolidateAfter="Never")]}),
        ([], {"pools": []}),
    ],
    ids=["do-not-disrupt", "no controller", "StatefulSet", "no consolidation", "no NodePool"],
)
def test_a_node_that_has_to_stay_gets_no_cost(pods: list[Json], how: Json) -> None:
    others = [pod(f"other-{number}", "a", **each) for number, each in enumerate(pods)]
    mine = pod("mine", "a", annotations={COST: "-1"})
    assert costs([machine("a")], [mine, *others], **how)["mine"] is None


def test_pods_of_other_controllers_are_left_alone() -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j", "controller": True}
    pods = [pod("web", "a"), pod("job", "a", ownerReferences=[job])]
    static = pod("static", "a", ownerReferences=[])
    static["metadata"]["namespace"] = "kube-system"
    assert costs([machine("a")], [*pods, static]) == {"web": -1}


def test_nodes_whose_pods_have_their_costs_do_not_count_among_the_fifty() -> None:
    machines = [machine(f"n-{number:02}") for number in range(60)]
    pods = [pod(f"p-{number:02}", f"n-{number:02}") for number in range(60)]
    first = costs(machines, pods)
    assert len(first) == 50
    for each in pods:
        name = each["metadata"]["name"]
        if name in first:
            each["metadata"]["annotations"] = {COST: str(first[name])}
    assert len(costs(machines, pods)) == 10


def test_a_cost_that_karpenter_writes_is_none_of_eviction() -> None:
    dear = pod("p", "a", annotations={COST: str(2**27)})
    plain, open_gate = (
        situation([machine("a")], [dear], release=provider("next"), writes_deletion_costs=gate)
        for gate in (False, True)
    )
    assert eviction_cost(dear, plain.rules) == 2.0
    assert eviction_cost(dear, open_gate.rules) == 1.0
