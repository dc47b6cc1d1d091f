"""Names, labels and taints that a cluster has already given another meaning are not proposed."""

from __future__ import annotations

import random
from typing import Any

import yaml

from harness import World
from harness.migrate.proposing.demands import taken_names
from harness.migrate.proposing.proposal import Plan, proposed
from harness.migrate.proposing.rows import Verdict
from harness.migrate.walking.ways import nodepools_block
from harness.testing import deployment
from tests.migrate.pools import cluster, generated_pool, pool, read

CAS_BLOCK = "autoscaling.azure.com/cas-block"
NAP_BLOCK = "autoscaling.azure.com/nap-block"


def test_a_nodepool_that_only_its_nodes_tell_of_keeps_its_name() -> None:
    objects = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "labels": {"karpenter.sh/nodepool": "apps"}}},
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": {"name": "b", "labels": {"karpenter.azure.com/aksnodeclass": "general"}},
            "spec": {"nodeClassRef": {"name": "special"}},
        },
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": "default"},
            "spec": {"template": {"spec": {"nodeClassRef": {"name": "shared"}}}},
        },
        deployment("web", 1),
    ]
    assert taken_names(objects) == {"apps", "general", "special", "default", "shared"}


def test_labels_and_taints_are_those_of_the_pools_alone() -> None:
    chance = random.Random("words in use")
    world = World(region="westeurope")
    for _ in range(60):
        asked = read(cluster(*(generated_pool(chance, f"pool{number}") for number in range(chance.randint(1, 3)))))
        for proposal in proposed(world, asked, Plan(merge=chance.random() < 0.5)).pools:
            for nodepool in (manifest for manifest in proposal.manifests if manifest["kind"] == "NodePool"):
                template = nodepool["spec"]["template"]
                labels = template.get("metadata", {}).get("labels", {})
                assert all(labels.items() <= agent.labels.items() for agent in proposal.pools)
                for place, field in (("taints", "nodeTaints"), ("startupTaints", "nodeInitializationTaints")):
                    for taint in template["spec"].get(place, ()):
                        assert all(taint in agent.taints(field) for agent in proposal.pools)


def test_a_taint_that_means_agent_pools_is_not_put_on_nodepools() -> None:
    blocked = pool(nodeTaints=[f"{CAS_BLOCK}=true:NoSchedule", "team=shop:NoSchedule"])
    found = proposed(World(region="westeurope"), read(cluster(blocked)), Plan())
    (nodepool,) = (manifest for manifest in found.manifests if manifest["kind"] == "NodePool")
    assert nodepool["spec"]["template"]["spec"]["taints"] == [{"key": "team", "value": "shop", "effect": "NoSchedule"}]
    rows = {row.value: (row.verdict, row.text) for row in found.rows if row.field == "nodeTaints"}
    assert rows[f"{CAS_BLOCK}=true:NoSchedule"] == (
        Verdict.NO_EFFECT,
        "it is to keep pods off agent pools, so that the NodePool has none",
    )


def test_the_taint_that_keeps_off_nodepools_is_one_that_nobody_tolerates() -> None:
    taint: Any = {"key": NAP_BLOCK, "effect": "NoSchedule"}
    toleration = {"key": NAP_BLOCK, "operator": "Exists"}
    assert nodepools_block([deployment("web", 1)]) == taint
    assert nodepools_block([deployment("web", 1, tolerations=[toleration])])["key"] == f"{NAP_BLOCK}-2"
    nodepool = yaml.safe_load(
        f"{{kind: NodePool, spec: {{template: {{spec: {{taints: [{{key: {NAP_BLOCK}-2, effect: NoSchedule}}]}}}}}}}}"
    )
    assert nodepools_block([nodepool, deployment("web", 1, tolerations=[toleration])])["key"] == f"{NAP_BLOCK}-3"


def test_a_joined_pool_says_that_its_name_tells_nothing_apart() -> None:
    pools = [pool("small"), pool("large", vmSize="Standard_D8s_v5")]
    joined = proposed(World(region="westeurope"), read(cluster(*pools)), Plan(merge=True))
    texts = {row.pool: row.text for row in joined.lost if row.field == "name"}
    assert texts.keys() == {"small", "large"}
    assert texts["small"].startswith("joined with large as NodePool small: no pod can be kept on or off")
    alone = proposed(World(region="westeurope"), read(cluster(*pools)), Plan())
    assert [row for row in alone.rows if row.field == "name"] == []
