"""The files that a file may name: those of its own checkout. A scenario of somebody else's pull request reads nothing beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import Path

from harness.reading.problems import Mark, Problem
from lazyrecords import dataclass

__all__ = ["OPTION", "Checkout", "TooManyFiles", "linked_outside", "matching"]

OPTION = "--allow-outside"

_MOST = 50_000  # entries of folders that a pattern looks at; sources.MAX_ENTRIES, for a pattern


def linked_outside(name: str) -> Problem:
    """Return the problem of a link whose end is not in its checkout, whether there is such a file or not."""
    return Problem(Mark(name, 1, 1), "", "is a link that leads out of its checkout", f"{OPTION} permits that")


class TooManyFiles(Exception):
    """A pattern looks at more files and folders than any repository of manifests has."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """The folder whose files may be named; None allows all of them."""

    root: str | None

    @classmethod
    def around(cls, folder: Path, base: Path | None = None) -> Checkout:
        """The checkout that a folder is in: the nearest folder above with `.git`.

        Without one it is `base`, or the working directory, if the folder lies in it; else the folder alone.
        """
        here = Path(os.path.realpath(folder))
        for parent in (here, *here.parents):
            if (parent / ".git").exists():
                return cls(str(parent))
        whole = Path(os.path.realpath(base or Path.cwd()))
        return cls(str(whole if here.is_relative_to(whole) else here))

    def holds(self, path: Path) -> bool:
        """Return whether a path lies in the checkout, once all symbolic links are followed."""
        if self.root is None:
            return True
        try:
            return Path(os.path.realpath(path)).is_relative_to(self.root)
        except (OSError, ValueError):  # a name that no system has
            return False

    def takes(self, folder: Path, name: str) -> bool:
        """Return whether a file, folder or pattern of that name, from a folder on, stays in the checkout.

        Each match of a pattern is checked by itself.
        """
        before, behind = _at_first_pattern(name)
        if not self.holds(folder / Path(*before)):
            return False
        if self.root is not None and ".." in behind:
            return False
        path = folder / name
        if self.root is None or not path.is_dir():
            return True
        return all(self.holds(path / entry) for entry in os.listdir(path) if (path / entry).is_file())


def _at_first_pattern(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parts of a name before its first pattern, and the others."""
    parts = Path(name).parts
    first = next((number for number, part in enumerate(parts) if has_magic(part)), len(parts))
    return parts[:first], parts[first:]


def matching(folder: Path, pattern: str) -> list[str]:
    """Return the files that a pattern fits, as names from the folder on; `**` is any folders, but hidden and linked
    ones.

    Raises TooManyFiles instead of walking through a disk.
    """
    before, behind = _at_first_pattern(pattern)
    walk = _Walk(
        tuple(part for number, part in enumerate(behind) if part != "**" or behind[number - 1 : number] != ("**",))
    )
    start = Path(*before)
    return sorted({str(start / name) for name in walk.below(str(folder / start), "", 0)})


class _Walk:
    """One walk along the parts of a pattern, which counts the entries that it reads."""

    def __init__(self, parts: tuple[str, ...]) -> None:
        self._parts, self._seen = parts, 0

    def below(self, folder: str, name: str, number: int) -> Iterator[str]:
        """The names that the parts from `number` on fit, below a folder that is called `name`."""
        part, last = self._parts[number], number == len(self._parts) - 1
        if part == "**" and not last:
            yield from self.below(folder, name, number + 1)
        for entry in self._entries(folder):
            below = os.path.join(name, entry.name)
            if part == "**":
                if last and entry.is_file():
                    yield below
                elif entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                    yield from self.below(entry.path, below, number)
            elif not fnmatchcase(entry.name, part) or (entry.name.startswith(".") and not part.startswith(".")):
                continue
            elif last:
                yield below
            elif entry.is_dir():
                yield from self.below(entry.path, below, number + 1)

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                listed = []
                for entry in entries:
                    self._seen += 1
                    if self._seen > _MOST:
                        raise TooManyFiles
                    listed.append(entry)
                return listed
        except OSError:
            return []
