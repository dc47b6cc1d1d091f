"""The releases of Karpenter on Azure: inputs as tables, differences as named flags."""

from functools import cache

from harness.karpenter.releases.core_release import CoreRelease
from harness.karpenter.releases.flag_values import (
    MACHINE_MODES,
    ArtifactStreamingDefault,
    ClaimRequirementLabels,
    EphemeralRule,
    InPlaceTags,
    LocalDnsSource,
    ProvisionMode,
    UnknownRelease,
)
from harness.karpenter.releases.model import Defaults, ProviderRelease
from harness.karpenter.releases.option_table import OPTIONS, Option, find_option, option_of_variable, options_of
from harness.karpenter.releases.options import (
    BEST_EFFORT,
    GALLERY_SUBSCRIPTION,
    SHARED_GALLERY,
    STRICT,
    ProviderOptions,
)
from harness.karpenter.releases.order import release_order
from harness.karpenter.releases.policies import DEFAULT_BASE, POLICIES, Policy, overlaid, split_name
from harness.karpenter.releases.table import PROVIDER_RELEASES

__all__ = [
    "ALL_PROVIDER_RELEASES",
    "BEST_EFFORT",
    "DEFAULT_BASE",
    "DEFAULT_RELEASE",
    "GALLERY_SUBSCRIPTION",
    "KNOWN_RELEASES",
    "MACHINE_MODES",
    "OPTIONS",
    "POLICIES",
    "SHARED_GALLERY",
    "STRICT",
    "UNRELEASED",
    "ArtifactStreamingDefault",
    "ClaimRequirementLabels",
    "CoreRelease",
    "Defaults",
    "EphemeralRule",
    "InPlaceTags",
    "LocalDnsSource",
    "Option",
    "Policy",
    "ProviderOptions",
    "ProviderRelease",
    "ProvisionMode",
    "UnknownRelease",
    "base_of",
    "find_option",
    "option_of_variable",
    "options_of",
    "provider",
    "release_order",
    "releases_of",
]

DEFAULT_RELEASE = "1.14.0"
"""The release that is meant when nobody names one: the newest whose every operation is measured against the real code."""

KNOWN_RELEASES: tuple[str, ...] = tuple(PROVIDER_RELEASES)
"""Whatever can be asked for: versions without ``v``, oldest first, then what is not released yet."""

UNRELEASED: tuple[str, ...] = tuple(name for name in KNOWN_RELEASES if not name[0].isdigit())
"""Releases made of a branch: ``next``. It changes without notice, so it takes part only where somebody names it."""

ALL_PROVIDER_RELEASES: tuple[str, ...] = tuple(name for name in KNOWN_RELEASES if name not in UNRELEASED)
"""The released versions: what "all releases" means everywhere."""


def provider(version: str) -> ProviderRelease:
    """The release named ``1.14.0`` or ``v1.14.0``, the newest of a line (``1.14``), or a policy on a base (``design-2025-11-07@1.7.2``).

    Raises UnknownRelease.
    """
    policy, base = split_name(version)
    if base not in PROVIDER_RELEASES:
        base = releases_of(base if policy else version)[-1]
    return _overlaid(policy.name, base) if policy is not None else PROVIDER_RELEASES[base]


def releases_of(name: str) -> tuple[str, ...]:
    """The versions that a name means: one (``1.6.5``, ``v1.6.5``, ``next``), or all of a line (``1.6``), oldest first.

    Raises UnknownRelease.
    """
    bare = name.removeprefix("v")
    if bare in UNRELEASED:
        return (bare,)
    releases = tuple(release for release in ALL_PROVIDER_RELEASES if release == bare or release.startswith(f"{bare}."))
    if not releases or bare.count(".") < 1:
        raise UnknownRelease(name, KNOWN_RELEASES)
    return releases


def base_of(release: ProviderRelease) -> str:
    """The version of a release, also of one that is overlaid with a policy."""
    return split_name(release.version)[1]


@cache
def _overlaid(policy: str, base: str) -> ProviderRelease:
    """One object for each policy and base: releases are compared by identity."""
    return overlaid(POLICIES[policy], PROVIDER_RELEASES[base])
