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

__all__ = ["ATTEMPT_SECONDS", "TIME_LIMIT", "Inputs", "Settings", "resolve", "split_times"]

ATTEMPT_SECONDS = 0.0008
"""Seconds of one attempt to place a pod: 0.83 s of CPU for 1,000 diverse pods, measured with core 1.14 and one worker, its default."""
TIME_LIMIT = 60.0
"""Seconds after which core stops a simulation (core pkg/controllers/provisioning/provisioner.go, Schedule)."""

_TIMING_FIELDS = frozenset(item.name for item in fields(Timing))


class Inputs(TypedDict):
    """The arguments of World that its settings follow from; World has their defaults and says what they are."""

    karpenter: str
    crds: str | Crds | None
    kubernetes: str | None
    region: str | None
    provision_mode: str | None
    options: Mapping[str, Any] | None
    azure: Mapping[str, Any] | None
    seed: int
    caches: Caches | None
    timing: Timing | None
    cloud_timing: CloudTiming | None
    times: Mapping[str, float] | None
    storage_classes: bool
    recorded: bool
    attempt_seconds: float
    time_limit: float
    cluster_autoscaler: Mapping[str, str] | None


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
    """Return the settings of the inputs. Raises UnknownRelease, UnknownCrdSet, CatalogueError for values that do not exist."""
    if inputs["attempt_seconds"] < 0 or inputs["time_limit"] < 0:
        raise ValueError("attempt_seconds and time_limit are seconds from 0")
    release = provider(inputs["karpenter"])
    region = location_key(inputs["region"] or release.defaults.region)
    market = dict(inputs["azure"] or {})
    caches = (inputs["caches"] or default_caches()).on_day(market.pop("asOf", None)).amended(market, region)
    kubelet = market.pop("kubelet", None)
    of_machines, of_karpenter = split_times(inputs["times"] or {})
    crds, recorded = inputs["crds"], inputs["recorded"]
    return Settings(
        release=release,
        crds=crd_set(crds or release.crds) if crds is None or isinstance(crds, str) else crds,
        kubernetes=inputs["kubernetes"] or release.defaults.kubernetes,
        region=region,
        options=_options(inputs, release, region),
        market={name: value for name, value in market.items() if name not in AMENDMENTS},
        kubelet=kubelet,
        seed=inputs["seed"],
        caches=caches,
        timing=replace(inputs["timing"] or (RECORDED if recorded else Timing()), **of_machines),
        cloud_timing=inputs["cloud_timing"] or (CLOUD_RECORDED if recorded else None),
        pace=replace(Pace(), **of_karpenter),
        attempt_seconds=inputs["attempt_seconds"],
        time_limit=inputs["time_limit"],
        storage_classes=inputs["storage_classes"],
        cluster_autoscaler=_profile(inputs["cluster_autoscaler"]),
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
    changes = dict(inputs["options"] or {})
    if inputs["provision_mode"] is not None:
        changes["provision_mode"] = inputs["provision_mode"]
    if changes.get("provision_mode") in MACHINE_MODES:
        # AKS machines boot from AKS's own gallery only, so such a controller runs with USE_SIG.
        changes = {**SHARED_GALLERY, **changes}
    return ProviderOptions.of(release.defaults, region=region, **changes)
