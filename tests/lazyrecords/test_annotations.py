"""Records of modules whose annotations are objects and not texts; each class here is made by both decorators, and compared."""

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import KW_ONLY, field, fields
from typing import Any, ClassVar, Optional

import pytest

import lazyrecords

Decorator = Callable[..., Any]


def objects(decorator: Decorator) -> type:
    @decorator(frozen=True, slots=True)
    class Objects:
        a: int
        b: list[int] = field(default_factory=list)
        c: Optional[str] = None  # noqa: UP045  an annotation of `typing`
        d: "str | None" = "d"
        e: dict[str, int] | None = field(default=None, repr=False)

    return Objects


def of_the_class(decorator: Decorator) -> type:
    @decorator(frozen=True)
    class OfTheClass:
        kind: ClassVar[str] = "k"
        bare: ClassVar = 3
        a: int = 1

    return OfTheClass


def by_name(decorator: Decorator) -> type:
    @decorator
    class ByName:
        a: int
        _: KW_ONLY
        b: int = 2

    return ByName


def with_an_inherited_default(decorator: Decorator) -> type:
    class Base:
        b = 7

    @decorator
    class Inheriting(Base):
        a: int
        b: int

    return Inheriting


@pytest.mark.parametrize(
    "make", [objects, of_the_class, by_name, with_an_inherited_default], ids=lambda make: make.__name__
)
def test_it_is_the_standard_dataclass(make: Callable[[Decorator], type]) -> None:
    ours, theirs = make(lazyrecords.dataclass), make(dataclasses.dataclass)
    facts = ("name", "type", "init", "repr", "hash", "compare", "kw_only")
    assert [[getattr(one, fact) for fact in facts] for one in fields(ours)] == [
        [getattr(one, fact) for fact in facts] for one in fields(theirs)
    ]
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert ours.__match_args__ == theirs.__match_args__
    assert repr(ours(1)) == repr(theirs(1))
    assert ours(1) == ours(1)


@pytest.mark.parametrize("decorator", [lazyrecords.dataclass, dataclasses.dataclass], ids=["ours", "theirs"])
def test_mistakes_are_told_when_the_class_is_made(decorator: Decorator) -> None:
    with pytest.raises(ValueError, match="mutable default"):

        @decorator
        class Shared:
            a: list[int] = []  # noqa: RUF012  the mistake

    with pytest.raises(TypeError, match="no type annotation"):

        @decorator
        class Untyped:
            a = field(default=1)


def test_fields_are_made_when_they_are_asked_for() -> None:
    @lazyrecords.dataclass(frozen=True, slots=True)
    class Fresh:
        a: int

    assert not isinstance(vars(Fresh)["__dataclass_fields__"], dict)
    assert [one.name for one in fields(Fresh)] == ["a"]
    assert isinstance(vars(Fresh)["__dataclass_fields__"], dict)
