"""Results about each machine alone, kept up from one look to the next: only machines that have changed are asked again."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from harness.karpenter.scheduling.nodes.order import Order, Place
from harness.karpenter.scheduling.nodes.state import StateNode

__all__ = ["Find", "PerNodeIndex"]

Find = Callable[[StateNode], Any]
"""A function of a machine alone, never of the time or of other machines."""


class PerNodeIndex:
    """Results about the machines of the last look, by provider id.

    It cannot be stale: whoever makes a machine's state anew, or drops it, calls :meth:`change`, and a state is never
    changed in place.
    """

    def __init__(self) -> None:
        self._found: dict[Find, dict[str, Any]] = {}
        self._values: dict[Find, dict[str, Hashable]] = {}
        self._counts: dict[Find, dict[Hashable, int]] = {}
        self._orders: dict[Place, Order] = {}

    def change(self, machine: str, state: StateNode | None) -> None:
        """The machine's state is another one now; None: it is gone."""
        for find, results in self._found.items():
            if state is not None and (value := find(state)):
                results[machine] = value
            else:
                results.pop(machine, None)
        for find, values in self._values.items():
            counts = self._counts[find]
            if machine in values:
                counts[values.pop(machine)] -= 1
            if state is not None:
                value = values[machine] = find(state)
                counts[value] = counts.get(value, 0) + 1

        for order in self._orders.values():
            order.change(machine, state)

    def having(self, find: Find, states: Mapping[str, StateNode]) -> dict[str, Any]:
        """Return the true results of ``find``, by provider id; ``states`` are those of the last look."""
        values = self._found.get(find)
        if values is None:
            values = self._found[find] = {
                provider_id: value for provider_id, state in states.items() if (value := find(state))
            }
        return dict(values)

    def counts(self, find: Find, states: Mapping[str, StateNode]) -> dict[Hashable, int]:
        """Count the machines by the result of ``find``."""
        if find not in self._values:
            self._values[find], self._counts[find] = {}, {}
            for machine, state in states.items():
                value = self._values[find][machine] = find(state)
                self._counts[find][value] = self._counts[find].get(value, 0) + 1
        return {value: count for value, count in self._counts[find].items() if count}

    def in_order(self, place: Place, states: Mapping[str, StateNode]) -> list[StateNode]:
        """The machines that have a place, in its order."""
        if place not in self._orders:
            self._orders[place] = Order(place, states)
        return list(self._orders[place].states)
