"""The changes of a release of the provider, and the releases that such changes make one after another."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace

from harness.karpenter.labels import azure as keys
from harness.karpenter.labels.vocabulary import CORE_NORMALIZED_KEYS
from harness.karpenter.releases.core import CORE_RELEASES, CORE_VOCABULARIES
from harness.karpenter.releases.model import ProviderRelease
from harness.kube.api.labels import ZONE
from lazyrecords import dataclass

__all__ = ["Change", "releases"]


def _unchanged(release: ProviderRelease) -> ProviderRelease:
    return release


@dataclass(frozen=True)
class Change:
    """The changes of a release: keys that became well-known, computed, on offerings or part of the base labels, and its
    flags.

    ``flags`` makes of the release before one with other flags (``dataclasses.replace``, so that names and types are checked).
    """

    core: str = ""
    well_known: frozenset[str] = frozenset()
    computed: frozenset[str] = frozenset()
    offering: frozenset[str] = frozenset()
    base: frozenset[str] = frozenset()
    known_values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    normalized_values: Mapping[str, Mapping[str, str]] | None = None
    also_restricted: frozenset[str] = frozenset()
    flags: Callable[[ProviderRelease], ProviderRelease] = _unchanged


def releases(release: ProviderRelease, changes: Mapping[str, Change]) -> Iterator[ProviderRelease]:
    """The releases that changes by version make one after another, the first one of a release that has flags only; oldest first."""
    core = ""
    well_known: frozenset[str] = frozenset()
    computed: frozenset[str] = frozenset()
    offering: frozenset[str] = frozenset()
    base: frozenset[str] = frozenset()
    known_values: dict[str, frozenset[str]] = {}
    normalized_values: Mapping[str, Mapping[str, str]] = {}
    for version, change in changes.items():
        core = change.core or core
        well_known |= change.well_known
        computed |= change.computed
        offering |= change.offering
        base |= change.base
        known_values = known_values | dict(change.known_values)
        normalized_values = change.normalized_values or normalized_values
        release = change.flags(release)
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
        release = replace(
            release,
            version=version,
            core=CORE_RELEASES[core],
            vocabulary=vocabulary,
            crds=version,
            azure_well_known=well_known,
            allowed_at_create=all_well_known | {keys.SKU_HYPERV} | change.also_restricted,
            computed_keys=computed,
            offering_keys=offering,
            base_keys=base,
        )
        yield release
