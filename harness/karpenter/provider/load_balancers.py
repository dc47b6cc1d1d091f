"""The pools of the cluster's load balancers that machines join.

Source: kaz pkg/providers/loadbalancer/loadbalancer.go, the same in all releases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.kube.api.objects import Object

__all__ = ["backend_pool_ids"]

_CLUSTER = frozenset({"kubernetes", "kubernetes-internal"})
_IPV6 = frozenset({"aksoutboundbackendpool-ipv6", "kubernetes-ipv6"})


def backend_pool_ids(balancers: Iterable[Object]) -> Iterator[str]:
    """The ids of the pools of what AKS and its cloud provider make, in order; pools of addresses and of IPv6 are left out."""
    for balancer in balancers:
        if str(balancer.get("name") or "").lower() in _CLUSTER:
            for pool in (balancer.get("properties") or {}).get("backendAddressPools") or ():
                if _takes_machines(pool) and pool.get("id"):
                    yield str(pool["id"])


def _takes_machines(pool: Mapping[str, Any]) -> bool:
    name, properties = pool.get("name"), pool.get("properties")
    if name is None or properties is None or str(name).lower() in _IPV6:
        return False
    addresses = properties.get("loadBalancerBackendAddresses") or ()
    return not any((address.get("properties") or {}).get("ipAddress") for address in addresses)
