"""The routing table of the whole cloud, in order: the first row that fits a request answers it."""

from __future__ import annotations

from functools import cache

from fakeazure.aks import machines, managed_clusters, node_bootstrapping
from fakeazure.arm.routes import Router
from fakeazure.resources import (
    images,
    long_running,
    network_interfaces,
    plain,
    resource_graph,
    retail_prices,
    skus,
    subscriptions,
    usages,
    virtual_machines,
    virtual_networks,
    vm_extensions,
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
    virtual_networks,
    plain,
    managed_clusters,
    node_bootstrapping,
    retail_prices,
    subscriptions,
)


@cache
def router() -> Router[State]:
    """The router, built once per process; it has no state of its own."""
    return Router(route for part in _PARTS for route in part.routes())
