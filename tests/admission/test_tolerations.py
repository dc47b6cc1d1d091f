"""Which of two tolerations makes the other superfluous: kubernetes pkg/util/tolerations/tolerations.go isSuperset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.kube.admission.tolerations import merged_tolerations

NARROW = {"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}
EVICTS = {"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("other", "narrow", "covers"),
    [
        ({"operator": "Exists"}, NARROW, True),  # everything
        ({"key": "k", "operator": "Exists"}, NARROW, True),
        ({"key": "k", "operator": "Exists", "effect": "NoSchedule"}, NARROW, True),
        ({"key": "k", "operator": "Equal", "value": "v"}, NARROW, True),
        ({"key": "k", "value": "v"}, NARROW, True),  # no operator is Equal
        ({"key": "k", "operator": "Equal", "value": "w"}, NARROW, False),
        ({"key": "other", "operator": "Exists"}, NARROW, False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, NARROW, False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10}, EVICTS, False),
        (
            {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10},
            {**EVICTS, "tolerationSeconds": 11},
            False,
        ),
        (
            {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10},
            {**EVICTS, "tolerationSeconds": 10},
            True,
        ),
        ({"key": "k", "operator": "Equal", "value": "v"}, {**NARROW, "operator": "Exists", "value": ""}, False),
    ],
)
def test_what_another_covers_goes(other: Mapping[str, Any], narrow: Mapping[str, Any], covers: bool) -> None:
    kept = {True: [other], False: [narrow, other]}[covers]
    assert merged_tolerations([narrow, other]) == kept
    assert merged_tolerations([other, narrow]) == kept[::-1]


def test_a_wider_one_may_stand_anywhere_behind() -> None:
    wide, other, last = ({"key": key, "operator": "Exists"} for key in ("k", "other", "last"))
    assert merged_tolerations([NARROW, wide, other, last]) == [wide, other, last]
    assert merged_tolerations([other, NARROW, last, wide]) == [other, last, wide]
    assert merged_tolerations([wide, other, NARROW, wide]) == [wide, other]


def test_of_equal_ones_the_first_stays() -> None:
    first, second = dict(NARROW), dict(NARROW)
    (kept,) = merged_tolerations([first, second])
    assert kept is first
