"""The content of a new cluster's node resource group: network, security group, load balancer with address, the kubelet's identity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakeazure.arm.bodies import section, text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.guids import guid_of
from fakeazure.resources.identities import IDENTITIES
from fakeazure.resources.kinds import Kind
from fakeazure.resources.network.network_kinds import LOAD_BALANCERS, NETWORK_SECURITY_GROUPS, PUBLIC_IP_ADDRESSES
from fakeazure.resources.network.virtual_networks import VIRTUAL_NETWORKS, add_network
from fakeazure.state import State

_PREFIX, _SUBNET = "10.224.0.0/12", "10.224.0.0/16"
"""The prefixes of the network that AKS makes where nobody brings one (learn.microsoft.com, "Configure Azure CNI
networking").
"""


def number(cluster: ResourceId) -> str:
    """The eight digits in the names of all that AKS makes for a cluster."""
    return f"{int(guid_of(str(cluster))[:8], 16) % 10**8:08d}"


def furnish(state: State, cluster: ResourceId, document: Mapping[str, Any], *, own_network: bool) -> dict[str, Any]:
    """Make what is in the node resource group of a new cluster, a network where `own_network` says so; return its network profile."""
    properties = document["properties"]
    group, location, digits = properties["nodeResourceGroup"], document["location"], number(cluster)

    def made(kind: Kind, name: str, body: Document) -> ResourceId:
        id_ = ResourceId(cluster.subscription, group, kind.namespace, (kind.name,), (name,))
        if state.store.get(id_) is None:
            shown = kind.document(id_, body, location)
            kind.fill(state, id_, shown, None)
            state.store.put(id_, shown)
        return id_

    if own_network:
        network = ResourceId(
            cluster.subscription, group, VIRTUAL_NETWORKS.namespace, (VIRTUAL_NETWORKS.name,), (f"aks-vnet-{digits}",)
        )
        add_network(state, network, location=location, prefix=_PREFIX, subnets={"aks-subnet": _SUBNET})
    made(NETWORK_SECURITY_GROUPS, f"aks-agentpool-{digits}-nsg", {})
    kubelet = text(section(section(properties, "identityProfile"), "kubeletidentity"), "resourceId")
    if kubelet.lower().startswith(f"/subscriptions/{cluster.subscription}/resourcegroups/{group}/".lower()):
        made(IDENTITIES, kubelet.rpartition("/")[2], {})
    profile = dict(section(properties, "networkProfile"))
    if text(profile, "outboundType") != "loadBalancer":
        return profile
    address = made(
        PUBLIC_IP_ADDRESSES,
        guid_of(f"outbound{cluster}"),
        {"sku": {"name": "Standard", "tier": "Regional"}, "properties": {"publicIPAllocationMethod": "Static"}},
    )
    front = {"name": address.name, "properties": {"publicIPAddress": {"id": str(address)}}}
    pools = [{"name": name} for name in ("aksOutboundBackendPool", "kubernetes")]
    balancer = made(
        LOAD_BALANCERS,
        "kubernetes",
        {
            "sku": {"name": "Standard"},
            "properties": {"frontendIPConfigurations": [front], "backendAddressPools": pools},
        },
    )
    user = balancer.child("frontendIPConfigurations", address.name)
    held = state.found(address).document
    state.store.put(address, {**held, "properties": {**held["properties"], "ipConfiguration": {"id": str(user)}}})
    own = section(profile, "loadBalancerProfile")
    profile["loadBalancerProfile"] = {
        "managedOutboundIPs": {"count": 1},
        "backendPoolType": "nodeIPConfiguration",
        **own,
        "effectiveOutboundIPs": [{"id": str(address)}],
    }
    return profile


def subnet_of(state: State, cluster: ResourceId, pool: Mapping[str, Any]) -> str:
    """The id of the subnet of a pool's nodes: its own, or that of the network which AKS made. Empty where there is none."""
    own = text(pool, "vnetSubnetID")
    if own:
        return own
    group = text(state.found(cluster).document["properties"], "nodeResourceGroup")
    for network in state.store.list(VIRTUAL_NETWORKS.type, subscription=cluster.subscription, group=group):
        subnet = network.id.child("subnets", "aks-subnet")
        if state.store.get(subnet) is not None:
            return str(subnet)
    return ""
