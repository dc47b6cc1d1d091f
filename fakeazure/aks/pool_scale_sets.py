"""The scale set behind an agent pool: `aks-NAME-NUMBER-vmss` in the node resource group, with as many instances as the pool counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakeazure.aks import node_resource_group
from fakeazure.arm.bodies import items, number, section, text, texts
from fakeazure.arm.errors import ArmError
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.arm.texts import refuse
from fakeazure.market.quota import charge_of
from fakeazure.resources.compute import scale_sets
from fakeazure.resources.compute.virtual_machines import known_size
from fakeazure.state import State


def scale_set_id(state: State, pool: ResourceId) -> ResourceId:
    """The id of a pool's scale set. The number is the cluster's, the same in all of its pools."""
    cluster = _cluster(pool)
    group = text(state.found(cluster).document["properties"], "nodeResourceGroup")
    return ResourceId(
        pool.subscription,
        group,
        scale_sets.SETS.namespace,
        (scale_sets.SETS.name,),
        (f"aks-{pool.name}-{node_resource_group.number(cluster)}-vmss",),
    )


def has_scale_set(properties: Mapping[str, Any]) -> bool:
    """Tell whether a pool is one of a scale set, not of single machines."""
    return text(properties, "type") == "VirtualMachineScaleSets"


def priority_of(properties: Mapping[str, Any]) -> str:
    """Return the priority of a pool's machines, `Spot` or `Regular`."""
    return "Spot" if text(properties, "scaleSetPriority").lower() == "spot" else "Regular"


def addresses_of(state: State, instance: ResourceId) -> list[str]:
    """Return the private addresses of an instance, in the order of its NICs."""
    return [
        configuration["properties"]["privateIPAddress"]
        for nic in state.store.children(instance, "networkInterfaces")
        for configuration in items(nic.document["properties"], "ipConfigurations")
    ]


def _cluster(pool: ResourceId) -> ResourceId:
    parent = pool.parent
    assert parent is not None
    return parent


def fit(state: State, pool: ResourceId, before: Document | None) -> None:
    """Scale a pool to its count. Raises ArmError when there is no capacity; the pool is then as `before` again."""
    try:
        _fit(state, pool, state.found(pool).document["properties"])
    except ArmError:
        if before is None:
            state.store.remove(pool)
        else:
            state.store.put(pool, before)
        raise


def _fit(state: State, pool: ResourceId, properties: Mapping[str, Any]) -> None:
    if not has_scale_set(properties):
        return
    cluster = state.found(_cluster(pool)).document
    location, id_ = str(cluster["location"]), scale_set_id(state, pool)
    count = int(number(properties, "count"))
    size = known_size(state, text(properties, "vmSize"), location)
    priority = priority_of(properties)
    entry = state.store.get(id_)
    there = int(number(section(entry.document, "sku"), "capacity")) if entry is not None else 0
    more = size.vcpus * (count - there)
    charge = charge_of(pool.subscription, location, family=size.family, vcpus=more, priority=priority)
    shortage = state.market.quota.shortage(charge) if more > 0 else None
    if shortage is not None:
        row = "AksInsufficientFamilyQuota" if shortage.name == size.family else "AksInsufficientRegionalQuota"
        left = max(0, shortage.limit - shortage.used)
        raise refuse(row, family=shortage.name, needed=shortage.needed, left=left, location=location)
    body: dict[str, Any] = {
        "location": location,
        "sku": {"name": size.name, "tier": "Standard", "capacity": count},
        "tags": {
            "aks-managed-poolName": pool.name,
            "aks-managed-kubeletIdentityClientID": _client(cluster),
            "aks-managed-orchestrator": f"Kubernetes:{text(properties, 'currentOrchestratorVersion')}",
        },
        "properties": {
            "orchestrationMode": "Uniform",
            "upgradePolicy": {"mode": "Manual"},
            "virtualMachineProfile": {
                "priority": priority,
                "storageProfile": {
                    "osDisk": {"osType": text(properties, "osType", "Linux"), "createOption": "FromImage"}
                },
                "osProfile": {"computerNamePrefix": id_.name},
                "networkProfile": _network(id_.name, node_resource_group.subnet_of(state, _cluster(pool), properties)),
            },
        },
    }
    if zones := texts(properties, "availabilityZones"):
        body["zones"] = list(zones)
    scale_sets.keep(state, id_, scale_sets.SETS.document(id_, body, location, entry.document if entry else None))


def _network(name: str, subnet: str) -> dict[str, Any]:
    """A network profile with one interface in a subnet, as AKS has it."""
    inner = {"primary": True, "subnet": {"id": subnet}, "privateIPAddressVersion": "IPv4"}
    properties = {
        "primary": True,
        "enableAcceleratedNetworking": True,
        "enableIPForwarding": True,
        "ipConfigurations": [{"name": "ipconfig1", "properties": inner}],
    }
    return {"networkInterfaceConfigurations": [{"name": name, "properties": properties}]} if subnet else {}


def machines(state: State, pool: ResourceId) -> list[Document]:
    """Return a pool's instances as AKS lists them as machines."""
    if not has_scale_set(state.found(pool).document["properties"]):
        return []
    id_, documents = scale_set_id(state, pool), list[Document]()
    for instance in state.store.children(id_, "virtualMachines"):
        addresses = [{"family": "IPv4", "ip": address} for address in addresses_of(state, instance.id)]
        name = text(section(instance.document["properties"], "osProfile"), "computerName")
        machine = pool.child("machines", name)
        documents.append(
            {
                "id": str(machine),
                "name": name,
                "type": machine.type,
                **({"zones": instance.document["zones"]} if "zones" in instance.document else {}),
                "properties": {"network": {"ipAddresses": addresses}, "resourceId": str(instance.id)},
            }
        )
    return documents


def _client(cluster: Mapping[str, Any]) -> str:
    profile = section(section(cluster["properties"], "identityProfile"), "kubeletidentity")
    return text(profile, "clientId")


def remove(state: State, pool: ResourceId) -> None:
    """Delete the pool's machines; those of a cluster that is gone went with it."""
    if state.store.get(_cluster(pool)) is None:
        return
    entry = state.store.get(scale_set_id(state, pool))
    if entry is not None:
        scale_sets.clear(state, entry)
