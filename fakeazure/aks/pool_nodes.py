"""Machines of an agent pool for the simulation of their Nodes: each instance with the script and the labels that AKS gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakeazure.aks import node_resource_group
from fakeazure.aks.machine_launch import node_text
from fakeazure.aks.pool_scale_sets import addresses_of, has_scale_set, priority_of, scale_set_id
from fakeazure.arm.bodies import pairs, section, text, texts
from fakeazure.arm.ids import ResourceId
from fakeazure.events import VirtualMachine
from fakeazure.resources.compute import scale_sets
from fakeazure.resources.compute.virtual_machines import known_size
from fakeazure.state import State
from fakeazure.store import Entry

__all__ = ["SPOT_TAINT", "pool_labels", "pool_machines", "pool_taints", "remove_machine"]

SPOT_TAINT = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
"""AKS gives it to every Node of a spot pool (learn.microsoft.com, "Add an Azure Spot node pool")."""


def pool_taints(properties: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the taints of a pool's Nodes, that of spot pools among them."""
    spot = (SPOT_TAINT,) if priority_of(properties) == "Spot" else ()
    return tuple(dict.fromkeys((*texts(properties, "nodeTaints"), *spot)))


def pool_labels(state: State, pool: ResourceId) -> Mapping[str, str]:
    """Return the labels that AKS gives each Node of a pool, the pool's own among them."""
    document, parent = state.found(pool).document, pool.parent
    assert parent is not None
    cluster, properties = state.found(parent).document, document["properties"]
    size = known_size(state, text(properties, "vmSize"), str(cluster["location"]))
    subnet = node_resource_group.subnet_of(state, parent, properties)
    return node_text(state, _as_machine(pool.child("machines", pool.name), properties, cluster), cluster, size, subnet)[
        0
    ].labels


def pool_machines(state: State, pool: ResourceId) -> list[VirtualMachine]:
    """Return the machines of a pool of a scale set, in the order of their numbers; none for a pool of another kind."""
    entry, parent = state.store.get(pool), pool.parent
    if entry is None or parent is None or not has_scale_set(entry.document["properties"]):
        return []
    instances = sorted(
        state.store.children(scale_set_id(state, pool), "virtualMachines"), key=lambda instance: int(instance.id.name)
    )
    return [_machine(state, entry, state.found(parent).document, instance) for instance in instances]


def remove_machine(state: State, pool: ResourceId, machine: VirtualMachine) -> None:
    """Take one machine of a pool away; the pool's count is then what is left."""
    set_ = scale_set_id(state, pool)
    scale_sets.take_instances(state, set_, (ResourceId.parse(machine.id),))
    document = state.found(pool).document
    count = len(list(state.store.children(set_, "virtualMachines")))
    state.store.put(pool, {**document, "properties": {**document["properties"], "count": count}})


def _machine(state: State, pool: Entry, cluster: Mapping[str, Any], instance: Entry) -> VirtualMachine:
    properties, name = pool.document["properties"], instance.document["properties"]["osProfile"]["computerName"]
    location = str(cluster["location"])
    size = known_size(state, text(properties, "vmSize"), location)
    subnet = node_resource_group.subnet_of(state, ResourceId.parse(str(cluster["id"])), properties)
    document = _as_machine(pool.id.child("machines", name), properties, cluster)
    kubelet, labels = node_text(state, document, cluster, size, subnet)
    disk = {"diskSizeGB": properties.get("osDiskSizeGB") or 128}
    return VirtualMachine(
        id=str(instance.id),
        name=name,
        resource_group=instance.id.group,
        location=location,
        size=size.name,
        zone=next(iter(texts(instance.document, "zones")), ""),
        priority=priority_of(properties),
        tags=pairs(properties, "tags"),
        custom_data=kubelet.custom_data(),
        document={"properties": {"storageProfile": {"osDisk": disk}}},
        machine=document,
        aks_labels=labels,
        private_address=next(iter(addresses_of(state, instance.id)), ""),
    )


def _as_machine(id_: ResourceId, properties: Mapping[str, Any], cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body that an AKS machine of the pool's kind would have."""
    kubernetes = {
        "orchestratorVersion": properties.get("currentOrchestratorVersion")
        or cluster["properties"].get("currentKubernetesVersion"),
        "maxPods": properties.get("maxPods"),
        "nodeLabels": properties.get("nodeLabels") or {},
        "nodeTaints": list(pool_taints(properties)),
        "nodeInitializationTaints": properties.get("nodeInitializationTaints") or [],
        "workloadRuntime": properties.get("workloadRuntime"),
    }
    security = section(properties, "securityProfile")
    return {
        "id": str(id_),
        "name": id_.name,
        "properties": {
            "mode": properties.get("mode"),
            "priority": properties.get("scaleSetPriority"),
            "nodeImageVersion": properties.get("nodeImageVersion"),
            "tags": properties.get("tags") or {},
            "kubernetes": kubernetes,
            "network": {"vnetSubnetID": properties.get("vnetSubnetID"), "podSubnetID": properties.get("podSubnetID")},
            "operatingSystem": {
                "osSKU": properties.get("osSKU"),
                "osDiskType": properties.get("osDiskType"),
                "enableFIPS": properties.get("enableFIPS"),
            },
            "localDNSProfile": section(properties, "localDNSProfile"),
            "security": {key: security.get(key) for key in ("enableSecureBoot", "enableVTPM")},
        },
    }
