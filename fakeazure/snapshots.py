"""A world put away and taken out again: what is there, what is used of which quota, what is left, which faults have fired.

A snapshot is Python's own pickle behind a line that says what it is: read only those that you made.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

from fakeazure.arm.operations import RUNNING
from fakeazure.state import State

_MARK = b"fakeazure snapshot 3\n"
_FILE = "world.snapshot"
_STATE = (
    "vms", "addresses", "nic_reservations", "subscriptions", "groups", "assignments", "instances", "next_instance",
    "kubeconfigs", "guids", "operations",
)  # fmt: skip
_SAME = ("location", "subscription", "tenant", "cluster", "resource_group", "node_resource_group")
_MARKET = ("quota", "restrictions", "stock", "faults", "prices", "images", "reservations")


class _Pickler(pickle.Pickler):
    """Leaves out what the world that it is restored into has of its own: timers, the catalogue."""

    def __init__(self, file: Any, own: dict[int, str]) -> None:
        super().__init__(file)
        self._own = own

    def persistent_id(self, value: Any) -> str | None:
        return self._own.get(id(value))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, own: dict[str, Any]) -> None:
        super().__init__(file)
        self._own = own

    def persistent_load(self, name: Any) -> Any:
        return self._own[name]


def _own(state: State) -> dict[str, Any]:
    return {"timers": state.timers, "catalogue": state.market.catalogue, "events": state.events}


def taken(state: State) -> bytes:
    """A snapshot. ValueError while long operations are running."""
    running = state.operations.running()
    if running or state.timers.next_due() is not None:
        what = ", ".join(sorted({one.kind for one in running if one.status == RUNNING})) or "something"
        raise ValueError(f"no snapshot while operations are running: {what}")
    file = io.BytesIO()
    kept = {
        "names": state.settings,
        "state": {name: getattr(state, name) for name in _STATE},
        "market": {name: getattr(state.market, name) for name in _MARKET},
        "store": [(entry.id, entry.document) for entry in state.store.all()],
    }
    _Pickler(file, {id(value): name for name, value in _own(state).items()}).dump(kept)
    return _MARK + file.getvalue()


def put_back(state: State, snapshot: bytes) -> None:
    """Fill a new state from a snapshot. ValueError for bytes that are no snapshot."""
    if not snapshot.startswith(_MARK):
        raise ValueError("this is no snapshot of fakeazure, or one of another version")
    try:
        kept = _Unpickler(io.BytesIO(snapshot[len(_MARK) :]), _own(state)).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"the snapshot cannot be read: {error}") from None
    for name in _SAME:
        was, now = getattr(kept["names"], name), getattr(state.settings, name)
        if was != now:
            raise ValueError(f"the snapshot is of another world: its {name.replace('_', ' ')} is {was}, not {now}")
    for name, value in kept["state"].items():
        setattr(state, name, value)
    for name, value in kept["market"].items():
        setattr(state.market, name, value)
    for entry in state.store.all():
        state.store.remove(entry.id)
    for id_, document in kept["store"]:
        state.store.put(id_, document)


def write(folder: Path, snapshot: bytes) -> None:
    """Keep a snapshot in a folder: the one before stays until this one is whole. OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / f"{_FILE}.new"
    new.write_bytes(snapshot)
    new.replace(folder / _FILE)


def read(folder: Path) -> bytes | None:
    """The snapshot in a folder; None where there is none."""
    path = folder / _FILE
    return path.read_bytes() if path.exists() else None
