"""What is kept between looks, and candidates that one simulation speaks for: worlds without either come to the same."""

from random import Random

import pytest

from harness.karpenter.scheduling.likeness.outcomes import Likeness
from harness.karpenter.scheduling.nodes.fleet import StateNodes
from harness.karpenter.scheduling.nodes.memory import ClusterMemory
from harness.kube.scheduling.standing import Standing, Standings
from harness.latest import LatestOf
from tests.disruption.test_weeks import cluster, happen


def some_days(seed: int):
    random = Random(seed)
    world = cluster(random)
    for _ in range(8):
        happen(world, random)
        world.advance(1800)
    world.advance(7200)
    writes = [(each.at, each.verb, each.key, each.after) for each in world.journal]
    return world.events, world.disruptions, [(one.at, one.message, dict(one.values)) for one in world.log], writes


def asking_all(pod, infos, version):
    """The answers of nodes that are all asked again."""
    standing = Standing(pod, version)
    standing.changed.update(infos)
    return standing


def forgetful(self, snapshot):
    """A look that knows nothing of those before."""
    self.nodes, self._algebra = StateNodes(), None
    self.models.clear()
    self._of_pods.clear()
    self._rewritten.clear()
    self._nodepools.clear()
    self._types = LatestOf(128)


@pytest.mark.parametrize("seed", [0, 1, 8])
def test_without_a_memory_everything_happens_as_with_one(seed, monkeypatch):
    alike, asked = Likeness.of, []

    def told(self, *given, **more):
        found = alike(self, *given, **more)
        asked.append(found is not None)
        return found

    monkeypatch.setattr(Likeness, "of", told)
    known = some_days(seed)
    assert any(asked), "some candidates are alike"
    for method in ("of", "foretold", "hurry", "hurry_of"):
        monkeypatch.setattr(Likeness, method, lambda self, *given, **more: None)
    monkeypatch.setattr(Standings, "of", lambda self, look, pod, infos, version: asking_all(pod, infos, version))
    monkeypatch.setattr(ClusterMemory, "look", forgetful)
    assert some_days(seed) == known
