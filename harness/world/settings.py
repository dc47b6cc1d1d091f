"""The inputs of a world: the arguments of World, and the settings that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypedDict

from fakeazure.catalog.locations import location_key
from fakeazure.market.amendments import AMENDMENTS
from fakeazure.timing import RECORDED as CLOUD_RECORDED
from fakeazure.timing import Timing as CloudTiming
from harness.karpenter.lifecycle.nodeclaims.pace import Pace
from harness.karpenter.releases import (
    DEFAULT_RELEASE,
    MACHINE_MODES,
    SHARED_GALLERY,
    ProviderOptions,
    ProviderRelease,
    provider,
)
from harness.karpenter.validation.admission import Crds
from harness.karpenter.validation.crds import crd_set
from harness.nodes.timing import RECORDED, Timing
from harness.world.caches import Caches, default_caches
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.clusterautoscaler.profile import Profile

__all__ = ["ATTEMPT_SECONDS", "Inputs", "Settings", "resolve", "split_times"]

ATTEMPT_SECONDS = 0.0008
"""Seconds of one attempt to place a pod: 0.83 s of CPU for 1,000 diverse pods, measured with core 1.14 and one worker, its default."""

_TIMING_FIELDS = frozenset(item.name for item in fields(Timing))


class Inputs(TypedDict, total=False):
    """The arguments of World; each may be left out."""

    karpenter: str
    """The provider release."""
    crds: str | Crds | None
    """The release whose CRDs are installed (the same unless given), or CRDs read from files (harness.clusters.crd_files.CrdFiles)."""
    kubernetes: str | None
    """The version of the API server."""
    region: str | None
    """The region by its short or its display name: `eastus`, `EastUS`, `East US`."""
    provision_mode: str | None
    options: Mapping[str, Any] | None
    """Karpenter's start-up options by field name."""
    azure: Mapping[str, Any] | None
    """The market, the day of the lists of sizes (`asOf`), and the kubelet of machines (`kubelet`): the keys of `azure` in a scenario."""
    seed: int
    """The seed of all random values."""
    caches: Caches | None
    timing: Timing | None
    """Durations of machines."""
    cloud_timing: CloudTiming | None
    """Durations of Azure."""
    times: Mapping[str, float] | None
    """Values in place of some fields of `timing`, and of Karpenter's durations over a NodeClaim (Pace)."""
    storage_classes: bool
    """Whether AKS's StorageClasses are there from the start (by default they are)."""
    recorded: bool
    """Whether machines and Azure take as long as in a recorded run, where `timing` and `cloud_timing` are not given."""
    attempt_seconds: float
    """Virtual seconds that each attempt to place a pod takes."""
    time_limit: float
    """Virtual seconds after which a scheduling simulation stops; its decisions so far are there when its time is over."""
    cluster_autoscaler: Mapping[str, str] | None
    """The cluster autoscaler's profile by AKS's keys, as text, where it runs beside Karpenter; {} for AKS's defaults."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The inputs with every default in place."""

    release: ProviderRelease
    crds: Crds
    kubernetes: str
    region: str
    options: ProviderOptions
    market: Mapping[str, Any]
    kubelet: str | None
    seed: int
    caches: Caches
    timing: Timing
    cloud_timing: CloudTiming | None
    pace: Pace
    attempt_seconds: float
    time_limit: float
    storage_classes: bool
    cluster_autoscaler: Profile | None


def resolve(inputs: Inputs) -> Settings:
    """Return the settings of the inputs.

    Raises UnknownRelease, UnknownCrdSet, CatalogueError for values that do not exist, TypeError for an argument of
    another name.
    """
    unknown = sorted(inputs.keys() - Inputs.__annotations__.keys())
    if unknown:
        raise TypeError(f"World has no argument {', '.join(unknown)}")
    attempt_seconds, time_limit = inputs.get("attempt_seconds", ATTEMPT_SECONDS), inputs.get("time_limit", 60.0)
    if attempt_seconds < 0 or time_limit < 0:
        raise ValueError("attempt_seconds and time_limit are seconds from 0")
    release = provider(inputs.get("karpenter", DEFAULT_RELEASE))
    region = location_key(inputs.get("region") or release.defaults.region)
    market = dict(inputs.get("azure") or {})
    caches = (inputs.get("caches") or default_caches()).on_day(market.pop("asOf", None)).amended(market, region)
    kubelet = market.pop("kubelet", None)
    of_machines, of_karpenter = split_times(inputs.get("times") or {})
    crds, recorded = inputs.get("crds"), inputs.get("recorded", False)
    return Settings(
        release=release,
        crds=crd_set(crds or release.crds) if crds is None or isinstance(crds, str) else crds,
        kubernetes=inputs.get("kubernetes") or release.defaults.kubernetes,
        region=region,
        options=_options(inputs, release, region),
        market={name: value for name, value in market.items() if name not in AMENDMENTS},
        kubelet=kubelet,
        seed=inputs.get("seed", 0),
        caches=caches,
        timing=replace(inputs.get("timing") or (RECORDED if recorded else Timing()), **of_machines),
        cloud_timing=inputs.get("cloud_timing") or (CLOUD_RECORDED if recorded else None),
        pace=replace(Pace(), **of_karpenter),
        attempt_seconds=attempt_seconds,
        time_limit=time_limit,
        storage_classes=inputs.get("storage_classes", True),
        cluster_autoscaler=_profile(inputs.get("cluster_autoscaler")),
    )


def split_times(seconds: Mapping[str, float]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return times by field name: those of Timing, and the others, which are Pace's."""
    of_machines = {name: value for name, value in seconds.items() if name in _TIMING_FIELDS}
    return of_machines, {name: value for name, value in seconds.items() if name not in _TIMING_FIELDS}


def _profile(settings: Mapping[str, str] | None) -> Profile | None:
    """Return the cluster autoscaler's profile where it runs. Raises KeyError, SettingError."""
    if settings is None:
        return None
    from harness.clusterautoscaler.profile import profile_from

    return profile_from(settings)


def _options(inputs: Inputs, release: ProviderRelease, region: str) -> ProviderOptions:
    changes = dict(inputs.get("options") or {})
    if inputs.get("provision_mode") is not None:
        changes["provision_mode"] = inputs["provision_mode"]
    if changes.get("provision_mode") in MACHINE_MODES:
        # AKS machines boot from AKS's own gallery only, so such a controller runs with USE_SIG.
        changes = {**SHARED_GALLERY, **changes}
    return ProviderOptions.of(release.defaults, region=region, **changes)
