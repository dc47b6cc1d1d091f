"""What is kept between looks, and simulations that are kept: worlds without either come to the same."""

from random import Random

import pytest

from harness.kube.scheduling.standing import Standing, Standings
from tests.disruption.forgetting import forget, told_by
from tests.disruption.test_weeks import cluster, happen


def some_days(seed: int):
    random = Random(seed)
    world = cluster(random)
    for _ in range(8):
        happen(world, random)
        world.advance(1800)
    world.advance(7200)
    return told_by(world)


def asking_all(pod, infos, version, siblings):
    """The answers of nodes that are all asked again."""
    standing = Standing(pod, version, siblings)
    standing.changed.update(infos)
    return standing


@pytest.mark.parametrize("seed", [0, 1, 8])
def test_without_a_memory_everything_happens_as_with_one(seed, monkeypatch):
    known = some_days(seed)
    forget(monkeypatch)
    monkeypatch.setattr(Standings, "standing_for", lambda self, look, *asked: asking_all(*asked))
    assert some_days(seed) == known
