"""Managed clusters and agent pools: what a machine belongs to and takes its network from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import body_of, section
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.resources.plain import PlainType
from fakeazure.state import State
from fakeazure.store import Entry

NAMESPACE = "Microsoft.ContainerService"
CLUSTERS = PlainType(NAMESPACE, "managedClusters", ("sku", "identity", "kind"))
_GROUP = f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{NAMESPACE}/managedClusters"
POOLS = f"{_GROUP}/{{name}}/agentPools"
POOL = f"{POOLS}/{{pool}}"


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


def add_pool(state: State, cluster: ResourceId, name: str, properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Create an agent pool, or replace it."""
    id_ = cluster.child("agentPools", name)
    document = {
        "id": str(id_),
        "name": name,
        "type": f"{NAMESPACE}/managedClusters/agentPools",
        "properties": {"mode": "User", "osType": "Linux", **properties, "provisioningState": "Succeeded"},
    }
    state.store.put(id_, document)
    return document


def _put_pool(state: State, request: Request) -> Response:
    cluster = found_cluster(state, request)
    existed = state.store.get(cluster.id.child("agentPools", request.params["pool"])) is not None
    document = add_pool(state, cluster.id, request.params["pool"], section(body_of(request), "properties"))
    return Response(200 if existed else 201, body=document)


def _pool(state: State, request: Request) -> Response:
    return Response(200, body=found_pool(state, request).document)


def _pools(state: State, request: Request) -> Response:
    cluster = found_cluster(state, request)
    return Response(200, body={"value": [entry.document for entry in state.store.children(cluster.id, "agentPools")]})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield from CLUSTERS.routes()
    yield Route("GET", POOLS, _pools)
    yield Route("GET", POOL, _pool)
    yield Route("PUT", POOL, _put_pool)
