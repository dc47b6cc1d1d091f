"""Which instance types disruption sees."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.karpenter.cloudprovider import UnevaluatedNodePool
from harness.karpenter.disruption.observer import Observer
from harness.karpenter.instancetypes import NoInstanceTypes
from tests.disruption.fleet import Json, nodepool


def types(nodeclass: Json | None, problem: Exception | None = None, **pool: Any) -> Any:
    def sold(name: str, found: Json) -> tuple[str, ...]:
        if problem is not None:
            raise problem
        return (name,)

    made: Any = Observer
    view = SimpleNamespace(get=lambda kind, name: nodeclass if (kind, name) == ("AKSNodeClass", "default") else None)
    observer = made(view, None, SimpleNamespace(for_nodepool=sold), None, None, None, None, None)
    return observer.types({**nodepool(), **pool})


@pytest.mark.parametrize(
    ("nodeclass", "found"),
    [
        ({"metadata": {"name": "default"}}, ("pool",)),
        ({"metadata": {"name": "default", "deletionTimestamp": "2026-01-07T10:00:00Z"}}, ()),
        (None, ()),
    ],
)
def test_there_are_none_while_the_nodeclass_is_gone_or_goes(nodeclass: Json | None, found: tuple[str, ...]) -> None:
    assert types(nodeclass) == found


def test_there_are_none_where_nothing_is_allowed_or_overlays_are_not_evaluated() -> None:
    nodeclass = {"metadata": {"name": "default"}}
    assert types(nodeclass, NoInstanceTypes()) == types(nodeclass, UnevaluatedNodePool("pool")) == ()
    assert types(nodeclass, spec={"template": {"spec": {}}}) == ()
