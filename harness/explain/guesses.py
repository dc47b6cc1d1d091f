"""What of the catalogue nobody recorded from Azure, among the sizes that an output speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.world import World

__all__ = ["counted_guesses", "guess_lines", "guesses_of"]

Guesses = Mapping[str, Sequence[str]]


def guesses_of(world: World, sizes: Iterable[str]) -> dict[str, list[str]]:
    """Size → names of its guessed capabilities, and `zones`; sizes without a guess are left out, as are those not sold."""
    region = world.caches.catalogue.region(world.region)
    sold = sorted({size for size in sizes if size in region.by_name})
    return {size: found for size in sold if (found := sorted(region.guessed(size)))}


def counted_guesses(world: World, sizes: Iterable[str]) -> tuple[int, int]:
    """How many of these sizes have a guessed fact, and how many guessed zones."""
    region = world.caches.catalogue.region(world.region)
    found = [names for size in sizes if size in region.by_name and (names := region.guessed(size))]
    return len(found), sum("zones" in names for names in found)


def guess_lines(guesses: Guesses) -> Iterator[str]:
    """One line for all sizes of which the same is guessed."""
    alike: dict[str, list[str]] = {}
    for size, names in guesses.items():
        others = len(names) - ("zones" in names)
        capabilities = [f"{others} {'capability' if others == 1 else 'capabilities'}"] if others else []
        alike.setdefault(" and ".join([*(["zones"] if "zones" in names else []), *capabilities]), []).append(size)
    for what, sizes in alike.items():
        yield f"guessed, not recorded from Azure: {what} of {', '.join(sizes)} (harness requirements names them)"
