"""The objects of a kind from one look to the next: which are gone, and which are new."""

from collections.abc import Callable, Sequence
from itertools import count
from operator import indexOf, is_
from typing import Any, TypeVar

from harness.kube.api.objects import Object, name_of, namespace_of

__all__ = ["Listed", "ordered_changes"]

T = TypeVar("T")

_FIRST_STEP = 64


class Listed:
    """The objects at the last look. ``numbers`` grow, by identity, in the order in which the objects stand.

    A list of ten thousand in which a few objects are others, or gone, or new at its end, is compared in long steps. Any list may follow
    any other one: what stands elsewhere than before counts as gone and come.
    """

    def __init__(self) -> None:
        self.objects: Sequence[Object] = ()
        self.numbers: dict[int, int] = {}
        self._number = count()

    def update(self, objects: Sequence[Object]) -> tuple[Sequence[Object], Sequence[Object]]:
        """Replace the objects by those of now; return the removed and the new objects, in their order."""
        before, numbers = self.objects, self.numbers
        gone: list[Object] = []
        come: list[Object] = []
        if before is objects:
            return gone, come
        here, there = 0, 0
        while True:
            same = _agreeing(before, here, objects, there)
            here, there = here + same, there + same
            if here == len(before):
                break
            old = before[here]
            gone.append(old)
            here += 1
            if there < len(objects) and _names(old) == _names(objects[there]):
                come.append(objects[there])
                numbers[id(objects[there])] = numbers.pop(id(old), 0)
                there += 1
            else:
                numbers.pop(id(old), None)
        for new in objects[there:]:
            come.append(new)
            numbers[id(new)] = next(self._number)
        if len(numbers) != len(objects):  # a name that stands there twice
            self.numbers = {id(new): next(self._number) for new in objects}
        self.objects = objects
        return gone, come


def ordered_changes(
    before: Sequence[T], after: Sequence[T], place: Callable[[T], Any]
) -> tuple[Sequence[T], Sequence[T]]:
    """The things that are gone, and those that are new, by identity; both lists are in the order of places, of which none stands twice."""
    gone: list[T] = []
    come: list[T] = []
    here, there = 0, 0
    while before is not after:
        same = _agreeing(before, here, after, there)
        here, there = here + same, there + same
        if here == len(before) or there == len(after):
            break
        old, new = before[here], after[there]
        if place(old) <= place(new):
            gone.append(old)
            here += 1
        if place(new) <= place(old):
            come.append(new)
            there += 1
    if before is not after:
        gone.extend(before[here:])
        come.extend(after[there:])
    return gone, come


def _agreeing(some: Sequence[object], here: int, others: Sequence[object], there: int) -> int:
    """From two places on, the number of objects that are the very same in both."""
    length, step = 0, _FIRST_STEP
    while True:
        some_part = some[here + length : here + length + step]
        other = others[there + length : there + length + step]
        if not all(map(is_, some_part, other)):
            return length + indexOf(map(is_, some_part, other), False)
        same = min(len(some_part), len(other))
        length += same
        if same < step:
            return length
        step *= 2


def _names(obj: Object) -> tuple[str, str]:
    return namespace_of(obj), name_of(obj)
