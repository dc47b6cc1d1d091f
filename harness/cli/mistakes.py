"""Mistakes of a command's input, collected where one after the other is found and told together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.cli.output import BAD_INPUT, bad_input
from harness.cli.worlds import InputError
from harness.reading.problems import Problem, ScenarioError

__all__ = ["Mistakes"]


class Mistakes:
    """Mistakes of options, as lines, and those of files, with their places."""

    def __init__(self) -> None:
        self._lines: dict[str, None] = {}
        self._problems: list[Problem] = []

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._lines) + len(self._problems)

    def add(self, *mistakes: Problem | str) -> None:
        """Collect mistakes: those of files with their places, others as lines."""
        for mistake in mistakes:
            if isinstance(mistake, str):
                self._lines[mistake] = None
            else:
                self._problems.append(mistake)

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Collect what the block raises as InputError or ScenarioError, and go on after it."""
        try:
            yield
        except InputError as error:
            self.add(*str(error).splitlines())
        except ScenarioError as error:
            self.add(*error.problems)

    def print(self, command: str, form: str) -> int:
        """Print each mistake in a line, those of files in the chosen format. Returns exit code 2."""
        for line in self._lines:
            bad_input(f"{command}: {line}")
        if self._problems:
            bad_input(ScenarioError(self._problems), form)
        return BAD_INPUT
