"""NodeClaims of two runs are compared with those that they are most alike, whatever numbers they were given."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from harness.scenario.comparing.pairing import paired
from harness.world.naming import renamed
from harness.world.snapshot import differences


def facts(claims: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The facts of a run with such NodeClaims of NodePool default, each of which an Event outside of it names, too."""
    claims = {f"default-{name * 5}": each for name, each in claims.items()}  # as Kubernetes draws names
    per_claim = {
        name: {"NodeClaim": {"node": f"aks-{name}", **each}, "Events": {f"Launched {name}": "told"}}
        for name, each in claims.items()
    }
    found = {"NodeClaims": per_claim, "Events": {"NodePool default": {f"Made {name}": "told" for name in claims}}}
    return renamed(found, dict.fromkeys(claims, "default"))


SMALL, LARGE, SPOT = {"requests": "1", "size": "D2"}, {"requests": "4", "size": "D8"}, {"requests": "2", "size": "D4"}


@pytest.mark.parametrize("order", list(permutations(("x", "y", "z"))))
def test_what_is_late_on_one_of_them_differs_there_only(order: tuple[str, ...]) -> None:
    left = facts(dict(zip(("a", "b", "c"), (SMALL, LARGE, SPOT), strict=True)))
    # its text sorts before those of the others, so that all three have other numbers
    right = facts(dict(zip(order, ({"early": "yes", **LARGE}, SMALL, SPOT), strict=True)))
    ((fact, one, other),) = differences(left, paired(left, right))
    assert (fact.endswith("[early]"), other) == (True, "yes")
    assert one != other


def test_equal_ones_swapped_are_no_difference() -> None:
    left, right = facts({"a": SMALL, "b": LARGE}), facts({"b": SMALL, "a": LARGE})
    assert list(differences(left, paired(left, right))) == []


def test_one_more_is_a_difference() -> None:
    left, right = facts({"a": SMALL, "b": LARGE}), facts({"x": LARGE, "y": SPOT, "z": SMALL})
    found = {fact for fact, _, _ in differences(left, paired(left, right))}
    assert found == {"NodeClaims[default 3]", "Events[NodePool default][Made default 3]"}


def test_a_value_that_differs_stays_one() -> None:
    left, right = facts({"a": SMALL, "b": SMALL}), facts({"x": SMALL, "y": {**SMALL, "size": "D16"}})
    assert [(one, other) for _, one, other in differences(left, paired(left, right))] == [("D2", "D16")]
