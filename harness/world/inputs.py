"""The inputs of a world, judged before it is made: the one place that knows whether a release, a region or an option exists.

Scenario files and the command line call it, and add the place of each mistake: a field of the file, or an option.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import yaml

from fakeazure.catalog.errors import CatalogueError, places_text
from fakeazure.catalog.locations import location_key
from fakeazure.market.amendments import amendment_mistakes
from fakeazure.market.spec import market_mistakes
from harness.karpenter.releases import (
    ALL_PROVIDER_RELEASES,
    DEFAULT_RELEASE,
    KNOWN_RELEASES,
    OPTIONS,
    ProviderOptions,
    ProvisionMode,
    UnknownRelease,
    find_option,
    provider,
)
from harness.karpenter.releases.disruption import disruption_rules_of
from harness.karpenter.scheduling.pods.default_spread import scheduler_config_problem
from harness.kube.api.versions import Version, version_mistake
from harness.wording import did_you_mean
from harness.world.caches import Caches, default_caches
from lazyrecords import dataclass

__all__ = [
    "InputMistake",
    "input_mistakes",
    "places_text",
    "region_mistake",
    "release_mistake",
    "size_mistake",
    "typed_options",
]

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class InputMistake:
    """A mistake in an input. `path` begins with the name of World's argument: `("azure", "faults", 0, "what")`."""

    path: Path
    what: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.what}; {self.hint}" if self.hint else self.what


def input_mistakes(arguments: Mapping[str, Any], caches: Caches | None = None) -> Iterator[InputMistake]:
    """Yield all mistakes in keyword arguments of World; nothing when a World can be made of them.

    `crds` is not judged: it may be a folder, which only the caller knows (harness.scenario.language.crds).
    """
    release, kubernetes, region = (arguments.get(name) for name in ("karpenter", "kubernetes", "region"))
    caches = caches or default_caches()
    market = dict(arguments.get("azure") or {})
    try:
        caches = caches.on_day(market.pop("asOf", None))
    except CatalogueError as wrong_day:
        text, _, hint = str(wrong_day).partition("; ")
        yield InputMistake(("azure", "asOf"), text, hint)
    kubelet = market.pop("kubelet", None)
    if kubelet is not None and (mistake := version_mistake(str(kubelet))):
        yield InputMistake(("azure", "kubelet"), mistake)
    wrong_release = release_mistake(str(release)) if release is not None else None
    if wrong_release:
        yield wrong_release
    if kubernetes is not None and (mistake := version_mistake(str(kubernetes))):
        yield InputMistake(("kubernetes",), mistake)
    plain, place = caches.catalogue, location_key(str(region or provider(DEFAULT_RELEASE).defaults.region))
    caches = replace(caches, catalogue=amendment_mistakes(caches.catalogue, market, place)[0])
    if region is not None and (wrong := region_mistake(str(region), caches)):
        yield wrong
    if arguments.get("provision_mode") is not None and not wrong_release:
        yield from _mode_mistake(str(arguments["provision_mode"]), release)
    version = provider(str(release or DEFAULT_RELEASE)).version if not wrong_release else None
    yield from typed_options(arguments.get("options") or {}, version)[1]
    for error in market_mistakes(plain, market, region=place):
        text, _, hint = error.what.partition("; ")
        yield InputMistake(("azure", *error.place), text, hint)


def release_mistake(name: str) -> InputMistake | None:
    """Return why there is no such release of the provider, or no such policy on a release."""
    try:
        provider(name)
    except UnknownRelease as error:
        hint = did_you_mean(error.version.removeprefix("v"), KNOWN_RELEASES, limit=0)
        known_releases = f"known are {ALL_PROVIDER_RELEASES[0]} to {ALL_PROVIDER_RELEASES[-1]}"
        return InputMistake(("karpenter",), f"unknown release '{error.version}'", hint or known_releases)
    return None


def region_mistake(name: str, caches: Caches | None = None) -> InputMistake | None:
    """Return why there is no such region in the catalogue; None when there is one."""
    regions = (caches or default_caches()).catalogue.regions
    if location_key(name) in regions:
        return None
    return InputMistake(("region",), f"unknown region '{name}'", did_you_mean(name, regions, limit=len(regions)))


def size_mistake(size: str, region: str | None = None, caches: Caches | None = None) -> InputMistake | None:
    """Return why a region, by default the default one, does not sell a size: others do, or it is unknown. Raises UnknownRegion."""
    region = location_key(region or provider(DEFAULT_RELEASE).defaults.region)
    catalogue = (caches or default_caches()).catalogue
    sold = catalogue.region(region).by_name
    if size in sold:
        return None
    elsewhere = catalogue.sellers(size)
    if elsewhere:
        return InputMistake((), f"{size} is not sold in {region}", places_text(elsewhere))
    full = f"Standard_{size}"
    hint = did_you_mean(full if full in sold else size, sold, limit=0)
    return InputMistake((), f"unknown size '{size}' in {region}", hint)


def _mode_mistake(mode: str, release: str | None) -> Iterator[InputMistake]:
    """Yield the mistake of a mode that a controller lacks, with which it does not start (validateProvisionMode)."""
    modes = [provision_mode.value for provision_mode in ProvisionMode]
    if mode not in modes:
        yield InputMistake(("provision_mode",), f"unknown provision mode '{mode}'", did_you_mean(mode, modes))
    elif release is not None:
        provider_release = provider(release)
        if mode not in provider_release.provision_modes:
            message = f"provider {provider_release.version} has no provision mode '{mode}'"
            yield InputMistake(("provision_mode",), message, f"it has {', '.join(provider_release.provision_modes)}")


def typed_options(options: Mapping[str, Any], release: str | None = None) -> tuple[dict[str, Any], list[InputMistake]]:
    """Return the controller's options by field name, texts read as their type, and the mistakes of the others.

    With a release, options of later ones are mistakes, too.
    """
    defaults = ProviderOptions()
    mistakes: list[InputMistake] = []
    typed: dict[str, Any] = {}
    for name, value_given in options.items():
        option, path = find_option(name), ("options", name)
        if option is None:
            hint = did_you_mean(name, [option.name for option in OPTIONS], limit=0)
            mistakes.append(InputMistake(path, f"unknown option '{name}'", hint))
            continue
        if release is not None and not option.is_of(release):
            message = f"provider {release} has no option '{option.name}'"
            mistakes.append(InputMistake(path, message, f"it came with {option.since}"))
            continue
        default = getattr(defaults, option.field)
        if option.field == "scheduler_config":
            value, problem = _scheduler_config(value_given)
            if problem is not None:
                mistakes.append(InputMistake(path, problem))
                continue
        else:
            value = _typed(value_given, default) if isinstance(value_given, str) else value_given
        if value is None:
            kinds = {bool: "'true' or 'false'", int: "a whole number", float: "a number", dict: "KEY=VALUE,…"}
            mistakes.append(
                InputMistake(path, f"{kinds.get(type(default), 'a value')} is expected, not '{value_given}'")
            )
        elif (expected := _azure_name(option.field, value)) is not None:
            mistakes.append(InputMistake(path, f"{expected} is expected, not '{value_given}'"))
        else:
            typed[option.field] = value
    if release is not None and (lacking := _unstartable(typed, release)) is not None:
        mistakes.append(lacking)
    return typed, mistakes


_OF_AZURE: Mapping[str, str] = {
    "cluster_name": "cluster",
    "machines_pool": "machines_pool",
    "node_resource_group": "resource_group",
    "resource_group": "resource_group",
    "subscription_id": "subscription",
    "tenant_id": "tenant",
}
"""Options that name something in Azure, by their field, with the argument of FakeAzure that has the same form."""


def _azure_name(field: str, value: Any) -> str | None:
    """Return what is expected of an option's value, in words, where Azure can have nothing of that name."""
    if field not in _OF_AZURE:
        return None
    from fakeazure.beginning import ARGUMENTS

    argument = ARGUMENTS[_OF_AZURE[field]]
    return None if argument.fits(value) else argument.words


_BUFFERS = "CapacityBuffer"
_ALLOCATES = Version(1, 14)
"""The first core whose scheduler allocates devices (core pkg/controllers/provisioning/provisioner.go)."""


def _unstartable(typed: Mapping[str, Any], release: str) -> InputMistake | None:
    """Return the mistake of an option with which the release does not start, or does what is not simulated."""
    core, path = provider(release).core, ("options", "feature-gates")
    if typed.get("ignore_resource_claims") is False and Version.parse(core.version) >= _ALLOCATES:
        problem = f"Karpenter allocates devices in {release} with ignore-dra-requests=false, which is not simulated"
        return InputMistake(("options", "ignore-dra-requests"), problem, "set ignore-dra-requests=true, the default")
    gates = typed.get("feature_gates")
    if not isinstance(gates, Mapping):
        return None
    opened = ProviderOptions(feature_gates=gates)
    if opened.gate(_BUFFERS) and _BUFFERS in core.gates:
        # core pkg/controllers/capacitybuffer/controller.go Register: a kind that the API server does not know cannot be watched
        problem = (
            f"the controller of {release} does not start with {_BUFFERS}=true: "
            f"its charts bring no CRD of {_BUFFERS}s, and no rights on them"
        )
        return InputMistake(path, problem, f"{_BUFFERS}s are not simulated, take {_BUFFERS}=true away")
    if not disruption_rules_of(core).repair_is_disruption:
        return None
    if opened.gate("NodeRepair") and typed.get("legacy_node_repair") is not True:
        problem = f"the controller of {release} does not start with NodeRepair=true: its repair policies name no action"
        return InputMistake(path, problem, "set legacy-node-repair=true, which repairs nothing")
    return None


def _scheduler_config(document: Any) -> tuple[Any, str | None]:
    """Return the document as it is or as text, and the controller's message against it."""
    if isinstance(document, str):
        try:
            document = yaml.safe_load(document) or {}
        except yaml.YAMLError:
            return None, "decoding scheduler config: neither YAML nor JSON"
    if not isinstance(document, Mapping):
        return None, "decoding scheduler config: no object"
    return document, scheduler_config_problem(document)


def _typed(text: str, default: Any) -> Any:
    """The value of a text with the type of a default; None when it has none."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text)
    try:
        if isinstance(default, (int, float)):
            return type(default)(text)
        if isinstance(default, tuple):
            return tuple(part.strip() for part in text.split(",") if part.strip())
        if isinstance(default, Mapping):
            pairs = [part.strip().partition("=") for part in text.split(",") if part.strip()]
            return {key: value for key, _, value in pairs} if all(sign for _, sign, _ in pairs) else None
        return text
    except ValueError:
        return None
