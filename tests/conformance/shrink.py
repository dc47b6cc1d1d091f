"""Makes a mismatching request as small as it can be while it still shows the same cause."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["shrink", "size"]

Json = dict[str, Any]
Path = tuple[str | int, ...]

# what tells objects apart: without it a cluster would be one that cannot be
_OF_A_CLUSTER = frozenset({"metadata", "name", "namespace", "uid", "nodeName", "providerID"})
IDENTITY: dict[str, frozenset[str]] = dict.fromkeys(("schedule", "disrupt", "lifetimes"), _OF_A_CLUSTER)

Failing = Callable[[Json], bool]

# what a question of this op must keep: a launch chooses at random what the claim does not pin; an object without a name is no scenario
PINNED: dict[str, tuple[Path, ...]] = {
    "validate_nodepool": (("object", "apiVersion"), ("object", "kind"), ("object", "metadata", "name")),
    "update": tuple(
        (name, *path) for name in ("old", "object") for path in (("apiVersion",), ("kind",), ("metadata", "name"))
    ),
    "labels": tuple(("nodeclaim", "spec", "requirements", number) for number in range(3)),
}


def shrink(request: Json, failing: Failing, *, seconds: float = 20.0) -> Json:
    """The smallest request that `failing` still says True of, by leaving out parts; at most about `seconds` of asking.

    ``op`` and ``catalog`` stay.
    """
    deadline = time.monotonic() + seconds
    best, before = request, size(request) + 1
    while size(best) < before and time.monotonic() < deadline:
        before = size(best)
        for depth in range(1, max(len(path) for path in _parts(best, ())) + 1):
            paths = [path for path in _paths(best) if len(path) == depth]
            if paths:
                best = _without(best, _left_out(best, [], paths, failing, deadline))
    return best


def size(value: Any) -> int:
    """How many values a JSON value is made of."""
    if isinstance(value, dict):
        return 1 + sum(size(item) for item in value.values())
    return 1 + sum(size(item) for item in value) if isinstance(value, list) else 1


def _left_out(request: Json, gone: list[Path], paths: list[Path], failing: Failing, deadline: float) -> list[Path]:
    """`gone` and those of `paths` that `request` can do without beside them, found by halving."""
    if time.monotonic() > deadline:
        return gone
    if failing(_without(request, [*gone, *paths])):
        return [*gone, *paths]
    if len(paths) == 1:
        return gone
    half = len(paths) // 2
    gone = _left_out(request, gone, paths[:half], failing, deadline)
    return _left_out(request, gone, paths[half:], failing, deadline)


def _paths(request: Json) -> Iterator[Path]:
    """Every part that can be left out, later list items first."""
    pinned, identity = (table.get(str(request.get("op")), ()) for table in (PINNED, IDENTITY))
    for path in _parts(request, ()):
        kept = path in (("op",), ("catalog",)) or any(
            one[: len(path)] == path or path[: len(one)] == one for one in pinned
        )
        kept = kept or (len(path) > 2 and path[-1] in identity)
        if not kept:
            yield path


def _parts(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, dict):
        items: Sequence[tuple[str | int, Any]] = list(value.items())
    else:
        items = list(enumerate(value))[::-1] if isinstance(value, list) else []
    for step, item in items:
        yield (*path, step)
        yield from _parts(item, (*path, step))


def _without(request: Json, paths: Sequence[Path]) -> Json:
    smaller: Any = copy.deepcopy(request)
    # all paths are equally long, so only the last step of one can move another's: from the end of lists
    for path in sorted(paths, key=lambda path: path[-1] if isinstance(path[-1], int) else -1, reverse=True):
        holder = smaller
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]
    assert isinstance(smaller, dict)
    return smaller
