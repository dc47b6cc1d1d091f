"""The releases of Karpenter on Azure: inputs as tables, differences as named flags."""

from harness.karpenter.releases.model import (
    ClaimRequirementLabels,
    CoreRelease,
    Defaults,
    EphemeralRule,
    InPlaceTags,
    LocalDnsSource,
    ProviderRelease,
    ProvisionMode,
)
from harness.karpenter.releases.options import ProviderOptions
from harness.karpenter.releases.table import PROVIDER_RELEASES

__all__ = [
    "ALL_PROVIDER_RELEASES",
    "ClaimRequirementLabels",
    "CoreRelease",
    "Defaults",
    "EphemeralRule",
    "InPlaceTags",
    "LocalDnsSource",
    "ProviderOptions",
    "ProviderRelease",
    "ProvisionMode",
    "UnknownRelease",
    "provider",
]

ALL_PROVIDER_RELEASES: tuple[str, ...] = tuple(PROVIDER_RELEASES)
"""Versions without ``v``, oldest first."""


class UnknownRelease(ValueError):
    """No such release; ``known`` are those there are."""

    def __init__(self, version: str, known: tuple[str, ...]) -> None:
        super().__init__(f"unknown Karpenter release {version!r}; known: {', '.join(known)}")
        self.version = version
        self.known = known


def provider(version: str) -> ProviderRelease:
    """The release named ``1.14.0`` or ``v1.14.0``. Raises UnknownRelease."""
    release = PROVIDER_RELEASES.get(version.removeprefix("v"))
    if release is None:
        raise UnknownRelease(version, ALL_PROVIDER_RELEASES)
    return release
