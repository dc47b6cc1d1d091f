"""Agent pools of a world: AKS makes their scale sets, each instance becomes a Node, and a smaller count drains those that leave.

AKS cordons and drains the Nodes of a pool that is scaled down or deleted (learn.microsoft.com, "Scale node pools", "Delete a node pool");
which Nodes these are nobody promises: here those with the highest numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from fakeazure.aks.managed_clusters import NAMESPACE
from fakeazure.aks.pool_nodes import pool_labels, pool_machines, pool_taints, remove_machine
from fakeazure.aks.pool_scale_sets import scale_set_id
from fakeazure.arm.ids import ResourceId
from fakeazure.cloud import FakeAzure
from fakeazure.events import VirtualMachine
from harness.engine.engine import DONE, Engine, Result, Router, Wait
from harness.engine.ports import View, Writer
from harness.kube.api.objects import spec_of, status_of
from harness.kube.api.status import ignoring
from harness.kube.scheduling.pods import is_daemon
from harness.kube.scheduling.taints import taint_text
from harness.nodes.boot import parse_taints, taints_json
from harness.nodes.kubelet import Kubelets
from harness.world.azure.hardware import machine_of, vm_id_of
from harness.world.caches import Caches
from harness.world.drains import Drains

__all__ = ["AgentPools", "PoolRefused"]

_VERSION = "2025-05-01"
_LOOK_AGAIN = 5.0
_ENDED = ("Succeeded", "Failed")


class PoolRefused(ValueError):
    """AKS does not take a change of an agent pool; the text is its message."""


class AgentPools:
    """The pools of a world's cluster; a key is the name of a pool that gets smaller."""

    name = "agent-pools"
    backoff = (5.0, 5.0)

    def __init__(
        self,
        engine: Engine,
        cloud: FakeAzure,
        kubelets: Kubelets,
        drains: Drains,
        view: View,
        writer: Writer,
        caches: Caches,
        region: str,
    ) -> None:
        self._engine, self._cloud, self._kubelets, self._drains = engine, cloud, kubelets, drains
        self._view, self._writer, self._caches, self._region = view, writer, caches, region
        self._machines: dict[str, dict[str, VirtualMachine]] = {}
        """The machines that have power, by pool and by the name of their Node."""
        self._leaving: dict[str, set[str]] = {}
        self.listeners: list[Callable[[VirtualMachine, bool], None]] = []
        """Listeners to machines that get power (true), and to those that go."""
        self._ending: set[str] = set()
        """The pools that are deleted when they are empty."""

    def watches(self) -> Mapping[str, Router]:
        """Watch nothing: a change of a pool queues its key."""
        return {}

    @property
    def pools(self) -> tuple[str, ...]:
        """Return the names of the pools that there are, in the order in which they were made."""
        return tuple(self._machines)

    def nodes(self, pool: str) -> Sequence[str]:
        """Return the names of a pool's Nodes, those that leave among them. Raises LookupError."""
        return tuple(self._known(pool))

    def properties(self, pool: str) -> Mapping[str, Any]:
        """Return what AKS knows of a pool, by the names of its API. Raises LookupError."""
        self._known(pool)
        properties: Mapping[str, Any] = self._cloud.state.found(self._id(pool)).document["properties"]
        return properties

    def labels(self, pool: str) -> Mapping[str, str]:
        """Return the labels that AKS gives each Node of a pool. Raises LookupError."""
        self._known(pool)
        return pool_labels(self._cloud.state, self._id(pool))

    def scale_set(self, pool: str) -> str:
        """Return the name of a pool's scale set. Raises LookupError."""
        self._known(pool)
        return scale_set_id(self._cloud.state, self._id(pool)).name

    def machines(self) -> Sequence[VirtualMachine]:
        """Return the machines of all pools, those that leave among them."""
        return [machine for of_pool in self._machines.values() for machine in of_pool.values()]

    def make(self, name: str, properties: Mapping[str, Any]) -> None:
        """Make a pool, or change one that is there to these properties. Raises PoolRefused."""
        self._put(name, properties)
        self._machines.setdefault(name, {})
        self._power(name)

    def scale(self, name: str, count: int) -> None:
        """Give a pool another count: machines more at once, less when they are drained. Raises LookupError, PoolRefused."""
        there = list(self._known(name))
        staying = [node for node in there if node not in self._leaving.get(name, ())]
        if count >= len(staying):
            back = [node for node in there if node not in staying][: count - len(staying)]
            self._leaving.get(name, set()).difference_update(back)
            for node in back:
                self._mark(node, unschedulable=False)
            if count > len(there):
                self._put(name, {**self.properties(name), "count": count})
                self._power(name)
            return
        for node in staying[count:]:
            self._leaving.setdefault(name, set()).add(node)
            self._mark(node, unschedulable=True)
            self._drains.start(node)
        self._engine.enqueue(self, name)

    def delete(self, name: str) -> None:
        """Delete a pool when its Nodes are drained. Raises LookupError."""
        self._ending.add(name)
        self.scale(name, 0)

    def remove(self, name: str, node: str) -> None:
        """Take one machine from a pool at once, as when its instance is deleted from the scale set. Raises LookupError."""
        machine = self._known(name).get(node)
        if machine is None:
            raise LookupError(f"agent pool '{name}' has no machine '{node}'")
        self._take(name, node, machine)

    def taint(self, name: str, taints: Sequence[str]) -> None:
        """Give a pool other taints, `key=value:Effect`; its Nodes get them at once. Raises LookupError, PoolRefused.

        AKS changes Nodes that are there, too (learn.microsoft.com, "Use node taints"); other taints of theirs stay.
        """
        before = set(pool_taints(self.properties(name)))
        self._put(name, {**self.properties(name), "nodeTaints": list(taints)})
        added = taints_json(parse_taints(",".join(pool_taints(self.properties(name)))))
        for node in self._known(name):
            there = self._view.get("Node", node)
            if there is not None:
                others = [taint for taint in spec_of(there).get("taints") or () if taint_text(taint) not in before]
                self._writer.patch("Node", node, {"spec": {"taints": [*others, *added]}})

    def reconcile(self, key: Hashable) -> Result:
        """Take the machines of a pool that are drained, and the pool when none is left of one that is deleted."""
        name = str(key)
        leaving = self._leaving.get(name, set())
        drained = [node for node in leaving if not self._drains.under_way(node) and not self._occupied(node)]
        for node in drained:
            leaving.discard(node)
            self._take(name, node, self._machines[name][node])
        if leaving:
            return Result(_LOOK_AGAIN, Wait.POLL)
        if name in self._ending:
            self._ending.discard(name)
            del self._machines[name]
            self._answer("DELETE", name)
        return DONE

    def _take(self, pool: str, node: str, machine: VirtualMachine) -> None:
        """Take a machine away, with its Node."""
        del self._machines[pool][node]
        remove_machine(self._cloud.state, self._id(pool), machine)
        self._kubelets.power_off(vm_id_of(machine), gone=True)
        for listener in self.listeners:
            listener(machine, False)
        with ignoring(404):
            self._writer.delete("Node", node)

    def _occupied(self, node: str) -> bool:
        """Return whether pods still end on a Node; those of DaemonSets stay to the end."""
        pods = self._view.indexed("pods-by-node", node)
        return any(status_of(pod).get("phase") not in _ENDED and not is_daemon(pod) for pod in pods)

    def _known(self, pool: str) -> Mapping[str, VirtualMachine]:
        if pool not in self._machines:
            raise LookupError(f"there is no agent pool '{pool}'")
        return self._machines[pool]

    def _power(self, pool: str) -> None:
        """Let new instances boot."""
        for machine in pool_machines(self._cloud.state, self._id(pool)):
            if machine.name not in self._machines[pool]:
                self._machines[pool][machine.name] = machine
                self._kubelets.power_on(machine_of(machine, self._caches.catalogue, self._region))
                for listener in self.listeners:
                    listener(machine, True)

    def _mark(self, node: str, *, unschedulable: bool) -> None:
        if self._view.get("Node", node) is not None:
            self._writer.patch("Node", node, {"spec": {"unschedulable": unschedulable or None}})

    def _id(self, pool: str) -> ResourceId:
        names = self._cloud.state.settings
        cluster = ResourceId(
            names.subscription, names.resource_group, NAMESPACE, ("managedClusters",), (names.cluster,)
        )
        return cluster.child("agentPools", pool)

    def _put(self, pool: str, properties: Mapping[str, Any]) -> None:
        self._answer("PUT", pool, {"properties": dict(properties)})

    def _answer(self, method: str, pool: str, body: Mapping[str, Any] | None = None) -> None:
        path = str(self._id(pool))
        answer = self._cloud.request(method, path, query={"api-version": _VERSION}, body=body)
        if answer.status >= 400:
            error = (answer.body or {}).get("error") or answer.body or {}
            raise PoolRefused(f"{error.get('code')}: {error.get('message')}")
