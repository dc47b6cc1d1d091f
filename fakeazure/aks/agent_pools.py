"""Agent pools: defaults, changes, deletion with the machines in them, and what they can be upgraded to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fakeazure.aks import pool_scale_sets, versions
from fakeazure.aks.managed_clusters import NAMESPACE, POOL, POOLS, add_pool, found_cluster, found_pool
from fakeazure.arm.bodies import body_of, section, text
from fakeazure.arm.errors import ArmError
from fakeazure.arm.etags import check_etag
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.linked_ids import linked_subnet
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.operations import Failed, Finish, Operation, no_effect
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.market.match import Subject
from fakeazure.resources import deletion
from fakeazure.resources.compute import vm_checks, vm_lifecycle
from fakeazure.resources.names import check_pool
from fakeazure.state import State

_FIXED = ("vmSize", "osType", "osSKU", "type", "vnetSubnetID")
"""The properties that a pool keeps for life (learn.microsoft.com, AKS: the portal's and API's `PropertyChangeNotAllowed`)."""


def _begin(
    state: State, request: Request, pool: ResourceId, finish: Finish = no_effect, failed: Failed | None = None
) -> Operation:
    location = str(found_cluster(state, request).document["location"])
    return state.begin(
        Subject(request.method, "agentPools", pool.name, location=location),
        pool,
        location=location,
        seconds=state.timing.resource,
        finish=finish,
        failed=failed,
    )


def _put(state: State, request: Request) -> Response:
    cluster = found_cluster(state, request)
    id_ = cluster.id.child("agentPools", request.params["pool"])
    check_pool(id_.name)
    old = state.store.get(id_)
    etag = old.document["properties"].get("eTag") if old is not None else None
    check_etag(request, old.document if old is not None else None, etag=etag, row="ConditionNotMet")
    properties = section(body_of(request), "properties")
    if old is not None:
        for name in _FIXED:
            before, after = old.document["properties"].get(name), properties.get(name)
            if None not in (before, after) and str(before).lower() != str(after).lower():
                raise refuse("AksPropertyChangeNotAllowed", target=f"properties.{name}", property=f"properties.{name}")
    place = cluster.document["location"]
    name = text(properties, "vmSize")
    size = state.market.size(name, place) if name else None
    if name and size is None:
        raise refuse("VMSizeNotSupported", size=name, subscription=id_.subscription, location=place)
    problem = vm_checks.pool_disk_mismatch(size, properties) if size is not None else None
    if problem is not None:
        raise ArmError(problem)
    if subnet := text(properties, "podSubnetID"):
        linked_subnet(subnet, "properties.podSubnetID")
    document = add_pool(state, cluster.id, id_.name, properties)
    pool_scale_sets.fit(state, id_, old.document if old is not None else None)
    operation = _begin(state, request, id_)
    return state.operations.accepted(200 if old is not None else 201, operation, request.api_version, document)


def _get(state: State, request: Request) -> Response:
    return Response(200, body=found_pool(state, request).document)


def _list(state: State, request: Request) -> Response:
    cluster = found_cluster(state, request)
    return Response(200, body={"value": [entry.document for entry in state.store.children(cluster.id, "agentPools")]})


def _delete(state: State, request: Request) -> Response:
    cluster = found_cluster(state, request)
    entry = state.store.get(cluster.id.child("agentPools", request.params["pool"]))
    if entry is None:
        return Response(204)
    pools = list(state.store.children(cluster.id, "agentPools"))
    systems = [pool for pool in pools if pool.document["properties"].get("mode") == "System"]
    if systems == [entry] and len(pools) > 1:
        raise refuse("LastSystemPool", pool=entry.id.name)
    deletion.mark(state, entry.id)
    failed = partial(deletion.failed, state, (entry.id,))
    operation = _begin(state, request, entry.id, partial(remove, state, entry.id), failed)
    return state.operations.accepted(202, operation, request.api_version)


def remove(state: State, pool: ResourceId) -> None:
    """Finish the deletion of a pool: its machines go with it."""
    for machine in tuple(state.store.children(pool, "machines")):
        vm = ResourceId.parse(text(machine.document["properties"], "resourceId"))
        vm_lifecycle.remove(state, vm)
    pool_scale_sets.remove(state, pool)
    state.store.remove(pool)


def _upgrades(state: State, request: Request) -> Response:
    pool = found_pool(state, request)
    now = str(pool.document["properties"].get("currentOrchestratorVersion") or "")
    return Response(
        200,
        body={
            "id": f"{pool.id}/upgradeProfiles/default",
            "name": "default",
            "type": f"{NAMESPACE}/managedClusters/agentPools/upgradeProfiles",
            "properties": {
                "kubernetesVersion": now,
                "osType": "Linux",
                "latestNodeImageVersion": pool.document["properties"].get("nodeImageVersion"),
                "upgrades": [{"kubernetesVersion": version, "isPreview": None} for version in versions.upgrades(now)],
            },
        },
    )


def _available(state: State, request: Request) -> Response:
    cluster = found_cluster(state, request)
    now = str(cluster.document["properties"]["currentKubernetesVersion"])
    items = [
        {"kubernetesVersion": version, "isPreview": None, "default": version == now or None}
        for version in versions.up_to(now)
    ]
    type_ = f"{NAMESPACE}/managedClusters/availableAgentpoolVersions"
    id_ = f"{cluster.id}/availableagentpoolversions"
    return Response(200, body={"id": id_, "name": "default", "type": type_, "properties": {"agentPoolVersions": items}})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", POOLS, _list)
    yield Route("GET", POOL, _get)
    yield Route("PUT", POOL, _put)
    yield Route("DELETE", POOL, _delete)
    yield Route("GET", f"{POOL}/upgradeProfiles/default", _upgrades)
    yield Route("GET", f"{POOLS.removesuffix('/agentPools')}/availableAgentPoolVersions", _available)
