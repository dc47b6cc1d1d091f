"""Errors for names that are not in the catalogue: each knows the nearest ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_FEW = 6  # regions that are named


class CatalogueError(ValueError):
    """A user's mistake about the catalogue; its text is one line and fit to be shown."""


class _Unknown(CatalogueError):
    """A name that is not in a list; `name` is what was asked, `suggestions` the nearest known names, best first."""

    noun = "name"

    def __init__(self, name: str, names: Iterable[str], where: str = "") -> None:
        self.name = name
        self.suggestions = nearest(name, names)
        hint = f"; did you mean {' or '.join(map(repr, self.suggestions))}?" if self.suggestions else ""
        super().__init__(f"unknown {self.noun} {name!r}{where}{hint}")


class UnknownRegion(_Unknown):
    """A region that the catalogue does not sell in."""

    noun = "region"


class UnknownSize(_Unknown):
    """A size that is not sold in the region asked about."""

    noun = "size"


class NotSold(CatalogueError):
    """A size that other regions sell: `elsewhere`, one at least."""

    def __init__(self, name: str, region: str, elsewhere: Sequence[str]) -> None:
        self.name, self.region, self.elsewhere = name, region, tuple(elsewhere)
        super().__init__(f"{name} is not sold in {region}; {places_text(elsewhere)}")


def places_text(regions: Sequence[str]) -> str:
    """`sold in a, b, … and 7 more regions`."""
    more = f" and {len(regions) - _FEW} more regions" if len(regions) > _FEW else ""
    return f"sold in {', '.join(regions[:_FEW])}{more}"


def nearest(name: str, names: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The up to `count` known names nearest to `name`, compared without case, blanks and the prefix `Standard_`."""
    import difflib  # only a mistake needs it

    folded = {_fold(candidate): candidate for candidate in names}
    wanted = _fold(name)
    if wanted in folded:
        return (folded[wanted],)
    return tuple(folded[match] for match in difflib.get_close_matches(wanted, folded, n=count, cutoff=0.6))


def _fold(name: str) -> str:
    return name.lower().replace(" ", "").removeprefix("standard_")
