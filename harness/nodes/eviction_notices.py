"""The agent on a spot node that notices its eviction: it reads the scheduled events of the instance metadata service.

It writes the condition that repair policies of the provider know (kaz pkg/cloudprovider/cloudprovider.go, SpotConditionPreemptionScheduled,
which says that an agent on the node does so).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from harness.engine.engine import DONE, Engine, Result, Router
from harness.engine.names import VmId
from harness.engine.ports import Identity, View, Writer
from harness.nodes.registry import Machines

__all__ = ["PREEMPTION_SCHEDULED", "EvictionNotices"]

PREEMPTION_SCHEDULED = "PreemptionScheduled"


class EvictionNotices:
    """Writes eviction notices on Nodes; a key is a VM id.

    `delay` is the seconds from the notice to the condition, infinity without an agent.
    """

    name = "eviction-notices"
    backoff = (1.0, 60.0)

    def __init__(
        self,
        engine: Engine,
        view: View,
        writer_for: Callable[[Identity], Writer],
        machines: Machines,
        delay: Callable[[], float],
    ) -> None:
        self._engine, self._view, self._writer_for = engine, view, writer_for
        self._machines, self._delay = machines, delay

    def watches(self) -> Mapping[str, Router]:
        """Watch nothing of the cluster."""
        return {}

    def noticed(self, vm_id: VmId) -> None:
        """Note that the metadata service announces an eviction to a VM."""
        delay = self._delay()
        if delay < float("inf"):
            self._engine.enqueue(self, vm_id, after=delay)

    def reconcile(self, key: Hashable) -> Result:
        """Write the condition, if the machine is a Node by now."""
        running = self._machines.of_vm(VmId(str(key)))
        if running is None or self._view.get("Node", running.node_name) is None:
            return DONE
        condition = {
            "type": PREEMPTION_SCHEDULED,
            "status": "True",
            "reason": "PreemptScheduled",
            "message": "Azure takes this spot VM",
            "lastTransitionTime": self._engine.clock.timestamp(),
        }
        writer = self._writer_for(Identity.node(running.node_name))
        status = {"status": {"conditions": [condition]}}
        writer.patch("Node", running.node_name, status, type="strategic", subresource="status")
        return DONE
