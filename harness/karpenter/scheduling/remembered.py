"""Results that are remembered with the object that they are about: a machine, a fleet, a look, a planned NodeClaim.

Such an object is never changed in place, and is made anew with anything that its results rest on. So a result can only be out of date
where it rests on something else as well, which :func:`remembered_while_same` compares. Nobody else reads or writes a ``Memory``.
"""

from collections.abc import Callable, Hashable
from functools import update_wrapper
from operator import is_
from typing import Any, Generic, Protocol, TypeVar, TypeVarTuple

__all__ = ["Memory", "Result", "remembered", "remembered_while_same"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Memory(dict[Hashable, Any]):
    """The results about one object, by what they are about."""

    __slots__ = ()


class _Owner(Protocol):
    remembered: Memory


O = TypeVar("O", bound=_Owner)  # noqa: E741 - the owner


def remembered(compute: Callable[[O, *Ts], T]) -> Callable[[O, *Ts], T]:
    """Compute once for each owner, which is the first argument, and each of the other arguments, which are hashable.

    Arguments go by place: a name would be no part of what the result is about.
    """

    def remembering(owner: O, /, *about: *Ts) -> T:
        memory, key = owner.remembered, (compute, *about)
        if key not in memory:
            memory[key] = compute(owner, *about)
        result: T = memory[key]
        return result

    update_wrapper(remembering, compute)
    return remembering


def remembered_while_same(compute: Callable[[O, *Ts], T]) -> Callable[[O, *Ts], T]:
    """Compute for each owner, which is the first argument, and anew where one of the others is not the very object of last time."""

    def remembering(owner: O, /, *rests_on: *Ts) -> T:
        memory = owner.remembered
        last: tuple[tuple[object, ...], T] | None = memory.get(compute)
        if last is None or not all(map(is_, last[0], rests_on)):
            last = memory[compute] = rests_on, compute(owner, *rests_on)
        return last[1]

    update_wrapper(remembering, compute)
    return remembering


class Result(Generic[T]):
    """A kind of result for those who decide themselves whether the last one is still right."""

    def last(self, owner: _Owner, *about: Hashable) -> T | None:
        """Return the last result about an owner, and ``about``; None before the first."""
        return owner.remembered.get((self, *about))

    def keep(self, owner: _Owner, result: T, *about: Hashable) -> T:
        """Remember a result, and return it."""
        owner.remembered[self, *about] = result
        return result
