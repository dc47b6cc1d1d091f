"""Values of template expressions: their types by ARM's names, their size, and what one deployment may spend on them.

ARM bounds a template by its size (4 MB, also of what its expressions come to), its expressions (24,576 characters) and the numbers of its
parts (learn.microsoft.com, "Template limits"). How long it evaluates is not published: the steps here are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lazyrecords import dataclass

INT64 = range(-(2**63), 2**63)
"""The integers of a template."""
_ITEM = 16
"""Bytes for which an item of an array or object, or a number, counts."""


class TemplateError(ValueError):
    """The template is not understood; the text says where."""


@dataclass(frozen=True, slots=True)
class Lambda:
    """A function that an expression makes for another one; `count` is how many values it takes at most."""

    count: int
    call: Callable[..., Any]

    def __call__(self, *values: Any) -> Any:
        """Call it with as many of the values as it takes."""
        return self.call(*values[: self.count])


def type_name(value: Any) -> str:
    """The type of a value as ARM's messages name it."""
    if value is None:
        return "Null"
    for kind, name in ((bool, "Boolean"), (int, "Integer"), (float, "Float"), (str, "String"), (Mapping, "Object")):
        if isinstance(value, kind):
            return name
    return "Lambda" if isinstance(value, Lambda) else "Array"


def equal(left: Any, right: Any) -> bool:
    """Tell whether two values are equal as JSON: 1, 1.0 and true are three values, within arrays and objects too."""
    if type_name(left) != type_name(right):
        return False
    if isinstance(left, Mapping):
        return left.keys() == right.keys() and all(equal(value, right[key]) for key, value in left.items())
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right)


@dataclass(slots=True)
class Budget:
    """The budget of one deployment: tokens and calls, and bytes of all values of its expressions."""

    steps: int = 200_000
    size: int = 16 * 1024 * 1024

    def step(self, count: int = 1) -> None:
        """Spend steps. Raises TemplateError when there are none left."""
        self.steps -= count
        if self.steps < 0:
            raise TemplateError("The template's expressions take more steps to evaluate than are allowed")

    def spend(self, size: int) -> None:
        """Spend bytes that are about to be made. Raises TemplateError when there are none left."""
        self.size -= size
        if self.size < 0:
            raise TemplateError("The size of the values of the template's expressions exceeds the limit of 4 MB")

    def take(self, value: Any) -> None:
        """Spend what a value counts for. It is looked at no further than there is left."""
        waiting = [value]
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                self.spend(len(item))
                continue
            self.spend(_ITEM)
            if isinstance(item, Mapping):
                self.spend(_ITEM * len(item))
                waiting.extend(item.values())
            elif isinstance(item, list | tuple):
                self.spend(_ITEM * len(item))
                waiting.extend(item)
