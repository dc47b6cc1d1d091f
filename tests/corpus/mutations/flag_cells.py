"""The cells of a release that are no sets: known values, renamed keys and values, named flags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, ProviderRelease, provider
from harness.karpenter.scheduling.rules import rules_of
from tests.corpus.mutations.cells import RECORDED, Cell, neighbours
from tests.corpus.mutations.set_cells import with_vocabulary

__all__ = ["FLAGS", "flag_cells", "value_cells"]

FLAGS: Mapping[str, tuple[str, ...]] = {
    "release": (
        "skewer",
        "ephemeral_rule",
        "gpu_registry",
        "regional_offerings",
        "zonal_regions_listed",
        "spot_needs_low_priority",
        "false_capabilities_absent",
        "local_dns",
        "local_dns_preferred_from",
        "only_azure_linux_2",
        "ubuntu_2404",
        "claim_requirement_labels",
        "claim_keeps_well_known",
        "kubelet_filter",
        "machine_drops_legacy_labels",
        "machine_claim_has_priorities",
    ),
    "core": (
        "validates_preferred_terms",
        "structured_errors",
        "honours_do_not_sync_taints",
        "labels_from_claim_requirements",
    ),
    "vocabulary": ("exclusive_bounds", "restricted_domain_dotted", "restriction_text"),
    "scheduling": ("resolves_custom_labels", "names_capacity_types"),
}
"""The flags that a label, its value, a requirement or a refusal of a key depends on, by what has them. The others are about prices,
quota, failures, tags, names, and the rest of the scheduling."""


def value_cells(version: str) -> Iterator[Cell]:
    """Each known value of a key, missing or there; each renamed key and value."""
    release = provider(version)
    for table in ("known_values", "normalized_values"):
        yield from _pair_cells(release, table)
    if version in RECORDED:  # all releases rename the same keys
        for key in sorted(release.vocabulary.normalized_keys):
            left = {name: to for name, to in release.vocabulary.normalized_keys.items() if name != key}
            yield Cell(version, "aliases", key, "is missing", with_vocabulary(release, normalized_keys=left))


def _pair_cells(release: ProviderRelease, table: str) -> Iterator[Cell]:
    version = release.version
    mine: Mapping[str, Any] = getattr(release.vocabulary, table)
    pairs = _pairs(mine)
    names = ALL_PROVIDER_RELEASES if version in RECORDED else neighbours(version)
    others = [getattr(provider(name).vocabulary, table) for name in names]
    chosen = {pair for other in others for pair in _pairs(other) ^ pairs} | (pairs if version in RECORDED else set())
    if table == "known_values":  # of other keys the values are not judged
        chosen = {pair for pair in chosen if pair[0] in release.vocabulary.well_known}
    title = table.replace("_", "-")
    for key in sorted({key for key, _ in chosen if key not in mine}):
        whole = next(other[key] for other in reversed(others) if key in other)
        yield Cell(version, title, key, "is there", with_vocabulary(release, **{table: {**mine, key: whole}}))
    for key, value in sorted(pair for pair in chosen if pair[0] in mine):
        if isinstance(mine[key], Mapping):
            changed: Any = {old: new for old, new in mine[key].items() if old != value}
        else:
            changed = mine[key] ^ {value}
        change = f"lacks {value!r}" if (key, value) in pairs else f"has {value!r}"
        yield Cell(version, title, key, change, with_vocabulary(release, **{table: {**mine, key: changed}}))


def _pairs(table: Mapping[str, Iterable[str]]) -> frozenset[tuple[str, str]]:
    return frozenset((key, value) for key, values in table.items() for value in values)


def flag_cells(version: str) -> Iterator[Cell]:
    """Each flag with the value that it had before and with the one that it gets later."""
    release = provider(version)
    at = ALL_PROVIDER_RELEASES.index(version)
    reach = len(ALL_PROVIDER_RELEASES) if version in RECORDED else 1
    for owner, flags in FLAGS.items():
        mine = _owner(release, owner)
        for flag in flags:
            value = getattr(mine, flag)
            found: dict[Any, str] = {}
            for names in (ALL_PROVIDER_RELEASES[:at][::-1][:reach], ALL_PROVIDER_RELEASES[at + 1 :][:reach]):
                others = ((name, getattr(_owner(provider(name), owner), flag)) for name in names)
                name, other = next(((name, other) for name, other in others if other != value), ("", value))
                if name:
                    found.setdefault(other, name)
            for other, name in found.items():
                yield _flagged(release, owner, flag, other, f"as in {name}")


def _owner(release: ProviderRelease, owner: str) -> Any:
    return {
        "release": release,
        "core": release.core,
        "vocabulary": release.vocabulary,
        "scheduling": rules_of(release.core),
    }[owner]


def _flagged(release: ProviderRelease, owner: str, flag: str, value: Any, change: str) -> Cell:
    changed = replace(_owner(release, owner), **{flag: value})
    title = f"flag of {owner}"
    if owner == "scheduling":
        return Cell(release.version, title, flag, change, rules=changed)
    mutant = changed if owner == "release" else replace(release, **{owner: changed})
    return Cell(release.version, title, flag, change, mutant)
