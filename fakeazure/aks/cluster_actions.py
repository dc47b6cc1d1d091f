"""Actions on a cluster or a pool beside changing it: newer node images, abort, new certificates, a command in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fakeazure.aks.managed_clusters import NAMESPACE, ONE, POOL, found_cluster, found_pool
from fakeazure.arm.bodies import body_of, text
from fakeazure.arm.messages import Document, Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.resources import images
from fakeazure.state import State
from fakeazure.store import Entry
from fakeazure.timers import timestamp


def _accepted(state: State, request: Request, entry: Entry, result: Document | None = None) -> Response:
    location = str(found_cluster(state, request).document["location"])  # a pool has none
    return state.act(request, entry.id, state.timing.resource, location=location, result=result)


def _upgrade_node_image(state: State, request: Request) -> Response:
    """Let a pool have the newest version of its node image."""
    entry = found_pool(state, request)
    properties = entry.document["properties"]
    image = images.node_image(state, text(properties, "nodeImageVersion"))
    if image is not None:
        newest = images.versions_of(state, image.definition)[0]
        name = replace(image, version=newest).node_image_version
        properties = {**properties, "nodeImageVersion": name, "eTag": state.guids()}
        entry = state.store.put(entry.id, {**entry.document, "properties": properties})
    return _accepted(state, request, entry, entry.document)


def _abort(state: State, request: Request) -> Response:
    """Cancel what runs for a cluster or a pool, which then shows that; 409 where nothing does (the specification's own words)."""
    entry = found_pool(state, request) if "pool" in request.params else found_cluster(state, request)
    running = [operation for operation in state.operations.running() if operation.resource == entry.id.key]
    if not running:
        raise refuse("AksNothingToAbort", name=entry.id.name)
    for operation in running:
        state.operations.cancel(operation)
    properties = {**entry.document["properties"], "provisioningState": "Canceled"}
    return _accepted(state, request, state.store.put(entry.id, {**entry.document, "properties": properties}))


def _rotate(state: State, request: Request) -> Response:
    """New certificates or signing keys: nobody can tell them from the old ones, which are none."""
    return _accepted(state, request, found_cluster(state, request))


def _run_command(state: State, request: Request) -> Response:
    """Nothing runs: the command succeeds and says nothing."""
    entry = found_cluster(state, request)
    if not text(body_of(request), "command"):
        raise refuse("InvalidRequestContent", target="command", reason="'command' is required.")
    now = timestamp(state.now())
    result: dict[str, Any] = {
        "id": guid_of(f"{entry.id}/{state.guids()}").replace("-", ""),
        "properties": {
            "provisioningState": "Succeeded",
            "exitCode": 0,
            "startedAt": now,
            "finishedAt": now,
            "logs": "",
        },
    }
    return _accepted(state, request, entry, result)


_MESH = (("asm-1-26", ("asm-1-27",)), ("asm-1-27", ("asm-1-28",)), ("asm-1-28", ()))
"""Revisions of Istio, with what each can be upgraded to."""
_ROLES = (
    ("Microsoft.DataProtection/backupVaults", "backup-operator"),
    ("Microsoft.MachineLearningServices/workspaces", "inference-v1"),
    ("Microsoft.MachineLearningServices/workspaces", "mlworkload"),
)
"""Resource types that can be trusted, with their roles (learn.microsoft.com, "Trusted Access in AKS")."""


def _mesh(state: State, request: Request) -> Response:
    place = state.check_place(request, "locations/meshRevisionProfiles")
    revisions = [
        {
            "revision": name,
            "upgrades": list(upgrades),
            "compatibleWith": [{"name": "kubernetes", "versions": ["1.32", "1.33", "1.34", "1.35"]}],
        }
        for name, upgrades in _MESH
    ]
    head = f"/subscriptions/{request.params['subscription']}/providers/{NAMESPACE}/locations/{place}"
    profile = {
        "id": f"{head}/meshRevisionProfiles/istio",
        "name": "istio",
        "type": f"{NAMESPACE}/locations/meshRevisionProfiles",
        "properties": {"meshRevisions": revisions},
    }
    return Response(200, body={"value": [profile]})


def _trusted(state: State, request: Request) -> Response:
    state.check_place(request, "locations/trustedAccessRoles")
    value = [{"sourceResourceType": type_, "name": f"{type_}/{role}", "rules": []} for type_, role in _ROLES]
    return Response(200, body={"value": value})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("POST", f"{POOL}/upgradeNodeImageVersion", _upgrade_node_image)
    for path in (ONE, POOL):
        yield Route("POST", f"{path}/abort", _abort)
    yield Route("POST", f"{ONE}/rotateClusterCertificates", _rotate)
    yield Route("POST", f"{ONE}/rotateServiceAccountSigningKeys", _rotate)
    yield Route("POST", f"{ONE}/runCommand", _run_command)
    place = f"/subscriptions/{{subscription}}/providers/{NAMESPACE}/locations/{{location}}"
    yield Route("GET", f"{place}/meshRevisionProfiles", _mesh)
    yield Route("GET", f"{place}/trustedAccessRoles", _trusted)
