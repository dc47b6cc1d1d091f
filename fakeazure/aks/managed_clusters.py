"""Managed clusters: what a machine belongs to and takes its network from, with the defaults that AKS fills in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from fakeazure.aks import node_resource_group, pool_scale_sets, versions
from fakeazure.aks.cluster_defaults import pods_per_node, profiles_of
from fakeazure.arm.bodies import body_of, items, section, tags_after, text
from fakeazure.arm.errors import ArmError
from fakeazure.arm.etags import check_etag
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.linked_ids import linked_subnet
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.operations import Failed, Finish, Operation, no_effect
from fakeazure.arm.routes import Handler, Route
from fakeazure.arm.texts import refuse
from fakeazure.catalog.images import SNAPSHOT
from fakeazure.guids import guid_of
from fakeazure.market.match import Subject
from fakeazure.resources import deletion, groups
from fakeazure.resources.identities import ids_of, system_assigned
from fakeazure.resources.kinds import Kind
from fakeazure.resources.names import check_pool
from fakeazure.state import State
from fakeazure.store import Entry

NAMESPACE = "Microsoft.ContainerService"
CLUSTERS = Kind(NAMESPACE, "managedClusters", ("sku", "identity", "kind"))
_GROUP = f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{NAMESPACE}/managedClusters"
ONE = f"{_GROUP}/{{name}}"
POOLS = f"{ONE}/agentPools"
POOL = f"{POOLS}/{{pool}}"
_SIZE = "Standard_D4ds_v5"


def cluster_id(state: State, request: Request) -> ResourceId:
    """The cluster that a request names."""
    return state.id_of(request, NAMESPACE, ("managedClusters", "name"))


def found_cluster(state: State, request: Request) -> Entry:
    """The cluster that a request names. Raises ARM's `ResourceNotFound`."""
    return state.found(cluster_id(state, request))


def found_pool(state: State, request: Request) -> Entry:
    """The agent pool that a request names. Raises `NotFound` in AKS's words."""
    cluster = found_cluster(state, request)
    entry = state.store.get(cluster.id.child("agentPools", request.params["pool"]))
    if entry is None:
        raise refuse("AgentPoolNotFound", pool=request.params["pool"], cluster=cluster.id.name)
    return entry


def _default_size(state: State, location: str) -> str:
    """Return the size that AKS takes where nobody names one: a general one of four vCPUs that the region sells."""
    region = state.market.region(location)
    if region is None or _SIZE in region.by_name:
        return _SIZE
    sold = (state.market.size(name, location) for name in region.by_name)
    return next((size.name for size in sold if size is not None and size.vcpus >= 4), _SIZE)


def add_pool(state: State, cluster: ResourceId, name: str, properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Create an agent pool, or replace it. A pool of machines has no size and no count of its own."""
    id_ = cluster.child("agentPools", name)
    owner = state.store.get(cluster)
    above = owner.document["properties"] if owner is not None else {}
    plane = text(above, "currentKubernetesVersion")
    machines = properties.get("mode") == "Machines"
    old = state.store.get(id_)
    filled: dict[str, Any] = {"mode": "User", "osType": "Linux"}
    if not machines:
        sku = text(properties, "osSKU", "Ubuntu")
        image = "AKSAzureLinux-V3gen2" if sku.startswith("AzureLinux") else "AKSUbuntu-2404gen2containerd"
        filled |= {
            "count": 1,
            "vmSize": _default_size(state, text(owner.document, "location") if owner is not None else ""),
            "osSKU": sku,
            "osDiskSizeGB": 128,
            "osDiskType": "Managed",
            "kubeletDiskType": "OS",
            "maxPods": pods_per_node(section(above, "networkProfile")),
            "type": "VirtualMachineScaleSets",
            "scaleDownMode": "Delete",
            "enableNodePublicIP": False,
            "enableFIPS": False,
            "powerState": {"code": "Running"},
            "nodeImageVersion": f"{image}-{SNAPSHOT}",
            "upgradeSettings": {"maxSurge": "10%", "maxUnavailable": "0"},
            "securityProfile": {"enableVTPM": False, "enableSecureBoot": False},
            "orchestratorVersion": text(above, "kubernetesVersion"),
        }
    filled_in = {key: value for key, value in properties.items() if value not in (None, "")}
    filled_in.pop("name", None)
    before = old.document["properties"] if old is not None else {}
    filled = {**filled, **before, **filled_in, "provisioningState": "Succeeded"}
    if not machines:
        location = text(owner.document, "location") if owner is not None else ""
        current = text(before, "currentOrchestratorVersion")
        version = versions.of_pool(text(filled_in, "orchestratorVersion"), current, plane, location)
        filled |= {"currentOrchestratorVersion": version, "eTag": state.guids()}
    document = {
        "id": str(id_),
        "name": name,
        "type": f"{NAMESPACE}/managedClusters/agentPools",
        "properties": filled,
    }
    state.store.put(id_, document)
    return document


def _identity(state: State, id_: ResourceId, document: dict[str, Any]) -> None:
    identity = section(document, "identity")
    if text(identity, "type", "SystemAssigned") == "SystemAssigned":
        document["identity"] = {"type": "SystemAssigned", **system_assigned(state, id_)}
    elif users := section(identity, "userAssignedIdentities"):
        shown = {name: ids_of(state, name) for name in users}
        document["identity"] = {**identity, "userAssignedIdentities": shown}


def complete(state: State, id_: ResourceId, document: dict[str, Any]) -> None:
    """Fill in the defaults of AKS: names, versions, network, identities. What is given stays."""
    properties = document["properties"]
    version = text(properties, "currentKubernetesVersion")
    group = text(properties, "nodeResourceGroup", f"MC_{id_.group}_{id_.name}_{document['location']}"[:80])
    prefix = text(properties, "dnsPrefix", f"{id_.name}-dns")
    host = f"{prefix}-{guid_of(str(id_))[:8]}"
    defaults: dict[str, Any] = {
        "kubernetesVersion": versions.DEFAULT,
        "currentKubernetesVersion": version,
        "nodeResourceGroup": group,
        "dnsPrefix": prefix,
        "fqdn": f"{host}.hcp.{document['location']}.azmk8s.io",
        "azurePortalFQDN": f"{host}.portal.hcp.{document['location']}.azmk8s.io",
        "powerState": {"code": "Running"},
        "enableRBAC": True,
        "maxAgentPools": 100,
        "supportPlan": "KubernetesOfficial",
        "servicePrincipalProfile": {"clientId": "msi"},
        "disableLocalAccounts": False,
        "resourceUID": guid_of(f"uid{id_}").replace("-", "")[:24],
    }
    filled_in = {key: value for key, value in properties.items() if value not in (None, "")}
    document["properties"] = {**defaults, **filled_in, **profiles_of(properties)}
    issuer = section(properties, "oidcIssuerProfile")
    if issuer.get("enabled") is True:
        url = (
            f"https://{document['location']}.oic.prod-aks.azure.com/{state.settings.tenant}/{guid_of(f'issuer{id_}')}/"
        )
        document["properties"]["oidcIssuerProfile"] = {**issuer, "issuerURL": url}
    document.setdefault("sku", {"name": "Base", "tier": "Free"})
    _identity(state, id_, document)
    kubelet = f"/subscriptions/{id_.subscription}/resourceGroups/{group}/providers/Microsoft.ManagedIdentity"
    kubelet += f"/userAssignedIdentities/{id_.name}-agentpool"
    ids = {"clientId": guid_of(f"client{kubelet}"), "objectId": guid_of(f"principal{kubelet}")}
    document["properties"].setdefault("identityProfile", {"kubeletidentity": {"resourceId": kubelet, **ids}})


def shown(state: State, entry: Entry) -> Mapping[str, Any]:
    """A cluster with its pools as they are now."""
    pools = [
        {"name": pool.id.name, **pool.document["properties"]} for pool in state.store.children(entry.id, "agentPools")
    ]
    return {**entry.document, "properties": {**entry.document["properties"], "agentPoolProfiles": pools}}


def _begin(
    state: State, request: Request, entry: Entry, finish: Finish = no_effect, failed: Failed | None = None
) -> Operation:
    location = str(entry.document["location"])
    subject = Subject(request.method, "managedClusters", entry.id.name, location=location)
    return state.begin(
        subject, entry.id, location=location, seconds=state.timing.resource, finish=finish, failed=failed
    )


def _put(state: State, request: Request) -> Response:
    id_ = cluster_id(state, request)
    body = body_of(request)
    location = state.location_of(body, id_.type, id_)
    old = state.store.get(id_)
    before = old.document if old is not None else None
    check_etag(request, before)
    pools = items(section(body, "properties"), "agentPoolProfiles")
    if not pools and old is None:
        raise refuse(
            "InvalidRequestContent", target="agentPoolProfiles", reason="A managed cluster needs an agent pool."
        )
    for index, pool in enumerate(pools):
        check_pool(text(pool, "name"))
        if subnet := text(pool, "podSubnetID"):
            linked_subnet(subnet, f"properties.agentPoolProfiles[{index}].podSubnetID")
    document = CLUSTERS.document(id_, body, location, before)
    document["properties"] = {**(before or {"properties": {}})["properties"], **document["properties"]}
    document["properties"].pop("agentPoolProfiles", None)
    current = text(section(before or {}, "properties"), "currentKubernetesVersion")
    sent = text(document["properties"], "kubernetesVersion")
    document["properties"]["currentKubernetesVersion"] = versions.of_cluster(sent, current, location)
    complete(state, id_, document)
    nodes = document["properties"]["nodeResourceGroup"]
    if (id_.subscription.lower(), nodes.lower()) not in state.groups:
        state.add_group(id_.subscription, nodes, location, {"aks-managed-cluster-name": id_.name})
    if old is None:
        own_network = not any(text(pool, "vnetSubnetID") for pool in pools)
        profile = node_resource_group.furnish(state, id_, document, own_network=own_network)
        document["properties"] = {**document["properties"], "networkProfile": profile}
    entry = state.store.put(id_, document)
    for index, pool in enumerate(pools):
        mode = {"mode": "System"} if index == 0 and old is None else {}
        id_of_pool = id_.child("agentPools", text(pool, "name"))
        present = state.store.get(id_of_pool)
        add_pool(state, id_, id_of_pool.name, {**mode, **pool})
        try:
            pool_scale_sets.fit(state, id_of_pool, present.document if present is not None else None)
        except ArmError:
            if old is None:
                groups.clear(state, entry)
            raise
    operation = _begin(state, request, entry)
    return state.operations.accepted(
        200 if old is not None else 201, operation, request.api_version, shown(state, entry)
    )


def _get(state: State, request: Request) -> Response:
    return Response(200, body=shown(state, found_cluster(state, request)))


def _list(state: State, request: Request) -> Response:
    group = request.params.get("group")
    if group is not None:
        state.group(request.params["subscription"], group)
    clusters = state.store.list(CLUSTERS.type, subscription=request.params["subscription"], group=group)
    return Response(200, body={"value": [shown(state, entry) for entry in clusters]})


def _patch(state: State, request: Request) -> Response:
    """Tags are all that a PATCH of a cluster changes."""
    entry = found_cluster(state, request)
    check_etag(request, entry.document)
    entry = state.store.put(entry.id, {**entry.document, "tags": tags_after(entry.document, body_of(request))})
    return state.operations.accepted(200, _begin(state, request, entry), request.api_version, shown(state, entry))


def _delete(state: State, request: Request) -> Response:
    entry = state.store.get(cluster_id(state, request))
    if entry is None:
        return Response(204)
    deletion.mark(state, entry.id)
    failed = partial(deletion.failed, state, (entry.id,))
    operation = _begin(state, request, entry, partial(groups.clear, state, entry), failed)
    return state.operations.accepted(202, operation, request.api_version)


def _power(code: str) -> Handler[State]:
    def handler(state: State, request: Request) -> Response:
        entry = found_cluster(state, request)
        properties = {**entry.document["properties"], "powerState": {"code": code}}
        entry = state.store.put(entry.id, {**entry.document, "properties": properties})
        return state.operations.accepted(202, _begin(state, request, entry), request.api_version)

    return handler


def _upgrades(state: State, request: Request) -> Response:
    cluster = found_cluster(state, request)

    def profile(version: str, **more: Any) -> dict[str, Any]:
        newer_versions = [{"kubernetesVersion": newer, "isPreview": None} for newer in versions.upgrades(version)]
        return {"kubernetesVersion": version, "osType": "Linux", **more, "upgrades": newer_versions}

    now = str(cluster.document["properties"]["currentKubernetesVersion"])
    pools = [
        profile(str(pool.document["properties"].get("currentOrchestratorVersion") or now), name=pool.id.name)
        for pool in state.store.children(cluster.id, "agentPools")
    ]
    return Response(
        200,
        body={
            "id": f"{cluster.id}/upgradeprofiles/default",
            "name": "default",
            "type": f"{NAMESPACE}/ManagedClusters/upgradeprofiles",
            "properties": {"controlPlaneProfile": profile(now), "agentPoolProfiles": pools},
        },
    )


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("PUT", ONE, _put)
    yield Route("GET", ONE, _get)
    yield Route("PATCH", ONE, _patch)
    yield Route("DELETE", ONE, _delete)
    yield Route("GET", _GROUP, _list)
    yield Route("GET", f"/subscriptions/{{subscription}}/providers/{CLUSTERS.type}", _list)
    yield Route("GET", f"{ONE}/upgradeProfiles/default", _upgrades)
    yield Route("POST", f"{ONE}/start", _power("Running"))
    yield Route("POST", f"{ONE}/stop", _power("Stopped"))
