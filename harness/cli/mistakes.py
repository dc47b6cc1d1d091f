"""Mistakes of a command's input, collected where one after the other is found and told together."""

from __future__ import annotations

from types import TracebackType

from harness.cli.output import BAD_INPUT, bad_input
from harness.cli.worlds import InputError
from harness.reading.problems import Problem, ScenarioError

__all__ = ["Collecting", "Mistakes"]


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

    def collected(self) -> Collecting:
        """Return a context that collects what its block raises as InputError or ScenarioError, after which the program goes on."""
        return Collecting(self)

    def print(self, command: str, form: str) -> int:
        """Print each mistake in a line, those of files in the chosen format. Returns exit code 2."""
        for line in self._lines:
            bad_input(f"{command}: {line}")
        if self._problems:
            bad_input(ScenarioError(self._problems), form)
        return BAD_INPUT


class Collecting:
    """Ends a block that raises InputError or ScenarioError, whose mistakes it collects."""

    def __init__(self, mistakes: Mistakes) -> None:
        self._mistakes = mistakes

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Collect the mistakes of an error that is one of the input."""
        if isinstance(error, InputError):
            self._mistakes.add(*str(error).splitlines())
        elif isinstance(error, ScenarioError):
            self._mistakes.add(*error.problems)
        else:
            return False
        return True
