"""Makes a mismatching request as small as it can be while it still shows the same cause."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["shrink", "size"]

Json = dict[str, Any]
Path = tuple[str | int, ...]

BATCH = 32


def shrink(request: Json, failing: Callable[[Sequence[Json]], Sequence[bool]], *, seconds: float = 20.0) -> Json:
    """The smallest request that `failing` still says True of, by leaving out parts; at most about `seconds` of asking.

    `failing` judges several requests at once. ``op`` and ``catalog`` stay.
    """
    deadline = time.monotonic() + seconds
    best = request
    again = True
    while again and time.monotonic() < deadline:
        again = False
        for depth in range(1, 12):
            paths = [path for path in _paths(best) if len(path) == depth]
            while paths and time.monotonic() < deadline:
                batch, paths = paths[:BATCH], paths[BATCH:]
                smaller, gone = _leave_out(best, batch, failing)
                if gone:
                    best, again = smaller, True
                    paths = [path for path in _paths(best) if len(path) == depth and path not in batch]
                    if any(isinstance(path[-1], int) for path in gone):
                        break  # the indices of a list have moved: look again
    return best


def size(value: Any) -> int:
    """How many values a JSON value is made of."""
    if isinstance(value, dict):
        return 1 + sum(size(item) for item in value.values())
    return 1 + sum(size(item) for item in value) if isinstance(value, list) else 1


def _leave_out(
    request: Json, paths: Sequence[Path], failing: Callable[[Sequence[Json]], Sequence[bool]]
) -> tuple[Json, list[Path]]:
    """`request` without those of `paths` that do not matter: all of them when they do not matter together, else one."""
    verdicts = failing([_without(request, [path]) for path in paths])
    free = [path for path, still in zip(paths, verdicts, strict=True) if still]
    if not free:
        return request, []
    if len(free) > 1:
        together = _without(request, free)
        if failing([together])[0]:
            return together, free
    return _without(request, free[:1]), free[:1]


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every part that can be left out, later list items first."""
    if isinstance(value, dict):
        for key in value:
            if path or key not in ("op", "catalog"):
                yield (*path, key)
                yield from _paths(value[key], (*path, key))
    elif isinstance(value, list):
        for index in reversed(range(len(value))):
            yield (*path, index)
            yield from _paths(value[index], (*path, index))


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
