"""Simulations that are kept are what the plain algorithm comes to: in random worlds and a week each one is made as well."""

from collections import Counter

import pytest

from benchmarks.week import week
from harness.karpenter.scheduling.context import SchedulingContext
from harness.karpenter.scheduling.kept_simulations import KeptSimulations
from harness.karpenter.scheduling.simulation import Simulations
from harness.world import World
from tests.disruption.test_memory import some_days
from tools.fleet import fleet


def told(results):
    made = [
        (each.nodepool, each.mask, each.requirement_set.id, each.ordered, list(map(id, each.pods)), each.to_nodeclaim())
        for each in results.nodeclaims
    ]
    existing = [(name, list(map(id, pods))) for name, pods in results.existing.items()]
    errors = [(pod, str(reason)) for pod, reason in results.errors.items()]
    return made, existing, errors, results.events, dict(results.ignored), results.seconds, results.timed_out


@pytest.fixture
def compared(monkeypatch):
    """How many simulations were kept ones, and how many made; each is made plainly, too, and has to come to the same."""
    without, find, counts, plainly = Simulations.without, KeptSimulations.find, Counter(), []

    def checked(self, leaving, moving, **how):
        leaving = [*leaving]
        results = without(self, leaving, moving, **how)
        plainly.append(True)
        try:
            assert told(results) == told(without(self, leaving, moving, **how))
        finally:
            plainly.clear()
        return results

    def found(self, *asked):
        results = find(self, *asked)
        counts["made" if results is None else "kept"] += 1
        return results

    monkeypatch.setattr(Simulations, "without", checked)
    monkeypatch.setattr(KeptSimulations, "find", found)
    monkeypatch.setattr(SchedulingContext, "keeps_simulations", property(lambda self: not plainly))
    return counts


@pytest.mark.parametrize("seed", [0, 1, 3, 5, 8])
def test_in_random_worlds(seed, compared):
    some_days(seed)
    assert compared["made"]


def test_in_a_week(compared):
    week(14)
    assert min(compared["kept"], compared["made"]) > 100


def test_in_a_fleet_of_which_a_third_is_rolled_out(compared):
    world, manifests = World(), fleet(60, 1)
    world.apply(*manifests)
    world.settle()
    world.advance(1800)
    for each in [each for each in manifests if each["kind"] == "Deployment"][::3]:
        template = {**each["spec"]["template"]["metadata"], "annotations": {"restarted": "1"}}
        world.apply({**each, "spec": {**each["spec"], "template": {**each["spec"]["template"], "metadata": template}}})
        world.advance(120)
    world.advance(3600)
    assert min(compared["kept"], compared["made"]) > 10
