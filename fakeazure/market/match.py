"""The launches that a rule is about: size or family, zone, priority, region, name; `*` and absent mean any."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from lazyrecords import dataclass

REGIONAL = "regional"
"""A rule's name of the placement outside of zones."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a request: a launch, or any other request (then only the first three facts are set).

    `zone` is empty for a regional placement; `ephemeral`: the OS disk is on the machine; `networking`: one of its network
    interfaces asks for accelerated networking or has an IPv6 address; `reservation_group`: id of the capacity reservation group that
    it is to be in.
    """

    method: str = ""
    resource: str = ""
    name: str = ""
    size: str = ""
    family: str = ""
    zone: str = ""
    priority: str = ""
    location: str = ""
    ephemeral: bool = False
    networking: bool = False
    reservation_group: str = ""


@dataclass(frozen=True, slots=True)
class Where:
    """A pattern over subjects: VM creations, by whoever makes them, unless `resource` and `method` say otherwise.

    Text matches without case; `*` and `?` are wildcards. A request that creates no VM has no size, zone or priority, so a
    pattern that asks for one never matches it.
    """

    size: str = "*"
    family: str = "*"
    zone: str = "*"
    priority: str = "*"
    location: str = "*"
    name: str = "*"
    resource: str = "virtualMachines"
    method: str = "PUT"

    def __str__(self) -> str:
        """`PUT virtualMachines size=Standard_D4s_v5 zone=1`."""
        facts = (f"{name}={value}" for name in _FACTS if (value := getattr(self, name)) != "*")
        return " ".join((self.method, self.resource, *facts))

    def matches(self, subject: Subject) -> bool:
        """Return whether every given fact fits."""
        return (
            _fits(self.size, subject.size)
            and _fits(self.family, subject.family)
            and (self.zone == "*" or (bool(subject.size) and _zone(self.zone) == (subject.zone or REGIONAL)))
            and _fits(_priority(self.priority), subject.priority)
            and _fits(self.location, subject.location)
            and _fits(zone_region(self.zone) or "*", subject.location)
            and _fits(self.name, subject.name)
            and _fits(self.resource, subject.resource)
            and _fits(self.method, subject.method)
        )


_FACTS = ("size", "family", "zone", "priority", "location", "name")
PRIORITIES: Mapping[str, str] = {"on-demand": "Regular", "regular": "Regular", "spot": "Spot", "low": "Spot"}


def _priority(text: str) -> str:
    return PRIORITIES.get(text.lower(), text)


def zone_region(text: str) -> str:
    """The region in `eastus-1`; empty where a zone has none."""
    return text.rpartition("-")[0]


def _zone(text: str) -> str:
    """`1`, `eastus-1` and `regional`, `0` or nothing for the placement outside of zones."""
    zone = text.rpartition("-")[2] if "-" in text else text
    return REGIONAL if zone.lower() in ("", "0", REGIONAL) else zone


def _fits(pattern: str, value: str) -> bool:
    return pattern == "*" or fnmatchcase(value.lower(), pattern.lower())
