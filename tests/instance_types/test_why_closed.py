"""Why an offering cannot be had is said of exactly those that cannot be had."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.karpenter.instancetypes import FamilyUsage, UnavailableOfferings, Usages
from harness.karpenter.instancetypes.market import NO_PRICES
from harness.karpenter.instancetypes.offerings import Closed
from harness.scenario.language.files import load
from harness.scenario.running.runner import Runner
from harness.world import World

FILE = Path(__file__).parents[2] / "scenarios/capacity/refusals.yaml"
NODECLASS = {
    "apiVersion": "karpenter.azure.com/v1beta1",
    "kind": "AKSNodeClass",
    "metadata": {"name": "default"},
    "spec": {},
}


@pytest.fixture(scope="module")
def runner() -> Runner:
    return Runner()


def judged(world: World) -> set[str]:
    """Every offering of the world's types, compared. Returns the reasons that came up."""
    (nodeclass,) = world.list("AKSNodeClass")
    market, found = world.instance_types.market_snapshot(), set()
    for each in world.instance_types.list(nodeclass).types:
        for offering in each.offerings:
            why = market.closed(each.name, offering.zone, offering.capacity_type)
            assert (why is None) == offering.available, (each.name, offering, why)
            found |= {why.what} if why is not None else set()
    return found


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        ("a quota that is known beforehand", {"quota", "spot"}),
        ("spot has no quota", {"mark", "spot"}),
        ("nothing that the NodePool allows is left", {"mark", "spot"}),
    ],
)
def test_exactly_what_cannot_be_had_has_a_reason(name: str, reasons: set[str], runner: Runner) -> None:
    (case,) = (case for each in load(FILE) for case in each.cases if case.name == name)
    world = runner.shared.new_world(case)
    for manifest in case.manifests:
        world.apply(manifest.object)
    world.settle(allow_rejections=True)
    assert judged(world) >= reasons


@pytest.mark.parametrize("release", ["1.4.0", "1.6.6", "1.10.2", "1.13.1", "1.14.0"])
def test_in_every_release(release: str) -> None:
    world = World(karpenter=release)
    world.apply(NODECLASS)
    assert judged(world) <= {"spot", "price"}


def test_a_quota_says_how_much_is_left(runner: Runner) -> None:
    (case,) = (case for each in load(FILE) for case in each.cases if case.name == "a quota that is known beforehand")
    world = runner.shared.new_world(case)
    for manifest in case.manifests:
        world.apply(manifest.object)
    world.settle(allow_rejections=True)
    found = world.instance_types.market_snapshot().closed("Standard_D2as_v6", "southcentralus-1", "on-demand")
    assert found == Closed("quota", "standardDav6Family", 0, 0)


def test_what_is_left_of_a_quota_is_not_what_is_used_of_it() -> None:
    world = World()
    world.apply(NODECLASS)
    types = world.instance_types
    sku = types.region.skus["Standard_D4s_v3"]
    usages = Usages({sku.family: FamilyUsage(7, 10)})
    closed = types.region.factory.closed(
        sku, NO_PRICES, UnavailableOfferings(), usages, zone="0", capacity_type="on-demand"
    )
    assert closed == Closed("quota", sku.family, 3, 10)
