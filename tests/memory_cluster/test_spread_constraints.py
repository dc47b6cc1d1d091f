"""Spread constraints that the API server refuses: keys that pods are told apart by, and how far they may be spread."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.admission.pod_validation import pod_spec_errors

ZONE = "topology.kubernetes.io/zone"
PLACE = "spec.topologySpreadConstraints[0]"


def errors(merged: bool, **fields: Any) -> list[tuple[str, str]]:
    """Field and message of each error of a pod with one constraint."""
    base = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    given = {name: value for name, value in {**base, **fields}.items() if value is not None}
    spec = {"containers": [{"name": "c", "image": "i"}], "topologySpreadConstraints": [given]}
    return [(each.field, each.detail) for each in pod_spec_errors(spec, merged=merged)]


def by(*keys: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": "Exists"} for key in keys]}


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, []),
        ({"minDomains": 1}, []),
        ({"minDomains": 0}, ["minDomains"]),
        ({"maxSkew": None}, ["maxSkew"]),
        ({"topologyKey": None}, ["topologyKey"]),
        ({"labelSelector": None}, []),
        ({"matchLabelKeys": ["a"]}, []),
        ({"matchLabelKeys": ["a b"]}, ["matchLabelKeys[0]"]),
        ({"matchLabelKeys": ["a"], "labelSelector": None}, ["matchLabelKeys"]),
        ({"matchLabelKeys": ["a"], "labelSelector": by("b")}, []),
    ],
)
def test_what_a_constraint_may_say(merged: bool, fields: dict[str, Any], wrong: list[str]) -> None:
    assert [field for field, _ in errors(merged, **fields)] == [f"{PLACE}.{name}" for name in wrong]


@pytest.mark.parametrize(
    ("selector", "wrong"),
    [
        ({"matchLabels": {"a": "b"}}, True),
        ({"matchLabels": {"c": "b"}}, False),
        (by("c", "a"), True),
        (by("c"), False),
        ({**by("c"), "matchLabels": {"a": "b"}}, True),
    ],
)
def test_a_key_stands_in_one_place_only(selector: dict[str, Any], wrong: bool) -> None:
    """Where the API server does not write the keys into the selector itself."""
    found = errors(False, matchLabelKeys=["x", "a"], labelSelector=selector)
    assert [field for field, _ in found] == ([f"{PLACE}.matchLabelKeys[1]"] if wrong else [])
