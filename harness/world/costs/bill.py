"""The bill of a world's machines while virtual time passes, by the second, at the price that they had when they powered on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fakeazure.events import Deleted, Event, PoweredOff, PoweredOn
from harness.karpenter.labels.core import ON_DEMAND, SPOT

if TYPE_CHECKING:
    from harness.world import World

__all__ = ["Bill"]

_HOUR = 3600.0


class Bill:
    """Adds up the price of running machines. Make it before anything runs; it listens to the cloud of the world."""

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

    def usd(self) -> float:
        """Return USD for all machines from the start of the world until now; a size without a price counts as nothing."""
        now = self._world.cloud.now()
        return self._ended + sum(price * (now - since) / _HOUR for since, price in self._running.values())

    def _hear(self, event: Event) -> None:
        if isinstance(event, PoweredOn):
            kind = SPOT if event.vm.priority == "Spot" else ON_DEMAND
            machine_price = self._world.price(event.vm.size, kind)
            price = machine_price.usd
            if machine_price.guess:
                self.guessed.add(event.vm.size)
            self._running[event.vm.id] = event.at, price or 0.0
            if price is None:
                self.unpriced.add(event.vm.size)
            self.machines += not event.restarted
        elif isinstance(event, (Deleted, PoweredOff)) and event.vm.id in self._running:
            since, hourly = self._running.pop(event.vm.id)
            self._ended += hourly * (event.at - since) / _HOUR
