"""Worlds for subcommands: from options, with every mistake as one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.kube.api.versions import version_mistake

if TYPE_CHECKING:
    from harness.world import World

__all__ = ["InputError", "UnknownMode", "check_size", "create_world"]


class InputError(ValueError):
    """An option whose value does not exist; the text is one line. `path` is the part of Azure's state that it speaks of, if any."""

    def __init__(self, text: str, path: str = "", what: str = "") -> None:
        super().__init__(text)
        self.path = path
        self.what = what


class UnknownMode(InputError):
    """A provision mode with which the release does not start."""


def create_world(**inputs: Any) -> World:
    """A World with these inputs; those that are None keep their default. Raises InputError."""
    from harness.karpenter.releases import ProvisionMode, UnknownRelease
    from harness.scenario.reading.problems import did_you_mean
    from harness.world import World, default_caches

    given = {name: value for name, value in inputs.items() if value is not None}
    kubernetes, mode, region = (str(given.get(name, "")) for name in ("kubernetes", "provision_mode", "region"))
    if kubernetes and (mistake := version_mistake(kubernetes)):
        raise InputError(f"--kubernetes: {mistake}")
    modes = [mode.value for mode in ProvisionMode]
    if mode and mode not in modes:
        raise InputError(f"unknown provision mode '{mode}'; {did_you_mean(mode, modes)}")
    regions = default_caches().catalogue.regions
    if region and region not in regions:
        hint = did_you_mean(region, regions, limit=len(regions))
        raise InputError(f"unknown region '{region}'" + (f"; {hint}" if hint else ""))
    try:
        world = World(**given)
    except UnknownRelease as error:
        hint = did_you_mean(error.version.removeprefix("v"), error.known, limit=0)
        hint = hint or f"known are {error.known[0]} to {error.known[-1]}"
        raise InputError(f"unknown release '{error.version}'; {hint}") from None
    except ValueError as error:  # of the state of Azure, it knows the place
        raise InputError(str(error), getattr(error, "path", ""), getattr(error, "what", "")) from None
    known = world.release.provision_modes  # validateProvisionMode: the controller does not start in another one
    if mode and mode not in known:
        raise UnknownMode(f"provider {world.release.version} has no provision mode '{mode}'; it has {', '.join(known)}")
    return world


def check_size(world: World, size: str | None) -> None:
    """Raises InputError for a size that the world's region does not sell."""
    from harness.scenario.reading.problems import did_you_mean

    sold = world.caches.catalogue.region(world.region).by_name
    if size is not None and size not in sold:
        hint = did_you_mean(f"Standard_{size}" if f"Standard_{size}" in sold else size, sold, limit=0)
        raise InputError(f"unknown size '{size}' in {world.region}" + (f"; {hint}" if hint else ""))
