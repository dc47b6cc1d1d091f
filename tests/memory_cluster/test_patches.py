"""What the patch types of the API make of parts of objects (apimachinery's strategicpatch, evanphx/json-patch)."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.kube.api.patch import json_patch, merge_diff, merge_patch
from harness.kube.api.status import ApiError
from harness.kube.api.strategic import conditions_in_place, strategic_patch

STRATEGIC: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    # ports are told apart by the port in a service, by that of the container in a pod
    (
        {"spec": {"ports": [{"port": 80}, {"port": 443}]}},
        {"spec": {"ports": [{"port": 80, "targetPort": 8080}]}},
        {"spec": {"ports": [{"port": 80, "targetPort": 8080}, {"port": 443}]}},
    ),
    (
        {"containers": [{"name": "a", "ports": [{"containerPort": 80}, {"containerPort": 443}]}]},
        {"containers": [{"name": "a", "ports": [{"containerPort": 443, "name": "tls"}]}]},
        {"containers": [{"name": "a", "ports": [{"containerPort": 80}, {"containerPort": 443, "name": "tls"}]}]},
    ),
    # items that go, and lists that are replaced whole
    (
        {"containers": [{"name": "a"}, {"name": "b"}]},
        {"containers": [{"name": "a", "$patch": "delete"}]},
        {"containers": [{"name": "b"}]},
    ),
    (
        {"containers": [{"name": "a"}, {"name": "b"}]},
        {"containers": [{"name": "c"}, {"$patch": "replace"}, {"name": "d"}]},
        {"containers": [{"name": "c"}, {"name": "d"}]},
    ),
    (
        {"containers": [{"name": "a"}]},
        {"containers": [{"name": "a", "$patch": "delete"}, {"name": "c"}, {"$patch": "replace"}]},
        {"containers": [{"name": "c"}]},
    ),
    # mappings that are emptied or replaced, and one of which only some keys stay
    ({"labels": {"a": "1"}}, {"labels": {"$patch": "delete"}}, {"labels": {}}),
    ({"labels": {"a": "1"}}, {"labels": {"$patch": "replace", "b": "2"}}, {"labels": {"b": "2"}}),
    (
        {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}},
        {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}},
        {"strategy": {"type": "Recreate"}},
    ),
    (
        {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}, "old": "x"}},
        {"strategy": {"$retainKeys": ["type"], "type": "Recreate", "rollingUpdate": None, "$setElementOrder/list": []}},
        {"strategy": {"type": "Recreate"}},
    ),
    # what kubectl apply sends of a list that keeps its order
    (
        {"containers": [{"name": "a", "image": "x"}, {"name": "b"}]},
        {"$setElementOrder/containers": [{"name": "a"}, {"name": "b"}], "containers": [{"name": "a", "image": "y"}]},
        {"containers": [{"name": "a", "image": "y"}, {"name": "b"}]},
    ),
    ({"labels": {"a": "1"}}, {"labels": {"$other": {"b": "2"}}}, {"labels": {"a": "1", "$other": {"b": "2"}}}),
    # finalizers are a set
    (
        {"metadata": {"finalizers": ["a", "b", "c"]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["b", "d"]}},
        {"metadata": {"finalizers": ["a", "c"]}},
    ),
    ({"a/b": ["x", "y"]}, {"$deleteFromPrimitiveList/a/b": ["x"]}, {"a/b": ["y"]}),
    (
        {"metadata": {"finalizers": ["a", "b"]}},
        {"metadata": {"finalizers": ["b"]}},
        {"metadata": {"finalizers": ["a", "b"]}},
    ),
    (
        {"metadata": {"finalizers": ["a"]}},
        {"metadata": {"finalizers": ["a", "b"]}},
        {"metadata": {"finalizers": ["a", "b"]}},
    ),
    ({"metadata": {}}, {"metadata": {"finalizers": ["a", "b"]}}, {"metadata": {"finalizers": ["a", "b"]}}),
    # a value of another type replaces what is there (patch.go, mergeMap); the decoder refuses it then
    ({"finalizers": ["a"]}, {"finalizers": 5}, {"finalizers": 5}),
    ({"containers": [{"name": "a"}]}, {"containers": True}, {"containers": True}),
    ({"containers": [{"name": "a"}]}, {"containers": "a"}, {"containers": "a"}),
]


@pytest.mark.parametrize(("target", "patch", "expected"), STRATEGIC)
def test_a_strategic_merge(target: dict[str, Any], patch: dict[str, Any], expected: dict[str, Any]) -> None:
    assert strategic_patch(target, patch) == expected


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({"a": {"b": 1}, "c": [1]}, {"a": {"b": 1}, "c": [1]}, {}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"a": {"c": 3}}),
        ({"a": {"b": 1}, "c": 1}, {"c": 1}, {"a": None}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": None}}),
        ({"a": [1, 2]}, {"a": [2]}, {"a": [2]}),
        ({"a": 1}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": {"b": 1}}, {"a": 1}, {"a": 1}),
        ({}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ],
)
def test_the_smallest_merge_patch(old: dict[str, Any], new: dict[str, Any], patch: dict[str, Any]) -> None:
    """evanphx/json-patch's CreateMergePatch, which controller-runtime's client.MergeFrom sends."""
    assert merge_diff(old, new) == patch
    assert merge_patch(old, patch) == new


def test_a_strategic_merge_refuses_a_directive_that_it_does_not_know() -> None:
    with pytest.raises(ApiError, match=r"unknown patch type: merge in map: map\[\$patch:merge a:1\]") as raised:
        strategic_patch({"labels": {"a": "1"}}, {"labels": {"$patch": "merge", "a": "1"}})
    assert raised.value.code == 500


@pytest.mark.parametrize(
    ("operation", "path", "value", "expected"),
    [
        ("add", "/0", 9, [9, 1, 2]),
        ("add", "/1", 9, [1, 9, 2]),
        ("add", "/2", 9, [1, 2, 9]),
        ("add", "/-", 9, [1, 2, 9]),
        ("add", "/-1", 9, [1, 2, 9]),
        ("add", "/-3", 9, [9, 1, 2]),
        ("replace", "/0", 9, [9, 2]),
        ("replace", "/1", 9, [1, 9]),
        ("replace", "/-1", 9, [1, 9]),
        ("replace", "/-2", 9, [9, 2]),
        ("remove", "/0", None, [2]),
        ("remove", "/-1", None, [1]),
    ],
)
def test_a_json_patch_of_a_list(operation: str, path: str, value: Any, expected: list[Any]) -> None:
    patch = [{"op": operation, "path": f"/a/b{path}", "value": value}]
    assert json_patch({"a": {"b": [1, 2]}}, patch) == {"a": {"b": expected}}


@pytest.mark.parametrize(
    ("operation", "path"),
    [
        ("add", "/a/3"),
        ("add", "/a/-4"),
        ("add", "/a/x"),
        ("replace", "/a/2"),
        ("replace", "/a/-"),
        ("replace", "/a/-3"),
        ("remove", "/a/2"),
        ("remove", "/a/-3"),
        ("test", "/a/2"),
    ],
)
def test_a_json_patch_of_an_item_that_is_not_there(operation: str, path: str) -> None:
    with pytest.raises(ApiError) as raised:
        json_patch({"a": [1, 2]}, [{"op": operation, "path": path, "value": 1}])
    assert raised.value.code == 422


def test_a_json_patch_below_an_item_of_a_list() -> None:
    patch = [{"op": "replace", "path": "/a/0/b", "value": 2}, {"op": "replace", "path": "/a/0/c", "value": 3}]
    assert json_patch({"a": [{"b": 1}]}, patch) == {"a": [{"b": 2, "c": 3}]}


def _answers() -> Iterator[tuple[int, str, Any, Any, Any]]:
    lines = Path(__file__).with_name("go_patches.jsonl").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        kind, target, patch, answer = json.loads(line)
        yield number, kind, target, patch, answer


def _known(value: Any) -> Any:
    """What is left when the object is read: directives are no fields, and null is no value."""
    if isinstance(value, dict):
        return {key: _known(each) for key, each in value.items() if each is not None and not key.startswith("$")}
    return [_known(each) for each in value] if isinstance(value, list) else value


def test_patches_as_the_api_servers_libraries_apply_them() -> None:
    """What Go makes of each patch (go_patches.go): the object, or the error's text."""
    differing = []
    for number, kind, target, patch, answer in _answers():
        try:
            made = strategic_patch(target, patch) if kind else json_patch(target, patch)
        except ApiError as error:
            made = error.message if kind else "refused"
        if kind:
            expected = answer if isinstance(answer, str) else _known(answer)
        else:
            expected = "refused" if isinstance(answer, str) else answer
        if made != expected:
            differing.append((number, made, expected))
    assert differing == []


def test_a_patch_leaves_the_object_that_it_changes() -> None:
    for _, kind, target, patch, _ in _answers():
        before = copy.deepcopy((target, patch))
        with contextlib.suppress(ApiError):
            strategic_patch(target, patch) if kind else json_patch(target, patch)
        assert (target, patch) == before


def test_conditions_that_are_there_stay_where_they_are() -> None:
    present = [{"type": "A", "status": "True"}, {"type": "Ready", "status": "False"}]
    new = [{"type": "B", "status": "True"}, {"type": "Ready", "status": "True"}]
    patch = {"status": conditions_in_place({"status": {"conditions": present}}, [new[1], new[0]])}
    assert patch["status"]["$setElementOrder/conditions"] == [{"type": "A"}, {"type": "Ready"}, {"type": "B"}]
    made = strategic_patch({"status": {"conditions": present}}, patch)
    assert made == {"status": {"conditions": [present[0], new[1], new[0]]}}


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/a~1b/c~0d", "value": [1]}, {"a/b": {"c~d": [1], "e": 2}}),
        ({"op": "replace", "path": "/a~1b/e", "value": 3}, {"a/b": {"c~d": 1, "e": 3}}),
        ({"op": "remove", "path": "/a~1b/e"}, {"a/b": {"c~d": 1}}),
        ({"op": "move", "from": "/a~1b/e", "path": "/f"}, {"a/b": {"c~d": 1}, "f": 2}),
        ({"op": "copy", "from": "/a~1b/e", "path": "/f"}, {"a/b": {"c~d": 1, "e": 2}, "f": 2}),
        ({"op": "test", "path": "/a~1b/e", "value": 2}, {"a/b": {"c~d": 1, "e": 2}}),
        ({"op": "test", "path": "/a~1b", "value": {"e": 2, "c~d": 1}}, {"a/b": {"c~d": 1, "e": 2}}),
        ({"op": "replace", "path": "", "value": {}}, {}),
    ],
    ids=lambda each: each.get("op"),
)
def test_a_json_patch_of_a_map(operation: dict[str, Any], expected: dict[str, Any]) -> None:
    """RFC 6902, with the keys of its pointers escaped as in RFC 6901."""
    assert json_patch({"a/b": {"c~d": 1, "e": 2}}, [operation]) == expected


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/a", "value": 2},
        {"op": "test", "path": "/b", "value": 1},
        {"op": "remove", "path": "/b"},
        {"op": "remove", "path": "/b/a"},
        {"op": "add", "path": "a", "value": 1},
        {"op": "move", "from": "/b", "path": "/a"},
        {"op": "other", "path": "/a"},
        {"path": "/a"},
    ],
)
def test_a_json_patch_that_does_not_apply(operation: dict[str, Any]) -> None:
    with pytest.raises(ApiError) as raised:
        json_patch({"a": 1}, [operation])
    assert raised.value.code == 422


def test_an_item_without_its_merge_key_cannot_be_merged() -> None:
    """mergepatch.ErrNoMergeKey, an error that the API server does not expect (apimachinery pkg/util/mergepatch/errors.go)."""
    with pytest.raises(ApiError) as raised:
        strategic_patch({"containers": [{"name": "a"}]}, {"containers": [{"image": "x"}]})
    assert (raised.value.code, raised.value.message) == (
        500,
        "map: map[image:x] does not contain declared merge key: name",
    )


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (
            {"$setElementOrder/containers": [{"name": "c"}], "containers": 5},
            "expected a []interface {}, but received a ",
        ),
        ({"$setElementOrder/containers": [1]}, "expected a map[string]interface {}, but received a int64"),
        ({"$setElementOrder/hostname": [], "hostname": "h"}, "expected a []interface {}, but received a string"),
        ({"containers": [True], "$setElementOrder/containers": [{"name": "c"}]}, "received a bool"),
        ({"containers": [{"name": {"x": 1}}]}, "comparing uncomparable type map[string]interface {}"),
    ],
)
def test_directives_of_another_form_are_refused(spec: dict[str, Any], why: str) -> None:
    """Source: apimachinery pkg/util/mergepatch/errors.go (ErrBadArgType)."""
    with pytest.raises(ApiError) as caught:
        strategic_patch({"kind": "Pod", "spec": {"containers": [{"name": "a"}]}}, {"spec": spec})
    assert caught.value.code == 500
    assert why in caught.value.message
