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
    foresee, too_early, counts = simulating.foresee, simulating.too_early, Counter()

    def checked_early(situation, candidate, **options):
        before, said = situation.seconds, len(situation.said)
        why = too_early(situation, candidate, **options)
        if why is None:
            assert (situation.seconds, len(situation.said)) == (before, said)
            return None
        took, events = situation.seconds - before, situation.events
        situation.seconds = before
        outcome = simulating.simulate(situation, (candidate,), **options)
        assert outcome.stranded
        assert why().lower() == outcome.text().lower()
        assert took == situation.seconds - before or before
        assert situation.events == events, "everything was said"
        del situation.said[said:]
        situation.seconds = before + took
        counts["counted"] += 1
        return why

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

    for method in (consolidation, drift):
        monkeypatch.setattr(method, "foresee", checked)
        monkeypatch.setattr(method, "too_early", checked_early)
    return counts


@pytest.mark.parametrize("seed", [0, 1, 3, 5, 8])
def test_in_random_worlds(seed, compared):
    some_days(seed)


def test_in_a_week(compared):
    week(14)
    assert min(compared["one"], compared["several"], compared["counted"]) > 20
