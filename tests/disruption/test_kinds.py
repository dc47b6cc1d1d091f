"""Candidates that are alike are of one kind, whoever was a candidate before; nobody is kept who is none any more."""

from __future__ import annotations

import pytest

from harness.karpenter.disruption import counting
from harness.karpenter.disruption.candidates import Candidate, all_candidates
from tests.disruption.fleet import machine, pod, situation


@pytest.fixture
def candidates(monkeypatch: pytest.MonkeyPatch):
    """Looks at some of four nodes with a pod each, the last of which is smaller; returns kinds, and whose pods are known of."""
    monkeypatch.setattr(counting, "_SPARE", -1000)
    machines = [machine(name, "two" if name == "d" else "four") for name in "abcd"]
    made = situation(machines, [pod(f"p{name}", name) for name in "abcd"])
    known: dict[str, Candidate] = {each.name: each for each in all_candidates(made, eventual=False)}
    outlooks = made.view.simulations.counting(settled=True)
    assert outlooks is not None

    def look(names: str) -> tuple[list[int], list[str]]:
        kept = counting._Kinds.of(made, outlooks)
        kinds = kept.of_all(made, [known[each] for each in names], outlooks.asked)
        owners = kept.crowd(kinds[0]).owners(0, None, None)
        return [kinds.index(each) for each in kinds], sorted(each.name for each in owners)

    return look


def test_nobody_is_kept_who_is_no_candidate_any_more(candidates) -> None:
    assert candidates("abcd") == ([0, 0, 0, 3], [*"abcd"])
    assert candidates("bd") == ([0, 1], [*"bd"])
    assert candidates("b") == ([0], ["b"])


def test_who_comes_back_or_stays_is_of_the_same_kind_as_before(candidates) -> None:
    candidates("abcd")
    candidates("ab")
    assert candidates("abc") == ([0, 0, 0], [*"abc"])
    assert candidates("cdab") == ([0, 1, 0, 0], [*"abcd"])
    assert candidates("da") == ([0, 1], [*"ad"])
