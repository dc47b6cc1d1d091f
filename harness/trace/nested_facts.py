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
    """A filter of a funnel, how many sizes are left after it, and which it takes away; of those that cannot be had, why."""

    closed: Sequence[Mapping[str, Any]]


class _OfPool(TypedDict):
    nodepool: str


class Tried(_OfPool, total=False):
    """A NodePool that was tried: the number of its funnel, and why not, where it says so."""

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
    """One difference between what is expected and what is there."""

    path: str
    expected: str
    found: str
    note: str


class Loop(TypedDict):
    """One loop of a runaway: the virtual seconds of its time, what it made, and why it came."""

    at: float
    made: Sequence[str]
    why: str
