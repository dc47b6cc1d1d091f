"""A world put away and taken out again: what is there, what is under way, what is used of which quota, what is left, which faults fired.

A snapshot is data. It is read by the field, each by its own type (`layout`), and nothing in it is ever run.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from fakeazure.arm.operations import Operations
from fakeazure.guids import Guids
from fakeazure.snapshots.envelope import check_envelope, check_resource
from fakeazure.snapshots.files import packed, unpacked
from fakeazure.snapshots.layout import FIELDS, GUIDS, SHARED, STORE, world_kinds
from fakeazure.snapshots.values import Json, Reader, Unreadable, Writer, at
from fakeazure.state import State

__all__ = ["put_back", "taken"]

_SAME = ("location", "subscription", "tenant", "cluster", "resource_group", "node_resource_group")
_DOCUMENTS = ("groups", "assignments", "scoped")
"""Fields of ARM documents that are not in the store."""
_BESIDE = MappingProxyType(
    {
        "microsoft.compute/virtualmachines": "vms",
        "microsoft.compute/virtualmachinescalesets/virtualmachines": "instances",
        "microsoft.network/virtualnetworks/subnets": "addresses",
    }
)
"""Type → the field with what this cloud knows beside the document of each such resource, by the resource's key."""
_PARTS = ("world", "time", "guids", "fields", "store", "tables")


def taken(state: State) -> bytes:
    """Return a snapshot of a state, with what is under way. ValueError for what no snapshot can hold, with the path to it."""
    if state.timers.running:
        raise ValueError("no snapshot while something happens: take it after the request, or after run_until")
    writer, kinds = Writer(), world_kinds()
    fields = {
        _name(path): kinds[hint].write(attrgetter(path)(state), writer, _name(path)) for path, hint in FIELDS.items()
    }
    guids = state.guids
    return packed(
        {
            "world": {name: getattr(state.settings, name) for name in _SAME},
            "time": state.now(),
            "guids": [guids._seed, guids._count] if isinstance(guids, Guids) else None,
            "fields": fields,
            "store": kinds[STORE].write((list(state.store.all()), state.store.history), writer, "store"),
            "tables": writer.tables,
        }
    )


def put_back(state: State, snapshot: bytes) -> float:
    """Fill a new state from a snapshot. Returns the snapshot's time, in seconds since the epoch.

    ValueError for bytes that are no snapshot of such a world, with the path to what is wrong; the state is then as it was.
    """
    document, kinds = unpacked(snapshot), world_kinds()
    for part in dict.fromkeys((*_PARTS, *document)):
        if part not in _PARTS or part not in document:
            raise Unreadable(ascii(part)[:80], "unknown" if part in document else "missing")
    _check_world(state, document["world"])
    reader = Reader(_tables(document["tables"]), {State: state, Operations: state.operations})
    moment = kinds[float].read(document["time"], reader, "time")
    if moment < 0:
        raise Unreadable("time", "seconds since 1970 are expected")
    guids = kinds[GUIDS | None].read(document["guids"], reader, "guids")
    fields = _fields(document["fields"], reader)
    entries, history = kinds[STORE].read(document["store"], reader, "store")
    for place, entry in enumerate(entries):
        check_resource(entry, f"store[0][{place}].document")
        table = _BESIDE.get(entry.id.type.lower())
        if table is not None and entry.id.key not in fields[table]:
            raise Unreadable(at(table, entry.id.key), "missing")
    for place, (_, _, entry) in enumerate(history):
        if entry is not None:
            check_resource(entry, f"store[1][{place}][2].document")
    for name in _DOCUMENTS:
        for key, document_ in fields[name].items():
            check_envelope(document_, at(name, key))
    for type_, table in SHARED.items():  # those that nothing holds are looked at too
        for number in range(len(document["tables"].get(table, ()))):
            kinds[type_].read(number, reader, table)
    for path, value in fields.items():
        *owners, attribute = path.split(".")
        setattr(attrgetter(".".join(owners))(state) if owners else state, attribute, value)
    if guids is not None and isinstance(state.guids, Guids):
        state.guids._seed, state.guids._count = guids
    state.store.replace(entries, history)
    state.market.forget()
    return float(moment)


def _name(path: str) -> str:
    return path.replace("._", ".")


def _check_world(state: State, names: Json) -> None:
    if not isinstance(names, Mapping) or set(names) != set(_SAME):
        raise Unreadable("world", f"an object with {', '.join(_SAME)} is expected")
    for name in _SAME:
        now = getattr(state.settings, name)
        if names[name] != now:
            was = names[name] if isinstance(names[name], str) and names[name].isprintable() else ascii(names[name])
            raise ValueError(
                f"the snapshot is of another world: its {name.replace('_', ' ')} is {was[:120]}, not {now}"
            )


def _tables(tables: Json) -> Mapping[str, list[Json]]:
    if not isinstance(tables, Mapping):
        raise Unreadable("tables", "an object is expected")
    for table, rows in tables.items():
        if table not in SHARED.values() or not isinstance(rows, list):
            raise Unreadable("tables", f"{ascii(table)[:80]} is no table of a snapshot")
    return tables


def _fields(document: Json, reader: Reader) -> Mapping[str, Any]:
    """Return the values of a state's attributes, by their paths."""
    names = {_name(path): path for path in FIELDS}
    if not isinstance(document, Mapping):
        raise Unreadable("fields", "an object is expected")
    for name in dict.fromkeys((*names, *document)):
        if name not in names or name not in document:
            raise Unreadable(ascii(name)[:80], "unknown" if name in document else "missing")
    kinds = world_kinds()
    fields = {path: kinds[FIELDS[path]].read(document[name], reader, name) for name, path in names.items()}
    queue, count = fields["timers._queue"], fields["timers._count"]
    numbers = {number for _, number, _ in queue}
    if len(numbers) < len(queue) or max(numbers, default=-1) >= count:
        raise Unreadable("timers.queue", "two have the same number, or one is not below timers.count")
    heapify(queue)
    return fields
