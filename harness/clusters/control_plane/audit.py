"""The audit log of a real API server as evidence for who wrote which label of a Node."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from harness.engine.ports import Identity
from harness.kube.api.objects import Object
from harness.kube.api.status import ApiError

__all__ = ["POLICY", "AuditEntry", "AuditLog"]

_Done = tuple[int, str, dict[str, Any]]
"""The revision of a request's answer, the time when the request came in, its line."""
_Leaf = tuple[tuple[str, ...], str]

POLICY: dict[str, Any] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseStarted"],
    "omitManagedFields": True,
    "rules": [
        {
            "level": "RequestResponse",
            "verbs": ["create", "update", "patch", "delete"],
            "resources": [{"group": "", "resources": ["nodes", "nodes/status"]}],
        },
        {"level": "None"},
    ],
}
"""Writes to Nodes with their bodies and answers; nothing else."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One request about a Node. `object` is the sent body (of a patch, the patch); a refused one has `error` and no `after`."""

    revision: int
    identity: Identity
    verb: str
    subresource: str
    before: Object | None
    after: Object | None
    object: Object | None
    error: ApiError | None


class AuditLog:
    """Reads the log. A line is written after its answer went out, and lines of different connections in any order."""

    def __init__(self, read: Callable[[str], str], skip: Callable[[], None] = lambda: None) -> None:
        """`read` returns the log's lines that contain the given text; `skip` lets it leave out the present lines of the log."""
        self._read = read
        self._skip = skip
        self._since = ""

    def skip(self) -> None:
        """Let later reads skip the present lines of the log. Lines of earlier requests that come later are still read."""
        self._skip()

    def received(self, text: str) -> str:
        """Return the time when the server received the last request whose line contains `text`; "" before there is such a line."""
        times = (event.get("requestReceivedTimestamp") or "" for event in self._events(text))
        return max(times, default="")

    def forget(self, until: str) -> None:
        """Leave out all requests that the server received up to this moment, even those that are logged later."""
        self._since = until

    def of_node(self, name: str) -> list[AuditEntry]:
        """Return the requests about one Node: successful ones in order of resourceVersions, refused ones where they came in."""
        done: list[_Done] = []
        refused: list[tuple[str, dict[str, Any]]] = []
        for event in self._events(name):
            if _node_of(event) != name:
                continue
            came = event.get("requestReceivedTimestamp") or ""
            if came <= self._since:
                continue
            if int((event.get("responseStatus") or {}).get("code") or 0) >= 400:
                refused.append((came, event))
                continue
            after = event.get("responseObject") or {}
            revision = (after.get("metadata") or {}).get("resourceVersion")
            if revision is not None:
                done.append((int(revision), came, event))
            elif event["verb"] == "delete":
                done.append((done[-1][0] if done else 0, came, event))
        done = _writers_first(sorted(done, key=lambda request: request[:2]))
        if done and done[0][2]["verb"] != "create":
            refused.sort(key=lambda request: request[0])
            late = next((request for request in refused if _created_late(request[1], name)), None)
            if late is not None:
                refused.remove(late)
                done.insert(0, (done[0][0] - 1, late[0], _answered(late[1])))
        return list(_entries(done, refused))

    def revision_of(self, name: str) -> int:
        """The resourceVersion of the last write of a Node that the log knows."""
        return max((entry.revision for entry in self.of_node(name)), default=0)

    def _events(self, name: str) -> Iterator[dict[str, Any]]:
        for line in self._read(name).splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue  # the last line, half written


def _writers_first(done: list[_Done]) -> list[_Done]:
    """Return the requests so that, of those with one revision, the writer stands before those that changed nothing.

    A busy server may have received the others earlier.
    """
    ordered: list[_Done] = []
    before: Any = None
    for _, same in groupby(done, key=lambda request: request[0]):
        first, *others = same
        after = first[2].get("responseObject")
        if others:
            made = _leaves(after) - _leaves(before)
            alike = [first, *others]
            overlaps = [len(made & _leaves(request[2].get("requestObject"))) for request in alike]
            first, others = alike.pop(overlaps.index(max(overlaps))), alike
        ordered += [first, *others]
        before = after
    return ordered


def _leaves(value: Any, at: tuple[str, ...] = ()) -> frozenset[_Leaf]:
    """Every plain value with its path; the places in lists do not count."""
    if isinstance(value, dict):
        return frozenset(leaf for key, entry in value.items() for leaf in _leaves(entry, (*at, key)))
    if isinstance(value, list):
        return frozenset(leaf for entry in value for leaf in _leaves(entry, at))
    return frozenset([(at, str(value))])


def _created_late(event: dict[str, Any], name: str) -> bool:
    """Return whether a node was told that the creation of its Node failed, although the Node was made.

    A busy server answers with a timeout, or is left by a kubelet after ten seconds, and stores the object none the
    less.
    """
    code = int((event.get("responseStatus") or {}).get("code") or 0)
    own = (event.get("user") or {}).get("username") == Identity.node(name).user
    return own and event["verb"] == "create" and code >= 500 and isinstance(event.get("requestObject"), dict)


def _answered(event: dict[str, Any]) -> dict[str, Any]:
    """Return the same request as if it had been answered in time."""
    return {**event, "responseObject": event["requestObject"], "responseStatus": {"code": 201}}


def _node_of(event: dict[str, Any]) -> str:
    name: str = (event.get("objectRef") or {}).get("name") or ""
    if name:
        return name
    # the name of a created object stands in the answer, or in the sent body when it was refused
    for part in ("responseObject", "requestObject"):
        meta = (event.get(part) or {}).get("metadata") or {}
        if meta.get("name"):
            return str(meta["name"])
    return ""


def _entries(done: list[_Done], refused: list[tuple[str, dict[str, Any]]]) -> Iterator[AuditEntry]:
    waiting = sorted(refused, key=lambda request: request[0])
    before: Object | None = None
    revision = 0
    for number, came, event in done:
        while waiting and waiting[0][0] < came:
            yield _entry(waiting.pop(0)[1], revision, before, None)
        after = None if _gone(event) else event["responseObject"]
        yield _entry(event, number, before, after)
        before, revision = after, number
    for _, event in waiting:
        yield _entry(event, revision, before, None)


def _gone(event: dict[str, Any]) -> bool:
    """Return whether the Node is gone afterwards: one with finalizers stays, marked as deleted, until the last is taken away."""
    meta = (event.get("responseObject") or {}).get("metadata") or {}
    marked = bool(meta.get("deletionTimestamp"))
    if event["verb"] == "delete":
        return not (marked and meta.get("finalizers"))
    return marked and not meta.get("finalizers")


def _entry(event: dict[str, Any], revision: int, before: Object | None, after: Object | None) -> AuditEntry:
    user = event.get("user") or {}
    status = event.get("responseStatus") or {}
    error = None
    if int(status.get("code") or 0) >= 400:
        error = ApiError(int(status["code"]), status.get("reason") or "", status.get("message") or "")
    return AuditEntry(
        revision,
        Identity(user.get("username") or "", tuple(user.get("groups") or ())),
        event["verb"],
        (event.get("objectRef") or {}).get("subresource") or "",
        before,
        after,
        event.get("requestObject") if isinstance(event.get("requestObject"), dict) else None,
        error,
    )
