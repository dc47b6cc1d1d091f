"""Changes of a cluster, with their writers: from the journal of the memory cluster, or from the watches of a cluster elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.clusters.memory.journal import Entry, Journal
from harness.clusters.provenance import Evidence
from harness.engine.ports import ADMIN, CONTROLLER_MANAGER, KARPENTER, SCHEDULER, Change, ChangeType, Identity
from harness.kube.api.objects import (
    Key,
    Object,
    controller_of,
    is_terminating,
    key_of,
    metadata_of,
    spec_of,
)

__all__ = ["Seen", "Witness", "changed_fields", "from_journal", "from_witness", "sender"]

_SENDERS: Mapping[str, str] = {
    ADMIN.user: "user",
    SCHEDULER.user: "kube-scheduler",
    CONTROLLER_MANAGER.user: "controller-manager",
}


def sender(identity: Identity) -> str:
    """The short name of an identity."""
    return _SENDERS.get(identity.user, identity.by)


@dataclass(frozen=True, slots=True)
class Seen:
    """One request at `at`, in nanoseconds of the clock; without `after` and `refused` the object is gone. `sent` is the user's object."""

    at: int
    revision: int
    by: str
    verb: str
    subresource: str
    key: Key
    before: Object | None
    after: Object | None
    status: int = 0
    error: str = ""
    sent: Object | None = None


def from_journal(journal: Iterable[Entry]) -> Iterator[Seen]:
    """Every request in a memory cluster's journal, refused ones too."""
    for entry in journal:
        yield _of_entry(entry, entry.after)


def _of_entry(entry: Entry, after: Object | None) -> Seen:
    status, error = (entry.error.code, str(entry.error)) if entry.error is not None else (0, "")
    sent = entry.object if entry.identity == ADMIN else None
    by = sender(entry.identity)
    return Seen(
        entry.at,
        entry.revision,
        by,
        entry.verb,
        entry.subresource,
        entry.key,
        entry.before,
        after,
        status,
        error,
        sent,
    )


class Witness:
    """Sees every change of a cluster that runs elsewhere, at the virtual time at which it came here. A controller that does nothing."""

    name = "trace"
    backoff = (1.0, 1.0)

    def __init__(self, now: Any, kinds: Iterable[str]) -> None:
        self._now = now
        self._kinds = tuple(kinds)
        self.changes: list[tuple[int, Change]] = []

    def watches(self) -> Mapping[str, Any]:
        """Watch all kinds."""
        return dict.fromkeys(self._kinds, self._note)

    def _note(self, change: Change) -> Sequence[Any]:
        self.changes.append((self._now(), change))
        return ()

    def reconcile(self, key: Any) -> Any:
        """Raise: it is never called."""
        raise AssertionError(f"a witness has nothing to do: {key}")


def from_witness(
    changes: Sequence[tuple[int, Change]], journal: Journal, evidence: Callable[[str], Iterable[Evidence]]
) -> Iterator[Seen]:
    """Yield the changes of a cluster elsewhere, each with its writer.

    The writer is known of our own requests, and of those about Nodes by the API server's `evidence`; of others it is
    guessed by the change.
    """
    heard = dict(_heard(changes, evidence))
    ours: dict[tuple[Key, int], Entry] = {}
    refused: list[Entry] = []
    for entry in journal:
        if entry.error is not None:
            refused.append(entry)
        else:
            ours[entry.key, _revision(entry)] = entry
    for at, change in changes:
        while refused and refused[0].at < at:
            yield _of_entry(refused.pop(0), None)
        key = key_of(change.object)
        own = ours.get((key, change.revision))
        after = None if change.type is ChangeType.DELETED else change.object
        if own is not None:
            sent = own.object if own.identity == ADMIN else None
            by, verb, part = sender(own.identity), own.verb, own.subresource
            yield Seen(at, change.revision, by, verb, part, key, change.old, after, sent=sent)
        else:
            verb = {ChangeType.ADDED: "create", ChangeType.MODIFIED: "patch", ChangeType.DELETED: "delete"}[change.type]
            who = heard.get((key, change.revision))
            by = _guessed(change) if who is None else sender(who)
            yield Seen(at, change.revision, by, verb, "", key, change.old, after)
    for entry in refused:
        yield _of_entry(entry, None)


def _heard(
    changes: Iterable[tuple[int, Change]], evidence: Callable[[str], Iterable[Evidence]]
) -> Iterator[tuple[tuple[Key, int], Identity]]:
    """Yield the writer of each revision of a Node, by its API server."""
    for key in dict.fromkeys(key_of(change.object) for _, change in changes if change.object["kind"] == "Node"):
        for entry in evidence(key.name):
            if entry.error is None and entry.after is not None:
                yield (key, _revision(entry)), entry.identity


def _revision(entry: Evidence) -> int:
    version = metadata_of(entry.after or {}).get("resourceVersion")
    return int(version) if version is not None and str(version).isdigit() else entry.revision


def _guessed(change: Change) -> str:
    """Return the writer of such a change in a cluster with its own controllers."""
    new, old = change.object, change.old
    kind = new["kind"]
    if kind == "Pod" and old is not None and spec_of(new).get("nodeName") != spec_of(old).get("nodeName"):
        return sender(SCHEDULER)
    if old is None and controller_of(new) is not None:
        return sender(CONTROLLER_MANAGER)
    if kind in ("Deployment", "ReplicaSet", "ReplicationController", "DaemonSet", "StatefulSet", "Job"):
        return sender(CONTROLLER_MANAGER)
    return KARPENTER.by if kind == "NodeClaim" and not is_terminating(new) else "other"


_UNTOLD = frozenset(
    {"resourceVersion", "generation", "managedFields", "uid", "creationTimestamp", "selfLink", "observedGeneration"}
)
_APART = frozenset({"conditions"})  # facts of their own
_MISSING = object()


def changed_fields(before: Object, after: Object) -> dict[str, Any]:
    """Return path → the new value of each field that has changed; None where it is gone. Lists are compared as a whole."""
    changed: dict[str, Any] = {}
    _compare(before, after, "", changed)
    return changed


def _is_map(value: Any) -> bool:
    """Return whether a value is a map: objects are dicts nearly always, and an abstract class takes long to refuse a text."""
    return type(value) is dict or (not isinstance(value, str | list) and isinstance(value, Mapping))


def _compare(before: Any, after: Any, path: str, changed: dict[str, Any]) -> None:
    if before is after:
        return
    if not (_is_map(before) and _is_map(after)):
        if before != after:
            changed[path] = None if after is _MISSING else after
        return
    for name in {**before, **after}:
        if name not in _UNTOLD and not (path == "status" and name in _APART):
            here = f"{path}.{name}" if path else name
            old = before.get(name, _MISSING)
            # a new map is reported field by field, as one that grew
            new = after.get(name, _MISSING)
            if old is _MISSING and path in ("", "metadata") and _is_map(new):
                old = {}
            _compare(old, new, here, changed)
