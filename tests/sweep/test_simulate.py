"""`harness.simulate`: one situation in, tables out."""

import pickle
from pathlib import Path

import pytest

import harness
from fakeazure.catalog.errors import UnknownRegion
from harness import Result, Situation, simulate
from harness.sweep.situation import Scaled

POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 30s}
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
      - {key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D4s_v5, Standard_D8s_v5]}
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {imageFamily: Ubuntu}
"""

WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: c, image: c, resources: {requests: {cpu: "3", memory: 2Gi}}}
"""

EASTUS = Situation(region="eastus")


def test_pods_nodes_and_what_they_cost() -> None:
    result = simulate(POOL, WEB, situation=EASTUS)
    assert [pod.owner for pod in result.pods] == ["Deployment/web"] * 2
    assert result.pending == ()
    assert {pod.node for pod in result.pods} == {node.name for node in result.nodes}
    assert sum(node.pods for node in result.nodes) == 2
    assert result.usd_per_hour == pytest.approx(sum(node.price or 0.0 for node in result.nodes))
    assert {node.capacity_type for node in result.nodes} == {"spot"}
    assert result.motion == ""


def test_a_pending_pod_says_why() -> None:
    result = simulate(POOL, WEB.replace('cpu: "3"', 'cpu: "300"'), situation=EASTUS)
    assert len(result.pending) == 2
    assert all("Failed to schedule pod" in pod.reason for pod in result.pending)
    row = result.row()
    assert (row["pods"], row["bound"], row["pending"], row["nodes"]) == (2, 0, 2, 0)
    assert str(row["reason"]).startswith("Failed to schedule pod")


def test_what_azure_refuses_is_the_reason_of_those_that_wait_for_it() -> None:
    none = {"quota": {"cores": 0, "lowPriorityCores": 0}}
    result = simulate(POOL, WEB, situation=Situation(region="eastus", azure=none))
    assert result.nodes == ()
    assert {refusal.code for refusal in result.refused} == {"OperationNotAllowed"}
    assert all("Azure refused" in pod.reason or "Failed to schedule pod" in pod.reason for pod in result.pending)


def test_an_object_that_is_refused_is_told_and_the_others_go_on() -> None:
    wrong = POOL.replace("name: default}\nspec:\n  disruption", "name: wrong}\nspec:\n  weight: 1000\n  disruption", 1)
    result = simulate(wrong.split("---")[0], POOL, WEB, situation=EASTUS)
    assert any(text.startswith("NodePool/wrong") for text in result.rejected)
    assert result.pending == ()


def test_time_passes_and_is_paid_for() -> None:
    at_once = simulate(POOL, WEB, situation=EASTUS)
    a_day = simulate(POOL, WEB, situation=Situation(region="eastus", until=86400.0))
    assert a_day.seconds == pytest.approx(at_once.seconds + 86400.0)
    # nothing changes here: a day costs 24 times the hour, and what ran before
    if a_day.disruptions == 0:
        assert a_day.usd == pytest.approx(at_once.usd + 24 * at_once.usd_per_hour)


def test_what_is_consolidated_is_not_paid_any_more() -> None:
    """Two machines of 4 vCPUs for pods that then shrink to nothing: the day costs less than 24 hours of both."""
    empty = WEB.replace("replicas: 2", "replicas: 0")
    result = simulate(POOL, WEB, situation=Situation(region="eastus", until=3600.0))
    none = simulate(POOL, empty, situation=Situation(region="eastus", until=3600.0))
    assert result.usd > 0.0
    assert (none.usd, none.machines) == (0.0, 0)


def test_the_same_situation_gives_the_same_result_and_other_seeds_may_not() -> None:
    assert simulate(POOL, WEB, situation=EASTUS) == simulate(POOL, WEB, situation=EASTUS)


def test_own_prices_decide_in_the_world_that_has_them() -> None:
    """A list of instance types that another world's prices made must not be taken for one's own."""
    only, one = POOL.replace("[spot, on-demand]", "[on-demand]"), WEB.replace("replicas: 2", "replicas: 1")
    for number in range(12):
        cheap = ("Standard_D4s_v5", "Standard_D8s_v5")[number % 2]
        prices = {"Standard_D4s_v5": 5.0, "Standard_D8s_v5": 5.0, cheap: 0.5 + number / 100}
        result = simulate(only, one, situation=Situation(region="eastus", azure={"prices": prices}))
        assert {node.size for node in result.nodes} == {cheap}


def test_placement_is_the_same_for_the_same_sizes_whatever_the_names() -> None:
    first, second = (simulate(POOL, WEB, situation=Situation(region="eastus", seed=seed)) for seed in (1, 2))
    assert {node.name for node in first.nodes} != {node.name for node in second.nodes}
    assert (first.placement == second.placement) == (first.sizes == second.sizes)


def test_situation_and_result_can_be_sent() -> None:
    result = simulate(POOL, WEB, situation=EASTUS)
    assert pickle.loads(pickle.dumps(EASTUS)) == EASTUS
    assert pickle.loads(pickle.dumps(result)) == result


def test_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(f"{POOL}---{WEB}")
    result: Result = simulate(tmp_path / "all.yaml", situation=EASTUS)
    assert result == simulate(POOL, WEB, situation=EASTUS)


def test_a_region_that_is_none() -> None:
    with pytest.raises(UnknownRegion):
        simulate(POOL, situation=Situation(region="eastuss"))


def test_the_names_are_part_of_the_package() -> None:
    assert {"Result", "Situation", "simulate"} <= set(dir(harness))


def test_workloads_grow_and_shrink_while_time_passes() -> None:
    """A day with six pods and a night with one: machines come, and Karpenter takes them away; what is after the end does not happen."""
    day = (Scaled(600.0, "Deployment/web", 6), Scaled(3600.0, "Deployment/web", 1))
    results = {
        until: simulate(POOL, WEB, situation=Situation(region="eastus", until=until, scaled=day))
        for until in (300.0, 600.0, 3600.0, 9000.0)
    }
    assert {until: len(result.pods) for until, result in results.items()} == {300.0: 2, 600.0: 6, 3600.0: 1, 9000.0: 1}
    assert not any(result.pending for result in results.values())
    assert results[300.0].machines < results[600.0].machines
    assert (results[600.0].disruptions, results[9000.0].disruptions > 0) == (0, True)
    assert results[9000.0].usd_per_hour < results[600.0].usd_per_hour
    with pytest.raises(LookupError, match="there is no Deployment/shop to scale"):
        simulate(POOL, WEB, situation=Situation(until=1.0, scaled=(Scaled(0.0, "Deployment/shop", 1),)))
