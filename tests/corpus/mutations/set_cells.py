"""The cells of a release's sets of keys: well-known, restricted, computed, on offerings, base labels and those of them that win."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from fakeazure.catalog import Catalogue
from harness.karpenter.labels import azure as keys
from harness.karpenter.labels.vocabulary import CORE_WELL_KNOWN
from harness.karpenter.releases import ALL_PROVIDER_RELEASES, ProviderRelease, ProvisionMode, provider
from tests.corpus.mutations.cells import RECORDED, Cell, neighbours

__all__ = ["set_cells", "with_vocabulary"]


@dataclass(frozen=True, slots=True)
class _Table:
    """How to read a set, how to change one entry of it, and which entries it could have."""

    get: Callable[[ProviderRelease], Iterable[str]]
    flip: Callable[[ProviderRelease, str], ProviderRelease]
    universe: Callable[[ProviderRelease], Iterable[str]] | None = None

    def could_have(self, release: ProviderRelease) -> set[str]:
        """Unless told, what the table has in some release."""
        if self.universe is not None:
            return set(self.universe(release))
        return {entry for name in ALL_PROVIDER_RELEASES for entry in self.get(provider(name))}


def with_vocabulary(release: ProviderRelease, **changes: Any) -> ProviderRelease:
    """The release with other tables in its vocabulary."""
    return replace(release, vocabulary=replace(release.vocabulary, **changes))


def _of_release(name: str) -> _Table:
    def get(release: ProviderRelease) -> frozenset[str]:
        entries: frozenset[str] = getattr(release, name)
        return entries

    return _Table(get, lambda release, entry: replace(release, **{name: get(release) ^ {entry}}))


def _of_vocabulary(name: str) -> _Table:
    def get(release: ProviderRelease) -> frozenset[str]:
        entries: frozenset[str] = getattr(release.vocabulary, name)
        return entries

    return _Table(get, lambda release, entry: with_vocabulary(release, **{name: get(release) ^ {entry}}))


def _flip_well_known(release: ProviderRelease, key: str) -> ProviderRelease:
    """A key that becomes well-known also becomes one that may be undefined at launch, and one of the provider's own."""
    changed = with_vocabulary(release, well_known=release.vocabulary.well_known ^ {key})
    own = release.azure_well_known if key in CORE_WELL_KNOWN else release.azure_well_known ^ {key}
    return replace(changed, azure_well_known=own, allowed_at_create=release.allowed_at_create ^ {key})


def _flip_restricted(release: ProviderRelease, key: str) -> ProviderRelease:
    """What the provider takes away from users may be undefined at launch."""
    changed = with_vocabulary(release, restricted_labels=release.vocabulary.restricted_labels ^ {key})
    if not keys.is_aks_label(key):
        return changed
    return replace(changed, allowed_at_create=release.allowed_at_create ^ {key})


def _flip_family(release: ProviderRelease, name: str) -> ProviderRelease:
    families = {family: sku for family, sku in release.image_families.items() if family != name}
    if len(families) == len(release.image_families):
        known = (provider(each).image_families for each in ALL_PROVIDER_RELEASES)
        families[name] = next(table[name] for table in known if name in table)
    return replace(release, image_families=families)


def _flip_mode(release: ProviderRelease, name: str) -> ProviderRelease:
    left = tuple(mode for mode in release.provision_modes if mode != name)
    if len(left) < len(release.provision_modes):
        return replace(release, provision_modes=left)
    known = {str(mode): mode for each in ALL_PROVIDER_RELEASES for mode in provider(each).provision_modes}
    return replace(release, provision_modes=(*left, known[name]))


def _exceptions_of_something(release: ProviderRelease) -> Iterator[str]:
    """Exceptions from a domain that the release closes; since core 1.9.0 there are none."""
    for name in _EXCEPTIONS.could_have(release):
        if name.endswith(tuple(release.vocabulary.restricted_domains)):
            yield name


_EXCEPTIONS = _of_vocabulary("domain_exceptions")

_TABLES: Mapping[str, _Table] = {
    "well-known": replace(_of_vocabulary("well_known"), flip=_flip_well_known),
    "restricted-labels": replace(_of_vocabulary("restricted_labels"), flip=_flip_restricted),
    "restricted-domains": _of_vocabulary("restricted_domains"),
    "domain-exceptions": replace(_EXCEPTIONS, universe=_exceptions_of_something),
    "computed-keys": _of_release("computed_keys"),
    "offering-keys": _of_release("offering_keys"),
    "base-keys": _of_release("base_keys"),
    # of the merge order only what the release writes at all
    "winning-base-keys": replace(_of_release("winning_base_keys"), universe=lambda release: release.base_keys),
    # the others are the well-known and the restricted keys
    "allowed-at-create": replace(_of_release("allowed_at_create"), universe=lambda _: (keys.SKU_HYPERV,)),
    "image-families": _Table(lambda release: release.image_families, _flip_family),
    # a release makes virtual machines in every other mode
    "provision-modes": _Table(
        lambda release: map(str, release.provision_modes),
        _flip_mode,
        lambda _: (ProvisionMode.AKS_MACHINE_API, ProvisionMode.AKS_MACHINE_API_HEADER_BATCH),
    ),
}

_RESTRICTED = _of_release("restricted_skus")


@cache
def _sold() -> frozenset[str]:
    catalogue = Catalogue.load()
    return frozenset(name for region in catalogue.regions for name in catalogue.region(region).by_name)


_OTHER_TABLES: Mapping[str, _Table] = {
    # what no region sells cannot be missed
    "restricted-skus": replace(_RESTRICTED, universe=lambda release: _sold() & _RESTRICTED.could_have(release)),
    "nodeclass-hash-fields": _of_release("nodeclass_hash_fields"),
}
"""What no label depends on: changed in the releases that are recorded."""


def set_cells(version: str) -> Iterator[Cell]:
    """Each entry that the release's sets have, missing; each that another release's have, there."""
    release = provider(version)
    others = _OTHER_TABLES if version in RECORDED else {}
    for name, table in (*_TABLES.items(), *others.items()):
        mine = frozenset(table.get(release))
        chosen = table.could_have(release)
        if version not in RECORDED:
            around = [frozenset(table.get(provider(other))) for other in neighbours(version)]
            chosen &= {entry for other in around for entry in mine ^ other}
        for entry in sorted(chosen):
            change = "is missing" if entry in mine else "is there"
            yield Cell(version, name, entry, change, table.flip(release, entry), vectors=name in others)
