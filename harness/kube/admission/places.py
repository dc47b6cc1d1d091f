"""Places in an object, for the field errors of validation that is written in Go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.kube.api.field_errors import ErrorType, FieldError, Pointer, print_value

__all__ = ["Place"]


class Place:
    """A place in the object: as the API server prints it, and as a pointer."""

    __slots__ = ("pointer", "text")

    def __init__(self, text: str, pointer: Pointer) -> None:
        self.text, self.pointer = text, pointer

    def child(self, name: str) -> Place:
        """Return the place of a field."""
        return Place(f"{self.text}.{name}", (*self.pointer, name))

    def index(self, number: int) -> Place:
        """Return the place of an item of a list."""
        return self._at(number)

    def key(self, name: str) -> Place:
        """Return the place of an entry of a map, as Go prints it."""
        return self._at(name)

    def _at(self, part: int | str) -> Place:
        return Place(f"{self.text}[{part}]", (*self.pointer, part))

    def invalid(self, value: Any, detail: str) -> FieldError:
        """Return the error about a value that is not allowed."""
        return FieldError(ErrorType.INVALID, self.text, detail, value, self.pointer)

    def required(self, detail: str) -> FieldError:
        """Return the error about a missing value."""
        return FieldError(ErrorType.REQUIRED, self.text, detail, pointer=self.pointer)

    def forbidden(self, detail: str) -> FieldError:
        """Return the error about a field that may not be there."""
        return FieldError(ErrorType.FORBIDDEN, self.text, detail, pointer=self.pointer)

    def unsupported(self, value: Any, supported: Sequence[str]) -> FieldError:
        """Return the error about a value outside the supported ones."""
        detail = f"supported values: {', '.join(print_value(value_allowed) for value_allowed in supported)}"
        return FieldError(ErrorType.NOT_SUPPORTED, self.text, detail, value, self.pointer)
