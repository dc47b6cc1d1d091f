"""Which simulations have the same outcome apart from the names of pods, so that one of them answers for all."""

from bisect import bisect
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property, partial

from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.scheduling.ground import Ground
from harness.karpenter.scheduling.likeness.asking import KEY, Asking, Place
from harness.karpenter.scheduling.likeness.courses import Course, course_of
from harness.karpenter.scheduling.likeness.line import Line
from harness.karpenter.scheduling.likeness.outlook import Counted, Outlook, Outlooks
from harness.karpenter.scheduling.nodes.memory import ClusterMemory
from harness.karpenter.scheduling.nodes.settling import Settling
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.kube.api.objects import Object, spec_of
from lazyrecords import dataclass

__all__ = ["Alike", "Foretold", "Likeness"]

_MOST_PLACED = 64
"""Of so many pods it is worth while to remember where they stand."""


class Foretold:
    """What can be told of a simulation before it is made: which pods no node takes (``key``, equal for rows of the same pods).

    ``overflow``: there are such pods. ``lasting``: what becomes of them has nothing to do with the nodes that there are. ``tried``: the
    number of all pods."""

    __slots__ = ("_course", "_hurries", "_others", "_own", "key", "lasting", "overflow", "tried")

    def __init__(
        self, course: Course, others: Sequence[Place], own: Asking, limited: Hashable, hurries: bool | None
    ) -> None:
        self._course, self._others, self._own, self._hurries = course, others, own, hurries
        self.key: Hashable = (course.overflow, limited)
        self.overflow, self.lasting = bool(course.overflow), limited is None
        self.tried = own.count + len(others)

    @property
    def early(self) -> Mapping[str, str]:
        """The names of the nodes that are not initialized and take a pod, by pod (``namespace/name``)."""
        if not self._course.early:
            return {}
        order = sorted((*self._others, *self._own.places))
        return {place[KEY]: node for begin, end, node in self._course.early for place in order[begin:end]}

    @property
    def hurried(self) -> Mapping[str, str]:
        """Those of ``early`` that the nodes bring along which leave."""
        found: dict[str, str] = {}
        for number, place in enumerate(self._own.places if self._course.early else ()):
            at = number + bisect(self._others, place)
            for begin, end, node in self._course.early:
                if begin <= at < end:
                    found[place[KEY]] = node
        return found

    @property
    def hurries(self) -> bool:
        """Whether a pod of the nodes that leave is among them."""
        if self._hurries is None:
            self._hurries = self._found_early()
        return self._hurries

    def _found_early(self) -> bool:
        spans, own, others = self._course.spans, self._own, self._others
        if not spans or not own.count:
            return False
        last = own.count - 1 + bisect(others, own.last)
        if last < spans[0][0]:
            return False
        if last < spans[0][1]:
            return True
        for number, place in enumerate(own.places):
            at = number + bisect(others, place)
            if at >= spans[-1][1]:
                return False
            for begin, end in spans:
                if begin <= at < end:
                    return True
        return False


@dataclass(frozen=True, slots=True)
class Alike:
    """``key`` is equal for simulations that are alike: what becomes of the pod at a place in one of them becomes of the pod at that
    place in the others.
    """

    key: Hashable
    _others: Sequence[Place]
    _own: Sequence[Place]

    @property
    def order(self) -> tuple[str, ...]:
        """The pods (``namespace/name``) in the order in which they are tried."""
        return tuple([place[KEY] for place in sorted((*self._others, *self._own))])


class Likeness:
    """Of simulations without one node, over one snapshot, in which ``pending`` and ``displaced`` pods need a place anyway.

    ``going`` are the names of the nodes that go away.
    """

    def __init__(
        self,
        ground: Ground,
        memory: ClusterMemory,
        pending: Iterable[Object],
        displaced: Iterable[Object],
        going: Collection[str],
    ) -> None:
        self._ground, self._going = ground, going
        self._asking: Callable[[Sequence[Object]], Asking] = partial(Asking.of, ground.queued)
        self._known = memory.of_pods((Asking, ground.shapes), self._asking)
        self._anyway = self._asking([*pending, *displaced])
        self._limited = any(spec_of(pool).get("limits") for pool in ground.nodepools)
        alone = not ground.repelling_pods and ground.options.reservation_label is None
        self._tells = alone and self._anyway.plain
        self._rooms: dict[frozenset[tuple[tuple[str, int], ...]], int] = {}
        self._takers: dict[frozenset[int], int] = {}
        self._courses: dict[Hashable, tuple[Course, bool | None]] = {}
        """By what decides in which line pods stand; and whether one of them is too early, where that decides it, too."""
        self._outlooks: dict[tuple[int, Settling], Outlook | None] = {}
        """By the fit of pods."""
        self._counts = self._tells and self._anyway.fillers and not self._limited and not ground.tolerates_preferences

    def _with_room(self, asking: Asking) -> int:
        mask = self._rooms.get(asking.amounts)
        if mask is None:
            mask = 0
            for amounts in asking.amounts:
                mask |= self._ground.with_room(amounts)
            self._rooms[asking.amounts] = mask
        return mask

    def _accepting(self, asking: Asking) -> int:
        """The nodes that take any of these pods, or of those that need a place anyway, while nothing is put on them."""
        mask = self._takers.get(asking.fits)
        if mask is None:
            mask = 0
            for shape in (*self._anyway.shapes.values(), *asking.shapes.values()):
                mask |= self._ground.room.accepting(shape)
            self._takers[asking.fits] = mask
        return mask

    @cached_property
    def _line(self) -> Line:
        return Line(self._anyway.places)

    @cached_property
    def _exempt_keys(self) -> frozenset[str]:
        return self._anyway.exempt(self._going)

    @cached_property
    def _exempt_line(self) -> Line:
        return Line(self._anyway.places, self._exempt_keys) if self._exempt_keys else self._line

    def _asked_by(self, moving: Sequence[Object]) -> Asking:
        return (self._known if isinstance(moving, tuple) else self._asking)(moving)

    def _line_with(self, own: Asking) -> tuple[Line, bool]:
        """Returns the line in which the exempt pods among these and the others are marked, and whether any of these is."""
        exempt = own.exempt(self._going)
        return (Line(self._anyway.places, exempt | self._exempt_keys), True) if exempt else (self._exempt_line, False)

    def foretold(
        self, leaving: Collection[str], moving: Sequence[Sequence[Object]], *, settling: Settling
    ) -> Foretold | None:
        """What can be told of the simulation without these nodes, each with its pods; None where pods ask for more than amounts."""
        if not self._tells or not self._anyway.fillers or self._ground.tolerates_preferences:
            return None
        own = Asking.together([self._asked_by(each) for each in moving])
        if not own.fillers:
            return None
        room, line, exempt, gone = self._ground.room, self._line, False, 0
        accepting = self._accepting(own)
        positions = room.positions_in(accepting)
        for name in leaving:
            if name in positions:
                gone |= 1 << positions[name]
        refusing = settling.among(accepting)
        if refusing:
            line, exempt = self._line_with(own)
        limited = frozenset(leaving) if self._limited else None
        if exempt or own.count > _MOST_PLACED:
            course = course_of(room, line.runs(own, alike=not exempt), (self._anyway, own), gone, refusing)
            return Foretold(course, line.places, own, limited, None)
        fits: Hashable = own.order
        where: Sequence[int] = ()
        if own.only is not None and line.is_of((own.only, False)):
            fits = own.only, own.count  # equal pods: nothing but their number counts
        else:
            where = [bisect(line.places, place) for place in own.places]
        key = fits, tuple(where), gone, refusing
        known = self._courses.get(key)
        if known is None:
            course = course_of(room, line.runs(own, alike=True, where=where), (self._anyway, own), gone, refusing)
            told = Foretold(course, line.places, own, limited, None)
            self._courses[key] = course, told.hurries if where or not course.early else None
            return told
        return Foretold(known[0], line.places, own, limited, known[1])

    def hurry(
        self, leaving: Collection[str], moving: Sequence[Sequence[Object]], *, settling: Settling
    ) -> Counted | None:
        """Returns how a pod of several nodes goes to one that is not initialized; None where none does, or counting does not tell."""
        if not self._counts:
            return None
        joining = [self._asked_by(each) for each in moving]
        outlook = self._outlook_for(joining[0], settling)
        if outlook is None or (outlook.strict and any(each.may_be_exempt(self._going) for each in joining)):
            return None
        return outlook.hurry(leaving, joining)

    def counting(self, *, settling: Settling) -> Outlooks | None:
        """What is told of single nodes with their pods; None where counting never tells."""
        if not self._counts:
            return None
        return Outlooks(self._known, partial(self._outlook_for, settling=settling), self._ground.shapes, self._going)

    def hurried_of(self, node: str, moving: tuple[Object, ...], *, settling: Settling) -> Mapping[str, str]:
        """Where counting says so: which node that is not initialized takes which of the pods (``namespace/name``)."""
        own = self._known(moving)
        outlook = self._outlook_for(own, settling)
        counted = outlook.hurried(own) if outlook is not None else None
        if counted is not None:
            return counted
        told = self.foretold((node,), (moving,), settling=settling)
        assert told is not None, "what can be counted can be told"
        return told.hurried

    def _outlook_for(self, own: Asking, settling: Settling) -> Outlook | None:
        fit = own.only
        if fit is None:
            return None
        about = fit, settling
        if about not in self._outlooks:
            self._outlooks[about] = self._outlook(own.shapes[fit], settling)
        return self._outlooks[about]

    def _outlook(self, shape: PodShape, settling: Settling) -> Outlook | None:
        """What becomes of these pods and of those that need a place anyway, if all of them are equal."""
        exempt = len(self._exempt_keys)
        if self._anyway.fits - {shape.fit} or exempt not in (0, self._anyway.count):
            return None
        room = self._ground.room
        return Outlook.of(room, shape, self._anyway.places, settling.among(room.accepting(shape)), exempt > 0)

    def of(self, node: str, moving: Sequence[Object], *, settling: Settling) -> Alike | None:
        """Alike are nodes whose pods, in the order in which they are tried among the others, ask for the same.

        ``settling`` are the nodes that take exempt pods only. ``moving`` is known again where it is a tuple.
        None where a simulation of its own has to tell: pods that look at where others are, and a node that has room for any of them.
        """
        if not self._tells:
            return None
        own = self._asked_by(moving)
        if not own.plain:
            return None
        position = self._ground.position_of.get(node)
        roomy = self._with_room(self._anyway) | self._with_room(own)
        if position is not None and roomy >> position & 1:
            return None
        taken = self._taken(position)
        if not settling.among(roomy):
            return Alike((self._line.joined(own.places), taken), self._line.places, own.places)
        line, _ = self._line_with(own)
        return Alike((line.joined(own.places), taken, line is not self._line), line.places, own.places)

    def _taken(self, position: int | None) -> Hashable:
        """What the node takes of its NodePool's limits."""
        if not self._limited or position is None:
            return None
        state = self._ground.existing[position].state
        capacity = sorted((name, quantity.nano) for name, quantity in state.capacity().items())
        return state.labels.get(NODEPOOL), tuple(capacity)
