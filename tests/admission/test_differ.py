"""Whether two objects differ in anything but some fields."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.objects import differ

OLD: dict[str, Any] = {"kind": "K", "metadata": {"name": "a"}, "spec": {"a": 1}, "data": None}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, False),
        ({"metadata": {"name": "b"}}, False),
        ({"status": {"phase": "Ready"}}, False),
        ({"spec": {"a": 1}}, False),  # equal, not the same
        ({"spec": {"a": 2}}, True),
        ({"spec": None}, True),
        ({"more": 1}, True),
        ({"more": None}, False),
        ({"data": {}}, True),
    ],
)
def test_another_field(change: dict[str, Any], expected: bool) -> None:
    new = {**OLD, **change}
    outside = frozenset({"metadata", "status"})
    assert differ(new, OLD, outside=outside) is expected
    assert differ(OLD, new, outside=outside) is expected


def test_a_field_that_is_gone() -> None:
    less = {name: value for name, value in OLD.items() if name != "spec"}
    assert differ(less, OLD, outside=())
    assert not differ({name: value for name, value in OLD.items() if name != "data"}, OLD, outside=())
