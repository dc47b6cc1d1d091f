"""A guess of the catalogue is told where it decides, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from harness.explain.labels.probes import default_objects
from harness.explain.pods.render import as_text, as_value
from harness.explain.pods.scheduling import Explainer, PodExplanation
from harness.explain.sizes.guesses import guess_lines, guesses_of, of_node, of_nodes, of_size
from harness.karpenter.labels.azure import SKU_ULTRA_SSD
from harness.world import World

GUESSED, RECORDED = "Standard_HB368rs_v5", "Standard_NC24ads_A100_v4"  # in eastus in zone 1 and in zone 2 only
REASON = "those of standardHBv4Family, the nearest family recorded in eastus"


def explained(sizes: list[str], zone: str, cpu: str = "1") -> PodExplanation:
    """A pod that wants a zone of eastus, and a NodePool of a few sizes."""
    world = World()
    explainer = Explainer(world)
    nodeclass, pool = default_objects()
    spec = pool["spec"]["template"]["spec"]
    wanted = [
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": sizes},
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
    ]
    pool = {**pool, "spec": {**pool["spec"], "template": {"spec": {**spec, "requirements": wanted}}}}
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web"},
        "spec": {
            "nodeSelector": {"topology.kubernetes.io/zone": f"eastus-{zone}"},
            "containers": [{"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu}}}],
        },
    }
    assert world.apply(nodeclass, pool, pod) == []
    world.settle()
    (one,) = explainer.pods()
    return one


@pytest.mark.parametrize(
    ("sizes", "zone", "cpu", "guessed"),
    [
        pytest.param([GUESSED], "2", "1", [GUESSED], id="refused for its guessed zones alone"),
        pytest.param([RECORDED], "1", "1", [], id="refused for zones that are recorded"),
        pytest.param([GUESSED], "2", "1000", [], id="too small in any zone"),
        pytest.param([GUESSED, RECORDED], "1", "1", [], id="taken: what is refused has recorded zones"),
        pytest.param([GUESSED, RECORDED], "2", "1", [], id="taken by a cheaper one"),
        pytest.param(
            [GUESSED, "Standard_M128ms"], "3", "1", [GUESSED], id="it would have been cheaper than what is kept"
        ),
    ],
)
def test_a_guess_is_told_where_it_decides(sizes: list[str], zone: str, cpu: str, guessed: list[str]) -> None:
    (pool,) = explained(sizes, zone, cpu).pools
    assert list(pool.guessed) == guessed


def test_what_is_told_of_a_guess() -> None:
    pod = explained([GUESSED], "2")
    assert pod.pools[0].guessed == {GUESSED: {"zones": REASON}}
    line = f"    guessed: zones of 1 sizes ({GUESSED}), refused for that alone; the answer could differ"
    assert line in as_text([pod]).splitlines()
    assert as_value([pod])[0]["nodepools"][0]["guessed"] == {GUESSED: {"zones": REASON}}
    recorded = explained([RECORDED], "1")
    assert "guessed" not in as_text([recorded])


def test_a_launch_turns_on_the_zone_and_the_priority_that_it_has() -> None:
    world = World(region="westus3")
    spot, plain = "Standard_NC24ads_A100_v4", "Standard_D4s_v7"
    assert set(guesses_of(world, [of_node(plain, "westus3-1", "on-demand")])[plain]) == {"zones"}
    assert guesses_of(world, [of_node(plain, "0", "on-demand")]) == {}
    assert set(guesses_of(world, [of_node(spot, "0", "spot")])[spot]) == {"LowPriorityCapable"}
    assert guesses_of(world, [of_node(spot, "0", "on-demand")]) == {}
    assert set(guesses_of(world, [of_node(plain, "0", "on-demand", {SKU_ULTRA_SSD})])[plain]) == {"UltraSSDAvailable"}
    assert guesses_of(world, [of_node("", "", ""), of_node("Standard_Unknown", "westus3-1", "spot")]) == {}


@pytest.mark.parametrize("asks", [True, False])
def test_a_launch_turns_on_ultra_disks_where_they_are_asked_for(asks: bool) -> None:
    nodeclass, pool = default_objects()
    if asks:
        pool["spec"]["template"]["spec"]["requirements"].append({"key": SKU_ULTRA_SSD, "operator": "Exists"})
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "c"}]},
    }
    world = World(region="westus3")
    world.apply(nodeclass, pool, pod)
    world.settle()
    (turn,) = of_nodes(world, {node["metadata"]["name"] for node in world.list("Node")})
    assert ("UltraSSDAvailable" in turn.fields) is asks


def test_a_size_turns_on_what_the_release_looks_at() -> None:
    newest, oldest = World(region="westus3"), World(region="westus3", karpenter="1.4.0")
    size = "Standard_D4s_v6"
    assert set(guesses_of(newest, [of_size(newest, size)])[size]) == {"zones", "UltraSSDAvailable"}
    assert set(guesses_of(oldest, [of_size(oldest, size)]).get(size, {})) <= {"zones", "UltraSSDAvailable"}
    dropped = "Standard_DC4as_v6"
    assert newest.caches.catalogue.region("westus3").guessed(dropped)
    assert guesses_of(newest, [of_size(newest, dropped)]) == {}


def test_a_sentence_for_each_field_and_reason() -> None:
    guesses = {"a": {"zones": "x", "LowPriorityCapable": "y"}, "b": {"zones": "x"}, "c": {"UltraSSDAvailable": "z"}}
    assert list(guess_lines(guesses, "eastus")) == [
        "the zones of a, b in eastus are guessed (x); with other zones the answer could differ",
        "whether eastus sells a as spot is guessed (y); the answer could differ",
        "whether c can use ultra disks in eastus is guessed (z); the answer could differ",
    ]
