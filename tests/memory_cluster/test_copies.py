"""Copies of JSON-shaped values are whole, and of plain dicts and lists."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from harness.kube.api.objects import copy_json


class Text(str):
    """A str that is none of JSON's own types."""


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "a", Text("b"), [], {}, {"a": [{"b": None}, 2]}])
def test_a_copy_is_equal(value: Any) -> None:
    assert copy_json(value) == value


def test_nothing_in_a_copy_is_shared() -> None:
    inner: dict[str, Any] = {"b": []}
    made = copy_json(MappingProxyType({"a": (inner,), "c": [inner]}))
    assert made == {"a": [{"b": []}], "c": [{"b": []}]}
    assert (type(made), type(made["a"])) == (dict, list)
    made["a"][0]["b"].append(1)
    made["c"][0]["b"].append(2)
    assert inner == {"b": []}


def test_what_json_has_not_is_refused() -> None:
    with pytest.raises(TypeError, match="not JSON-shaped: object"):
        copy_json({"a": object()})
