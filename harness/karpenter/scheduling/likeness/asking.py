"""Pods as simulations try them: what they ask for, and the order in which they are tried."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain

from harness.karpenter.scheduling.likeness.filling import is_filler
from harness.karpenter.scheduling.nodes.settling import is_exempt
from harness.karpenter.scheduling.pods.queue import FIT, KEY, Place, QueuedPod
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.kube.api.objects import Object, spec_of

__all__ = ["FIT", "KEY", "Asking", "Place"]

_NONE: frozenset[str] = frozenset()


class Asking:
    """Some pods; those of several nodes are put together without a look at each.

    ``shapes`` are by fit; ``only`` is the fit of all pods, None where they have several. ``fits`` and ``amounts`` are what they ask for;
    ``plain``: nothing but their fit decides, ``fillers``: nothing but amounts.
    """

    __slots__ = (
        "_bound",
        "_ends",
        "_order",
        "_parts",
        "_places",
        "amounts",
        "count",
        "fillers",
        "fits",
        "only",
        "plain",
        "shapes",
    )

    def __init__(
        self,
        shapes: Mapping[int, PodShape],
        count: int,
        ends: tuple[Place, Place] | None,
        *,
        plain: bool,
        fillers: bool,
    ) -> None:
        self.shapes, self.count, self.plain, self.fillers = shapes, count, plain, fillers
        self._ends = ends
        self.only = next(iter(shapes)) if len(shapes) == 1 else None
        self.fits = frozenset(shapes)
        self.amounts = frozenset(each.amounts for each in shapes.values())
        self._parts: Sequence[Asking] = ()
        self._places: Sequence[Place] | None = None
        self._order: tuple[int, ...] | None = None
        self._bound: dict[str, list[str]] = {}

    @classmethod
    def of(cls, queued: Callable[[Object], QueuedPod], pods: Iterable[Object]) -> "Asking":
        """What these pods ask for. Raises what ``queued`` raises."""
        found = [queued(pod) for pod in pods]
        places = sorted([each.place for each in found])
        made = cls(
            {each.shape.fit: each.shape for each in found},
            len(places),
            (places[0], places[-1]) if places else None,
            plain=all(each.shape.plain for each in found),
            fillers=all(is_filler(each.shape) for each in found),
        )
        made._places = places
        for each in found:
            node = "" if is_exempt(each.pod, ()) else spec_of(each.pod).get("nodeName") or "-"
            made._bound.setdefault(node, []).append(each.place[KEY])
        return made

    @classmethod
    def together(cls, parts: Sequence["Asking"]) -> "Asking":
        """The pods of all of them."""
        if len(parts) == 1:
            return parts[0]
        shapes: dict[int, PodShape] = {}
        count, plain, fillers = 0, True, True
        for each in parts:
            count += each.count
            plain, fillers = plain and each.plain, fillers and each.fillers
            if each.only is None or each.only not in shapes:
                shapes.update(each.shapes)
        some = [each for each in parts if each.count]
        ends = (min(each.first for each in some), max(each.last for each in some)) if some else None
        made = cls(shapes, count, ends, plain=plain, fillers=fillers)
        made._parts = parts
        return made

    @property
    def first(self) -> Place:
        """The place of the one that is tried first; there has to be one."""
        assert self._ends is not None
        return self._ends[0]

    @property
    def last(self) -> Place:
        """The place of the one that is tried last; there has to be one."""
        assert self._ends is not None
        return self._ends[1]

    @property
    def order(self) -> tuple[int, ...]:
        """The fits of all of them, in the order in which they are tried."""
        if self._order is None:
            self._order = tuple([place[FIT] for place in self.places])
        return self._order

    @property
    def places(self) -> Sequence[Place]:
        """All of them, in the order in which they are tried."""
        if self._places is None:
            self._places = sorted(chain.from_iterable(each.places for each in self._parts))
        return self._places

    def exempt(self, going: Collection[str]) -> frozenset[str]:
        """The keys of those that also nodes take which still settle; ``going`` are the names of Nodes that go away."""
        if self._parts:
            found = [each.exempt(going) for each in self._parts if each.may_be_exempt(going)]
            return _NONE.union(*found) if found else _NONE
        keys = [keys for node, keys in self._bound.items() if not node or node in going]
        return _NONE.union(*keys) if keys else _NONE

    def is_bound_to(self, node: str) -> bool:
        """Whether all of them run on this Node, and none is exempt of itself."""
        return self._bound.keys() == {node}

    def may_be_exempt(self, going: Collection[str]) -> bool:
        """Whether one of them may be."""
        return "" in self._bound or not self._bound.keys().isdisjoint(going)
