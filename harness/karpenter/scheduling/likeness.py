"""Which simulations come to the same, but for which pod is which: one of them then speaks for all."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.scheduling.ground import Ground
from harness.karpenter.scheduling.queue import QueuedPod
from harness.kube.api.objects import Object, spec_of

__all__ = ["Alike", "Likeness"]

_Place = tuple[tuple[int, int, str, str], int, bool, str]


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
        self, ground: Ground, pending: Iterable[Object], displaced: Iterable[Object], exempt: Callable[[Object], bool]
    ) -> None:
        self._ground, self._exempt = ground, exempt
        anyway = [*self._queued(pending), *self._queued(displaced)]
        self._limited = any(spec_of(pool).get("limits") for pool in ground.nodepools)
        alone = not ground.running.repelling and ground.options.reservation_label is None
        self._tells = alone and all(each.shape.plain for each, _ in anyway)
        self._anyway = self._places(anyway) if self._tells else []
        self._roomy = self._with_room(each for each, _ in anyway)

    def _queued(self, pods: Iterable[Object]) -> list[tuple[QueuedPod, bool]]:
        return [(self._ground.queued(pod), self._exempt(pod)) for pod in pods]

    @staticmethod
    def _places(pods: Iterable[tuple[QueuedPod, bool]]) -> list[_Place]:
        return [(each.rank, each.shape.fit, exempt, each.key) for each, exempt in pods]

    def _with_room(self, pods: Iterable[QueuedPod]) -> int:
        mask = 0
        for amounts in {each.shape.amounts for each in pods}:
            mask |= self._ground.with_room(amounts)
        return mask

    def of(self, node: str, moving: Sequence[Object], *, settling: bool) -> Alike | None:
        """Alike are nodes whose pods, in the order in which they are tried among the others, ask for the same.

        ``settling``: there are nodes that take exempt pods only.
        None where a simulation of its own has to tell: pods that look at where others are, and a node that has room for any of them.
        """
        if not self._tells:
            return None
        own = self._queued(moving)
        if not all(each.shape.plain for each, _ in own):
            return None
        ground = self._ground
        position = ground.position_of.get(node)
        left = 0 if position is None else 1 << position
        if left & (self._roomy | self._with_room(each for each, _ in own)):
            return None
        taken: Hashable = None
        if self._limited and position is not None:
            state = ground.existing[position].state
            capacity = sorted((name, quantity.nano) for name, quantity in state.capacity().items())
            taken = state.labels.get(NODEPOOL), tuple(capacity)
        order = sorted([*self._anyway, *self._places(own)])
        asked = tuple((fit, settling and exempt) for _, fit, exempt, _ in order)
        return Alike((asked, taken), tuple(key for _, _, _, key in order))
