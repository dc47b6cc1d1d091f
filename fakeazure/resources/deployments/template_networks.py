"""Functions of template expressions on networks in CIDR form (learn.microsoft.com, "CIDR functions for ARM templates")."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any

from fakeazure.resources.deployments.template_functions import Function, wrong

_Network = IPv4Network | IPv6Network


def _network(name: str, text: str) -> _Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise wrong(name, "expects its first parameter to be a network in CIDR form") from None


def _subnet(text: str, length: int, place: int) -> str:
    """The network of a length at a place within another."""
    network = _network("cidrSubnet", text)
    if not network.prefixlen <= length <= network.max_prefixlen:
        raise wrong("cidrSubnet", f"expects a prefix length from {network.prefixlen} to {network.max_prefixlen}")
    size = 1 << (network.max_prefixlen - length)
    if not 0 <= place < 1 << (length - network.prefixlen):
        raise wrong("cidrSubnet", "has an index that is out of range of the network")
    return f"{network.network_address + place * size}/{length}"


def _host(text: str, place: int) -> str:
    """The host at a place, the first being 0: the address after that of the network."""
    network = _network("cidrHost", text)
    if not 0 <= place < max(1, network.num_addresses - 2):
        raise wrong("cidrHost", "has an index that is out of range of the network")
    return str(network.network_address + place + (1 if network.num_addresses > 2 else 0))


def _parse(text: str) -> dict[str, Any]:
    network = _network("parseCidr", text)
    first, last = network.network_address, network.broadcast_address
    inner = network.num_addresses > 2
    facts: dict[str, Any] = {"network": str(first), "netmask": str(network.netmask)}
    if isinstance(network, IPv4Network):
        facts["broadcast"] = str(last)
    usable = {"firstUsable": str(first + 1 if inner else first), "lastUsable": str(last - 1 if inner else last)}
    return {**facts, **usable, "cidr": network.prefixlen}


NETWORKS: Mapping[str, Function] = {
    "cidrSubnet": Function("s i i", _subnet),
    "cidrHost": Function("s i", _host),
    "parseCidr": Function("s", _parse),
}
"""Functions by name."""
