"""Machines in an order of their own, kept up as they change: a thousand of them are not sorted anew because one is another."""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import Any

from harness.karpenter.scheduling.nodes.state import StateNode

__all__ = ["Order", "Place"]

Place = Callable[[StateNode], Any]
"""The sort key of a machine among the others, by itself alone; None for one that is left out. Keys can be compared."""


class Order:
    """Machines that have a place, in its order; equal ones by provider id."""

    def __init__(self, place: Place, machines: Mapping[str, StateNode]) -> None:
        self._place = place
        self._places = {provider_id: at for provider_id, state in machines.items() if (at := place(state)) is not None}
        self._keys = sorted((at, provider_id) for provider_id, at in self._places.items())
        self.states = [machines[provider_id] for _, provider_id in self._keys]

    def change(self, machine: str, state: StateNode | None) -> None:
        """The machine's state is another one now; None: it is gone."""
        before, after = self._places.get(machine), self._place(state) if state is not None else None
        if before is not None:
            at = bisect_left(self._keys, (before, machine))
            if before == after and state is not None:
                self.states[at] = state
                return
            del self._keys[at], self.states[at], self._places[machine]
        if after is not None and state is not None:
            at = bisect_left(self._keys, (after, machine))
            self._keys.insert(at, (after, machine))
            self.states.insert(at, state)
            self._places[machine] = after
