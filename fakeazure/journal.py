"""The journal: every call that reached the cloud, with what it asked and what it got."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fakeazure.arm.messages import Document
from lazyrecords import dataclass

_LONGEST = 10_000
"""Characters of a query that are kept."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `time` in seconds since the epoch; `resource` is the last type in the path (`virtualMachines`).

    `summary` has the few facts of the body that matter: size, zones, priority of a VM or machine; the KQL of a query.
    `code` is ARM's error code, None on success, `message` its sentence. `fault` names the declared fault that answered, if one did.
    """

    number: int
    time: float
    method: str
    path: str
    resource: str
    api_version: str
    query: Mapping[str, str]
    summary: Mapping[str, Any]
    status: int
    code: str | None
    body: Document | None
    fault: str | None = None
    message: str = ""

    @property
    def name(self) -> str:
        """The last segment of the path."""
        return self.path.rstrip("/").rpartition("/")[2]

    def __str__(self) -> str:
        """One line, as a transcript prints it."""
        facts = " ".join(f"{key}={value}" for key, value in self.summary.items())
        return " ".join(
            part for part in (self.method, f"{self.resource}/{self.name}", str(self.status), facts, self.code) if part
        )


class Journal:
    """The calls of one world, oldest first: all of them, or the last ones within given bounds.

    `calls` numbers go on when old calls are forgotten; `forgotten` says how many were.
    """

    def __init__(self, *, most: int | None = None, most_bytes: int | None = None) -> None:
        """Start empty. `most` calls are kept, and paths, queries and bodies of `most_bytes` in JSON together; None for no bound."""
        self.calls: list[Call] = []
        self.forgotten = 0
        self._most = most
        self._most_bytes = most_bytes
        self._sizes: list[int] = []
        self._bytes = 0

    def add(self, call: Call) -> None:
        """Keep a call; a body larger than a tenth of the bound is dropped from it."""
        if self._most_bytes is not None:
            size = _size(call.body)
            if size > self._most_bytes // 10:
                call, size = replace(call, body=None), 0
            size += len(call.path) + sum(map(len, call.query.values()))
            self._sizes.append(size)
            self._bytes += size
        self.calls.append(call)
        if self._most is not None and len(self.calls) > self._most:
            self._forget(max(1, self._most // 10))
        while self._most_bytes is not None and self._bytes > self._most_bytes:
            self._forget(max(1, len(self.calls) // 10))

    def _forget(self, count: int) -> None:
        del self.calls[:count]
        self._bytes -= sum(self._sizes[:count])
        del self._sizes[:count]
        self.forgotten += count

    def clear(self) -> None:
        """Forget all calls; numbers begin anew."""
        self.calls.clear()
        self._sizes.clear()
        self.forgotten = self._bytes = 0

    def since(self, number: int) -> list[Call]:
        """The calls after the one of that number, as far as they are kept."""
        return self.calls[max(0, number - self.forgotten) :]

    @property
    def last(self) -> int:
        """The number of the last call; 0 before the first."""
        return self.forgotten + len(self.calls)

    def __iter__(self) -> Iterator[Call]:
        """Oldest first."""
        return iter(self.calls)

    def __len__(self) -> int:
        """Return how many calls are kept."""
        return len(self.calls)

    def find(
        self,
        *,
        method: str | None = None,
        resource: str | None = None,
        name: str | None = None,
        status: int | None = None,
        code: str | None = None,
    ) -> list[Call]:
        """The calls with all of the given facts; `resource` and `name` compare without case."""
        return [
            call
            for call in self.calls
            if (method is None or call.method == method)
            and (resource is None or call.resource.lower() == resource.lower())
            and (name is None or call.name.lower() == name.lower())
            and (status is None or call.status == status)
            and (code is None or call.code == code)
        ]


def _size(body: Document | None) -> int:
    return 0 if body is None else len(json.dumps(body, default=dict))


def summarise(body: Document | None) -> Mapping[str, Any]:
    """The few facts of a request body that a reader of the journal wants."""
    if not isinstance(body, Mapping):
        return {}
    facts: dict[str, Any] = {}
    properties = body.get("properties")
    if isinstance(properties, Mapping):
        hardware = properties.get("hardwareProfile") or properties.get("hardware")
        if isinstance(hardware, Mapping) and "vmSize" in hardware:
            facts["size"] = hardware["vmSize"]
            zones = body.get("zones")
            facts["zones"] = list(zones) if isinstance(zones, list | tuple) else []
            facts["priority"] = properties.get("priority", "Regular")
    for key in ("query", "machineNames"):
        if key in body:
            facts[key] = body[key] if not isinstance(body[key], str) else body[key][:_LONGEST]
    return facts
