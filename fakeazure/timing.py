"""The durations of the cloud's operations, in seconds of its clock."""

from __future__ import annotations

from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """Durations of long-running operations. Zero means: over before the answer, which then says `Succeeded`.

    The defaults are magnitudes of the real service, with a NIC that is ready at once. `nic_reserved` is how long a NIC stays
    reserved after the creation of its VM was refused (180 in Azure; 0 lets a client clean up at once). `graph_lag` is how
    late Resource Graph learns of a change. `eviction_notice` is the time between a spot VM's notice and its eviction.
    """

    nic: float = 0.0
    vm_create: float = 10.0
    vm_delete: float = 10.0
    vm_update: float = 0.0
    vm_power: float = 5.0
    extension: float = 3.0
    resource: float = 0.0
    """Disks, snapshots and other resources that answer with an operation."""
    machine_create: float = 0.0
    """The seconds that AKS takes on top of its VM."""
    machine_delete: float = 0.0
    nic_reserved: float = 0.0
    graph_lag: float = 0.0
    eviction_notice: float = 30.0


RECORDED = Timing(vm_create=60.0, vm_delete=51.0)
"""Durations of a run of Karpenter in swedencentral on 2025-04-29, of which whole times are known only: from the
NodeClaim to the end of the VM's creation 91 s, to the Node's initialization 94 s; from the taint of an empty Node to
its end 51 s.
"""

INSTANT = Timing(vm_create=0.0, vm_delete=0.0, vm_power=0.0, extension=0.0, eviction_notice=0.0)
"""Everything is over at once: no polling, no virtual time."""
