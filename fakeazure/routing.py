"""The routing table of the whole cloud, in order: the first row that fits a request answers it."""

from __future__ import annotations

from functools import cache

from fakeazure.aks import agent_pools, credentials, machines, managed_clusters, node_bootstrapping, versions
from fakeazure.arm.routes import Router
from fakeazure.resources import (
    capacity_reservations,
    deployments,
    disks,
    groups,
    identities,
    images,
    long_running,
    marketplace,
    network_interfaces,
    network_kinds,
    placement_scores,
    plain,
    resource_graph,
    retail_prices,
    scale_sets,
    skus,
    ssh_keys,
    subscriptions,
    usages,
    virtual_machines,
    virtual_networks,
    vm_actions,
    vm_extensions,
    vm_sizes,
)
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
