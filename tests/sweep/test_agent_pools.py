"""Agent pools in plans: their machines are billed, and the cluster autoscaler looks after those that have bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.sweep.plan import read_plan
from harness.sweep.simulation import simulate
from harness.sweep.situation import Situation
from harness.testing import deployment
from harness.world import World

SIZE = "Standard_D8s_v5"
POOL = {"name": "apps", "count": 2, "vmSize": SIZE}
AUTOSCALED = {**POOL, "enableAutoScaling": True, "minCount": 1, "maxCount": 6}
HOUR = 3600.0
PLAN = """\
scenario: either
given:
  region: polandcentral
  clusterAutoscaler: true
  agentPools:
  - {name: apps, count: 2, vmSize: Standard_D8s_v5, enableAutoScaling: true, minCount: 1, maxCount: 6}
when: [{advance: 2h}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "3"}}}]}
"""


def test_machines_of_pools_are_billed_by_the_second() -> None:
    situation = Situation(region="polandcentral", agent_pools=(POOL,), until=10 * HOUR)

    result = simulate(deployment("web", 1), situation=situation)

    (price,) = {node.price for node in result.nodes}
    assert price
    assert result.machines == 2
    assert result.usd_per_hour == pytest.approx(2 * price)
    assert result.usd == pytest.approx(2 * price * result.seconds / HOUR)


def test_a_pool_that_shrinks_costs_less() -> None:
    pools = (AUTOSCALED,)
    situation = Situation(region="polandcentral", agent_pools=pools, cluster_autoscaler={}, until=10 * HOUR)

    result = simulate(deployment("web", 1), situation=situation)

    (price,) = {node.price for node in result.nodes}
    assert price
    assert len(result.nodes) == 1
    assert result.usd == pytest.approx(price * (result.seconds + 620) / HOUR, rel=0.01)


def test_a_plan_has_the_pools_and_the_autoscaler_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN, encoding="utf-8")

    (planned,) = read_plan(path, "plan.yaml").planned

    assert planned.situation.agent_pools == (AUTOSCALED,)
    assert planned.situation.cluster_autoscaler == {}
    assert planned.situation.arguments()["cluster_autoscaler"] == {}


def test_other_pools_are_another_question(tmp_path: Path) -> None:
    keys = set()
    for text in (
        PLAN,
        PLAN.replace("maxCount: 6", "maxCount: 7"),
        PLAN.replace(": true\n", ": {expander: most-pods}\n"),
    ):
        path = tmp_path / "plan.yaml"
        path.write_text(text, encoding="utf-8")
        keys |= {planned.key for planned in read_plan(path, "plan.yaml").planned}

    assert len(keys) == 3


def test_the_world_and_the_sweep_have_one_cost() -> None:
    world = World(region="polandcentral")
    world.add_agent_pool("apps", {key: value for key, value in POOL.items() if key != "name"})

    world.settle()

    assert (
        world.cost()
        == simulate(deployment("web", 1), situation=Situation(region="polandcentral", agent_pools=(POOL,))).usd_per_hour
    )
    assert world.cost() == pytest.approx(2 * (world.price(SIZE, "").usd or 0.0))
    assert world.cost() > 0
