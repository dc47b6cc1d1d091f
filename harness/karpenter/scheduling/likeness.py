"""Which simulations have the same outcome apart from the names of pods, so that one of them answers for all."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial

from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.scheduling.ground import Ground
from harness.karpenter.scheduling.memory import ClusterMemory
from harness.karpenter.scheduling.nodeclaims import pod_key
from harness.karpenter.scheduling.queue import QueuedPod
from harness.kube.api.objects import Object, spec_of
from lazyrecords import dataclass

__all__ = ["Alike", "Likeness"]

_Place = tuple[tuple[int, int, str, str], int, str]


@dataclass(frozen=True, slots=True)
class _Asking:
    """Pods as they are tried: rank, fit and key of each, in order. ``amounts`` are what they ask for; ``plain``: nothing else decides."""

    places: tuple[_Place, ...]
    amounts: frozenset[tuple[tuple[str, int], ...]]
    plain: bool
    key: Hashable
    order: tuple[str, ...]

    @classmethod
    def of(cls, queued: Callable[[Object], QueuedPod], pods: Iterable[Object]) -> "_Asking":
        found = [queued(pod) for pod in pods]
        places = sorted((each.rank, each.shape.fit, each.key) for each in found)
        amounts = frozenset(each.shape.amounts for each in found)
        plain = all(each.shape.plain for each in found)
        return cls(tuple(places), amounts, plain, *_told(places))


def _told(places: Sequence[_Place]) -> tuple[Hashable, tuple[str, ...]]:
    return tuple(fit for _, fit, _ in places), tuple(key for _, _, key in places)


@dataclass(frozen=True, slots=True)
class Alike:
    """``key`` is equal for simulations that are alike; ``order`` are the pods (``namespace/name``) in the order in which they are tried.

    What becomes of the pod at a place in one of them becomes of the pod at that place in the others.
    """

    key: Hashable
    order: tuple[str, ...]


class Likeness:
    """Of simulations without one node, over one snapshot, in which ``pending`` and ``displaced`` pods need a place anyway.

    ``exempt`` are pods that also nodes take which still settle.
    """

    def __init__(
        self,
        ground: Ground,
        memory: ClusterMemory,
        pending: Iterable[Object],
        displaced: Iterable[Object],
        exempt: Callable[[Object], bool],
    ) -> None:
        self._ground, self._exempt = ground, exempt
        self._asking: Callable[[Sequence[Object]], _Asking] = partial(_Asking.of, ground.queued)
        self._known = memory.of_pods((_Asking, ground.shapes), self._asking)
        self._others = [*pending, *displaced]
        self._anyway = self._asking(self._others)
        self._limited = any(spec_of(pool).get("limits") for pool in ground.nodepools)
        alone = not ground.running.repelling and ground.options.reservation_label is None
        self._tells = alone and self._anyway.plain

    def _with_room(self, asking: _Asking) -> int:
        mask = 0
        for amounts in asking.amounts:
            mask |= self._ground.with_room(amounts)
        return mask

    def of(self, node: str, moving: Sequence[Object], *, settling: bool) -> Alike | None:
        """Alike are nodes whose pods, in the order in which they are tried among the others, ask for the same.

        ``settling``: there are nodes that take exempt pods only. ``moving`` is known again where it is a tuple.
        None where a simulation of its own has to tell: pods that look at where others are, and a node that has room for any of them.
        """
        if not self._tells:
            return None
        own = (self._known if isinstance(moving, tuple) else self._asking)(moving)
        if not own.plain:
            return None
        ground, others = self._ground, self._anyway
        position = ground.position_of.get(node)
        if position is not None and (self._with_room(others) | self._with_room(own)) >> position & 1:
            return None
        taken: Hashable = None
        if self._limited and position is not None:
            state = ground.existing[position].state
            capacity = sorted((name, quantity.nano) for name, quantity in state.capacity().items())
            taken = state.labels.get(NODEPOOL), tuple(capacity)
        key, order = (own.key, own.order) if not others.places else _told(sorted((*others.places, *own.places)))
        exempt: Hashable = None
        if settling:
            named = {pod_key(pod) for pod in (*self._others, *moving) if self._exempt(pod)}
            exempt = tuple(each in named for each in order) if named else None
        return Alike((key, taken, exempt), order)
