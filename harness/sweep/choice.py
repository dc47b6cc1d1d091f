"""The engine that somebody names."""

from __future__ import annotations

from collections.abc import Callable

from harness.sweep.engines import Engine, Local

__all__ = ["engine_of"]


def engine_of(text: str, processes: int, wait: float, tell: Callable[[str], None]) -> Engine:
    """Return the engine that `local` or `dask://HOST:PORT` names; `wait` and `tell` as for `Dask`.

    Raises ValueError for another name, EngineMissing for what is not there.
    """
    if text == "local":
        return Local(processes)
    if text.startswith("dask://") and text.removeprefix("dask://"):
        from harness.sweep.dask import Dask

        return Dask(f"tcp://{text.removeprefix('dask://')}", wait, tell)
    raise ValueError(f"'{text}': local or dask://HOST:PORT is expected")
