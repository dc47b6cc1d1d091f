"""The costs of one run of a query. Azure's own bounds (time, memory, 1 MB for a text) are Kusto's; the numbers of steps are ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakeazure.resources.graph.kql_functions import QueryError, text_of

LONGEST_QUERY = 64 * 1024
"""Characters of a query."""
LONGEST_TEXT = 1024 * 1024
"""Characters of a text that a function makes (Kusto's limit of a string)."""
_STEPS = 1_000_000
_SIZE = 16 * 1024 * 1024
_UNIT = 6
"""Texts of 2 to this many characters are looked at in one step."""


class LimitExceeded(QueryError):
    """The query costs more than one may."""


class Meter:
    """The rest of a run's budget: steps, each some tenths of a microsecond, and characters of texts that are made."""

    __slots__ = ("_size", "_steps")

    def __init__(self) -> None:
        """Begin a run."""
        self.reset()

    def reset(self) -> None:
        """Begin another run."""
        self._steps, self._size = _STEPS, _SIZE

    def step(self, count: int = 1) -> None:
        """Spend steps. Raises LimitExceeded when there are none left."""
        self._steps -= count
        if self._steps < 0:
            raise LimitExceeded("Query execution has exceeded the allowed limits: it takes too many steps")

    def text(self, value: Any) -> str:
        """A value as text, at its price."""
        text = text_of(value)
        self.step(1 + (len(text) >> _UNIT))
        return text

    def make(self, size: int) -> None:
        """Spend the characters of a text that is about to be made."""
        if size > LONGEST_TEXT:
            raise LimitExceeded(
                f"Query execution has exceeded the allowed limits: a string is longer than {LONGEST_TEXT} characters"
            )
        self._size -= size
        self.step(1 + (size >> _UNIT))
        if self._size < 0:
            raise LimitExceeded("Query execution has exceeded the allowed limits: it takes too much memory")

    def argument(self, value: Any) -> Any:
        """A value as a function on texts takes it: objects and arrays as their JSON, at its price."""
        if isinstance(value, str):
            self.step(1 + (len(value) >> _UNIT))
            return value
        return self.text(value) if isinstance(value, Mapping | list | tuple) else value
