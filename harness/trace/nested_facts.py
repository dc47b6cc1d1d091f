"""The maps inside facts, with the keys of each. A later version may add some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

__all__ = ["Differing", "Filtered", "Leaving", "Loop", "SaidNo", "Tried"]


class _Filter(TypedDict):
    filter: str
    left: int
    removed: str


class Filtered(_Filter, total=False):
    """A filter of a funnel, the number of sizes left after it, and the sizes that it takes away; of those that cannot be had, why."""

    closed: Sequence[Mapping[str, Any]]


class _OfPool(TypedDict):
    nodepool: str


class Tried(_OfPool, total=False):
    """A NodePool that was tried: the number of its funnel, and the reason against it, where there is one."""

    funnel: int
    why: str


class SaidNo(TypedDict):
    """A Node that did not take a pod."""

    node: str
    why: str


class Leaving(TypedDict):
    """A node that goes."""

    node: str
    claim: str
    nodepool: str
    price: float


class Differing(TypedDict):
    """One difference between the expected and the actual state."""

    path: str
    expected: str
    found: str
    note: str


class Loop(TypedDict):
    """One loop of a runaway: the virtual seconds of its time, its new objects, and its reason."""

    at: float
    made: Sequence[str]
    why: str
