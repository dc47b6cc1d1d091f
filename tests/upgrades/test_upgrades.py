"""A world that was upgraded answers as a world that began there: a sample of `make upgrades`, and what it would notice."""

from collections.abc import Callable

import pytest

from harness.clusters.memory.cluster import MemoryCluster
from harness.karpenter.validation.admission import Crds
from harness.world import default_caches
from tests.upgrades.manifests import drawn_case
from tests.upgrades.worlds import Step, differences, steps

SAMPLED = list(enumerate(steps()))[::3]
NODE_RESTRICTION, VALIDATION = "node restriction", "validation"


@pytest.mark.parametrize(("seed", "step"), SAMPLED, ids=[str(step) for _, step in SAMPLED])
def test_an_upgraded_world_answers_as_one_that_began_there(seed: int, step: Step) -> None:
    assert list(differences(step, drawn_case(seed), default_caches(), seed)) == []


def test_the_sample_draws_every_kind_of_answer() -> None:
    """A property about refusals, moves and labels says nothing where there are none."""
    cases = [drawn_case(seed) for seed, _ in SAMPLED]
    assert {obj["kind"] for case in cases for obj in case.judged} == {"AKSNodeClass", "NodeClaim", "NodePool", "Pod"}
    assert {obj["kind"] for case in cases for obj in case.changes} == {"Deployment", "NodePool"}


def _noticed(step: Step, seeds: range) -> set[str]:
    """The kinds of answers that differ in one of the cases."""
    return {one.area for seed in seeds for one in differences(step, drawn_case(seed), default_caches(), seed)}


def _as_if_named(wrong: str) -> Callable[[MemoryCluster, Crds], None]:
    """An upgrade of the CRDs that takes another judge's place, as positions in a list once did."""

    def update_crds(cluster: MemoryCluster, crds: Crds) -> None:
        cluster._crds = crds
        cluster.store.admission[wrong] = cluster._judges()["custom resources"]

    return update_crds


def test_crds_that_take_the_place_of_node_restriction_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryCluster, "update_crds", _as_if_named(NODE_RESTRICTION))
    noticed = _noticed(Step("crds", "1.7.2", "1.10.0", "1.10.0"), range(8))
    assert {"NodeRestriction", "scheduling", "labels", "disruption"} <= noticed


def test_a_version_that_takes_the_place_of_the_crds_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def upgrade(cluster: MemoryCluster, kubernetes: str) -> None:
        cluster._kubernetes = kubernetes
        cluster.store.admission["custom resources"] = cluster._judges()[VALIDATION]

    monkeypatch.setattr(MemoryCluster, "upgrade", upgrade)
    assert "admission" in _noticed(Step("kubernetes", "1.33.0", "1.34.0", "1.14.2"), range(2))
