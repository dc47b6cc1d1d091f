"""The engines that run situations: processes of this machine, or the workers of a Dask cluster. Both run the same function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from threading import get_ident
from typing import TYPE_CHECKING, Protocol, TypeAlias

from harness.sweep.result import OUTCOME, Value

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from harness.kube.api.objects import Object
    from harness.sweep.plan import Plan, Planned
    from harness.world.caches import Caches

__all__ = ["Batch", "Engine", "EngineLost", "EngineMissing", "Local", "Row", "batches", "failed_rows", "run_batch"]

Row: TypeAlias = dict[str, Value]

_LEAST, _MOST = 2, 48
"""Situations of one batch: many enough that a worker shares what they have in common, few enough that little is lost with it."""
_OVER_TIME = 2
"""The same where time passes: that takes seconds each, and what they share is little of it."""
_TURNS = 4
"""Batches per worker at least, so that all end at about the same time."""

_RECORDS, _LISTS, _INDEXES = 2, 3, 8
"""Regions, pairs of region and release, and lists of instance types, of which a worker keeps what it made."""


class EngineMissing(Exception):
    """A package, or a scheduler, that is not there."""


class EngineLost(Exception):
    """Workers that are gone while there is something to do for them."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Situations of one region, which share instance types, ordered by release, and the manifests that they name."""

    planned: tuple[Planned, ...]
    manifests: Mapping[str, Sequence[Object]]


class Engine(Protocol):
    """Runs batches; yields key and outcome of what is done, in any order. `width` is how many run at a time."""

    @property
    def width(self) -> int: ...

    def __call__(self, todo: Sequence[Batch]) -> Iterator[list[tuple[str, Row]]]: ...


def batches(plan: Plan, rows: Mapping[str, Row], width: int = 1) -> list[Batch]:
    """Return the situations that are still to be run, for so many workers: by region, and in it by release."""
    todo = list({planned.key: planned for planned in plan.planned if planned.key not in rows}.values())
    slow = any(planned.situation.until for planned in todo)
    size = _OVER_TIME if slow else min(_MOST, max(_LEAST, ceil(len(todo) / (_TURNS * width))))
    regions: dict[str, list[Planned]] = {}
    for listed in todo:
        regions.setdefault(listed.situation.region or "", []).append(listed)
    for group in regions.values():
        group.sort(key=lambda planned: planned.situation.karpenter or "")
    parts = [group[start : start + size] for group in regions.values() for start in range(0, len(group), size)]
    return [
        Batch(tuple(part), {planned.manifests: plan.manifests[planned.manifests] for planned in part}) for part in parts
    ]


def run_batch(batch: Batch) -> list[tuple[str, Row]]:
    """Return key and outcome of each situation; one that cannot be run is a row that says why."""
    from harness.sweep.simulation import simulate

    caches = _caches(get_ident())
    rows: list[tuple[str, Row]] = []
    for planned in batch.planned:
        try:
            row = simulate(*batch.manifests[planned.manifests], situation=planned.situation, caches=caches).row()
        except Exception as error:  # the other situations are none the worse
            row = {**dict.fromkeys(OUTCOME), "error": f"{type(error).__name__}: {error}"}
        rows.append((planned.key, row))
    return rows


@lru_cache(maxsize=8)
def _caches(thread: int) -> Caches:
    """Return the common data of the worlds of a thread: little, since a worker that comes around must not keep all
    regions and releases.
    """
    from harness.karpenter.scheduling import CatalogIndexes
    from harness.world.caches import Caches, ListsInUse, default_caches

    return Caches(default_caches().catalogue, ListsInUse(_LISTS, records=_RECORDS), CatalogIndexes(_INDEXES))


def failed_rows(batch: Batch, error: BaseException) -> list[tuple[str, Row]]:
    """Return the rows of a batch that nobody could run, for example because each worker ended that took it."""
    row = {**dict.fromkeys(OUTCOME), "error": f"{type(error).__name__}: {error}"}
    return [(planned.key, dict(row)) for planned in batch.planned]


class Local:
    """Runs batches in processes of this machine."""

    def __init__(self, processes: int) -> None:
        self._processes = processes

    @property
    def width(self) -> int:
        """Return the number of processes."""
        return self._processes

    def __call__(self, todo: Sequence[Batch]) -> Iterator[list[tuple[str, Row]]]:
        if self._processes == 1 or len(todo) < 2:
            yield from map(run_batch, todo)
            return
        from multiprocessing import get_context

        context = get_context("spawn")
        hears, speaks = context.Pipe(duplex=False)
        try:
            with context.Pool(min(self._processes, len(todo)), initializer=_begin, initargs=(hears,)) as pool:
                yield from pool.imap_unordered(run_batch, todo)
        finally:
            speaks.close()
            hears.close()


def _begin(lifeline: Connection) -> None:
    """Set up a process that the one that started it ends, and that ends with it."""
    import signal

    from harness.scenario.running.processes import end_with

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(lifeline)
