"""The parts of a world in a snapshot: its fields with their types, the records that they share, and the actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from heapq import heapify
from types import MappingProxyType
from typing import Any

from fakeazure.addresses import Addresses
from fakeazure.aks import agent_pools, machines
from fakeazure.arm import operations
from fakeazure.arm.messages import Document
from fakeazure.arm.operations import Operation, Operations
from fakeazure.market.facts import Size
from fakeazure.market.faults import Fault
from fakeazure.market.market import Allocation
from fakeazure.market.reservations import Reservation
from fakeazure.market.restrictions import Restriction, Sizes
from fakeazure.market.stock import Shelf
from fakeazure.resources import deletion, groups, kinds, moves
from fakeazure.resources.compute import scale_set_upgrades, scale_sets, vm_actions, vm_extensions, vm_lifecycle
from fakeazure.resources.deployments import deployment_runs
from fakeazure.resources.deployments.deployment_runs import Deployment
from fakeazure.resources.network import network_interfaces, virtual_networks
from fakeazure.snapshots.kinds import Kinds
from fakeazure.snapshots.records import Layout
from fakeazure.state import MachineFacts, State, fail_with, if_deleted
from fakeazure.store import Entry

PRICE_ROW = tuple[str, str, str, str, float, str, tuple[tuple[str, float], ...]]
"""The fields of a PriceRow."""
FIELDS: Mapping[str, Any] = MappingProxyType(
    {
        "vms": dict[str, MachineFacts],
        "addresses": dict[str, Addresses],
        "nic_reservations": dict[str, tuple[str, float]],
        "subscriptions": dict[str, set[str]],
        "groups": dict[tuple[str, str], Document],
        "instances": dict[str, Allocation],
        "next_instance": dict[str, int],
        "deployments": dict[str, Deployment],
        "kubeconfigs": dict[str, str],
        "assignments": dict[str, Document],
        "scoped": dict[str, Document],
        "features": dict[str, tuple[str, float]],
        "subscription_tags": dict[str, dict[str, str]],
        "operations._by_id": dict[str, Operation],
        "throttle._levels": dict[tuple[str, str], tuple[float, float]],
        "timers._count": int,
        "timers._queue": list[tuple[float, int, Callable[[], None]]],
        "market.quota._limits": dict[str, int],
        "market.quota._used": dict[tuple[str, str, str], int],
        "market.restrictions._all": list[Restriction | Sizes],
        "market.restrictions.version": int,
        "market.stock.shelves": list[Shelf],
        "market.faults.all": list[Fault],
        "market.prices._overlay": dict[tuple[str, str, str], float | None],
        "market.prices._rows": dict[tuple[str, str], tuple[PRICE_ROW, ...]],
        "market.prices.served": bool,
        "market.prices.spot_discount": float | None,
        "market.prices.version": int,
        "market.prices.withheld": frozenset[PRICE_ROW],
        "market.images._own": dict[str, tuple[str, ...]],
        "market.images.come_out": bool,
        "market.images._as_of": str | None,
        "market.reservations._all": dict[str, Reservation],
    }
)
"""Attributes of a state → their types."""
STORE = tuple[list[Entry], list[tuple[float, str, Entry | None]]]
"""The resources, and their history where readers lag behind."""
GUIDS = tuple[int | str, int]
"""Seed and count of a sequence of guids."""

SHARED: Mapping[type, str] = MappingProxyType(
    {
        Deployment: "deployments",
        MachineFacts: "machines",
        Operation: "operations",
        machines.Outcome: "outcomes",
        Reservation: "reservations",
        Shelf: "shelves",
        Size: "sizes",
    }
)
ACTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "end an operation": operations.end_with,
        "fail an operation": fail_with,
        "end a deletion": if_deleted,
        "nothing": operations.no_effect,
        "create a machine": machines.settle,
        "note what a machine became": machines.note,
        "delete machines": machines.forget,
        "delete a pool": agent_pools.remove,
        "delete a group": groups.deleted,
        "delete a resource and what is for it": groups.clear,
        "delete a resource": kinds.remove,
        "create a VM": vm_lifecycle.created,
        "delete a VM": vm_lifecycle.deleted,
        "fail to delete a VM": vm_lifecycle.delete_failed,
        "evict a VM": vm_lifecycle.evict_now,
        "switch a VM": vm_actions.switch,
        "install an extension": vm_extensions.installed,
        "fail to install an extension": vm_extensions.failed,
        "delete a scale set": scale_sets.clear,
        "delete instances": scale_sets.take_instances,
        "switch instances": scale_sets.power,
        "upgrade instances": scale_set_upgrades.upgrade,
        "upgrade instances in turn": scale_set_upgrades.roll,
        "show a failure": deletion.failed,
        "move resources": moves.move,
        "keep a group": groups.roll_back,
        "delete a NIC": network_interfaces.remove,
        "delete a subnet": virtual_networks.remove_subnet,
        "go on with a deployment": deployment_runs.take_turn,
    }
)
"""All that a timer may hold, by the names in a file. One that is missing here cannot be saved (`tests/cloud/test_snapshots.py`)."""


def _addresses(fields: Mapping[str, Any]) -> Addresses:
    addresses = Addresses(fields["prefix"])
    heapify(fields["_returned"])
    addresses._next, addresses._returned = fields["_next"], fields["_returned"]
    return addresses


@cache
def world_kinds() -> Kinds:
    """Return how everything in a world looks in a snapshot."""
    return Kinds(
        Layout(
            shared=SHARED,
            attributes={Addresses: {"prefix": str, "_next": int, "_returned": list[int]}},
            made={Addresses: _addresses},
            actions=ACTIONS,
            own=(State, Operations),
        )
    )
