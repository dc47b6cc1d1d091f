"""A lazy dataclass does what the standard one does; each class here is made by both, and compared."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from functools import cached_property
from types import FunctionType
from typing import Any, ClassVar, get_type_hints

import hypothesis
import pytest
from hypothesis import strategies as st

import lazyrecords

Decorator = Callable[..., Any]
METHODS = ("__init__", "__repr__", "__eq__")


@lazyrecords.dataclass(frozen=True, slots=True)
class Place:
    name: str
    number: int = 3
    tags: list[str] = field(default_factory=list, compare=False)


@lazyrecords.dataclass(frozen=True, slots=True)
class Room(Place):
    door: str = "open"


def plain(decorator: Decorator) -> type:
    @decorator
    class Plain:
        kind: ClassVar[str] = "k"
        a: int
        b: list[int] = field(default_factory=list)
        c: str = field(default="c", repr=False)

    return Plain


def frozen(decorator: Decorator) -> type:
    @decorator(frozen=True, slots=True)
    class Frozen:
        a: int
        b: str = "b"
        c: int = field(default=0, compare=False)
        d: int = field(default=0, hash=False)
        e: int = field(default=7, init=False)

    return Frozen


def by_name(decorator: Decorator) -> type:
    @decorator(frozen=True, kw_only=True)
    class ByName:
        a: int
        b: int = 2

        @cached_property
        def sum(self) -> int:
            return self.a + self.b

    return ByName


def checked(decorator: Decorator) -> type:
    @decorator(slots=True)
    class Checked:
        a: int
        twice: int = field(init=False)

        def __post_init__(self) -> None:
            self.twice = 2 * self.a

        def __repr__(self) -> str:
            return f"<{self.a}>"

    return Checked


def by_identity(decorator: Decorator) -> type:
    @decorator(frozen=True, eq=False)
    class ById:
        a: int

    return ById


def own_equality(decorator: Decorator) -> type:
    @decorator(frozen=True)
    class Own:
        a: int

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    return Own


def own_hash(decorator: Decorator) -> type:
    @decorator
    class OwnHash:
        a: int

        def __hash__(self) -> int:
            return 5

    return OwnHash


def ordered(decorator: Decorator) -> type:
    @decorator(order=True, frozen=True)
    class Ordered:
        a: int

    return Ordered


def empty(decorator: Decorator) -> type:
    @decorator(frozen=True, slots=True)
    class Empty:
        pass

    return Empty


def outcome(act: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What it returns, or how it fails."""
    try:
        return act(*given, **named)
    except Exception as error:
        return type(error), str(error)


CLASSES = [plain, frozen, by_name, checked, by_identity, own_equality, own_hash, ordered, empty]
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1,), {}),
    ((1, "x"), {}),
    ((1, [2], "z"), {}),
    ((), {"a": 1}),
    ((), {"a": 1, "b": 5}),
    ((1,), {"a": 1}),
    ((1,), {"unknown": 2}),
    ((1, 2, 3, 4, 5, 6), {}),
]


@pytest.mark.parametrize("make", CLASSES, ids=lambda make: make.__name__)
def test_it_is_the_standard_dataclass(make: Callable[[Decorator], type]) -> None:
    ours, theirs = make(lazyrecords.dataclass), make(dataclasses.dataclass)
    assert [one.name for one in fields(ours)] == [one.name for one in fields(theirs)]
    assert getattr(ours, "__match_args__", None) is not None
    for given, named in CALLS:
        left, right = outcome(ours, *given, **named), outcome(theirs, *given, **named)
        if isinstance(left, tuple):
            assert left == right
            continue
        assert repr(left) == repr(right)
        again = ours(*given, **named), theirs(*given, **named)
        assert (left == again[0]) is (right == again[1])
        assert (left == "other") is (right == "other")
        assert str(outcome(alike, left, again[0])) == str(outcome(alike, right, again[1]))
        assert failing(outcome(setattr, left, "new", 9)) is failing(outcome(setattr, right, "new", 9))
        if hasattr(left, "a"):
            for change in (replace, dataclasses.asdict):
                assert repr(outcome(change, left)) == repr(outcome(change, right))
            assert outcome(setattr, left, "a", 9) == outcome(setattr, right, "a", 9)
            assert outcome(delattr, left, "a") == outcome(delattr, right, "a")


def alike(one: object, other: object) -> bool:
    return hash(one) == hash(other)


def failing(found: Any) -> bool:
    return isinstance(found, tuple)


def test_what_must_not_change_does_not() -> None:
    place = Place("a")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        place.name = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
        del place.name


def test_equality_and_hash_look_at_what_is_compared() -> None:
    assert Place("a", tags=["x"]) == Place("a", tags=["y"])
    assert hash(Place("a", tags=["x"])) == hash(Place("a", 3))
    assert Place("a") != Place("b")
    assert Place("a") != Room("a")
    assert {Place("a"): 1}[Place("a")] == 1


def test_a_record_that_inherits_has_all_fields() -> None:
    room = Room("a", door="shut")
    assert repr(room) == "Room(name='a', number=3, tags=[], door='shut')"
    assert room == Room("a", 3, [], "shut")


def test_each_record_has_a_list_of_its_own() -> None:
    first, second = Place("a"), Place("a")
    first.tags.append("x")
    assert second.tags == []


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_frozen_record_survives_pickle(protocol: int) -> None:
    if protocol < 2:
        pytest.skip("slots need protocol 2, with the standard decorator too")
    place = Place("a", 4, ["x"])
    back = pickle.loads(pickle.dumps(place, protocol))
    assert (back, back.tags) == (place, ["x"])


def test_copies() -> None:
    place = Place("a", 4, ["x"])
    assert copy.copy(place).tags is place.tags
    assert copy.deepcopy(place).tags is not place.tags


def test_nothing_is_compiled_before_it_is_looked_up() -> None:
    @lazyrecords.dataclass
    class Fresh:
        a: int

    def compiled() -> list[str]:
        return [name for name in METHODS if isinstance(vars(Fresh)[name], FunctionType)]

    assert compiled() == []
    made = Fresh(1)
    assert compiled() == ["__init__"]
    assert made == Fresh(1)
    assert compiled() == ["__init__", "__eq__"]
    assert Fresh.__init__ is vars(Fresh)["__init__"]
    assert Fresh.__init__.__qualname__.endswith("Fresh.__init__")


@pytest.mark.parametrize("make", CLASSES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("used", [False, True], ids=["fresh", "used"])
def test_signatures_and_descriptions_are_the_standard_ones(make: Callable[[Decorator], type], used: bool) -> None:
    ours, theirs = make(lazyrecords.dataclass), make(dataclasses.dataclass)
    if used:
        outcome(ours, 1)
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert ours.__doc__ == theirs.__doc__
    assert get_type_hints(vars(ours)["__init__"]) == get_type_hints(vars(theirs)["__init__"])


def test_records_that_read_alike_keep_their_own_names_and_defaults() -> None:
    @lazyrecords.dataclass(frozen=True, slots=True)
    class Size:
        width: int
        height: int = 2

    @lazyrecords.dataclass(frozen=True, slots=True)
    class Span:
        _1: int = 3
        end: int = 4

    assert Size.__init__.__code__.co_code == Span.__init__.__code__.co_code  # compiled once
    assert (repr(Size(1)), repr(Span(1))) == (
        f"{Size.__qualname__}(width=1, height=2)",
        f"{Span.__qualname__}(_1=1, end=4)",
    )
    assert (Size(width=5, height=6).height, Span(end=6)._1) == (6, 3)
    assert Size(1) == Size(1, 2) != Size(1, 3)
    assert len({Size(1), Size(1, 2), Size(2)}) == 2
    with pytest.raises(TypeError, match=r"Span\.__init__\(\) got an unexpected keyword argument 'width'"):
        Span(width=1)  # type: ignore[call-arg]


@pytest.mark.parametrize("decorator", [lazyrecords.dataclass, dataclasses.dataclass], ids=["ours", "standard"])
def test_a_field_without_a_default_cannot_follow_one_with(decorator: Decorator) -> None:
    def make() -> object:
        @decorator
        class Wrong:
            a: int = 1
            b: int

        return Wrong(1, 2)  # type: ignore[call-arg]

    with pytest.raises(TypeError, match="non-default argument 'b' follows default argument"):
        make()


def test_a_docstring_stays() -> None:
    @lazyrecords.dataclass(frozen=True, slots=True)
    class Told:
        """What it is for."""

        a: int

    assert inspect.getdoc(Told) == "What it is for."
    assert str(inspect.signature(Told)) == "(a: 'int') -> None"


def test_a_subclass_has_a_signature_of_its_own() -> None:
    class Named(Place):
        def __init__(self, first: str, last: str) -> None:
            super().__init__(f"{first} {last}")

    assert list(inspect.signature(Named).parameters) == ["first", "last"]
    assert list(inspect.signature(Room).parameters) == ["name", "number", "tags", "door"]


def test_hypothesis_builds_records() -> None:
    @lazyrecords.dataclass(frozen=True, slots=True)
    class Drawn:
        number: int
        place: Place
        words: list[str] = field(default_factory=list)

    found = []

    @hypothesis.settings(
        max_examples=5, database=None, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )
    @hypothesis.given(st.builds(Drawn))
    def draw(one: Drawn) -> None:
        found.append(one)

    draw()
    assert {(type(one.number), type(one.place), type(one.words)) for one in found} == {(int, Place, list)}
