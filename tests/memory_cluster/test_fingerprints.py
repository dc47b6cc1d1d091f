"""Equal JSON values have one key, whatever they are kept in."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from harness.kube.api.fingerprint import fingerprint
from harness.kube.api.objects import Frozen

SHARED = "".join(["a text", " of its own"])
PROXY = MappingProxyType({"size": "small"})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": PROXY}, {"a": {"size": "small"}}),
        ({"a": Frozen({"size": "small"})}, {"a": {"size": "small"}}),
        ([SHARED, SHARED], ["a text of its own", "".join(["a text of its", " own"])]),
        ([SHARED, SHARED, PROXY], ["a text of its own", "".join(["a text of its", " own"]), PROXY]),
    ],
)
def test_equal_values(one: Any, other: Any) -> None:
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(
    ("one", "other"), [({"a": 1}, {"a": 2}), ({"a": PROXY}, {"a": {"size": "large"}}), ([1], ["1"])]
)
def test_different_values(one: Any, other: Any) -> None:
    assert fingerprint(one) != fingerprint(other)
