"""Which taints a toleration covers, and which nodes the expressions of node affinity take.

Sources: k8s.io/component-helpers scheduling/corev1 (helpers.go, nodeaffinity), k8s.io/api core/v1 toleration.go.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.scheduling.node_affinity import preferred_weight, term_matches
from harness.kube.scheduling.taints import tolerates

NODE = {"metadata": {"name": "a", "labels": {"zone": "1", "cores": "8", "below": "-2"}}}


@pytest.mark.parametrize(
    ("operator", "wanted", "present", "covered"),
    [
        ("Lt", "5", "4", True),
        ("Lt", "5", "5", False),
        ("Lt", "5", "6", False),
        ("Gt", "5", "6", True),
        ("Gt", "5", "5", False),
        ("Gt", "5", "4", False),
        ("Lt", "10", "9", True),  # as numbers, not as texts
        ("Gt", "-3", "-2", True),
        ("Lt", "0", "-1", True),
        ("Lt", "five", "4", False),
        ("Lt", "5", "four", False),
        ("Gt", "5", "06", False),
        ("Gt", "05", "6", False),
        ("Gt", "5", "", False),
        ("Near", "5", "6", False),
        ("Near", "5", "5", False),
        ("Near", "five", "four", False),
        (None, "5", "5", True),
        ("Equal", "5", "6", False),
        ("Exists", "", "6", True),
    ],
)
def test_values_of_taints_that_a_toleration_covers(
    operator: str | None, wanted: str, present: str, covered: bool
) -> None:
    taint = {"key": "load", "value": present, "effect": "NoSchedule"}
    assert tolerates({"key": "load", "operator": operator, "value": wanted}, taint) is covered


@pytest.mark.parametrize(
    ("key", "operator", "values", "taken"),
    [
        ("zone", "Exists", None, True),
        ("team", "Exists", None, False),
        ("zone", "DoesNotExist", None, False),
        ("team", "DoesNotExist", None, True),
        ("zone", "In", ["1", "2"], True),
        ("zone", "In", ["2"], False),
        ("team", "In", ["2"], False),
        ("zone", "NotIn", ["1"], False),
        ("zone", "NotIn", ["2"], True),
        ("team", "NotIn", ["2"], True),
        ("cores", "Gt", ["7"], True),
        ("cores", "Gt", ["8"], False),
        ("cores", "Lt", ["9"], True),
        ("cores", "Lt", ["8"], False),
        ("below", "Lt", ["0"], True),
        ("cores", "Gt", ["many"], False),
        ("cores", "Gt", ["1", "2"], False),
        ("cores", "Gt", [], False),
        ("team", "Lt", ["9"], False),
        ("zone", "Near", ["1"], False),
    ],
)
def test_expressions_that_take_a_node(key: str, operator: str, values: list[str] | None, taken: bool) -> None:
    expression: dict[str, Any] = {"key": key, "operator": operator}
    if values is not None:
        expression["values"] = values
    assert term_matches({"matchExpressions": [expression]}, NODE) is taken


def wish(zone: str, **weight: int) -> dict[str, Any]:
    return {**weight, "preference": {"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}}


@pytest.mark.parametrize(
    ("wishes", "weight"),
    [
        ([], 0),
        ([wish("1", weight=7)], 7),
        ([wish("2", weight=7)], 0),
        ([wish("1", weight=7), wish("2", weight=30), wish("1", weight=5)], 12),
        ([wish("1", weight=0)], 0),
        ([wish("1")], 0),
        ([{"weight": 7}], 0),
    ],
)
def test_the_weights_of_wishes_that_a_node_fulfils_add_up(wishes: list[dict[str, Any]], weight: int) -> None:
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": wishes}
    assert preferred_weight({"spec": {"affinity": {"nodeAffinity": preferred}}}, NODE) == weight
