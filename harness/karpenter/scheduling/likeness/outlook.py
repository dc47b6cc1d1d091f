"""Whether pods of nodes that leave would go to one that is not initialized, and how many to none: counted, where all pods are equal.

Most candidates of a busy hour stay for this reason, and each turn asks all of them again. What they share is found out once a moment.
"""

from bisect import bisect, bisect_left
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import cached_property
from itertools import product
from typing import TypeVar

from harness.karpenter.scheduling.likeness.asking import KEY, Asking, Place
from harness.karpenter.scheduling.likeness.crowd import Crowd
from harness.karpenter.scheduling.nodes.room import Room
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.kube.api.objects import Object
from lazyrecords import dataclass

__all__ = ["Counted", "Outlook", "Outlooks"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Counted:
    """What counting tells of a simulation. ``hurries``: a pod of the nodes that leave goes to one that is not initialized.

    ``key`` is equal where the same pods find no node, ``overflow`` says whether there are any; ``tried`` is the number of all pods.
    """

    key: Hashable
    overflow: bool
    tried: int
    hurries: bool
    lasting: bool = True


class Outlook:
    """Of equal pods, of one ``fit``: ``others`` need a place anyway, in the order in which pods are tried, more come with nodes that leave.

    Pods fill one node after the other, the initialized ones first; ``young`` are the names of those that are not, with their places. A
    pod finds the places on initialized nodes taken when there are ``taken`` pods before it, of the others only or (``counts_all``) of
    all. It then finds a young place where fewer than ``taken``, or in the case of no such pods ``idle``, and all young ones stand
    before it.

    ``idle`` places are for the others alone. ``roomy`` are the names of the nodes that have places. ``strict``: whether it matters that a
    pod which joins the others is exempt.
    """

    def __init__(
        self,
        fit: int,
        others: Sequence[Place],
        *,
        taken: int,
        idle: int,
        young: Sequence[tuple[str, int]],
        counts_all: bool,
        roomy: Collection[str],
        strict: bool,
    ) -> None:
        self.fit, self.roomy, self.strict = fit, frozenset(roomy), strict
        self._others, self._taken, self._idle, self._counts_all = others, taken, idle, counts_all
        self._young_nodes = young
        self._young = sum(places for _, places in young)
        self._end = taken + idle + self._young
        self._gate = others[taken - 1] if 0 < taken <= len(others) else None
        """The place from which on the ready places are taken by the others alone; None where they never are, or there are none."""
        self._bound = others[self._end - 1] if 0 < self._end <= len(others) else None
        """The place from which on the others alone take the young places, too; None where they never do."""
        self._known: dict[tuple[int, bool], Counted] = {}

    @classmethod
    def of(cls, room: Room, shape: PodShape, others: Sequence[Place], settling: int, exempt: bool) -> "Outlook | None":
        """What can be counted, of any pods that join the others and are not exempt; None where counting does not tell.

        ``settling`` are the nodes that take exempt pods only, as positions; ``exempt``: whether the others are.
        """
        places = dict.fromkeys(product((True, False), repeat=2), 0)
        roomy, young = [], []
        for position, most in room.capacities(shape):
            ready, settles = position < room.initialized, bool(settling >> position & 1)
            places[ready, settles] += most
            roomy.append(room.existing[position].name)
            if not ready and not settles:
                young.append((roomy[-1], most))
        shared = places[True, False]
        strict = bool(places[True, True] or places[False, True])
        if not (exempt and others and strict):
            return cls(
                shape.fit, others, taken=shared, idle=0, young=young, counts_all=True, roomy=roomy, strict=strict
            )
        if places[False, True]:
            return None
        # The others take what comes first. Where that may be what those that join them could take, the order decides who has it, but
        # all of it is taken when as many of the others were there.
        taken, idle = (shared + places[True, True], 0) if shared else (0, places[True, True])
        return cls(shape.fit, others, taken=taken, idle=idle, young=young, counts_all=False, roomy=roomy, strict=strict)

    def hurry(self, leaving: Collection[str], joining: Sequence[Asking]) -> Counted | None:
        """Returns how a pod of several nodes that leave has a young place; None where none has, or it is not known.

        It is asked about the first of them that finds the other places taken: when it has no young place, nor have those after it.
        """
        if not self._young or (self._taken and self._counts_all) or not self.roomy.isdisjoint(leaving):
            return None
        count = 0
        for each in joining:
            if each.only != self.fit or not each.fillers:
                return None
            count += each.count
        found = self._first(joining)
        return self._counted(count, True) if found is not None and self._finds_young(*found) else None

    def counted_of(self, node: str, own: Asking) -> Counted | None:
        """What becomes of one node's pods. None where nobody can tell by counting. See :meth:`hurrying` for many nodes."""
        if node in self.roomy or own.only != self.fit or not own.fillers:
            return None
        if not self._young:
            hurries = False
        elif self._taken and (self._gate is None or own.first < self._gate):
            found = self._first_of(own)
            hurries = found is not None and self._finds_young(*found)
        else:
            hurries = self._bound is None or own.first < self._bound
        return self.told(own.count, hurries)

    def told(self, count: int, hurries: bool) -> Counted | None:
        """What becomes of so many pods of a node without places, of which one has a young place or none (``hurries``).

        None where nobody can tell by counting.
        """
        if not (hurries or self._counts_all):
            return None  # who has the last ready places decides it
        return self._known.get((count, hurries)) or self._counted(count, hurries)

    def hurrying(self, crowd: Crowd[T]) -> set[T]:
        """The owners in a crowd of which, if one of them leaves, a pod has a young place, as far as none has places of its own.

        A pod before which ``taken`` pods stand, but fewer than all ready and young places, has one. The others before it are counted by
        where it stands, those of its owner by its number among them: of each number, the pods in one stretch of the others have one.
        """
        found: set[T] = set()
        others = self._others
        if not self._young:
            return found
        for number in range(min(crowd.most, self._end)):
            least, end = self._taken - (number if self._counts_all else 0), self._end - number
            if least > len(others):
                continue
            after = others[least - 1] if least > 0 else None
            found.update(crowd.owners(number, after, others[end - 1] if end <= len(others) else None))
        return found

    def hurried(self, own: Asking) -> dict[str, str] | None:
        """Which young node takes which of a node's pods (``namespace/name``), where counting says that one does.

        None where counting does not tell it: who has the last ready places.
        """
        if self._taken and not self._counts_all:
            return None
        others, slots = self._others, self._slots
        ahead, least = (self._taken, -self._taken) if self._counts_all else (self._idle, 0)
        # those after more of the others than there are places find none
        most = min(len(others), ahead + len(slots))
        at = bisect(others, own.first, 0, most)
        end = bisect(others, own.last, at, most)
        if at == end:  # all of them stand together
            first = max(least, at - ahead)
            passed = max(0, -first)  # these find initialized nodes
            keys = [place[KEY] for place in own.places[passed:]]
            return dict(zip(keys, slots[first + passed : first + own.count], strict=False))
        found: dict[str, str] = {}
        for number, place in enumerate(own.places):
            at = bisect(others, place, at, end)
            before = max(least, at - ahead) + number
            if before >= len(slots):
                break
            if before >= 0:
                found[place[KEY]] = slots[before]
        return found

    @cached_property
    def _slots(self) -> Sequence[str]:
        """The name of the node of each young place, in the order in which they are taken."""
        return [name for name, places in self._young_nodes for _ in range(places)]

    def _finds_young(self, before: int, place: Place) -> bool:
        """Whether a joining pod, which finds the ready places taken, has a young one; some of those that join stand before it."""
        left, others = self._end - before, self._others  # so many of the others may stand before it
        return left > 0 and (left > len(others) or others[left - 1] > place)

    def _counted(self, count: int, hurries: bool) -> Counted:
        known = self._known.get((count, hurries))
        if known is None:
            others = len(self._others)
            over = max(0, count + max(0, others - self._idle) - self._taken - self._young)
            key = ((self.fit, over),) if over else ()
            known = self._known[count, hurries] = Counted((key, None), over > 0, others + count, hurries)
        return known

    def _first(self, joining: Sequence[Asking]) -> tuple[int, Place] | None:
        """The first of the joining pods that finds the ready places taken by the others, and how many of the joining are before it."""
        taken, others = self._taken, self._others
        if not taken:
            return 0, min(each.first for each in joining)
        if taken > len(others):
            return None
        before = [bisect_left(each.places, others[taken - 1]) for each in joining]
        next_ones = [each.places[at] for at, each in zip(before, joining, strict=True) if at < each.count]
        return (sum(before), min(next_ones)) if next_ones else None

    def _first_of(self, own: Asking) -> tuple[int, Place] | None:
        """The same of one node's pods."""
        if not self._taken:
            return 0, own.first
        if not self._counts_all:
            return self._first((own,))
        taken, others, places = self._taken, self._others, own.places
        low, high = 0, len(places)
        while low < high:
            middle = (low + high) // 2
            missing = taken - middle  # so many of the others have to stand before it
            if missing <= 0 or (missing <= len(others) and others[missing - 1] <= places[middle]):
                high = middle
            else:
                low = middle + 1
        return (low, places[low]) if low < len(places) else None


@dataclass(frozen=True, slots=True)
class Outlooks:
    """What counting tells at one moment: what pods ask for (``asked``), and the outlook for such pods (``of``), None where there is none.

    Pods that ask for the same have the same ``fit`` at all moments with these ``shapes``. ``going`` are the nodes that go away, by name.
    """

    asked: Callable[[tuple[Object, ...]], Asking]
    of: Callable[[Asking], Outlook | None]
    shapes: object
    going: Collection[str]
