"""The machines that run now, by VM and by the name of their Node."""

from __future__ import annotations

from enum import StrEnum

from harness.engine.names import NodeName, VmId
from harness.nodes.boot import BootPlan
from harness.nodes.machine import Machine
from lazyrecords import dataclass


class Phase(StrEnum):
    """The phase of a machine on its way to a Node."""

    BOOTING = "booting"
    REGISTERED = "registered"
    READY = "ready"
    FAILED = "failed"
    OFF = "off"


@dataclass(slots=True)
class Running:
    """A machine and its phase. `plan` is set once its text was read; `problem` says why it never became a Node.

    `real`: a kubelet of its own made the Node and looks after it.
    """

    machine: Machine
    phase: Phase = Phase.BOOTING
    plan: BootPlan | None = None
    problem: str | None = None
    real: bool = False

    @property
    def node_name(self) -> NodeName:
        """The name of its Node: the VM's name in lower case."""
        return NodeName(self.machine.name.lower())


class Machines:
    """Every machine that was powered on and is not gone."""

    __slots__ = ("_by_node", "_by_vm")

    def __init__(self) -> None:
        self._by_vm: dict[VmId, Running] = {}
        self._by_node: dict[NodeName, Running] = {}

    def register(self, machine: Machine) -> Running:
        """Register a machine that was powered on; a restarted one starts again."""
        running = Running(machine)
        self._by_vm[machine.vm_id] = running
        self._by_node[running.node_name] = running
        return running

    def remove(self, vm_id: VmId) -> Running | None:
        """Forget a machine that is gone."""
        running = self._by_vm.pop(vm_id, None)
        if running is not None and self._by_node.get(running.node_name) is running:
            del self._by_node[running.node_name]
        return running

    def of_vm(self, vm_id: VmId) -> Running | None:
        """The machine of this VM id."""
        return self._by_vm.get(vm_id)

    def of_node(self, name: str) -> Running | None:
        """The machine whose Node has this name."""
        return self._by_node.get(NodeName(name))

    def __len__(self) -> int:
        return len(self._by_vm)
