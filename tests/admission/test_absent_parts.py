"""What is asked of an object that lacks it: absent, null and empty are the same, as in Go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.kube.api import objects
from harness.kube.api.objects import Object

_OF_METADATA: list[tuple[Callable[[Object], Any], str]] = [
    (objects.name_of, "name"),
    (objects.namespace_of, "namespace"),
    (objects.uid_of, "uid"),
    (objects.labels_of, "labels"),
    (objects.annotations_of, "annotations"),
    (objects.finalizers_of, "finalizers"),
    (objects.owners_of, "ownerReferences"),
    (objects.is_terminating, "deletionTimestamp"),
]


@pytest.mark.parametrize(("asked", "field"), _OF_METADATA, ids=lambda each: each if isinstance(each, str) else "")
def test_metadata(asked: Callable[[Object], Any], field: str) -> None:
    nothing = {"metadata": {field: {"name": "", "namespace": "", "uid": ""}.get(field)}}
    for obj in ({}, {"metadata": None}, {"metadata": {}}, nothing):
        assert not asked(obj)
        assert asked(obj) is not None
    said = {"labels": {"a": "b"}, "annotations": {"a": "b"}, "finalizers": ["a"], "ownerReferences": [{"name": "a"}]}
    value = said.get(field, "2026-01-01T00:00:00Z")
    assert asked({"metadata": {field: value}}) == (True if field == "deletionTimestamp" else value)


@pytest.mark.parametrize(
    "obj", [{}, {"status": None}, {"status": {}}, {"status": {"conditions": None}}, {"status": {"conditions": []}}]
)
def test_conditions(obj: Object) -> None:
    assert list(objects.conditions_of(obj)) == []
    assert objects.condition(obj, "Ready") is None
    assert not objects.condition_is(obj, "Ready")
    assert not objects.condition_is(obj, "Ready", "Unknown")


@pytest.mark.parametrize(("asked", "field"), [(objects.spec_of, "spec"), (objects.status_of, "status")])
def test_spec_and_status(asked: Callable[[Object], Any], field: str) -> None:
    for obj in ({}, {field: None}, {field: {}}):
        assert asked(obj) == {}
    assert asked({field: {"phase": "Running"}}) == {"phase": "Running"}


def test_what_holds_an_object() -> None:
    assert objects.is_held({"metadata": {"finalizers": ["a"]}})
    assert objects.is_held({"kind": "Namespace", "spec": {"finalizers": ["kubernetes"]}})
    assert not objects.is_held({"kind": "Namespace", "spec": {}})
    assert not objects.is_held({"kind": "Pod", "spec": {"finalizers": ["kubernetes"]}})


def test_which_owner_is_the_controller() -> None:
    owners = [{"name": "a"}, {"name": "b", "controller": True}, {"name": "c", "controller": False}]
    assert objects.controller_of({"metadata": {"ownerReferences": owners}}) == owners[1]
    assert objects.controller_of({"metadata": {"ownerReferences": owners[:1]}}) is None
    assert objects.controller_of({}) is None
