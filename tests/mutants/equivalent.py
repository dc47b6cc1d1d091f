"""Changes that no test can notice, read from the files in `equivalents`, each with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.mutants.places import Mutant

FOLDER = Path(__file__).parent / "equivalents"


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A change from which nothing can come, and why, by the kind of the change (`Mutant.kind`), so that no code is quoted."""

    path: str
    function: str
    kind: str
    because: str

    def is_meant_by(self, change: Mutant) -> bool:
        """Return whether it is the change that is named here; lines may have moved, and names have changed."""
        return (change.path, change.function, change.kind) == (self.path, self.function, self.kind)


class Equivalents:
    """All that the files in a folder name."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.all = tuple(each for file in sorted(folder.glob("*.yaml")) for each in _read(file))
        self._by_path: dict[str, list[Equivalent]] = {}
        for each in self.all:
            self._by_path.setdefault(each.path, []).append(each)

    def has(self, change: Mutant) -> bool:
        """Whether nothing can come of the change."""
        return any(each.is_meant_by(change) for each in self._by_path.get(change.path, ()))

    def paths(self) -> Iterable[str]:
        """The files of code of which something is named."""
        return self._by_path

    def missing(self, path: str, changes: Iterable[Mutant]) -> list[Equivalent]:
        """What is named of a file although none of its changes is meant by it."""
        there = [*changes]
        return [each for each in self._by_path[path] if not any(map(each.is_meant_by, there))]


def _read(file: Path) -> Iterator[Equivalent]:
    found: Mapping[str, list[Mapping[str, object]]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    for path, entries in found.items():
        for entry in entries:
            changes = entry["changes"]
            assert isinstance(changes, list), f"{file.name}: {path}: changes is a list"
            for change in changes:
                yield Equivalent(path, str(entry["in"]), str(change), str(entry["because"]))
