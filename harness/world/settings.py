"""The inputs of a world: the arguments of World, and the settings that follow from them.

`check` refuses arguments of a wrong form; whether a release, a region or an option of a release exists is judged by
`harness.world.inputs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypedDict

from fakeazure.arguments import (
    Argument,
    argument_mistakes,
    flag,
    is_seconds,
    keys_of,
    kubernetes_version,
    mapping,
    number,
    optional,
    text,
    whole,
)
from fakeazure.catalog.locations import location_key
from fakeazure.market.amendments import AMENDMENTS
from fakeazure.timing import RECORDED as CLOUD_RECORDED
from fakeazure.timing import Timing as CloudTiming
from harness.engine.clock import Clock
from harness.karpenter.lifecycle.nodeclaims.pace import Pace
from harness.karpenter.releases import (
    DEFAULT_RELEASE,
    MACHINE_MODES,
    SHARED_GALLERY,
    ProviderOptions,
    ProviderRelease,
    ProvisionMode,
    UnknownRelease,
    provider,
)
from harness.karpenter.validation.admission import Crds
from harness.karpenter.validation.crds import crd_set
from harness.nodes.timing import RECORDED, Timing
from harness.world.caches import Caches, default_caches
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.clusterautoscaler.profile import Profile

__all__ = ["ATTEMPT_SECONDS", "TIME_LIMIT", "Inputs", "Settings", "check", "resolve", "split_times"]

ATTEMPT_SECONDS = 0.0008
"""Seconds of one attempt to place a pod: 0.83 s of CPU for 1,000 diverse pods, measured with core 1.14 and one worker, its default."""
TIME_LIMIT = 60.0
"""Seconds after which core stops a simulation (core pkg/controllers/provisioning/provisioner.go, Schedule)."""

_TIMING_FIELDS = frozenset(item.name for item in fields(Timing))
_OPTIONAL = frozenset(("device_plugin", "silence"))
_ENDLESS = frozenset(("boot", "ready", "cloud_node_manager", "device_plugin", "pod_stop", "job_pod", "eviction_notice"))


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
    loads: Mapping[str, Any] | None


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
    loads: Mapping[str, Any]


def _check_cluster_autoscaler(settings: Mapping[Any, Any]) -> Iterator[str]:
    from harness.clusterautoscaler.profile import SettingError, read_setting, setting_names

    yield from keys_of(setting_names, _TEXT).mistakes(settings)
    for key, setting in settings.items():
        if key not in setting_names() or not isinstance(setting, str):
            continue
        try:
            read_setting(key, setting)
        except SettingError as error:
            yield f"{key}: {error}"


_FLAG = flag()
_SECONDS = Argument("seconds from 0", is_seconds)
_TEXT = text(fits=lambda value: True)
_LIMITED = replace(number(), words="finite seconds from 0")
_KINDS: Mapping[type, Argument] = {
    bool: _FLAG,
    float: number(),
    str: _TEXT,
    tuple: Argument(
        "a list of texts",
        lambda value: isinstance(value, list | tuple) and all(isinstance(item, str) for item in value),
    ),
    dict: mapping(),
}
_OPTIONS: Mapping[str, Argument] = {
    "additional_tags": Argument(
        "a mapping of texts",
        lambda value: (
            isinstance(value, Mapping) and all(isinstance(item, str) for pair in value.items() for item in pair)
        ),
    ),
}


def _option(name: str) -> Argument:
    """Return the form of an option: by its name, or that of its default."""
    return _OPTIONS.get(name) or _KINDS[str if name == "provision_mode" else type(getattr(ProviderOptions(), name))]


def _time(name: str) -> Argument:
    """Return the form of a duration; some may be NEVER, as Timing says, or None."""
    argument = _SECONDS if name in _ENDLESS else _LIMITED
    return optional(argument) if name in _OPTIONAL else argument


_TIMES = keys_of(lambda: (item.name for kind in (Timing, Pace) for item in fields(kind)), _time)
_MODES = tuple(mode.value for mode in ProvisionMode)
_ARGUMENTS: Mapping[str, Argument] = {
    "karpenter": text("a release such as '1.14.0'"),
    "crds": optional(Argument("a release or CRDs", lambda value: isinstance(value, str) or hasattr(value, "name"))),
    "kubernetes": optional(kubernetes_version()),
    "region": optional(text("the name of a region")),
    "provision_mode": optional(Argument(f"one of {', '.join(_MODES)}", lambda value: value in _MODES)),
    "options": optional(keys_of(lambda: (item.name for item in fields(ProviderOptions)), _option)),
    "azure": optional(mapping()),
    "loads": optional(mapping()),
    "seed": whole(),
    "caches": optional(Argument("Caches", lambda value: isinstance(value, Caches))),
    "timing": optional(
        Argument(
            "a Timing of harness.nodes",
            lambda value: isinstance(value, Timing),
            lambda value: _TIMES.mistakes({name: getattr(value, name) for name in sorted(_TIMING_FIELDS)}),
        )
    ),
    "cloud_timing": optional(Argument("a Timing of fakeazure", lambda value: isinstance(value, CloudTiming))),
    "times": optional(_TIMES),
    "storage_classes": _FLAG,
    "recorded": _FLAG,
    "attempt_seconds": _LIMITED,
    "time_limit": _SECONDS,
    "cluster_autoscaler": optional(mapping(_check_cluster_autoscaler)),
    "cluster": Argument("a function that makes a cluster", callable),
    "clock": optional(Argument("a Clock", lambda value: isinstance(value, Clock))),
    "simulated": _FLAG,
}


def check(arguments: Mapping[str, Any]) -> None:
    """Raise ValueError with every argument of World of a wrong form, in one line; beside such a one also with what does not exist.

    A release, a region or a market that alone does not exist is left to the error of its own that `resolve` and the cloud raise.
    """
    mistakes = dict[str, list[str]]()
    for name, mistake in argument_mistakes(arguments, _ARGUMENTS):
        mistakes.setdefault(name, []).append(mistake)
    lines = [line for of_argument in mistakes.values() for line in of_argument]
    lines += _unknown({name: value for name, value in arguments.items() if name not in mistakes}, beside=bool(mistakes))
    if lines:
        raise ValueError(f"World: {'; '.join(lines)}")


def _unknown(arguments: Mapping[str, Any], *, beside: bool) -> list[str]:
    """Return the mistakes in release, region and market, which have the right form; none for a single one that is not `beside` others."""
    caches, region = arguments.get("caches") or default_caches(), arguments.get("region")
    exists = region is None or location_key(region) in caches.catalogue.regions
    try:
        provider(arguments.get("karpenter", DEFAULT_RELEASE))
    except UnknownRelease:
        exists = False
    if exists and not beside:
        return []
    from harness.world.inputs import input_mistakes

    judged = {name: arguments[name] for name in ("karpenter", "region", "azure") if name in arguments}
    mistakes = [
        str(mistake) if len(mistake.path) == 1 else f"{'.'.join(map(str, mistake.path))}: {mistake}"
        for mistake in input_mistakes(judged, caches)
    ]
    return mistakes if beside or len(mistakes) > 1 else []


def resolve(inputs: Inputs) -> Settings:
    """Return the settings of checked inputs. Raises UnknownRelease, UnknownCrdSet, CatalogueError for values that do not exist."""
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
        loads=inputs["loads"] or {},
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
