"""Which tests noticed changes before: they are asked about the next one, first about one of the same function or file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Protocol, TypeVar


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_Test = TypeVar("_Test", bound=_Named)


class Noticed:
    """How many changes of each function, and of each file, a test noticed."""

    def __init__(self) -> None:
        self._of_function: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._of_file: dict[str, Counter[str]] = defaultdict(Counter)
        self._of_all: Counter[str] = Counter()

    def count(self, path: str, function: str, test: str) -> None:
        """A test noticed a change of this function."""
        self._of_function[path, function][test] += 1
        self._of_file[path][test] += 1
        self._of_all[test] += 1

    def in_order(self, path: str, function: str, tests: Iterable[_Test]) -> tuple[_Test, ...]:
        """Returns the tests: first those that noticed most of this function, then of this file, then the others as they stand."""
        here, near = self._of_function[path, function], self._of_file[path]
        return tuple(sorted(tests, key=lambda test: (-here[test.name], -near[test.name])))

    def likely(self, path: str, function: str, tests: Iterable[_Test]) -> tuple[_Test, ...]:
        """Returns the tests that noticed any change: those of this function first, then of this file, then those that noticed most."""
        noticed = sorted((test for test in tests if self._of_all[test.name]), key=lambda test: -self._of_all[test.name])
        return self.in_order(path, function, noticed)
