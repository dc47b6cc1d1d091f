"""What can be asked of the catalogue and is not there: each error knows the nearest names."""

from __future__ import annotations

from collections.abc import Iterable


class CatalogueError(ValueError):
    """A user's mistake about the catalogue; its text is one line and fit to be shown."""


class _Unknown(CatalogueError):
    """A name that is not in a list; `name` is what was asked, `suggestions` the nearest known names, best first."""

    noun = "name"

    def __init__(self, name: str, known: Iterable[str], where: str = "") -> None:
        self.name = name
        self.suggestions = nearest(name, known)
        hint = f"; did you mean {' or '.join(map(repr, self.suggestions))}?" if self.suggestions else ""
        super().__init__(f"unknown {self.noun} {name!r}{where}{hint}")


class UnknownRegion(_Unknown):
    """A region that the catalogue does not sell in."""

    noun = "region"


class UnknownSize(_Unknown):
    """A size that is not sold in the region asked about."""

    noun = "size"


def nearest(name: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The up to `count` known names nearest to `name`, compared without case, blanks and the prefix `Standard_`."""
    import difflib  # only a mistake needs it

    folded = {_fold(candidate): candidate for candidate in known}
    wanted = _fold(name)
    if wanted in folded:
        return (folded[wanted],)
    return tuple(folded[match] for match in difflib.get_close_matches(wanted, folded, n=count, cutoff=0.6))


def _fold(name: str) -> str:
    return name.lower().replace(" ", "").removeprefix("standard_")
