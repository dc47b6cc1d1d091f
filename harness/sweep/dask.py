"""The workers of a Dask cluster as an engine: what they bring, what is waited for meanwhile, and the end where nobody works."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any

from harness.sweep.engines import Batch, EngineLost, EngineMissing, Row, failed_rows, run_batch
from harness.wording import counted, duration_text, first_few

__all__ = ["Dask"]

_CONNECT = "10s"
_QUIET = 10.0
"""Seconds without a row after which one is told who is waited for."""
_NAMED = 3


class Dask:
    """Runs batches on a cluster. Dask itself gives the batches of a worker that is lost to another one."""

    def __init__(self, address: str, wait: float, tell: Callable[[str], None], quiet: float = _QUIET) -> None:
        """Connect to a scheduler.

        `wait`: seconds in which nobody works on any situation, before the end; `quiet`: seconds without a row before `tell` gets a line.
        Raises EngineMissing.
        """
        try:
            from distributed import Client, as_completed
        except ImportError as error:
            raise EngineMissing(
                "a Dask cluster needs the package distributed: pip install 'karpenter-azure-harness[sweep]'"
            ) from error
        connect: Any = Client  # newer versions say something of its types, and not all
        self._completed: Any = as_completed
        self._address, self._wait, self._tell, self._quiet = address, wait, tell, quiet
        try:
            self._client: Any = connect(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise EngineMissing(f"no Dask scheduler answers at {address}") from error

    @property
    def width(self) -> int:
        """Return how many situations run at a time."""
        threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def __call__(self, todo: Sequence[Batch]) -> Iterator[list[tuple[str, Row]]]:
        """Yield the rows of each batch when it is done. Raises EngineLost where nobody works on the rest for so long."""
        futures = self._client.map(run_batch, todo, pure=False)
        left: dict[str, Batch] = {future.key: batch for future, batch in zip(futures, todo, strict=True)}
        ended: SimpleQueue[tuple[Any, Any]] = SimpleQueue()
        Thread(target=self._fetch, args=(futures, ended), daemon=True).start()
        try:
            yield from self._rows(left, ended)
        finally:
            with suppress(
                OSError, TimeoutError, RuntimeError
            ):  # where the scheduler is gone there is nothing to take back
                self._client.cancel(futures, force=True)
            self._client.close(timeout=1)

    def _fetch(self, futures: Sequence[Any], ended: SimpleQueue[tuple[Any, Any]]) -> None:
        """Hand on what is done, with its rows: a worker that dies later takes none of them along."""
        with suppress(Exception):  # the client is closed, and nobody listens any more
            for future, result in self._completed(
                futures, with_results=True, raise_errors=False, loop=self._client.loop
            ):
                ended.put((future, result))

    def _rows(self, left: dict[str, Batch], ended: SimpleQueue[tuple[Any, Any]]) -> Iterator[list[tuple[str, Row]]]:
        busy = monotonic()
        while left:
            try:
                future, result = ended.get(timeout=min(self._quiet, max(self._wait / 10, 0.1)))
            except Empty:
                working = self._working(left)
                if working:
                    busy = monotonic()
                self._tell(_waiting(left, working))
                if monotonic() - busy >= self._wait:
                    raise EngineLost(f"nobody has worked for {duration_text(self._wait)} ({self._address})") from None
                continue
            busy = monotonic()
            if future.status == "cancelled":  # the scheduler has begun anew, or somebody else has ended it
                raise EngineLost(f"the scheduler at {self._address} has dropped what it was given")
            batch = left.pop(future.key)
            yield result if future.status == "finished" else failed_rows(batch, result[1])

    def _working(self, left: Mapping[str, Batch]) -> dict[str, list[str]]:
        """Return worker → keys of the batches that it has; nothing where the scheduler does not answer."""
        try:
            processing: Mapping[str, Sequence[str]] = self._client.processing()
        except Exception:
            return {}
        return {worker: own for worker, keys in processing.items() if (own := [key for key in keys if key in left])}


def _waiting(left: Mapping[str, Batch], working: Mapping[str, Sequence[str]]) -> str:
    """Return a line of who is waited for: `waiting: tcp://10.0.0.5:4123 (2 situations of eastus); 12 situations have no worker`."""
    parts = [f"{worker} ({_situations([left[key] for key in keys])})" for worker, keys in sorted(working.items())]
    taken = {key for keys in working.values() for key in keys}
    others = [batch for key, batch in left.items() if key not in taken]
    text = [first_few(parts, _NAMED)] if parts else []
    if others:
        text.append(f"{_situations(others)} {'has' if sum(map(_count, others)) == 1 else 'have'} no worker")
    return f"waiting: {'; '.join(text)}"


def _count(batch: Batch) -> int:
    return len(batch.planned)


def _situations(batches: Sequence[Batch]) -> str:
    regions = dict.fromkeys(planned.situation.region for batch in batches for planned in batch.planned)
    named = first_few([region for region in regions if region], _NAMED)
    return counted(sum(map(_count, batches)), "situation") + (f" of {named}" if named else "")
