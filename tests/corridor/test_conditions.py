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
