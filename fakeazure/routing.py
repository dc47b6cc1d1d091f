"""The routing table of the whole cloud, in order: the first row that fits a request answers it."""

from __future__ import annotations

from functools import cache

from fakeazure.aks import agent_pools, credentials, machines, managed_clusters, node_bootstrapping, versions
from fakeazure.arm.routes import Router
from fakeazure.resources import groups, identities, images, long_running, marketplace, plain, subscriptions
from fakeazure.resources.compute import (
    capacity_reservations,
    disks,
    scale_sets,
    ssh_keys,
    virtual_machines,
    vm_actions,
    vm_extensions,
)
from fakeazure.resources.deployments import deployments
from fakeazure.resources.graph import resource_graph
from fakeazure.resources.network import network_interfaces, network_kinds, virtual_networks
from fakeazure.resources.sizes import placement_scores, retail_prices, skus, usages, vm_sizes
from fakeazure.state import State

_PARTS = (
    virtual_machines,
    network_interfaces,
    vm_extensions,
    long_running,
    machines,
    skus,
    usages,
    resource_graph,
    images,
    marketplace,
    vm_actions,
    vm_sizes,
    virtual_networks,
    network_kinds,
    disks,
    identities,
    ssh_keys,
    placement_scores,
    scale_sets,
    plain,
    capacity_reservations,
    deployments,
    groups,
    managed_clusters,
    agent_pools,
    credentials,
    versions,
    node_bootstrapping,
    retail_prices,
    subscriptions,
)


@cache
def router() -> Router[State]:
    """The router, built once per process; it has no state of its own."""
    return Router(route for part in _PARTS for route in part.routes())
