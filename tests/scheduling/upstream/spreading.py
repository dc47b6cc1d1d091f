"""Pods with one label that their spread constraints select, and the NodePools for them."""

from __future__ import annotations

from typing import Any

from tests.scheduling.upstream.cloud import CAPACITY, ZONE
from tests.scheduling.upstream.objects import need, nodepool, pods, spread
from tests.scheduling.upstream.trial import Trial

__all__ = ["ANY", "BY_ZONE", "TEST", "TWO", "alike", "any_pool", "narrowed", "zone", "zoned"]

Json = dict[str, Any]

TEST = {"test": "test"}
ANY = need(CAPACITY, "Exists")
BY_ZONE = spread(ZONE, TEST)
TWO = ("test-zone-1", "test-zone-2")


def any_pool(name: str = "default", *requirements: Json, **fields: Any) -> Json:
    """A NodePool of any capacity type, unless it requires something else."""
    return nodepool(name, *(requirements or (ANY,)), **fields)


def zoned(*zones: str, **fields: Any) -> Json:
    """A NodePool of these zones."""
    return nodepool("default", need(ZONE, "In", *zones), **fields)


def alike(count: int, *rules: Json, prefix: str = "pod", **fields: Any) -> list[Json]:
    """Pods with the label that the constraints select."""
    return pods(count, prefix, labels=TEST, topologySpreadConstraints=list(rules), **fields)


def narrowed(cluster: Trial, *requirements: Json) -> None:
    """The NodePool requires something else from now on."""
    cluster.pools[:] = [nodepool("default", *requirements)]


def zone(*names: str) -> Json:
    """A requirement of zones."""
    return need(ZONE, "In", *names)
