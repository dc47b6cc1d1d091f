"""Releases that make the same instance types of the same records, so that one list serves them all."""

from dataclasses import fields
from functools import lru_cache

from harness.karpenter.releases import ProviderRelease
from harness.karpenter.releases.model import InstanceTypeFlags
from harness.karpenter.releases.table import PROVIDER_RELEASES

__all__ = ["LISTED_BY", "lists_like"]

LISTED_BY = (*(flag.name for flag in fields(InstanceTypeFlags)), "image_families", "vocabulary")
"""The parts of a release on which a list depends, beside the settings of the NodeClass; a test finds whatever else is read."""


@lru_cache(maxsize=64)
def lists_like(release: ProviderRelease) -> ProviderRelease:
    """Return the first release whose lists are those of this one: both agree on everything in `LISTED_BY`."""
    return next((candidate for candidate in PROVIDER_RELEASES.values() if _alike(candidate, release)), release)


def _alike(release: ProviderRelease, other: ProviderRelease) -> bool:
    return all(getattr(release, name) == getattr(other, name) for name in LISTED_BY)
