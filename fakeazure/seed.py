"""The resources from the start: resource groups, the cluster's network, its load balancer, the cluster and its machines pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fakeazure.aks.managed_clusters import CLUSTERS, NAMESPACE, add_pool, complete
from fakeazure.aks.versions import resolved
from fakeazure.arm.ids import ResourceId
from fakeazure.guids import guid_of
from fakeazure.market.declared_reservations import DeclaredReservation
from fakeazure.resources.compute.capacity_reservations import add_reservations
from fakeazure.resources.identities import IDENTITIES
from fakeazure.resources.network.network_kinds import LOAD_BALANCERS, NETWORK_SECURITY_GROUPS
from fakeazure.resources.network.virtual_networks import VIRTUAL_NETWORKS, add_network, add_subnet
from fakeazure.resources.plain import ROUTE_TABLES
from fakeazure.state import State
from lazyrecords import dataclass

CLUSTER_ID = "12345678"
"""The eight digits in the names of AKS's own resources."""
NETWORK = {
    "networkPlugin": "azure",
    "networkPluginMode": "overlay",
    "networkDataplane": "cilium",
    "networkPolicy": "cilium",
    "dnsServiceIP": "10.0.0.10",
}


@dataclass(frozen=True, slots=True)
class ClusterInputs:
    """The facts of the cluster beside its names. Ids that are empty are made from the names."""

    kubernetes: str
    machines_pool: str
    network: Mapping[str, str]
    """Replaces parts of the network profile."""
    subnet_prefix: str
    kubelet_client_id: str = ""
    vnet_guid: str = ""


def seed(state: State, inputs: ClusterInputs, reservations: Iterable[DeclaredReservation] = ()) -> None:
    """Fill an empty world."""
    names = state.settings
    state.add_group(names.subscription, names.resource_group, names.location)
    state.add_group(names.subscription, names.node_resource_group, names.location)

    def node_id(namespace: str, type_: str, name: str) -> ResourceId:
        return ResourceId(names.subscription, names.node_resource_group, namespace, (type_,), (name,))

    vnet = node_id("Microsoft.Network", "virtualNetworks", f"aks-vnet-{CLUSTER_ID}")
    add_network(
        state,
        vnet,
        location=names.location,
        prefix="10.224.0.0/12",
        subnets={"aks-subnet": inputs.subnet_prefix},
        guid=inputs.vnet_guid,
    )
    identity = node_id(IDENTITIES.namespace, IDENTITIES.name, f"{names.cluster}-agentpool")
    client_id = inputs.kubelet_client_id or guid_of(f"client{identity}")
    for plain, name, properties in (
        (NETWORK_SECURITY_GROUPS, f"aks-agentpool-{CLUSTER_ID}-nsg", {}),
        (ROUTE_TABLES, f"aks-agentpool-{CLUSTER_ID}-routetable", {}),
        (LOAD_BALANCERS, "kubernetes", _pools(node_id("Microsoft.Network", "loadBalancers", "kubernetes"))),
        (IDENTITIES, identity.name, {"principalId": guid_of(f"principal{identity}"), "clientId": client_id}),
    ):
        id_ = node_id(plain.namespace, plain.name, name)
        document = plain.document(id_, {"properties": properties}, names.location)
        plain.fill(state, id_, document, None)
        state.store.put(id_, document)
    cluster = ResourceId(names.subscription, names.resource_group, NAMESPACE, ("managedClusters",), (names.cluster,))
    body: dict[str, Any] = {
        "properties": {
            "kubernetesVersion": inputs.kubernetes,
            "currentKubernetesVersion": resolved(inputs.kubernetes) or inputs.kubernetes,
            "nodeResourceGroup": names.node_resource_group,
            "fqdn": f"{names.cluster}-dns.hcp.{names.location}.azmk8s.io",
            "networkProfile": {**NETWORK, **inputs.network},
            "nodeProvisioningProfile": {"mode": "Auto"},
            "identityProfile": {"kubeletidentity": {"resourceId": str(identity), "clientId": client_id}},
            "vnetSubnetID": str(vnet.child("subnets", "aks-subnet")),
        }
    }
    document = CLUSTERS.document(cluster, body, names.location)
    complete(state, cluster, document)
    state.store.put(cluster, document)
    add_pool(state, cluster, inputs.machines_pool, {"mode": "Machines", "type": "VirtualMachines"})
    add_reservations(state, reservations)


def add_declared_subnets(state: State, subnets: Iterable[ResourceId]) -> None:
    """Put subnets of a world's description into their networks, which are made where they are not there; each has 65,531 addresses."""
    for number, id_ in enumerate(subnets, 1):
        vnet = ResourceId(id_.subscription, id_.group, id_.namespace, id_.types[:1], id_.names[:1])
        if state.store.get(vnet) is None:
            if (id_.subscription.lower(), id_.group.lower()) not in state.groups:
                state.add_group(id_.subscription, id_.group, state.settings.location)
            add_network(state, vnet, location=state.settings.location, prefix="10.0.0.0/8", subnets={})
        if state.store.get(id_) is None:
            add_subnet(state, id_, {"addressPrefix": f"10.{number % 224}.0.0/16"})


def _pools(balancer: ResourceId) -> dict[str, Any]:
    return {
        "backendAddressPools": [
            {"id": str(balancer.child("backendAddressPools", name)), "name": name, "properties": {}}
            for name in ("aksOutboundBackendPool", "kubernetes")
        ]
    }


def subnet_id(state: State) -> str:
    """The id of the cluster's own subnet."""
    names = state.settings
    vnet = ResourceId(
        names.subscription,
        names.node_resource_group,
        VIRTUAL_NETWORKS.namespace,
        (VIRTUAL_NETWORKS.name,),
        (f"aks-vnet-{CLUSTER_ID}",),
    )
    return str(vnet.child("subnets", "aks-subnet"))
