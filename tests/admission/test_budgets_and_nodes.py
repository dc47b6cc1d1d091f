"""What is wrong with a PodDisruptionBudget or a Node: kubernetes pkg/apis/policy/validation, pkg/apis/core/validation."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.admission.core_validation import budget_errors, node_errors
from harness.testing import node

PERCENT = "a valid percent string must be a numeric string followed by an ending '%'"


@pytest.mark.parametrize("field", ["minAvailable", "maxUnavailable"])
@pytest.mark.parametrize(
    ("amount", "why"),
    [
        (0, None),
        (1, None),
        (1000, None),
        (-1, "must be greater than or equal to 0"),
        ("0%", None),
        ("100%", None),
        ("101%", "must not be greater than 100%"),
        ("1", PERCENT),
        ("-1%", PERCENT),
        ("1.5%", PERCENT),
        ("%", PERCENT),
    ],
)
def test_amounts_of_a_budget(field: str, amount: int | str, why: str | None) -> None:
    found = budget_errors({field: amount, "selector": {}})
    assert [(each.field, each.value) for each in found] == ([(f"spec.{field}", amount)] if why else [])
    assert all(each.detail.startswith(why or "") for each in found)


def test_a_budget_has_one_amount() -> None:
    both = {"minAvailable": 0, "maxUnavailable": 0}
    assert [each.field for each in budget_errors(both)] == ["spec"]
    assert budget_errors({**both, "minAvailable": None}) == []
    assert budget_errors({}) == []


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [(None, "azure://a", False), ("", "azure://a", False), ("azure://a", "azure://a", False)]
    + [("azure://a", after, True) for after in ("azure://b", "", None)],
)
def test_a_node_keeps_its_provider_id(before: str | None, after: str | None, refused: bool) -> None:
    old, new = (node("a", **({} if value is None else {"providerID": value})) for value in (before, after))
    assert [each.field for each in node_errors(new, old)] == (["spec.providerID"] if refused else [])
    assert node_errors(new, None) == []


TAINT = {"key": "a", "value": "b", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("taints", "fields"),
    [
        ([TAINT], []),
        ([TAINT, {**TAINT, "effect": "NoExecute"}, {**TAINT, "key": "b"}], []),
        ([TAINT, {**TAINT, "value": "c"}], ["[1]"]),
        ([TAINT, {"key": "b", "effect": "NoSchedule"}, TAINT], ["[2]"]),
        ([{**TAINT, "key": ""}], ["[0].key", "[0].key"]),
        ([{**TAINT, "key": "a b"}], ["[0].key"]),
        ([{**TAINT, "value": ""}], []),
        ([{**TAINT, "value": "b c"}], ["[0].value"]),
        ([{**TAINT, "value": "-" * 64}], ["[0].value"]),  # both reasons together
        ([{**TAINT, "effect": ""}], ["[0].effect"]),
        ([{"key": "a"}], ["[0].effect"]),
        ([{**TAINT, "effect": "Never"}], ["[0].effect"]),
    ],
)
def test_taints_of_a_node(taints: list[dict[str, Any]], fields: list[str]) -> None:
    found = node_errors(node("a", taints=taints), None)
    assert [each.field for each in found] == [f"metadata.taints{each}" for each in fields]
    assert node_errors(node("a", taints=taints), node("a")) == found


def test_a_second_taint_is_shown_as_go_writes_it() -> None:
    (error,) = node_errors(node("a", taints=[TAINT, {"key": "a", "effect": "NoSchedule"}]), None)
    assert str(error) == (
        'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: '
        "taints must be unique by key and effect pair"
    )
