"""The routing table of the whole cloud, in order: the first row that fits a request answers it."""

from __future__ import annotations

from functools import cache

from fakeazure.aks import (
    agent_pools,
    cluster_actions,
    credentials,
    machines,
    managed_clusters,
    node_bootstrapping,
    pool_snapshots,
    versions,
)
from fakeazure.arm.routes import Router
from fakeazure.resources import (
    features,
    groups,
    identities,
    images,
    long_running,
    marketplace,
    moves,
    plain,
    scoped,
    subscriptions,
    tags,
)
from fakeazure.resources.compute import (
    capacity_reservations,
    disk_access,
    disks,
    managed_images,
    scale_set_networks,
    scale_set_upgrades,
    scale_sets,
    ssh_keys,
    virtual_machines,
    vm_actions,
    vm_extensions,
    vm_maintenance,
)
from fakeazure.resources.deployments import deployments, template_specs
from fakeazure.resources.graph import resource_graph
from fakeazure.resources.network import (
    balancer_parts,
    network_interfaces,
    network_kinds,
    network_queries,
    peripheral_kinds,
    virtual_networks,
)
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
    vm_maintenance,
    vm_sizes,
    virtual_networks,
    network_kinds,
    balancer_parts,
    peripheral_kinds,
    network_queries,
    disks,
    disk_access,
    managed_images,
    identities,
    scoped,
    features,
    ssh_keys,
    placement_scores,
    scale_sets,
    scale_set_upgrades,
    scale_set_networks,
    plain,
    capacity_reservations,
    deployments,
    template_specs,
    groups,
    managed_clusters,
    agent_pools,
    cluster_actions,
    pool_snapshots,
    credentials,
    versions,
    node_bootstrapping,
    retail_prices,
    subscriptions,
    tags,
    moves,
)


@cache
def router() -> Router[State]:
    """The router, built once per process; it has no state of its own."""
    return Router(route for part in _PARTS for route in part.routes())
