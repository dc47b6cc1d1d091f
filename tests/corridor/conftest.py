"""Manifests of a small world, and the way through it."""

import copy
from typing import Any

import pytest

from harness.engine.engine import Settled
from harness.testing import requirement
from harness.world import World

Object = dict[str, Any]


SMALL = requirement("node.kubernetes.io/instance-type", "Standard_D2as_v6", "Standard_D2_v3")


def requires(key: str, operator: str, *values: str) -> Object:
    term = {"matchExpressions": [requirement(key, *values, operator=operator)]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": required}}


class Walk:
    """A world in which objects were applied and everything came to rest."""

    def __init__(self, *objects: Object, allow_rejections: bool = False, **world: Any) -> None:
        self.world = World(**world)
        self.rejections = self.world.apply(*(copy.deepcopy(each) for each in objects))
        self.settled: Settled = self.world.settle(allow_rejections=allow_rejections)

    @property
    def node(self) -> Object:
        (only,) = self.world.list("Node")
        return only

    @property
    def claim(self) -> Object:
        (only,) = self.world.list("NodeClaim")
        return only

    def writes(self, key: str) -> list[tuple[str, str, str | None, str | None]]:
        found = self.world.writes(self.node["metadata"]["name"])
        return [(write.kind.value, write.by, write.from_, write.value) for write in found.get(key, ())]

    def calls(self, *methods: str) -> list[tuple[float, str, str, int, str | None]]:
        """Calls to Azure: seconds since the start, method, `type/name`, status, error code."""
        start = 1767225600.0
        return [
            (round(call.time - start, 3), call.method, "/".join(call.path.split("/")[-2:]), call.status, call.code)
            for call in self.world.calls()
            if call.method in methods
        ]

    def messages(self, reason: str) -> list[str]:
        return [event.message for event in self.world.events if event.reason == reason and event.source == "karpenter"]


@pytest.fixture
def walk() -> type[Walk]:
    return Walk
