"""The journal: every call that reached the cloud, with what it asked and what it got."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fakeazure.arm.messages import Document


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `time` in seconds since the epoch; `resource` is the last type in the path (`virtualMachines`).

    `summary` has the few facts of the body that matter: size, zones, priority of a VM or machine; the KQL of a query.
    `code` is ARM's error code, None on success. `fault` names the declared fault that answered, if one did.
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
    """All calls of one world, oldest first."""

    def __init__(self) -> None:
        """Start empty."""
        self.calls: list[Call] = []

    def __iter__(self) -> Iterator[Call]:
        """Oldest first."""
        return iter(self.calls)

    def __len__(self) -> int:
        """How many calls there were."""
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
            facts[key] = body[key]
    return facts
