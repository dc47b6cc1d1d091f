"""Which taints a toleration covers, and which nodes the expressions of node affinity take.

Sources: k8s.io/component-helpers scheduling/corev1 (helpers.go, nodeaffinity), k8s.io/api core/v1 toleration.go.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.scheduling.node_affinity import named_nodes, preferred_weight, required_matches, term_matches
from harness.kube.scheduling.taints import tolerates
from harness.testing import requirement


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def preferring(wishes: list[dict[str, Any]]) -> dict[str, Any]:
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wishes}}
    return {"spec": {"affinity": affinity}}


LABELS = {"zone": "1", "cores": "8", "below": "-2", "grouped": "1_000", "huge": str(2**63)}
NODE = {"metadata": {"name": "a", "labels": LABELS}}


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
        ("cores", "Gt", ["0_7"], False),  # what strconv.ParseInt does not read
        ("grouped", "Gt", ["7"], False),
        ("huge", "Gt", ["7"], False),
        ("cores", "Lt", [str(2**63 - 1)], True),
        ("cores", "Lt", [str(2**63)], False),
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


ZONE_1, ZONE_2 = ({"matchExpressions": [requirement("zone", zone)]} for zone in "12")
A, B, NOT_A = (
    {"matchFields": [requirement("metadata.name", name, operator=operator)]}
    for name, operator in (("a", "In"), ("b", "In"), ("a", "NotIn"))
)


@pytest.mark.parametrize(
    ("term", "taken"),
    [
        (A, True),
        (B, False),
        (NOT_A, False),
        ({**ZONE_1, **A}, True),
        ({**ZONE_1, **B}, False),
        ({**ZONE_2, **A}, False),
        ({"matchExpressions": [*ZONE_1["matchExpressions"], requirement("cores", "8")]}, True),
        ({"matchExpressions": [*ZONE_1["matchExpressions"], requirement("cores", "9")]}, False),
        ({"matchFields": [*A["matchFields"], *NOT_A["matchFields"]]}, False),
        ({}, False),
        ({"matchExpressions": [], "matchFields": []}, False),
    ],
)
def test_a_term_takes_a_node_by_labels_and_by_its_name(term: dict[str, Any], taken: bool) -> None:
    assert term_matches(term, NODE) is taken
    assert preferred_weight(preferring([{"weight": 3, "preference": term}]), NODE) == (3 if taken else 0)


@pytest.mark.parametrize(
    ("spec", "taken"),
    [
        ({}, True),
        ({"nodeSelector": {}}, True),
        ({"nodeSelector": {"zone": "1"}}, True),
        ({"nodeSelector": {"zone": "1", "cores": "8"}}, True),
        ({"nodeSelector": {"zone": "1", "cores": "9"}}, False),
        ({"nodeSelector": {"team": "a"}}, False),
        ({"affinity": {"podAffinity": {}}}, True),
        ({"affinity": {"nodeAffinity": {}}}, True),
        ({"affinity": required()}, False),  # no term takes anything
        ({"affinity": required(ZONE_1)}, True),
        ({"affinity": required(ZONE_2)}, False),
        ({"affinity": required(ZONE_2, ZONE_1)}, True),
        ({"nodeSelector": {"zone": "1"}, "affinity": required(ZONE_2)}, False),
        ({"nodeSelector": {"zone": "2"}, "affinity": required(ZONE_1)}, False),
        ({"nodeSelector": {"zone": "1"}, "affinity": required(A)}, True),
    ],
)
def test_a_pod_may_run_where_its_selector_and_one_of_its_terms_take_it(spec: dict[str, Any], taken: bool) -> None:
    """nodeaffinity.go RequiredNodeAffinity.Match."""
    assert required_matches({"spec": spec}, NODE) is taken


@pytest.mark.parametrize("absent", [{}, {"affinity": {}}, {"affinity": None}, {"affinity": {"nodeAffinity": None}}])
def test_a_pod_that_says_nothing_prefers_and_names_no_node(absent: dict[str, Any]) -> None:
    assert preferred_weight({"spec": absent}, NODE) == 0
    assert named_nodes({"spec": absent}) is None


@pytest.mark.parametrize(
    ("terms", "named"),
    [
        ([A], {"a"}),
        ([A, B], {"a", "b"}),
        ([{**ZONE_1, **A}], {"a"}),
        ([A, ZONE_1], None),
        (
            [{"matchFields": [*A["matchFields"], *B["matchFields"]]}],
            None,
        ),  # no name is both: nothing is left out by name
        ([{"matchFields": [*A["matchFields"], *NOT_A["matchFields"]]}], {"a"}),
        ([NOT_A], None),
        ([], None),
    ],
)
def test_the_names_of_nodes_that_a_pod_asks_for(terms: list[dict[str, Any]], named: set[str] | None) -> None:
    """nodeaffinity/node_affinity.go PreFilter."""
    assert named_nodes({"spec": {"affinity": required(*terms)}}) == named


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
    assert preferred_weight(preferring(wishes), NODE) == weight
