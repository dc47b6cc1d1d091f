"""Conditions are set on a list of their own: the object from which they come stays as it is."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from harness.karpenter.lifecycle.conditions import NODECLAIM, Conditions, are_true

THEN, NOW = "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"


def _claim(**metadata: Any) -> dict[str, Any]:
    kinds = ("Launched", "Registered", "Ready")
    conditions = [
        {
            "type": kind,
            "status": "Unknown",
            "reason": "AwaitingReconciliation",
            "message": "",
            "observedGeneration": 1,
            "lastTransitionTime": THEN,
        }
        for kind in kinds
    ]
    meta = {"name": "c", "generation": 2, "creationTimestamp": THEN, **metadata}
    return {"kind": "NodeClaim", "metadata": meta, "status": {"conditions": conditions}}


@pytest.mark.parametrize("metadata", [{}, {"deletionTimestamp": NOW}], ids=["alive", "deleting"])
def test_the_object_stays_as_it_is(metadata: dict[str, str]) -> None:
    claim = _claim(**metadata)
    before = deepcopy(claim)
    conditions = Conditions(claim, NODECLAIM, NOW)
    for kind in (*NODECLAIM, "Drifted"):
        conditions.set_true(kind)
    conditions.set_false("Registered", "Gone", "it went")
    conditions.refresh("Launched")
    conditions.clear("Drifted")
    assert claim == before
    assert conditions.is_true("Launched")
    assert not conditions.is_true("Registered")
    generations = {each["type"]: each["observedGeneration"] for each in conditions.items}
    assert set(generations.values()) == {2}


@pytest.mark.parametrize("missing", [None, *NODECLAIM])
@pytest.mark.parametrize(
    "wrong", [{"status": "False"}, {"observedGeneration": 1}, {"reason": None}], ids=["false", "older", "short"]
)
def test_what_is_true_stays_as_it_is_when_it_is_set_again(missing: str | None, wrong: dict[str, Any]) -> None:
    """So that a pass over a NodeClaim that has come through every step can be left out."""
    known = Conditions(_claim(), NODECLAIM, NOW)
    for kind in NODECLAIM:
        known.set_true(kind)
    items = [each if each["type"] != missing else {**each, **wrong} for each in known.items]
    items = [{name: value for name, value in each.items() if value is not None} for each in items]
    claim = {**_claim(), "status": {"conditions": items}}
    assert are_true(claim, NODECLAIM) == (missing is None)
    if missing is None:
        again = Conditions(claim, NODECLAIM, "2026-01-01T02:00:00Z")
        for kind in NODECLAIM:
            again.refresh(kind)
        assert not again.changed
    without = {**claim, "status": {"conditions": [each for each in items if each["type"] != "Registered"]}}
    assert not are_true(without, NODECLAIM)


def test_each_write_of_an_object_that_goes_is_of_its_generation() -> None:
    """Also where the condition says the same as before; of one that stays that is no change."""
    claim = _claim(deletionTimestamp=NOW)
    conditions = Conditions(claim, ("Launched", "Registered"), NOW)
    assert conditions.set_unknown("Registered", "AwaitingReconciliation", "")
    assert {each["type"]: each["observedGeneration"] for each in conditions.items} == dict.fromkeys(
        ("Launched", "Registered", "Ready"), 2
    )
    assert not conditions.set_unknown("Registered", "AwaitingReconciliation", "")


LATER = "2026-01-01T02:00:00Z"
KINDS = ("A", "B")


def _of(*statuses: tuple[str, str, int], generation: int = 2) -> Conditions:
    """An object's conditions: type, status and observed generation, each a minute younger than the one before."""
    items = [
        {
            "type": kind,
            "status": status,
            "reason": "Why",
            "message": "words",
            "observedGeneration": seen,
            "lastTransitionTime": f"2026-01-01T00:0{number}:00Z",
        }
        for number, (kind, status, seen) in enumerate(statuses)
    ]
    meta = {"name": "c", "generation": generation, "creationTimestamp": THEN}
    return Conditions({"kind": "NodeClaim", "metadata": meta, "status": {"conditions": items}}, KINDS, NOW)


def _ready(conditions: Conditions) -> tuple[str, str, str]:
    found = conditions.get("Ready")
    assert found is not None
    return found["status"], found["reason"], found["message"]


@pytest.mark.parametrize(
    ("statuses", "ready"),
    [
        ([("A", "True", 2), ("B", "True", 2)], ("True", "Ready", "")),
        ([("A", "Unknown", 2), ("B", "True", 2)], ("Unknown", "ReconcilingDependents", "A=Unknown")),
        ([("A", "False", 2), ("B", "True", 2)], ("False", "UnhealthyDependents", "A=False")),
        ([("A", "False", 1), ("B", "True", 2)], ("Unknown", "ReconcilingDependents", "A=False")),  # of an older object
        ([("A", "True", 1), ("B", "True", 2)], ("Unknown", "ReconcilingDependents", "A=True")),
        (
            [("A", "False", 2), ("B", "Unknown", 2)],
            ("False", "UnhealthyDependents", "B=Unknown, A=False"),
        ),  # youngest first
        ([("A", "Unknown", 2), ("B", "False", 1)], ("Unknown", "ReconcilingDependents", "B=False, A=Unknown")),
        ([("A", "True", 2), ("B", "True", 2), ("C", "False", 2)], ("True", "Ready", "")),  # no dependent
    ],
)
def test_the_root_says_which_dependents_are_not_true(
    statuses: list[tuple[str, str, int]], ready: tuple[str, str, str]
) -> None:
    """Of condition_set.go recomputeRootCondition, which each Set of another condition calls."""
    conditions = _of(*statuses)
    conditions.set_true("Other")
    assert _ready(conditions) == ready


def test_conditions_are_in_order_of_their_transitions_and_the_root_comes_last() -> None:
    """Of condition_set.go Set; what was cleared leaves the others in order of their types, the root among them."""
    conditions = _of(("B", "True", 2), ("A", "True", 2))
    conditions.set_true("Drifted")
    assert [each["type"] for each in conditions.items] == ["B", "A", "Drifted", "Ready"]
    conditions.set_false("B", "No", "")
    assert [each["type"] for each in conditions.items] == ["A", "Drifted", "B", "Ready"]
    conditions.set_true("Zoned")
    conditions.clear("Drifted")
    assert [each["type"] for each in conditions.items] == ["A", "B", "Ready", "Zoned"]


def test_dependents_are_as_old_as_their_object_and_others_as_when_they_were_set() -> None:
    """Of condition_set.go Set (IsDependentCondition); the time changes with the status only."""
    claim = {"kind": "NodeClaim", "metadata": {"name": "c", "creationTimestamp": THEN}}
    conditions = Conditions(claim, KINDS, NOW)
    conditions.set_unknown("Drained", "Draining", "")
    assert {each["type"]: each["lastTransitionTime"] for each in conditions.items} == {
        "A": THEN,
        "B": THEN,
        "Ready": THEN,
        "Drained": NOW,
    }
    later = Conditions({**claim, "status": {"conditions": conditions.items}}, KINDS, LATER)
    later.set_unknown("Drained", "Draining", "another message")
    later.set_true("A")
    assert (later.since("Drained"), later.since("A"), later.since("B"), later.since("Never")) == (
        NOW,
        LATER,
        THEN,
        LATER,
    )


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        (("A", "True", "Why", "words"), False),
        (("A", "False", "Why", "words"), True),
        (("A", "True", "Because", "words"), True),
        (("A", "True", "Why", "other words"), True),
        (("B", "True", "Why", "words"), True),  # of an older object
        (("C", "True", "Why", "words"), True),
    ],
)
def test_only_what_says_something_else_is_a_change(said: tuple[str, str, str, str], changes: bool) -> None:
    conditions = _of(("A", "True", 2), ("B", "True", 1))
    before = conditions.items
    assert conditions.set(*said) is changes
    assert conditions.changed is changes
    assert (conditions.items != before) is changes
    found = conditions.get(said[0])
    assert found is not None
    assert (found["status"], found["reason"], found["message"], found["observedGeneration"]) == (*said[1:], 2)


def test_a_condition_that_lacks_a_field_is_set_anew() -> None:
    conditions = _of(("A", "True", 2), ("B", "True", 2))
    conditions.items[0]["more"] = "than a condition has"
    assert conditions.set("A", "True", "Why", "words")
    assert "more" not in (conditions.get("A") or {})


def test_what_was_never_set_is_neither_refreshed_nor_cleared() -> None:
    conditions = _of(("A", "True", 2), ("B", "True", 2))
    conditions.refresh("Drifted")
    assert (conditions.clear("Drifted"), conditions.changed) == (False, False)
    drifted = _of(("A", "True", 2), ("B", "True", 2), ("Drifted", "True", 2))
    assert (drifted.clear("Drifted"), drifted.changed) == (True, True)
    assert drifted.get("Drifted") is None


def test_an_object_without_a_generation_has_generation_0() -> None:
    """As Go's GetGeneration has it."""
    claim = {"kind": "NodeClaim", "metadata": {"name": "c", "creationTimestamp": THEN}}
    conditions = Conditions(claim, KINDS, NOW)
    for kind in KINDS:
        conditions.set_true(kind)
    assert {each["observedGeneration"] for each in conditions.items} == {0}
    assert are_true({**claim, "status": {"conditions": conditions.items}}, KINDS)


def test_nothing_is_written_of_an_object_that_goes_where_nothing_is_said() -> None:
    """Of condition_set.go Set: the generations of the others are bumped only with a condition that changes."""
    items = [*_of(("A", "True", 2), ("B", "True", 1)).items]
    meta = {"name": "c", "generation": 2, "creationTimestamp": THEN, "deletionTimestamp": NOW}
    conditions = Conditions({"kind": "NodeClaim", "metadata": meta, "status": {"conditions": items}}, KINDS, NOW)
    assert not conditions.set("A", "True", "Why", "words")
    assert conditions.items == items
    assert conditions.set("A", "True", "Why", "other words")
    assert {each["observedGeneration"] for each in conditions.items} == {2}
