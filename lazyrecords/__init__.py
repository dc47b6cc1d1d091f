"""Dataclasses that cost little until they are used: the standard `dataclass`, whose methods are compiled when they are first used.

The standard decorator compiles five to seven methods for each class when its module is imported. Of the few hundred records of this
project a command makes a third, and compares or prints few. With the standard decorator the import of `harness.world` takes 0.2 s of
CPU more (docs/internals/records.md; `benchmarks/test_start.py` prints both). A frozen record with slots is made in two thirds of the time.
Records with as many fields, made and defaulted alike, share what was compiled: a command makes 110 records by 40 such texts.

What is decorated here has the same fields, the same methods and the same errors; only `order`, `unsafe_hash` and `weakref_slot` are the
standard decorator's own. `__dataclass_params__` does not tell what was asked for, so that only records made here can inherit a frozen one.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import CellType, CodeType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """Decorate a class as `dataclasses.dataclass` does, with the same options."""
        return _made(cls, **options) if cls is not None else lambda decorated: _made(decorated, **options)


_ELSEWHERE = ("order", "unsafe_hash", "weakref_slot")
_set: Callable[[object, str, object], None] = object.__setattr__


def _made(
    cls: type,
    *,
    init: bool = True,
    repr: bool = True,
    eq: bool = True,
    frozen: bool = False,
    slots: bool = False,
    **more: Any,
) -> Any:
    if any(more.get(name) for name in _ELSEWHERE):
        return dataclasses.dataclass(cls, init=init, repr=repr, eq=eq, frozen=frozen, slots=slots, **more)
    own = dict(cls.__dict__)
    described = own.get("__doc__") is not None
    if not described:
        cls.__doc__ = cls.__name__  # for now: the standard decorator would work out a signature
    wanted = [name for name, makes in (("__init__", init), ("__repr__", repr), ("__eq__", eq)) if makes]
    made: Any = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=slots, **more)
    if not described:
        type.__setattr__(made, "__doc__", _Described())
    for name in wanted:
        if name not in own:
            setattr(made, name, _Deferred(made, name))
    # Python itself takes the hash of a class that defines __eq__
    if eq and (own.get("__hash__") is None and ("__hash__" not in own or "__eq__" in own)):
        made.__hash__ = _Deferred(made, "__hash__") if frozen else None
    if frozen:
        if not {"__setattr__", "__delattr__"}.isdisjoint(own):
            raise TypeError(f"cannot overwrite attribute __setattr__ or __delattr__ in class {cls.__name__}")
        made.__setattr__ = _refuse_to_set
        made.__delattr__ = _refuse_to_delete
        if slots:
            for name, method in (("__getstate__", _state), ("__setstate__", _restore)):
                if name not in own:
                    setattr(made, name, method)
    return made


class _Deferred:
    """A method that is compiled when it is looked up, by a call or by who wants to know its signature, and then stands in its own place."""

    __slots__ = ("_cls", "_name")

    def __init__(self, cls: type, name: str) -> None:
        self._cls, self._name = cls, name

    def __get__(self, record: object, owner: type | None = None) -> Any:
        cls, name = self._cls, self._name
        compiled = _SOURCES[name](cls)
        if cls.__dict__.get(name) is self:
            type.__setattr__(cls, name, compiled)
        return compiled if record is None else compiled.__get__(record, owner)


class _Described:
    """The description that the standard decorator makes of a class without a docstring: its name and signature, made
    when somebody reads it.
    """

    def __get__(self, record: object, owner: type) -> str:
        import inspect

        return owner.__name__ + str(inspect.signature(owner)).replace(" -> None", "")


class _Made:
    """Stands where nothing was given for a field with a factory; a signature shows it as the standard one does."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE = _Made()


def _compiled(
    cls: type, head: str, body: Sequence[str], names: Sequence[str] = (), values: Mapping[str, Any] | None = None
) -> Any:
    """A method that sees the names of its class's module, as annotations need them, and the ``values``.

    ``head`` and ``body`` call the fields ``_0``, ``_1`` and so on, which are ``names``: records of as many fields share what was compiled.
    """
    values = values or {}
    code = _code("\n".join([f"def _make({', '.join(values)}):", f" def {head}:", *(f"  {line}" for line in body)]))
    called = {f"_{number}": name for number, name in enumerate(names)}
    code = code.replace(
        co_varnames=tuple([called.get(name, name) for name in code.co_varnames]),
        co_names=tuple([called.get(name, name) for name in code.co_names]),
        co_qualname=f"{cls.__qualname__}.{code.co_name}",
    )
    module = sys.modules.get(cls.__module__)
    closure = tuple([CellType(values[name]) for name in code.co_freevars])
    method = FunctionType(code, {} if module is None else module.__dict__, None, None, closure)
    method.__module__ = cls.__module__
    return method


@lru_cache(maxsize=512)
def _code(text: str) -> CodeType:
    """The code of the function in a function that the text is."""
    return _inside(_inside(compile(text, "<string>", "exec")))


def _inside(code: CodeType) -> CodeType:
    return next(constant for constant in code.co_consts if isinstance(constant, CodeType))


def _init(cls: type) -> Any:
    """`__init__`: what is given, defaults, `__post_init__`. A frozen record is set below its own refusal."""
    setter: Any = cls.__setattr__
    frozen = setter is _refuse_to_set
    fields = dataclasses.fields(cls)
    values: dict[str, Any] = {}
    body: list[str] = []
    for number, field in enumerate(fields):
        value = f"_{number}"
        if field.default_factory is not dataclasses.MISSING:
            values |= {"_MADE": _MADE, f"_make{number}": field.default_factory}
            value = f"_make{number}() if {value} is _MADE else {value}" if field.init else f"_make{number}()"
        elif not field.init:
            if field.default is dataclasses.MISSING:
                continue
            value = f"_default{number}"
            values[value] = field.default
        if not frozen:
            body.append(f"self._{number} = {value}")
        elif isinstance(place := getattr(cls, field.name, None), MemberDescriptorType):
            values[f"_place{number}"] = place.__set__  # a third less time than by the attribute's name
            body.append(f"_place{number}(self, {value})")
        else:
            values |= {"_set": _set, f"_name{number}": field.name}
            body.append(f"_set(self, _name{number}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    named = [(f"_{number}", field) for number, field in enumerate(fields) if field.init]
    by_place = [(name, field) for name, field in named if not field.kw_only]
    by_name = [(name, field) for name, field in named if field.kw_only]
    arguments = ["self", *dict(by_place), *(["*", *dict(by_name)] if by_name else [])]
    names = [field.name for field in fields]
    method = _compiled(cls, f"__init__({', '.join(arguments)})", body or ["pass"], names, values)
    method.__defaults__ = _defaults([field for _, field in by_place])
    method.__kwdefaults__ = {
        field.name: default for _, field in by_name if (default := _default(field)) is not dataclasses.MISSING
    }
    method.__annotations__ = {**{field.name: field.type for _, field in (*by_place, *by_name)}, "return": None}
    return method


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else _MADE


def _defaults(fields: Sequence[dataclasses.Field[Any]]) -> tuple[Any, ...]:
    """The defaults of the last arguments. Raises TypeError where one follows that has none, as the standard decorator does."""
    defaults: list[Any] = []
    for field in fields:
        default = _default(field)
        if default is not dataclasses.MISSING:
            defaults.append(default)
        elif defaults:
            raise TypeError(f"non-default argument {field.name!r} follows default argument")
    return tuple(defaults)


def _repr(cls: type) -> Any:
    shown = ", ".join(f"{field.name}={{self.{field.name}!r}}" for field in dataclasses.fields(cls) if field.repr)
    from reprlib import recursive_repr

    return recursive_repr()(_compiled(cls, "__repr__(self)", [f'return self.__class__.__qualname__ + f"({shown})"']))


def _eq(cls: type) -> Any:
    names = [field.name for field in dataclasses.fields(cls) if field.compare]
    same = f"({_listed('self', names)}) == ({_listed('other', names)})"
    body = [f"return {same} if other.__class__ is self.__class__ else NotImplemented"]
    return _compiled(cls, "__eq__(self, other)", body, names)


def _hash(cls: type) -> Any:
    fields = dataclasses.fields(cls)
    names = [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
    return _compiled(cls, "__hash__(self)", [f"return hash(({_listed('self', names)}))"], names, {"hash": hash})


def _listed(record: str, names: Sequence[str]) -> str:
    return "".join(f"{record}._{number}, " for number, _ in enumerate(names))


_SOURCES: dict[str, Callable[[type], Any]] = {"__init__": _init, "__repr__": _repr, "__eq__": _eq, "__hash__": _hash}


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    if _is_its_own(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    _set(self, name, value)


def _refuse_to_delete(self: Any, name: str) -> None:
    if _is_its_own(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_its_own(self: Any, name: str) -> bool:
    """Return whether an attribute is the record's: all of them, but those that a plain subclass adds."""
    return "__dataclass_fields__" in type(self).__dict__ or name in self.__dataclass_fields__


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: Sequence[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        _set(self, field.name, value)
