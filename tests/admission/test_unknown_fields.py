"""Fields that no release of Karpenter has, with those that are there."""

from __future__ import annotations

from typing import Any

import pytest

from harness.karpenter.validation.fields import unknown_fields

REQUIREMENTS = ("spec", "template", "spec", "requirements")


@pytest.mark.parametrize(
    ("spec", "at", "known"),
    [
        ({"foo": 1}, ("spec", "foo"), {"disruption", "limits", "replicas", "template", "weight"}),
        (
            {"template": {"spec": {"requirements": [{"key": "a"}, {"kee": "a"}]}}},
            (*REQUIREMENTS, 1, "kee"),
            {"key", "operator", "values", "minValues"},
        ),
        (
            {"disruption": {"budgets[]": []}},
            ("spec", "disruption", "budgets[]"),
            {"budgets", "consolidateAfter", "consolidationPolicy"},
        ),
    ],
)
def test_an_unknown_field_of_a_nodepool(spec: Any, at: tuple[str | int, ...], known: set[str]) -> None:
    ((where, names),) = unknown_fields({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "spec": spec})
    assert where == at
    assert known <= set(names)
    assert all(name.isalnum() for name in names)
