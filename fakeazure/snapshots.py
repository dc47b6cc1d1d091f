"""A world put away and taken out again: what is there, what is used of which quota, what is left, which faults have fired.

A snapshot is Python's own pickle behind a line that says what it is: read only those that you made.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from fakeazure.arm.operations import RUNNING
from fakeazure.state import State

_MARK = b"fakeazure snapshot 1\n"
_STATE = (
    "vms", "addresses", "nic_reservations", "subscriptions", "groups", "assignments", "instances", "next_instance",
    "kubeconfigs", "guids", "operations",
)  # fmt: skip
_MARKET = ("quota", "restrictions", "stock", "faults", "prices", "images")


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
        "state": {name: getattr(state, name) for name in _STATE},
        "market": {name: getattr(state.market, name) for name in _MARKET},
        "store": [(entry.id, entry.document) for entry in state.store.all()],
    }
    _Pickler(file, {id(value): name for name, value in _own(state).items()}).dump(kept)
    return _MARK + file.getvalue()


def put_back(state: State, snapshot: bytes) -> None:
    """Let a new state be as the snapshot. ValueError for what is none."""
    if not snapshot.startswith(_MARK):
        raise ValueError("this is no snapshot of fakeazure, or one of another version")
    kept = _Unpickler(io.BytesIO(snapshot[len(_MARK) :]), _own(state)).load()
    for name, value in kept["state"].items():
        setattr(state, name, value)
    for name, value in kept["market"].items():
        setattr(state.market, name, value)
    for entry in state.store.all():
        state.store.remove(entry.id)
    for id_, document in kept["store"]:
        state.store.put(id_, document)
