"""Azure's timers and events: its due work as work of the engine, and its events of machines, passed to their nodes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from fakeazure.cloud import FakeAzure
from fakeazure.events import Deleted, Event, PoweredOff, PoweredOn, Preempting
from harness.engine.engine import DONE, Engine, Result, Router, Wait
from harness.nodes.eviction_notices import EvictionNotices
from harness.nodes.kubelet import Kubelets
from harness.world.azure.hardware import machine_of, vm_id_of
from harness.world.caches import Caches

__all__ = ["AzureTimers"]

_KEY = "timers"


class AzureTimers:
    """The cloud as one controller of the engine: its only key is its queue of timers."""

    name = "azure"
    backoff = (1.0, 1.0)

    def __init__(
        self,
        engine: Engine,
        cloud: FakeAzure,
        caches: Caches,
        region: str,
        kubelets: Kubelets,
        notices: EvictionNotices,
    ) -> None:
        self._engine, self._cloud = engine, cloud
        self._catalogue, self._region = caches.catalogue, region
        self._kubelets, self._notices = kubelets, notices
        cloud.on_schedule(self._scheduled)
        cloud.subscribe(self._event)

    def watches(self) -> Mapping[str, Router]:
        """Watch nothing of the cluster."""
        return {}

    def reconcile(self, key: Hashable) -> Result:
        """Run the timers that are due, and ask to be called for the next one."""
        if self._cloud.run_until(self._engine.clock.unix + 1e-6):
            self._engine.touch()
        due = self._cloud.next_due()
        if due is None:
            return DONE
        return Result(max(0.0, due - self._engine.clock.unix), Wait.PROGRESS)

    def _scheduled(self, due: float) -> None:
        self._engine.touch()
        self._engine.enqueue(self, _KEY, after=max(0.0, due - self._engine.clock.unix))

    def _event(self, event: Event) -> None:
        self._engine.touch()
        if isinstance(event, PoweredOn):
            self._kubelets.power_on(machine_of(event.vm, self._catalogue, self._region))
        elif isinstance(event, Preempting):
            self._notices.noticed(vm_id_of(event.vm))
        elif isinstance(event, PoweredOff):
            self._kubelets.power_off(vm_id_of(event.vm), gone=False)
        elif isinstance(event, Deleted):
            self._kubelets.power_off(vm_id_of(event.vm), gone=True)
