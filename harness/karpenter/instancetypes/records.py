"""The SKU records of a region, read once however many releases and worlds look at them."""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

from harness.karpenter.instancetypes.computed import of_sku
from harness.karpenter.instancetypes.sku import Sku
from harness.karpenter.instancetypes.vmsize import Grammar
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.requirements import Requirement
from harness.latest import LatestOf

__all__ = ["ReadRecords", "Records"]


class Records:
    """The SKU records of one region, each read once however many releases look at it, when its size is first asked for."""

    def __init__(self, records: Sequence[Mapping[str, Any]], region: str) -> None:
        self._region = region
        self._records: dict[str, list[Mapping[str, Any]]] = {}
        for record in records:
            self._records.setdefault(record.get("name") or "", []).append(record)
        self._skus: dict[tuple[str, Grammar], tuple[Sku, ...]] = {}
        self._requirements: dict[Hashable, tuple[Requirement, ...]] = {}
        self._equal: dict[tuple[str, frozenset[str]], Requirement] = {}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the sizes, sorted."""
        return tuple(sorted(self._records))

    @cached_property
    def families(self) -> frozenset[str]:
        """The families of the sizes, as the quota names them."""
        return frozenset(record.get("family") or "" for records in self._records.values() for record in records)

    def has(self, name: str) -> bool:
        """Return whether the region lists a size of this name."""
        return name in self._records

    def skus(self, name: str, grammar: Grammar) -> tuple[Sku, ...]:
        """The records of a size, in their order."""
        read = self._skus.get((name, grammar))
        if read is None:
            skus = [Sku(record, self._region, grammar) for record in self._records.get(name, ())]
            read = self._skus[name, grammar] = tuple(skus)
        return read

    def requirements(self, sku: Sku, release: ProviderRelease) -> list[Requirement]:
        """Return the requirements that the record alone decides under a release; equal requirements are one object, for
        all sizes and releases.
        """
        key = (sku, release.gpu_registry, release.ephemeral_rule, release.false_capabilities_absent)
        requirements = self._requirements.get(key)
        if requirements is None:
            shared = self._equal
            items = of_sku(sku, release).items()
            requirements = self._requirements[key] = tuple(
                [shared.get(item) or self._requirement(item) for item in items]
            )
        wanted = release.computed_keys
        return [requirement for requirement in requirements if requirement.key in wanted]

    def _requirement(self, item: tuple[str, frozenset[str]]) -> Requirement:
        made = self._equal[item] = Requirement(item[0], False, item[1])
        return made


class ReadRecords:
    """Lists of records as they were read, the `most` last ones. A list is recognised by identity, so it must not change."""

    def __init__(self, most: int = 64) -> None:
        self._found: LatestOf[Sequence[Mapping[str, Any]], Records] = LatestOf(most)

    def of(self, records: Sequence[Mapping[str, Any]], region: str) -> Records:
        """Return the records of a list for a region as they were read."""
        return self._found.of(records, lambda: Records(records, region), region)
