"""Quota arithmetic: regional cores, cores per family, low-priority cores, number of VMs.

An on-demand VM counts against `cores` and its family; a spot VM against `lowPriorityCores` only. What is charged at a PUT is what
the usages list shows, until the delete has finished.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from fakeazure.arm.errors import Failure
from lazyrecords import dataclass

CORES, SPOT_CORES, MACHINES = "cores", "lowPriorityCores", "virtualMachines"
DEFAULT_LIMIT = 1_000_000
"""The limit of every quota that was not set; practically unlimited."""

_LOCALIZED: Mapping[str, str] = MappingProxyType(
    {
        "availabilitySets": "Availability Sets",
        CORES: "Total Regional vCPUs",
        MACHINES: "Virtual Machines",
        "virtualMachineScaleSets": "Virtual Machine Scale Sets",
        SPOT_CORES: "Total Regional Low-priority vCPUs",
    }
)
GENERAL = tuple(_LOCALIZED)
"""The usages that are of no family."""
_PROSE: Mapping[str, str] = MappingProxyType(
    {CORES: "Total Regional Cores", SPOT_CORES: "Low Priority Cores", MACHINES: "Virtual Machines"}
)
_LINK_NAMES: Mapping[str, str] = MappingProxyType({SPOT_CORES: "LowPriorityCores"})
_DOCS: Mapping[str, str] = MappingProxyType({CORES: "regional-quota-requests"})
_SETTLED_COUNTS = ("availabilitySets", "virtualMachineScaleSets")


@dataclass(frozen=True, slots=True)
class Charge:
    """The usage that one VM adds in one region: usage name → amount."""

    subscription: str
    location: str
    amounts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Shortage:
    """One quota that a charge would exceed."""

    subscription: str
    location: str
    name: str
    limit: int
    used: int
    needed: int

    def failure(self) -> Failure:
        """`OperationNotAllowed` with Azure's text and numbers.

        The literal that clients look for (`Family Cores quota`, `Total Regional Cores quota`, `LowPriorityCores`) is always
        there, also for a family whose name does not end in `Family`.
        """
        prose = _PROSE.get(self.name)
        if prose is None:
            prose = f"{self.name if self.name.endswith('Family') else self.name + ' Family'} Cores"
        wanted = self.used + self.needed
        name = _LINK_NAMES.get(self.name, self.name)
        message = (
            f"Operation could not be completed as it results in exceeding approved {prose} quota. Additional details - "
            f"Deployment Model: Resource Manager, Location: {self.location}, Current Limit: {self.limit}, Current Usage: "
            f"{self.used}, Additional Required: {self.needed}, (Minimum) New Limit Required: {wanted}. Submit a request "
            "for Quota increase at https://aka.ms/ProdportalCRP/#blade/Microsoft_Azure_Capacity/UsageAndQuota.ReactView/"
            f"Parameters/%7B%22subscriptionId%22:%22{self.subscription}%22,%22command%22:%22openQuotaApprovalBlade%22,"
            f"%22quotas%22:[%7B%22location%22:%22{self.location}%22,%22providerId%22:%22Microsoft.Compute%22,"
            f"%22resourceName%22:%22{name}%22,%22quotaRequest%22:%7B%22properties%22:%7B%22limit%22:{wanted},%22unit%22:"
            f"%22Count%22,%22name%22:%7B%22value%22:%22{name}%22%7D%7D%7D%7D]%7D by specifying parameters listed in the "
            "‘Details’ section for deployment to succeed. Please read more about quota limits at "
            f"https://docs.microsoft.com/en-us/azure/azure-supportability/{_DOCS.get(self.name, 'per-vm-quota-requests')}"
        )
        return Failure("OperationNotAllowed", message, 409)


def charge_of(subscription: str, location: str, *, family: str, vcpus: int, priority: str) -> Charge:
    """Return the usage that a VM of a size adds."""
    amounts = {SPOT_CORES: vcpus} if priority == "Spot" else {CORES: vcpus, family: vcpus}
    return Charge(subscription, location, {**amounts, MACHINES: 1})


class Quota:
    """Limits and usage per subscription, region and name. Names compare without case."""

    def __init__(self, limits: Mapping[str, int] | None = None) -> None:
        """Start with `limits`: usage name → limit in every region, `region/name` → limit in one."""
        self._limits: dict[str, int] = {}
        self._used: dict[tuple[str, str, str], int] = {}
        for name, limit in (limits or {}).items():
            location, _, bare = name.rpartition("/")
            self.set_limit(bare, limit, location=location or None)

    def set_limit(self, name: str, limit: int, *, location: str | None = None) -> None:
        """Change a limit, in one region or in all. ValueError below zero. What is used already stays."""
        if limit < 0:
            raise ValueError(f"a quota is not negative: {name}: {limit}")
        self._limits[_key(location, name)] = limit

    @property
    def limited(self) -> bool:
        """Return whether any limit was ever set; without one nothing runs out."""
        return bool(self._limits)

    def in_use(self) -> frozenset[tuple[tuple[str, str, str], int]]:
        """All that is used, by subscription, region and name."""
        return frozenset((key, used) for key, used in self._used.items() if used)

    def limits(self, location: str) -> dict[str, int]:
        """The limits that were set and hold in a region, by usage name in small letters."""
        places = {_key(None, ""), _key(location, "")}
        names = {key.rpartition("/")[2] for key in self._limits if f"{key.rpartition('/')[0]}/" in places}
        return {name: self.limit(location, name) for name in sorted(names)}

    def limit(self, location: str, name: str) -> int:
        """The limit in a region."""
        here = self._limits.get(_key(location, name))
        if here is None:
            here = self._limits.get(_key(None, name))
        return DEFAULT_LIMIT if here is None else here

    def used(self, subscription: str, location: str, name: str) -> int:
        """Return the usage in a region."""
        return self._used.get((subscription, location, name.lower()), 0)

    def shortage(self, charge: Charge) -> Shortage | None:
        """The first quota that `charge` would exceed: regional before family, as Azure reports it."""
        for name, amount in charge.amounts.items():
            used = self.used(charge.subscription, charge.location, name)
            limit = self.limit(charge.location, name)
            if used + amount > limit:
                return Shortage(charge.subscription, charge.location, name, limit, used, amount)
        return None

    def take(self, charge: Charge) -> None:
        """Count `charge`."""
        self._add(charge, 1)

    def give_back(self, charge: Charge) -> None:
        """Give back `charge`."""
        self._add(charge, -1)

    def _add(self, charge: Charge, sign: int) -> None:
        for name, amount in charge.amounts.items():
            key = (charge.subscription, charge.location, name.lower())
            self._used[key] = self._used.get(key, 0) + sign * amount

    def usages(self, subscription: str, location: str, families: Iterable[str]) -> list[dict[str, object]]:
        """The usages list of a region: the totals, then `families` in the order given, each once."""
        counts = (_SETTLED_COUNTS[0], CORES, MACHINES, _SETTLED_COUNTS[1], SPOT_CORES)
        return [
            {
                "limit": self.limit(location, name),
                "unit": "Count",
                "currentValue": self.used(subscription, location, name),
                "name": {"value": name, "localizedValue": _LOCALIZED.get(name) or _localized_family(name)},
            }
            for name in (*counts, *dict.fromkeys(family for family in families if family))
        ]


def _key(location: str | None, name: str) -> str:
    return f"{(location or '').lower()}/{name.lower()}"


def _localized_family(family: str) -> str:
    """`standardDSv3Family` → `Standard DSv3 Family vCPUs`."""
    bare = family.removesuffix("Family").strip()
    return f"{bare.replace('standard', 'Standard ', 1).replace('  ', ' ').strip()} Family vCPUs"
