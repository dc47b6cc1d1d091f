"""Who runs the situations: processes of this machine, or the workers of a Dask cluster. Both run the same function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from harness.sweep.result import OUTCOME, Value

if TYPE_CHECKING:
    from harness.kube.api.objects import Object
    from harness.sweep.plan import Plan, Planned

__all__ = ["Batch", "Engine", "EngineMissing", "batches", "engine_of", "run_batch"]

Row: TypeAlias = dict[str, Value]

_MOST = 16
"""Situations of one batch: few enough that little is lost with a worker, many enough that a worker shares what they have in common."""


class EngineMissing(Exception):
    """A package, or a scheduler, that is not there."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Situations of one region and release, which share instance types, and the manifests that they name."""

    planned: tuple[Planned, ...]
    manifests: Mapping[str, Sequence[Object]]


Engine: TypeAlias = Callable[[Sequence[Batch]], Iterator[list[tuple[str, Row]]]]


def batches(plan: Plan, known: Mapping[str, Row]) -> list[Batch]:
    """Returns what is still to be run, by region and release."""
    groups: dict[tuple[str | None, str | None], list[Planned]] = {}
    for each in plan.planned:
        if each.key not in known:
            groups.setdefault((each.situation.region, each.situation.karpenter), []).append(each)
    parts = [group[start : start + _MOST] for group in groups.values() for start in range(0, len(group), _MOST)]
    return [Batch(tuple(part), {each.manifests: plan.manifests[each.manifests] for each in part}) for part in parts]


def run_batch(batch: Batch) -> list[tuple[str, Row]]:
    """Returns key and outcome of each situation; one that cannot be run is a row that says why."""
    from harness.sweep.simulation import simulate
    from harness.world.caches import Caches, default_caches

    # instance types are for this batch: a worker that comes around must not keep those of all regions and releases
    caches = Caches(default_caches().catalogue)
    rows: list[tuple[str, Row]] = []
    for each in batch.planned:
        try:
            row = simulate(*batch.manifests[each.manifests], situation=each.situation, caches=caches).row()
        except Exception as error:  # the other situations are none the worse
            row = {**dict.fromkeys(OUTCOME), "error": f"{type(error).__name__}: {error}"}
        rows.append((each.key, row))
    return rows


def engine_of(text: str, processes: int) -> Engine:
    """Returns the engine that `local` or `dask://HOST:PORT` names.

    Raises ValueError for another name, EngineMissing for what is not there.
    """
    if text == "local":
        return _Local(processes)
    if text.startswith("dask://") and text.removeprefix("dask://"):
        return _Dask(f"tcp://{text.removeprefix('dask://')}")
    raise ValueError(f"'{text}': local or dask://HOST:PORT is expected")


class _Local:
    def __init__(self, processes: int) -> None:
        self._processes = processes

    def __call__(self, todo: Sequence[Batch]) -> Iterator[list[tuple[str, Row]]]:
        if self._processes == 1 or len(todo) < 2:
            yield from map(run_batch, todo)
            return
        from multiprocessing import get_context

        with get_context("spawn").Pool(min(self._processes, len(todo)), initializer=_ignore_interrupts) as pool:
            yield from pool.imap_unordered(run_batch, todo)


def _ignore_interrupts() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it


class _Dask:
    def __init__(self, address: str) -> None:
        try:
            from distributed import Client, as_completed
        except ImportError as error:
            raise EngineMissing(
                "a Dask cluster needs the package distributed: pip install 'karpenter-azure-harness[sweep]'"
            ) from error
        connect: Any = Client  # newer versions say something of its types, and not all
        self._completed: Any = as_completed
        try:
            self._client: Any = connect(address, timeout="10s", set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise EngineMissing(f"no Dask scheduler answers at {address}") from error

    def __call__(self, todo: Sequence[Batch]) -> Iterator[list[tuple[str, Row]]]:
        futures = self._client.map(run_batch, todo, pure=False)
        try:
            for future in self._completed(futures, loop=self._client.loop):
                yield future.result()
        finally:
            self._client.cancel(futures)
            self._client.close()
