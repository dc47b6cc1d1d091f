"""What is foreseen of a simulation is what it comes to: every one of some random worlds is made as well."""

from collections import Counter

import pytest

from benchmarks.week import week
from harness.karpenter.disruption import simulating
from harness.karpenter.disruption.methods import consolidation, drift
from tests.disruption.test_memory import some_days


def told(outcome):
    made = [(each.nodepool, each.mask, each.requirement_set.id, each.ordered) for each in outcome.nodeclaims]
    return made, dict(outcome.errors), outcome.stranded, outcome.text()


@pytest.fixture
def compared(monkeypatch):
    """How many simulations were foreseen, of one node and of several; each is made, and has to come to the same."""
    foresee, counts = simulating.foresee, Counter()

    def checked(situation, candidates, **options):
        found = foresee(situation, candidates, **options)
        if found is not None:
            before, said, events = situation.seconds, len(situation.said), situation.events
            outcome = simulating.simulate(situation, candidates, **options)
            assert told(found.outcome) == told(outcome)
            assert found.strands == bool(outcome.stranded)
            assert found.text().lower() == outcome.text().lower()
            assert found.seconds == situation.seconds - before or before
            assert situation.events == events, "everything was said"
            situation.seconds = before
            del situation.said[said:]
            counts["one" if len(candidates) == 1 else "several"] += 1
        return found

    monkeypatch.setattr(consolidation, "foresee", checked)
    monkeypatch.setattr(drift, "foresee", checked)
    return counts


@pytest.mark.parametrize("seed", [0, 1, 3, 5, 8])
def test_in_random_worlds(seed, compared):
    some_days(seed)


def test_in_a_week(compared):
    week(14)
    assert min(compared["one"], compared["several"]) > 20
