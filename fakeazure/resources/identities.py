"""Managed identities, their federated credentials, and the roles that somebody has at a scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from fakeazure.arm.bodies import body_of, section, text, texts
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.lists import wanted_by
from fakeazure.arm.messages import Document, Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.resources.kinds import Kind
from fakeazure.state import State
from fakeazure.timers import timestamp

_ROLES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "b24988ac-6180-42a0-ab88-20f7382dd24c": ("Contributor", "Grants full access to manage all resources.", ("*",)),
    "8e3af657-a8ff-443c-a75c-2fe8c4bcb635": ("Owner", "Grants full access to manage all resources.", ("*",)),
    "acdd72a7-3385-48ef-bd42-f606fba81ae7": ("Reader", "View all resources.", ("*/read",)),
    "4d97b98b-1d4f-4787-a291-c67834d212e7": (
        "Network Contributor",
        "Lets you manage networks, but not access to them.",
        ("Microsoft.Network/*",),
    ),
    "9980e02c-c2be-4d73-94e8-173b1dc7cf3c": (
        "Virtual Machine Contributor",
        "Lets you manage virtual machines, but not access to them.",
        ("Microsoft.Compute/virtualMachines/*",),
    ),
    "f1a07417-d97a-45cb-824c-7a7467783830": (
        "Managed Identity Operator",
        "Read and Assign User Assigned Identity",
        ("Microsoft.ManagedIdentity/userAssignedIdentities/*/read",),
    ),
}
"""Role definition → name, description, actions: the built-in roles that Karpenter's instructions name (learn.microsoft.com)."""
_AUTHORIZATION = "Microsoft.Authorization"


def ids_of(state: State, identity: str) -> dict[str, str]:
    """The principal and client id of a user-assigned identity, by its ARM id; it need not be there."""
    entry = state.store.get(identity)
    return _ids(identity, entry.document["properties"] if entry is not None else {})


def system_assigned(state: State, resource: ResourceId) -> dict[str, str]:
    """The ids of the identity that belongs to a resource itself."""
    return {"principalId": guid_of(f"principal{resource}"), "tenantId": state.settings.tenant}


def _ids(identity: str, properties: Mapping[str, Any]) -> dict[str, str]:
    return {
        "principalId": properties.get("principalId") or guid_of(f"principal{identity}"),
        "clientId": properties.get("clientId") or guid_of(f"client{identity}"),
    }


def _identity(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    properties = document["properties"]
    properties.pop("provisioningState", None)
    properties |= {"tenantId": state.settings.tenant, **_ids(str(id_), properties)}
    document.pop("etag", None)


def _credential(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    properties = document["properties"]
    properties.pop("provisioningState", None)
    for name in ("issuer", "subject"):
        if not text(properties, name):
            raise refuse("InvalidRequestContent", target=name, reason=f"'{name}' is required.")
    if len(texts(properties, "audiences")) != 1:
        raise refuse("InvalidRequestContent", target="audiences", reason="'audiences' must have exactly one value.")
    parent = id_.parent
    for entry in state.store.children(parent, "federatedIdentityCredentials") if parent is not None else ():
        same = all(entry.document["properties"].get(name) == properties[name] for name in ("issuer", "subject"))
        if same and entry.id.key != id_.key:
            raise refuse("FederatedCredentialExists", issuer=properties["issuer"], subject=properties["subject"])
    document.pop("etag", None)


IDENTITIES = Kind("Microsoft.ManagedIdentity", "userAssignedIdentities", fill=_identity)
_OF_DEFINITIONS: Mapping[str, bool] = MappingProxyType({"roleName": True, "type": True, "atScopeAndBelow()": True})
_OF_ASSIGNMENTS: Mapping[str, bool] = MappingProxyType({"principalId": True, "atScope()": True, "assignedTo()": True})
"""The fields of filters on roles and on their holders (azure-rest-api-specs, Microsoft.Authorization: `atScope()` is at
or above).
"""
CREDENTIALS = Kind(
    "Microsoft.ManagedIdentity",
    "federatedIdentityCredentials",
    parents=("userAssignedIdentities",),
    located=False,
    fill=_credential,
    paged=True,
)


def _definition(subscription: str, role: str) -> dict[str, Any]:
    name, description, actions = _ROLES[role]
    permissions = [{"actions": list(actions), "notActions": [], "dataActions": [], "notDataActions": []}]
    return {
        "id": f"/subscriptions/{subscription}/providers/{_AUTHORIZATION}/roleDefinitions/{role}",
        "name": role,
        "type": f"{_AUTHORIZATION}/roleDefinitions",
        "properties": {
            "roleName": name,
            "type": "BuiltInRole",
            "description": description,
            "assignableScopes": ["/"],
            "permissions": permissions,
        },
    }


def _role(state: State, subscription: str, role: str) -> Document:
    """A role by its id: a built-in one, or a custom one of the subscription. Raises `RoleDefinitionDoesNotExist`."""
    role = role.lower()
    if role in _ROLES:
        return _definition(subscription, role)
    custom = state.scoped.get(_custom_key(subscription, role))
    if custom is None:
        raise refuse("RoleDefinitionDoesNotExist", role=role.replace("-", ""))
    return custom


def _custom_key(subscription: str, role: str) -> str:
    """Return the key of a custom role; without a role the head of all keys."""
    return f"/subscriptions/{subscription}/providers/{_AUTHORIZATION}/roleDefinitions/{role}".lower()


def _customs(state: State, subscription: str) -> list[Document]:
    head = _custom_key(subscription, "")
    return [document for key, document in state.scoped.items() if key.startswith(head)]


def _define(state: State, request: Request) -> Response:
    """Make a custom role; those of a group are their subscription's, too."""
    subscription, role = request.params["subscription"], request.params["name"].lower()
    fields = section(body_of(request), "properties")
    name, scopes = text(fields, "roleName"), list(texts(fields, "assignableScopes")) or [_scope(request)]
    if not name or role in _ROLES:
        raise refuse(
            "InvalidRequestContent", target="roleName", reason="A custom role needs a roleName and an id of its own."
        )
    if any(
        other["name"] != role and other["properties"]["roleName"] == name for other in _customs(state, subscription)
    ):
        raise refuse("RoleDefinitionWithSameNameExists")
    now = timestamp(state.now())
    document = {
        "id": f"/subscriptions/{subscription}/providers/{_AUTHORIZATION}/roleDefinitions/{role}",
        "name": role,
        "type": f"{_AUTHORIZATION}/roleDefinitions",
        "properties": {
            "description": "",
            **fields,
            "type": "CustomRole",
            "assignableScopes": scopes,
            "createdOn": now,
            "updatedOn": now,
        },
    }
    state.scoped[_custom_key(subscription, role)] = document
    return Response(201, body=document)


def _undefine(state: State, request: Request) -> Response:
    gone = state.scoped.pop(_custom_key(request.params["subscription"], request.params["name"]), None)
    return Response(204) if gone is None else Response(200, body=gone)


def _definitions(state: State, request: Request) -> Response:
    subscription = request.params["subscription"]
    definitions = [*(_definition(subscription, role) for role in _ROLES), *_customs(state, subscription)]
    wanted = wanted_by(request, _OF_DEFINITIONS)
    definitions = [item for item in definitions if wanted({"atScopeAndBelow()": True, **item["properties"]})]
    return Response(200, body={"value": definitions})


def _one_definition(state: State, request: Request) -> Response:
    return Response(200, body=_role(state, request.params["subscription"], request.params["name"]))


def _scope(request: Request) -> str:
    """The scope before the last provider of the path."""
    return request.path[: request.path.lower().rindex("/providers/microsoft.authorization")]


def _assign(state: State, request: Request) -> Response:
    properties = section(body_of(request), "properties")
    role = text(properties, "roleDefinitionId").rpartition("/")[2].lower()
    principal = text(properties, "principalId")
    if not principal or not role:
        raise refuse("InvalidRequestContent", reason="'roleDefinitionId' and 'principalId' are required.")
    _role(state, request.params["subscription"], role)
    scope, name = _scope(request), request.params["name"]
    for key, other in state.assignments.items():
        if key != _key(scope, name) and other["properties"]["scope"].lower() == scope.lower():
            held = other["properties"]
            if held["principalId"] == principal and held["roleDefinitionId"].lower().endswith(role):
                raise refuse("RoleAssignmentExists", name=other["name"].replace("-", ""))
    now = timestamp(state.now())
    document = {
        "id": f"{scope}/providers/{_AUTHORIZATION}/roleAssignments/{name}",
        "name": name,
        "type": f"{_AUTHORIZATION}/roleAssignments",
        "properties": {
            "principalType": "ServicePrincipal",
            **properties,
            "scope": scope,
            "createdOn": now,
            "updatedOn": now,
        },
    }
    state.assignments[_key(scope, name)] = document
    return Response(201, body=document)


def _key(scope: str, name: str) -> str:
    return f"{scope}/{name}".lower()


def _assignment(state: State, request: Request) -> Response:
    assignment = state.assignments.get(_key(_scope(request), request.params["name"]))
    if assignment is None:
        raise refuse("RoleAssignmentNotFound", name=request.params["name"])
    return Response(200, body=assignment)


def _unassign(state: State, request: Request) -> Response:
    assignment = state.assignments.pop(_key(_scope(request), request.params["name"]), None)
    return Response(204) if assignment is None else Response(200, body=assignment)


def _assignments(state: State, request: Request) -> Response:
    """The assignments at the scope, above and below it; the filter narrows them."""
    scope, wanted = _scope(request).lower(), wanted_by(request, _OF_ASSIGNMENTS)
    documents = []
    for document in state.assignments.values():
        properties = document["properties"]
        own = properties["scope"].lower()
        at_scope = scope.startswith(own)
        if (at_scope or own.startswith(scope)) and wanted(
            {**properties, "atScope()": at_scope, "assignedTo()": properties["principalId"]}
        ):
            documents.append(document)
    return Response(200, body={"value": documents})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield from IDENTITIES.routes()
    yield from CREDENTIALS.routes()
    subscription = "/subscriptions/{subscription}"
    group = f"{subscription}/resourceGroups/{{group}}"
    resource = f"{group}/providers/{{namespace}}/{{type}}/{{resource}}"
    nested = f"{resource}/{{type2}}/{{resource2}}"
    for scope in (subscription, group, resource, nested):
        all_ = f"{scope}/providers/{_AUTHORIZATION}/roleAssignments"
        yield Route("PUT", f"{all_}/{{name}}", _assign)
        yield Route("GET", f"{all_}/{{name}}", _assignment)
        yield Route("DELETE", f"{all_}/{{name}}", _unassign)
        yield Route("GET", all_, _assignments)
        yield Route("GET", f"{scope}/providers/{_AUTHORIZATION}/roleDefinitions", _definitions)
        yield Route("GET", f"{scope}/providers/{_AUTHORIZATION}/roleDefinitions/{{name}}", _one_definition)
    for scope in (subscription, group):
        yield Route("PUT", f"{scope}/providers/{_AUTHORIZATION}/roleDefinitions/{{name}}", _define)
        yield Route("DELETE", f"{scope}/providers/{_AUTHORIZATION}/roleDefinitions/{{name}}", _undefine)
