"""The pace at which a HorizontalPodAutoscaler changes a size. Rules: kubernetes 1.36 pkg/controller/podautoscaler/horizontal.go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from harness.kube.workloads.autoscaler_limits import History, limited

SECOND = 1_000_000_000
BOUNDS = (1, 100)


def course(
    behavior: Mapping[str, Any] | None,
    first: int,
    recommended: Sequence[int],
    bounds: tuple[int, int] = BOUNDS,
) -> list[int]:
    """The sizes that recommendations lead to, one each 15 s, where every change is carried out."""
    history, current, sizes = History(first, 0), first, []
    for number, wanted in enumerate(recommended, 1):
        now = number * 15 * SECOND
        replicas = limited(behavior, history, bounds, current, wanted, now).replicas
        if replicas != current:
            history.rescaled(behavior, current, replicas, now)
        current = replicas
        sizes.append(current)
    return sizes


def test_without_a_behavior_a_size_doubles_at_most() -> None:
    assert course(None, 1, [50] * 5) == [4, 8, 16, 32, 50]
    assert course(None, 3, [200], (1, 20)) == [6]


def test_pods_stay_for_five_minutes_without_a_behavior() -> None:
    assert course(None, 10, [2] * 21) == [10] * 19 + [2, 2]


def test_a_peak_in_the_window_begins_it_anew() -> None:
    assert course(None, 10, [2, 2, 8, *[2] * 20]) == [10] * 19 + [8, 8, 8, 2]


def test_policies_bound_the_change_of_a_period() -> None:
    up = {"scaleUp": {"policies": [{"type": "Pods", "value": 2, "periodSeconds": 30}], "selectPolicy": "Max"}}
    assert course(up, 1, [50] * 5) == [3, 3, 5, 5, 7]
    both = [*up["scaleUp"]["policies"], {"type": "Percent", "value": 200, "periodSeconds": 15}]
    assert course({"scaleUp": {"policies": both}}, 4, [50] * 2) == [12, 36]
    assert course({"scaleUp": {"policies": both, "selectPolicy": "Min"}}, 4, [50] * 2) == [6, 6]


def test_taking_away_is_rounded_down_and_may_be_disabled() -> None:
    down = {"stabilizationWindowSeconds": 0, "policies": [{"type": "Percent", "value": 10, "periodSeconds": 15}]}
    assert course({"scaleDown": down}, 5, [1] * 3) == [4, 3, 2]
    assert course({"scaleDown": {**down, "selectPolicy": "Disabled"}}, 5, [1] * 3) == [5, 5, 5]


def test_a_window_upwards_takes_the_lowest_of_it() -> None:
    assert course({"scaleUp": {"stabilizationWindowSeconds": 45}}, 2, [8, 8, 8, 8, 8]) == [2, 2, 6, 8, 8]


@pytest.mark.parametrize(
    ("behavior", "current", "recommended", "expected"),
    [
        (None, 2, 2, [("AbleToScale", "True", "ReadyForNewScale"), ("ScalingLimited", "False", "DesiredWithinRange")]),
        (None, 2, 90, [("AbleToScale", "True", "ReadyForNewScale"), ("ScalingLimited", "True", "ScaleUpLimit")]),
        (None, 60, 90, [("AbleToScale", "True", "ReadyForNewScale"), ("ScalingLimited", "True", "TooManyReplicas")]),
        (
            None,
            9,
            1,
            [("AbleToScale", "True", "ScaleDownStabilized"), ("ScalingLimited", "False", "DesiredWithinRange")],
        ),
        (
            {"scaleDown": {"stabilizationWindowSeconds": 0}},
            *(9, 1),
            [("AbleToScale", "True", "ReadyForNewScale"), ("ScalingLimited", "True", "TooFewReplicas")],
        ),
        (
            {"scaleUp": {"stabilizationWindowSeconds": 60}},
            *(2, 9),
            [("AbleToScale", "True", "ScaleUpStabilized"), ("ScalingLimited", "False", "DesiredWithinRange")],
        ),
    ],
)
def test_conditions_say_why(
    behavior: Any, current: int, recommended: int, expected: list[tuple[str, str, str]]
) -> None:
    result = limited(behavior, History(current, 0), (2, 70), current, recommended, SECOND)
    assert [(each.type, each.status, each.reason) for each in result.conditions] == expected


@pytest.mark.parametrize(
    ("behavior", "recommended", "later"),
    [(None, 2, True), (None, 5, False), ({"scaleDown": {"selectPolicy": "Disabled"}}, 2, False)],
)
def test_what_comes_later_is_said(behavior: Any, recommended: int, later: bool) -> None:
    assert limited(behavior, History(5, 0), BOUNDS, 5, recommended, SECOND).later is later
