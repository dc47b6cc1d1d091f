"""What is foreseen of a simulation is what it comes to: every one of some random worlds is made as well."""

from collections import Counter

import pytest

from benchmarks.week import week
from harness.karpenter.disruption import counting as counts_of_nodes
from harness.karpenter.disruption import simulating
from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.counting import Counting
from harness.karpenter.disruption.methods import consolidation, drift
from harness.karpenter.disruption.methods.replacing import replacement
from harness.karpenter.scheduling import SchedulingEvent
from tests.disruption.test_memory import some_days


def told(outcome):
    made = [(each.nodepool, each.mask, each.requirement_set.id, each.ordered) for each in outcome.nodeclaims]
    return made, dict(outcome.errors), outcome.stranded, outcome.text()


def worded(said):
    return {event for each in said for event in ((each,) if isinstance(each, SchedulingEvent) else each)}


@pytest.fixture
def compared(monkeypatch):
    """How many simulations were foreseen, of one node and of several, or counted; each is made, and has to come to the same."""
    foresee, pass_by, counts = simulating.foresee, Counting._pass_by, Counter()

    def checked_pass_by(counting, at, late):
        situation = counting._situation
        before, said = situation.seconds, len(situation.said)
        end = pass_by(counting, at, late)
        after, told = situation.seconds, len(situation.said)
        passed = [each for each in counting._candidates[at:end] if not counting._passes_over(each)]
        if not passed:
            assert (after, told) == (before, said)
        situation.seconds = before
        for number, candidate in enumerate(passed):
            assert late is None or not late(situation.seconds)
            row = situation.said[told - 1]
            place = len(row.nodes) - len(passed) + number
            outcome = simulating.simulate(situation, (candidate,), settled=counting.settled)
            assert worded(situation.said[told:]) <= worded(situation.said[:told]), "everything was said"
            del situation.said[told:]
            assert row.nodes[place] is candidate.state
            text = row.at(place).message
            if outcome.stranded:
                assert text.lower() == outcome.text().lower()
                known = candidate.state.remembered.pop(Candidate)
                assert counting._word(candidate.state) == text, "also where the machine was made anew"
                candidate.state.remembered[Candidate] = known
            else:
                assert text == replacement(situation, (candidate,), outcome.nodeclaims)
            counts["too early" if outcome.stranded else "not replaced"] += 1
        assert situation.seconds == after
        counts["rows"] += len(passed) > 5
        return end

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
    monkeypatch.setattr(Counting, "_pass_by", checked_pass_by)
    return counts


@pytest.mark.parametrize("seed", [0, 1, 3, 5, 8])
def test_in_random_worlds(seed, compared):
    some_days(seed)


def test_in_a_week(compared):
    week(14)
    assert min(compared[each] for each in ("one", "several", "too early", "not replaced", "rows")) > 20


def test_in_a_week_in_which_nothing_is_kept_of_nodes_that_are_no_candidates(compared, monkeypatch):
    monkeypatch.setattr(counts_of_nodes, "_SPARE", -1_000_000)
    week(14)
    assert min(compared[each] for each in ("too early", "not replaced", "rows")) > 20


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_in_random_worlds_in_which_nothing_is_kept_of_nodes_that_are_no_candidates(seed, compared, monkeypatch):
    monkeypatch.setattr(counts_of_nodes, "_SPARE", -1_000_000)
    some_days(seed)
