"""What a release of the provider changed, and the releases that such changes make one after another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

from harness.karpenter.labels import azure as keys
from harness.karpenter.labels.vocabulary import CORE_NORMALIZED_KEYS
from harness.karpenter.releases.core import CORE_RELEASES, CORE_VOCABULARIES
from harness.karpenter.releases.model import ProviderRelease
from harness.kube.api.labels import ZONE

__all__ = ["Change", "releases"]


@dataclass(frozen=True)
class Change:
    """What a release changed: fields to set, keys that became well-known, computed, on offerings or part of the base labels."""

    core: str = ""
    well_known: frozenset[str] = frozenset()
    computed: frozenset[str] = frozenset()
    offering: frozenset[str] = frozenset()
    base: frozenset[str] = frozenset()
    known_values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    normalized_values: Mapping[str, Mapping[str, str]] | None = None
    also_restricted: frozenset[str] = frozenset()
    set: Mapping[str, object] = field(default_factory=dict)


def releases(changes: Mapping[str, Change]) -> Iterator[ProviderRelease]:
    """The releases that changes by version make, the oldest first and in full. Raises TypeError for a field that no release has."""
    core = ""
    well_known: frozenset[str] = frozenset()
    computed: frozenset[str] = frozenset()
    offering: frozenset[str] = frozenset()
    base: frozenset[str] = frozenset()
    known_values: dict[str, frozenset[str]] = {}
    normalized_values: Mapping[str, Mapping[str, str]] = {}
    settings: dict[str, object] = {}
    settable = {item.name for item in fields(ProviderRelease)}
    for version, change in changes.items():
        core = change.core or core
        well_known |= change.well_known
        computed |= change.computed
        offering |= change.offering
        base |= change.base
        known_values = known_values | dict(change.known_values)
        normalized_values = change.normalized_values or normalized_values
        settings |= change.set
        if not settings.keys() <= settable:
            raise TypeError(f"release {version} sets unknown fields {sorted(settings.keys() - settable)}")
        of_core = CORE_VOCABULARIES[core]
        all_well_known = of_core.well_known | well_known
        vocabulary = replace(
            of_core,
            well_known=all_well_known,
            restricted_domains=of_core.restricted_domains | {keys.GROUP},
            restricted_labels=of_core.restricted_labels | change.also_restricted,
            known_values={**of_core.known_values, **known_values},
            normalized_keys={**CORE_NORMALIZED_KEYS, keys.CSI_ZONE: ZONE},
            normalized_values=normalized_values,
        )
        yield ProviderRelease(
            version=version,
            core=CORE_RELEASES[core],
            vocabulary=vocabulary,
            crds=version,
            azure_well_known=well_known,
            allowed_at_create=all_well_known | {keys.SKU_HYPERV} | change.also_restricted,
            computed_keys=computed,
            offering_keys=offering,
            base_keys=base,
            **settings,  # type: ignore[arg-type]
        )
