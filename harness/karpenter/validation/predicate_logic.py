"""Predicates, and the pieces that they are made of: CEL's logic with its errors, and walks that name culprits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from harness.kube.api.field_errors import Pointer
from harness.kube.custom_resources.cel_rules import CelError
from harness.kube.go.text import parse_int
from lazyrecords import dataclass

Check: TypeAlias = Callable[[Any, Any], bool]
Culprits: TypeAlias = Callable[[Any], tuple[Pointer, ...]]
Arguments: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Predicate:
    """A named predicate with its arguments filled in. ``id`` tells it apart from the others on the same field."""

    id: str
    check: Check
    culprits: Culprits
    transition: bool = False


def itself(_: Any) -> tuple[Pointer, ...]:
    """The culprit is the value as a whole."""
    return ((),)


def cel_int(text: Any) -> int:
    """CEL's int()."""
    number = parse_int(text)
    if number is None:
        raise CelError("type conversion error from 'string' to 'int'")
    return number


def present(holder: Mapping[str, Any], key: str) -> Any:
    """CEL's field selection."""
    if key not in holder:
        raise CelError(f"no such key: {key}")
    return holder[key]


def cel_all(outcomes: Iterable[bool | CelError]) -> bool:
    """CEL's conjunction: false wins over an error, which wins over true."""
    failure: CelError | None = None
    for outcome in outcomes:
        if outcome is False:
            return False
        if failure is None and outcome is not True:
            failure = outcome
    if failure is not None:
        raise failure
    return True


def cel_any(*tests: Callable[[], bool]) -> bool:
    """CEL's disjunction: true wins over an error, which wins over false."""
    return not cel_all(attempt(lambda test=test: not test()) for test in tests)  # type: ignore[misc]


def attempt(test: Callable[[], bool]) -> bool | CelError:
    """The outcome of a test, a failure to evaluate being one."""
    try:
        return test()
    except CelError as failure:
        return failure


def each_key(name: str, allowed: Callable[[str], bool]) -> Predicate:
    """``self.all(key, …)`` over a map; the culprits are its keys that are not allowed."""

    def check(mapping: Mapping[str, Any], _: Any) -> bool:
        return all(map(allowed, mapping))

    def culprits(mapping: Mapping[str, Any]) -> tuple[Pointer, ...]:
        return tuple((key,) for key in mapping if not allowed(key))

    return Predicate(name, check, culprits)


def each_element(name: str, test: Callable[[Mapping[str, Any]], bool], part: str = "") -> Predicate:
    """``self.all(x, …)`` over a list of mappings; the culprits are ``part`` of the elements that fail, or all of the element."""

    def check(elements: Sequence[Mapping[str, Any]], _: Any) -> bool:
        return cel_all(attempt(lambda element=element: test(element)) for element in elements)  # type: ignore[misc]

    def culprits(elements: Sequence[Mapping[str, Any]]) -> tuple[Pointer, ...]:
        return tuple(
            (index, part) if part and part in set(element) else (index,)  # the set: reading a float would fail
            for index, element in enumerate(elements)
            if attempt(lambda element=element: test(element)) is not True  # type: ignore[misc]
        )

    return Predicate(name, check, culprits)
