"""The arguments of a constructor, checked before anything is made of them: all mistakes in one line."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from fakeazure.catalog.errors import nearest
from lazyrecords import dataclass

__all__ = [
    "Argument",
    "argument_mistakes",
    "check_arguments",
    "flag",
    "is_seconds",
    "keys_of",
    "kubernetes_version",
    "mapping",
    "number",
    "optional",
    "shown",
    "text",
    "whole",
]

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
    mistakes = [mistake for _, mistake in argument_mistakes(values, arguments)]
    if mistakes:
        raise ValueError(f"{owner}: {'; '.join(mistakes)}")


def argument_mistakes(values: Mapping[str, Any], arguments: Mapping[str, Argument]) -> Iterator[tuple[str, str]]:
    """Yield the name of every argument that is not what it must be, with the mistake."""
    for name, argument in arguments.items():
        if name not in values:
            continue
        if not argument.fits(values[name]):
            yield name, f"{name} must be {argument.words}, not {shown(values[name])}"
        else:
            yield from ((name, f"{name}: {mistake}") for mistake in argument.mistakes(values[name]))


def shown(value: Any) -> str:
    """Return a value as Python writes it, for a message: the beginning of what is long."""
    try:
        written = repr(value)
    except ValueError:  # a whole number of more digits than Python writes (sys.get_int_max_str_digits)
        written = "a number too long to show"
    return written if len(written) <= _SHOWN else f"{written[:_SHOWN]}..."


def optional(argument: Argument) -> Argument:
    """Return an argument that may be None, too."""

    def mistakes(value: Any) -> Iterable[str]:
        return argument.mistakes(value) if value is not None else ()

    return Argument(f"{argument.words} or None", lambda value: value is None or argument.fits(value), mistakes)


def text(words: str = "a text", fits: Callable[[str], object] = bool) -> Argument:
    """Return an argument that is a text, not empty unless `fits` says otherwise."""
    return Argument(words, lambda value: isinstance(value, str) and bool(fits(value)))


def flag() -> Argument:
    """Return an argument that is true or false."""
    return Argument("true or false", lambda value: isinstance(value, bool))


def mapping(mistakes: Callable[[Mapping[Any, Any]], Iterable[str]] = lambda value: ()) -> Argument:
    """Return an argument that is a mapping, whose entries are judged by `mistakes`."""
    return Argument("a mapping", lambda value: isinstance(value, Mapping), mistakes)


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


def number() -> Argument:
    """Return an argument that is a finite number from 0."""
    return Argument("a finite number from 0", lambda value: is_seconds(value) and math.isfinite(value))


_KUBERNETES = re.compile(r"v?[0-9]{1,9}\.[0-9]{1,9}(?:\.[0-9]{1,9})?(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")


def kubernetes_version() -> Argument:
    """Return an argument that is a version of Kubernetes, of which the patch may be missing; semver's characters behind it."""
    return text("a version such as '1.34.2'", _KUBERNETES.fullmatch)


def keys_of(names: Callable[[], Iterable[str]], value: Argument | Callable[[str], Argument]) -> Argument:
    """Return an argument that is a mapping from some of `names`, its values as `value` says: of all, or by name."""

    def mistakes(entries: Mapping[Any, Any]) -> Iterable[str]:
        all_names = tuple(names())
        for key, item in entries.items():
            if key not in all_names:
                near = nearest(str(key), all_names, 1)
                yield f"{shown(key)} is not known" + (f"; did you mean {near[0]!r}?" if near else "")
                continue
            argument = value if isinstance(value, Argument) else value(key)
            yield from (mistake for _, mistake in argument_mistakes({key: item}, {key: argument}))

    return mapping(mistakes)
