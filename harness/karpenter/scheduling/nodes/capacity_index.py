"""The nodes that take pods, in the order in which pods try them, and what they have room for before anything is put on them."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from harness.karpenter.scheduling.catalog import Amounts
from harness.karpenter.scheduling.masks import few_bits
from harness.karpenter.scheduling.nodes.existing import ExistingNode
from harness.karpenter.scheduling.nodes.listed import ordered_changes
from harness.karpenter.scheduling.nodes.order import Place
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.karpenter.scheduling.reasons.pods import lacks_key

__all__ = ["NodeCapacityIndex"]

_FEW = 4
_MOST_KEPT = 64

_AmountsAsked = tuple[tuple[str, int], ...]


class NodeCapacityIndex:
    """The room on the machines of one moment; sets of nodes are masks by position.

    ``refused`` keeps, by what a pod asks of nodes (:attr:`PodShape.fit`), the nodes that can never take it: they only fill up.
    """

    def __init__(self, existing: Sequence[ExistingNode], states: Sequence[StateNode] = ()) -> None:
        self.existing, self._states = tuple(existing), states
        self.refused: dict[int, int] = {}
        self._asked: dict[int, int] = {}
        self._free: dict[str, Amounts] = {}
        self._roomy: dict[_AmountsAsked, int] = {}
        self._looks = 0
        self._contents: dict[int, tuple[int, ...]] = {}

    def after(
        self, states: Sequence[StateNode], place: Place, make: Callable[[StateNode], ExistingNode]
    ) -> "NodeCapacityIndex":
        """The room of the next moment, of these machines in the order of `place`, of which no two are equal.

        What was asked of the machines that are the same is kept: it depends on nothing but the machine, and moves with its position.
        """
        gone, come = ordered_changes(self._states, states, place)
        if len(gone) + len(come) > len(states) // 4:
            return NodeCapacityIndex([make(state) for state in states], states)
        made, existing, standing = NodeCapacityIndex((), states), list(self.existing), list(self._states)
        if len(self._asked) + len(self._roomy) <= _MOST_KEPT:
            made.refused, made._asked, made._roomy = self.refused.copy(), self._asked.copy(), self._roomy.copy()
        refusals: list[dict[Any, int]] = [made.refused, made._asked, made._roomy]
        for state in gone:
            at = bisect_left(standing, place(state), key=place)
            del standing[at], existing[at]
            for masks in refusals:
                for about, mask in masks.items():
                    masks[about] = mask & ((1 << at) - 1) | mask >> at + 1 << at
        for state in come:
            at = bisect_left(standing, place(state), key=place)
            node = make(state)
            standing.insert(at, state)
            existing.insert(at, node)
            for masks in refusals:
                for about, mask in masks.items():
                    masks[about] = mask & ((1 << at) - 1) | mask >> at << at + 1
            for amounts, mask in made._roomy.items():
                made._roomy[amounts] = mask | _has(node, amounts) << at
        made.existing = tuple(existing)
        return made

    def accepting(self, shape: PodShape) -> int:
        """The nodes that can take such a pod, topology apart, as long as nothing is put on them."""
        fit, roomy = shape.fit, self.holding(shape.amounts)
        looked_at = self._asked.get(fit, 0)
        for position in few_bits(roomy & ~looked_at):
            reason = self.existing[position].refusal(shape)
            if reason is not None and not lacks_key(reason):  # another pod may bring the key along
                self.refused[fit] = self.refused.get(fit, 0) | 1 << position
        self._asked[fit] = looked_at | roomy
        return roomy & ~self.refused.get(fit, 0)

    def accepting_any(self, shapes: Iterable[PodShape]) -> int:
        """The nodes that can take one of these pods, topology apart, as long as nothing is put on them."""
        mask = 0
        for shape in shapes:
            mask |= self.accepting(shape)
        return mask

    def contents(self, nodes: int) -> tuple[int, ...]:
        """For each of some nodes a number that says all that simulations read of it."""
        contents = self._contents.get(nodes)
        if contents is None:
            contents = self._contents[nodes] = tuple([self.existing[position].content for position in few_bits(nodes)])
        return contents

    @cached_property
    def position_of(self) -> dict[str, int]:
        """Positions by name."""
        return {node.name: position for position, node in enumerate(self.existing)}

    def holding(self, amounts: _AmountsAsked) -> int:
        """The nodes that have, as long as nothing is put on them, that much of each resource."""
        mask = self._roomy.get(amounts)
        if mask is None:
            # what all nodes have is put in order only where pods of several kinds ask for it
            mask = self._looked_through(amounts) if self._looks < _FEW else self._looked_up(amounts)
            self._looks += 1
            self._roomy[amounts] = mask
        return mask

    def _looked_through(self, amounts: _AmountsAsked) -> int:
        left: Sequence[int] = range(len(self.existing))
        for name, amount in amounts:
            left = [position for position in left if self.existing[position].amounts.get(name, 0) >= amount]
        if len(left) == len(self.existing):
            return (1 << len(self.existing)) - 1
        mask = 0
        for position in left:
            mask |= 1 << position
        return mask

    def _looked_up(self, amounts: _AmountsAsked) -> int:
        mask = (1 << len(self.existing)) - 1
        for name, amount in amounts:
            free = self._free.get(name)
            if free is None:
                free = self._free[name] = Amounts([node.amounts.get(name, 0) for node in self.existing])
            mask &= free.holding(amount)
        return mask


def _has(node: ExistingNode, amounts: _AmountsAsked) -> bool:
    """Return whether an empty node has that much of each resource."""
    return all(node.amounts.get(name, 0) >= amount for name, amount in amounts)
