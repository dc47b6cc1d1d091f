"""The scale subresource of NodePools: numbers that no Scale can carry are refused, in releases whose definition has it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.karpenter.validation import admit, crd_set
from harness.kube.custom_resources.scale import Scale, scale_errors
from tests.admission.objects import nodepool

SPEC, STATUS = ".spec.replicas", ".status.nodes"
_ACCESSOR = "Invalid value: 0: {} accessor error: {} is of the type {}, expected {}"


def messages(replicas: Any, release: str, kubernetes: str = "1.36.3") -> list[str]:
    pool = nodepool(of_pool={"replicas": replicas})
    return [str(error) for error in admit(pool, crds=crd_set(release), kubernetes=kubernetes).errors]


@pytest.mark.parametrize("release", ["1.10.0", "1.14.0"])
@pytest.mark.parametrize(
    ("replicas", "texts"),
    [
        (0, []),
        (2**31 - 1, []),
        (2**31, [f"{SPEC}: Invalid value: 2147483648: should be less than or equal to 2147483647"]),
        (3_000_000_000, [f"{SPEC}: Invalid value: 3000000000: should be less than or equal to 2147483647"]),
        (2.0, [f"{SPEC}: {_ACCESSOR.format(SPEC, 2, 'float64', 'int64')}"]),
    ],
)
def test_replicas_that_a_scale_cannot_carry(release: str, replicas: Any, texts: list[str]) -> None:
    assert [text for text in messages(replicas, release) if text.startswith(".")] == texts


def test_what_the_schema_refuses_is_refused_twice() -> None:
    assert messages(-1, "1.14.0") == [
        "spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0",
        f"{SPEC}: Invalid value: -1: should be a non-negative integer",
    ]


@pytest.mark.parametrize("release", ["1.4.0", "1.7.2"])
def test_older_definitions_have_no_scale(release: str) -> None:
    assert messages(3_000_000_000, release) == []


@pytest.mark.parametrize(
    ("obj", "subresource", "texts"),
    [
        ({"spec": {"replicas": -1}, "status": {"nodes": -1}}, "status", [f"{STATUS}: Invalid value: -1: should be a non-negative integer"]),
        ({"spec": {"replicas": None}}, "", [f"{SPEC}: {_ACCESSOR.format(SPEC, '<nil>', '<nil>', 'int64')}"]),
        ({"spec": "x"}, "", [f"{SPEC}: {_ACCESSOR.format(SPEC, 'x', 'string', 'map[string]interface{}')}"]),
        ({"spec": {"replicas": [1]}}, "", [f"{SPEC}: {_ACCESSOR.format(SPEC, '[1]', '[]interface {}', 'int64')}"]),
        ({"spec": None, "status": {}}, "", []),
    ],
)  # fmt: skip
def test_the_status_alone_is_asked_where_nothing_else_is_written(obj: Any, subresource: str, texts: list[str]) -> None:
    assert [str(error) for error in scale_errors(Scale(SPEC, STATUS), obj, subresource=subresource)] == texts


def test_the_selector_is_a_text() -> None:
    scale = Scale.from_definition(
        {"specReplicasPath": SPEC, "statusReplicasPath": STATUS, "labelSelectorPath": ".status.selector"}
    )
    (error,) = scale_errors(scale, {"status": {"selector": {}}})
    assert str(error) == (
        '.status.selector: Invalid value: "": .status.selector accessor error: map[] is of the type '
        "map[string]interface {}, expected string"
    )
