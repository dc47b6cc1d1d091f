"""Which pools of load balancers machines join (kaz pkg/providers/loadbalancer/loadbalancer.go)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.karpenter.provider.load_balancers import backend_pool_ids


def balancer(name: str | None, *pools: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "properties": {"backendAddressPools": list(pools)}}


def pool(name: str | None = "kubernetes", **fields: Any) -> dict[str, Any]:
    return {"id": f"/pools/{name}", "name": name, "properties": {}, **fields}


def address(ip: str | None) -> dict[str, Any]:
    return {"name": "a", "properties": {"ipAddress": ip}}


@pytest.mark.parametrize(
    ("name", "joins"),
    [
        ("kubernetes", True),
        ("Kubernetes", True),  # as Azure may spell it
        ("kubernetes-internal", True),
        ("kubernetes-ipv6", False),
        ("mine", False),
        (None, False),
    ],
)
def test_balancers(name: str | None, joins: bool) -> None:
    assert list(backend_pool_ids([balancer(name, pool())])) == ["/pools/kubernetes"] * joins


@pytest.mark.parametrize(
    ("one", "joins"),
    [
        (pool("aksOutboundBackendPool"), True),
        (pool("any"), True),
        (pool("aksOutboundBackendPool-ipv6"), False),
        (pool("Kubernetes-IPv6"), False),
        (pool(None), False),
        (pool(properties=None), False),
        (pool(id=""), False),
        (pool(properties={"loadBalancerBackendAddresses": [address(""), address(None), {"name": "a"}]}), True),
        (pool(properties={"loadBalancerBackendAddresses": [address(""), address("10.0.0.4")]}), False),
    ],
    ids=["outbound", "another", "outbound-6", "inbound-6", "unnamed", "bare", "no-id", "no-address", "of-addresses"],
)
def test_pools(one: dict[str, Any], joins: bool) -> None:
    assert list(backend_pool_ids([balancer("kubernetes", one)])) == [one["id"]] * joins


def test_a_balancer_without_properties_has_no_pools() -> None:
    assert list(backend_pool_ids([{"name": "kubernetes"}, balancer("kubernetes-internal", pool("b"))])) == ["/pools/b"]
