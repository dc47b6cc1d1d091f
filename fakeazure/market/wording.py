"""Words of a market's description checked against what is known, so that a rule about nothing is a mistake and no silence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from fakeazure.market.facts import CatalogueLike
from fakeazure.market.match import PRIORITIES, REGIONAL, zone_region

__all__ = ["MarketError", "check_placement", "families", "flawless", "hint", "mistakes", "one_of"]

T = TypeVar("T")

FEW = 60
"""The number of known words that are worth a line."""
SOME = 12
"""The number of known words that show what the others look like."""

_ZONES = ("1", "2", "3", REGIONAL)


class MarketError(ValueError):
    """A mistake in the description of a market: `path: what; did you mean 'NAME'?`."""

    def __init__(self, path: str, problem: str) -> None:
        """Name the place and the mistake."""
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.what = problem

    @property
    def place(self) -> tuple[str | int, ...]:
        """The path in steps: `("faults", 0, "what")` for `faults[0].what`."""
        steps = re.findall(r"[^.\[\]]+", self.path.removeprefix("azure"))
        return tuple(int(step) if step.isdecimal() else step for step in steps)


def flawless(read: Iterable[T | MarketError]) -> list[T]:
    """Return the results of reading a part of the description. Raises the first MarketError among them."""
    items: list[T] = []
    for item in read:
        if isinstance(item, MarketError):
            raise item
        items.append(item)
    return items


def mistakes(read: Iterable[object]) -> list[MarketError]:
    """The mistakes among what was read."""
    return [item for item in read if isinstance(item, MarketError)]


def check_placement(item: Mapping[str, Any], path: str, catalogue: CatalogueLike) -> None:
    """Size, family, zone, priority and location of a rule exist in some region; patterns are taken as they are.

    Raises MarketError.
    """
    for name in ("size", "family", "zone", "priority", "location"):
        text = str(item.get(name, "*"))
        if "*" in text or "?" in text:
            continue
        word = text.lower()
        if name == "zone":
            if word.rpartition("-")[2] not in (*_ZONES, "", "0"):
                raise MarketError(f"{path}.{name}", f"unknown zone {text!r}; zones are {', '.join(_ZONES)}")
            if zone_region(word):
                number = word.rpartition("-")[2]
                _known(word, text, (f"{region}-{number}" for region in catalogue.regions), name, path)
        elif name == "priority":
            _known(word, text, PRIORITIES, name, path)
        elif name == "location":
            _known(word, text, catalogue.regions, name, path)
        else:
            names = sizes if name == "size" else families
            if not any(word == name.lower() for name in names(catalogue)):  # most are found before all are listed
                _known(word, text, names(catalogue), name, path)


def _known(word: str, text: str, candidates: Iterable[str], name: str, path: str) -> None:
    names = list(dict.fromkeys(candidates))
    if word not in {name.lower() for name in names}:
        raise MarketError(f"{path}.{name}", f"unknown {name} {text!r}{hint(text, names)}")


def sizes(catalogue: CatalogueLike) -> Iterator[str]:
    """The sizes that are sold, region after region."""
    for region in catalogue.regions:
        yield from catalogue.region(region).by_name


def families(catalogue: CatalogueLike) -> Iterator[str]:
    """The families that are sold, region after region."""
    for region in catalogue.regions:
        yield from dict.fromkeys(record.get("family", "") for record in catalogue.region(region).skus)


def one_of(value: str, words: Iterable[str], path: str) -> None:
    """Raise MarketError for a word that is none of the known ones."""
    if value not in tuple(words):
        raise MarketError(path, f"unknown value {value!r}{hint(value, words, some=True)}")


def hint(value: str, words: Iterable[str], *, some: bool = False) -> str:
    """The nearest known word, or all of them where they are few; `some`: a few of them where they are many."""
    import difflib  # only a mistake needs it

    names = {name.lower(): name for name in words}
    near = [
        *difflib.get_close_matches(value.lower(), names, n=1),
        *difflib.get_close_matches(f"standard_{value.lower()}", names, n=1, cutoff=0.8),
    ]
    if near:
        return f"; did you mean {names[near[0]]!r}?"
    if some and len(names) > FEW:
        return f"; known are {', '.join(sorted(names.values())[:SOME])} and {len(names) - SOME} more"
    return f"; known are {', '.join(sorted(names.values()))}" if 0 < len(names) <= FEW else ""
