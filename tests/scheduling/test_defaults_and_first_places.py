"""What is chosen where a weight or a resource is missing, and where prices differ from the first size on."""

import pytest

from harness.engine.rng import Rng
from harness.karpenter.requirements import Requirements
from harness.karpenter.scheduling import EqualPrices
from harness.karpenter.scheduling.catalog import CatalogIndex
from tests.scheduling.workload import ARCH, VOCABULARY, ZONE, need, nodepool, pod, run, size


def test_a_nodepool_without_weight_comes_after_one_of_weight_1() -> None:
    results = run([pod("web")], [nodepool("z"), nodepool("a", weight=1)])
    assert [claim.requirements.get("karpenter.sh/nodepool").values for claim in results.nodeclaims] == [{"a"}]


def test_a_preference_without_weight_is_lighter_than_one_of_weight_1() -> None:
    terms = [
        {"preference": {"matchExpressions": [need(ZONE, "In", "z1")]}},
        {"weight": 1, "preference": {"matchExpressions": [need(ZONE, "In", "z2")]}},
    ]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}
    asked = Requirements.from_pod(pod("web", affinity=affinity), vocabulary=VOCABULARY)
    assert asked.get(ZONE).values == {"z2"}


def test_requirements_without_some_keys() -> None:
    both = Requirements.from_labels({ZONE: "z1", ARCH: "amd64"}, vocabulary=VOCABULARY)
    assert set(both.without(ZONE)) == {ARCH}


def test_no_capacity_is_largest_where_no_size_is_asked_about() -> None:
    assert CatalogIndex([size("small", 2)], VOCABULARY).largest_capacity("cpu", 0) == 0


@pytest.mark.parametrize("seed", range(8))
def test_the_cheapest_size_is_first_whatever_is_drawn(seed: int) -> None:
    index = CatalogIndex([size("dear", 4), size("cheap", 4)], VOCABULARY)
    order = [0, 1]
    EqualPrices(Rng(seed).pick).sort(order, [2.0, 1.0], index)
    assert order == [1, 0]
