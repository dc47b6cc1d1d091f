"""The arguments of a constructor, checked before anything is made of them: all mistakes in one line."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fakeazure.catalog.errors import nearest
from lazyrecords import dataclass

__all__ = ["Argument", "check_arguments", "is_seconds", "keys_of", "optional", "text", "whole"]

_SHOWN = 60
"""Characters of a value that a message shows."""


@dataclass(frozen=True, slots=True)
class Argument:
    """The form of an argument; `words` complete \"must be\".

    `mistakes`: of a value that fits, e.g. of its keys, each as the end of "NAME: ...".
    """

    words: str
    fits: Callable[[Any], bool]
    mistakes: Callable[[Any], Iterable[str]] = lambda value: ()


def check_arguments(owner: str, values: Mapping[str, Any], arguments: Mapping[str, Argument]) -> None:
    """Raise ValueError with every argument of `owner` that is not what it must be; `arguments` need not have all names."""
    mistakes: list[str] = []
    for name, argument in arguments.items():
        if name not in values:
            continue
        if not argument.fits(values[name]):
            mistakes.append(f"{name} must be {argument.words}, not {_shown(values[name])}")
        else:
            mistakes.extend(f"{name}: {mistake}" for mistake in argument.mistakes(values[name]))
    if mistakes:
        raise ValueError(f"{owner}: {'; '.join(mistakes)}")


def _shown(value: Any) -> str:
    written = repr(value)
    return written if len(written) <= _SHOWN else f"{written[:_SHOWN]}..."


def optional(argument: Argument) -> Argument:
    """Return an argument that may be None, too."""

    def mistakes(value: Any) -> Iterable[str]:
        return argument.mistakes(value) if value is not None else ()

    return Argument(f"{argument.words} or None", lambda value: value is None or argument.fits(value), mistakes)


def text(words: str = "a text", fits: Callable[[str], object] = bool) -> Argument:
    """Return an argument that is a text, not empty unless `fits` says otherwise."""
    return Argument(words, lambda value: isinstance(value, str) and bool(fits(value)))


def whole(least: int | None = None) -> Argument:
    """Return an argument that is a whole number."""

    def fits(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least)

    return Argument("a whole number" if least is None else f"a whole number from {least}", fits)


def is_seconds(value: Any) -> bool:
    """Tell whether a value is a number from 0, which may be without end."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return 0 <= value <= sys.float_info.max or value == math.inf


def keys_of(names: Callable[[], Iterable[str]], value: Argument | None = None) -> Argument:
    """Return an argument that is a mapping from some of `names`, its values as `value` says."""

    def mistakes(mapping: Mapping[Any, Any]) -> Iterable[str]:
        all_names = tuple(names())
        for key, item in mapping.items():
            if key not in all_names:
                near = nearest(str(key), all_names, 1)
                yield f"{_shown(key)} is not known" + (f"; did you mean {near[0]!r}?" if near else "")
            elif value is not None and not value.fits(item):
                yield f"{key} must be {value.words}, not {_shown(item)}"

    return Argument("a mapping", lambda mapping: isinstance(mapping, Mapping), mistakes)
