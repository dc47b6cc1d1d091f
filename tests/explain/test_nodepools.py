"""Which sizes a NodePool allows, when nobody asks for a Node."""

import json

from harness.cli import main
from harness.explain.pods.nodepools import nodepool_sizes, sizes_text, sizes_value
from harness.explain.pods.scheduling import Explainer
from harness.testing import nodeclass, nodepool, requirement
from harness.world import World

ON_DEMAND = requirement("karpenter.sh/capacity-type", "on-demand")
FS = requirement("karpenter.azure.com/sku-series", "Fs_v2")


def asked(*objects):
    world = World()
    explainer = Explainer(world)
    assert world.apply(*objects) == []
    world.settle()
    return nodepool_sizes(world, explainer)


def test_the_sizes_of_a_nodepool_the_cheapest_first():
    (found,) = asked(nodeclass(), nodepool(FS, ON_DEMAND))
    assert [size for size, _ in found.sizes] == [f"Standard_F{cpus}s_v2" for cpus in (2, 4, 8, 16, 32, 48, 64, 72)]
    prices = [price for _, price in found.sizes]
    assert prices == sorted(prices)
    assert prices[0] > 0
    assert sizes_text([found]).startswith("NodePool default: 8 of ")
    assert sizes_value([found])[0]["sizes"][0]["size"] == "Standard_F2s_v2"


def test_taints_weights_and_other_nodepools_change_nothing():
    tainted = nodepool(FS, ON_DEMAND, name="tainted", taints=[{"key": "a", "value": "b", "effect": "NoSchedule"}])
    heavy = nodepool(requirement("karpenter.azure.com/sku-cpu", "2"), ON_DEMAND, name="heavy")
    heavy["spec"]["weight"] = 100
    first, second = asked(nodeclass(), tainted, heavy)
    assert (first.nodepool, len(first.sizes)) == ("tainted", 8)
    assert second.nodepool == "heavy"
    assert len(second.sizes) > 8


def test_a_nodepool_that_allows_nothing_says_what_keeps_sizes_away():
    (found,) = asked(nodeclass(), nodepool(requirement("karpenter.azure.com/sku-series", "Fs_v22")))
    assert found.sizes == ()
    assert "the NodePool wants In [Fs_v22] for karpenter.azure.com/sku-series" in sizes_text([found])


def test_a_nodepool_without_its_nodeclass_is_not_used():
    (found,) = asked(nodepool(FS))
    assert found.pool is None
    assert sizes_text([found]) == f"NodePool default: {found.sentence}"
    assert found.sentence


def test_a_nodepool_that_allows_nothing_is_a_failure_for_ci(tmp_path, capsys):
    for series, status in (("Fs_v2", 0), ("Fs_v22", 1)):
        path = tmp_path / "pool.json"
        path.write_text(json.dumps(nodepool(requirement("karpenter.azure.com/sku-series", series))))
        assert main(["explain", str(path)]) == status
        assert main(["explain", "--format", "json", str(path)]) == status
        shown = capsys.readouterr().out
        assert f"In [{series}]" in shown if status else "Standard_F2s_v2" in shown


def test_a_nodepool_at_its_limits_or_with_too_few_values_allows_no_size():
    full = nodepool(FS, ON_DEMAND, name="full")
    full["spec"]["limits"] = {"nodes": "0"}
    family = {"key": "karpenter.azure.com/sku-family", "operator": "Exists", "minValues": 50}
    demanding = nodepool(family, ON_DEMAND, name="demanding")
    for found in asked(nodeclass(), full, demanding):
        assert found.sizes == ()
        assert found.pool is not None
        assert found.pool.kept
