"""Reading a text token by token: what the small languages of Azure's APIs (OData filters, Kusto queries) share."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["Conditions", "Predicate", "Tokens", "at_path", "shortened", "whole_number"]

DEEPEST = 64
"""The deepest nesting of conditions."""
MOST = 10_000
"""Tokens of a text."""

_LARGEST = 2**31 - 1
_DIGITS = 20
"""Digits of a whole number, zeros in front among them."""

Predicate = Callable[[Mapping[str, Any]], bool]


def shortened(text: str) -> str:
    """The beginning of a text, for messages."""
    return text if len(text) <= 200 else f"{text[:200]}..."


def whole_number(text: str) -> int | None:
    """Return the whole number from 0 to 2147483647 that a text writes in ASCII digits, None for any other text.

    The APIs describe such numbers as int32 (azure-rest-api-specs, `$top`).
    """
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        return None
    number = int(text)
    return number if number <= _LARGEST else None


class Tokens:
    """The tokens of a text, taken one after the other. ``error`` is raised, with where it stands, for what is not understood."""

    def __init__(self, text: str, pattern: re.Pattern[str], error: type[ValueError]) -> None:
        """``pattern`` matches one token, a named group, with the blanks and comments before it."""
        self._error = error
        self._depth = 0
        self._tokens: list[str] = []
        self._position = 0
        place, end = 0, len(text.rstrip())
        while place < end:
            match = pattern.match(text, place)
            if match is None:
                raise error(f"unexpected {text[place : place + 40].strip()[:10]!r} in {shortened(text)!r}")
            if len(self._tokens) == MOST:
                raise error(f"there are more than {MOST} words and marks in {shortened(text)!r}")
            self._tokens.append(match.group(match.lastgroup or 0).strip())
            place = match.end()

    @property
    def count(self) -> int:
        """Return how many tokens there are, taken and to come."""
        return len(self._tokens)

    def peek(self) -> str | None:
        """The next token, None at the end."""
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    def take(self, *wanted: str) -> str:
        """Take the next token, which has to be one of those wanted, if any are named."""
        token = self.peek()
        if token is None or (wanted and token not in wanted):
            raise self._error(f"expected {' or '.join(wanted) or 'more'}, found {token!r}")
        self._position += 1
        return token


class Conditions(Tokens):
    """Conditions joined by `and`, which binds closer, and `or`; the language says what one condition is."""

    @abstractmethod
    def unary(self) -> Predicate:
        """One condition, negated or in parentheses if the text says so."""

    def either(self) -> Predicate:
        """Conditions joined by `or`."""
        terms = [self.both()]
        while self.peek() == "or":
            self.take()
            terms.append(self.both())
        return terms[0] if len(terms) == 1 else lambda item: any(term(item) for term in terms)

    def both(self) -> Predicate:
        """Conditions joined by `and`."""
        terms = [self.nested()]
        while self.peek() == "and":
            self.take()
            terms.append(self.nested())
        return terms[0] if len(terms) == 1 else lambda item: all(term(item) for term in terms)

    def nested(self) -> Predicate:
        """One condition, within the depth that is allowed."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(f"conditions are nested more than {DEEPEST} deep")
        condition = self.unary()
        self._depth -= 1
        return condition


def at_path(item: Mapping[str, Any], path: Iterable[str]) -> Any:
    """Return the value at a path of keys, None where there is nothing."""
    value: Any = item
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
