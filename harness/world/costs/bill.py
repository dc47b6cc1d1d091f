"""The bill of a world's machines while virtual time passes, by the second, at the price that they had when they powered on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fakeazure.events import Deleted, Event, PoweredOff, PoweredOn, VirtualMachine
from harness.karpenter.labels.azure import capacity_type_of

if TYPE_CHECKING:
    from harness.world import World

__all__ = ["Bill"]

_HOUR = 3600.0


class Bill:
    """Adds up the price of running machines, those of agent pools among them.

    Make it before anything runs; it listens to the cloud of the world and to its pools.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._running: dict[str, tuple[float, float]] = {}
        self._ended = 0.0
        self.machines = 0
        """The number of machines that were ever powered on."""
        self.unpriced: set[str] = set()
        """Sizes of machines that ran without a known price, and count as nothing."""
        self.guessed: set[str] = set()
        """Sizes of machines that ran at a price that is a guess."""
        world.cloud.subscribe(self._hear)
        world.agent_pools.listeners.append(self._hear_of_pool)

    def usd(self) -> float:
        """Return USD for all machines from the start of the world until now; a size without a price counts as nothing."""
        now = self._world.cloud.now()
        return self._ended + sum(price * (now - since) / _HOUR for since, price in self._running.values())

    def _hear(self, event: Event) -> None:
        if isinstance(event, PoweredOn):
            self._begin(event.vm, event.at)
            self.machines += not event.restarted
        elif isinstance(event, (Deleted, PoweredOff)):
            self._end(event.vm, event.at)

    def _hear_of_pool(self, vm: VirtualMachine, powered: bool) -> None:
        now = self._world.cloud.now()
        if powered:
            self._begin(vm, now)
            self.machines += 1
        else:
            self._end(vm, now)

    def _begin(self, vm: VirtualMachine, at: float) -> None:
        machine_price = self._world.price(vm.size, capacity_type_of(vm.priority))
        if machine_price.guess:
            self.guessed.add(vm.size)
        if machine_price.usd is None:
            self.unpriced.add(vm.size)
        self._running[vm.id] = at, machine_price.usd or 0.0

    def _end(self, vm: VirtualMachine, at: float) -> None:
        if vm.id in self._running:
            since, hourly = self._running.pop(vm.id)
            self._ended += hourly * (at - since) / _HOUR
