"""The kind of each type in a snapshot, made from the type alone."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from typing import Any, Union, get_args, get_origin

from fakeazure.snapshots.records import Action, Either, Layout, Record, Shared
from fakeazure.snapshots.values import NAMES, Anything, Items, Kind, Named, Pairs, Plain, Row


class Kinds:
    """The kinds of a layout, each made once."""

    def __init__(self, layout: Layout) -> None:
        """Know no kind yet."""
        self.layout = layout
        self._made: dict[Any, Kind] = {}

    def __getitem__(self, hint: Any) -> Kind:
        """Return the kind of a type. TypeError for a type that a snapshot cannot hold."""
        if hint not in self._made:
            self._made[hint] = self._kind(hint)
        return self._made[hint]

    def _kind(self, hint: Any) -> Kind:
        origin, arguments = get_origin(hint), get_args(hint)
        if hint in (Any, object):
            return Anything()
        if hint in NAMES:
            return Plain(hint)
        if origin in (Union, types.UnionType):
            return Either(
                tuple(self[argument] for argument in arguments if argument is not types.NoneType),
                types.NoneType in arguments,
            )
        if origin is tuple and arguments[-1:] != (...,):
            return Row(tuple(self[argument] for argument in arguments))
        if origin in (list, tuple, set, frozenset):
            return Items(origin, self[arguments[0]])
        if origin is Callable:
            return Action(self.layout, self.__getitem__, len(arguments[0]))
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return Named(self[arguments[1]]) if arguments[0] is str else Pairs(self[arguments[0]], self[arguments[1]])
        if hint in self.layout.shared:
            return Shared(self.layout.shared[hint], Record(hint, self.layout, self.__getitem__))
        if hint in self.layout.attributes or dataclasses.is_dataclass(hint):
            return Record(hint, self.layout, self.__getitem__)
        raise TypeError(f"a snapshot cannot hold a {hint}")
