"""Locks and policies, which lie at scopes: a lock is enforced below its scope; policies, their sets and assignments are kept only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from fakeazure.arm.bodies import body_of, check_forms, section, text
from fakeazure.arm.lists import largest_page, wanted_by
from fakeazure.arm.messages import Document, Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.state import State
from fakeazure.timers import timestamp
from lazyrecords import dataclass

_AUTHORIZATION = "Microsoft.Authorization"
LOCKS = f"/providers/{_AUTHORIZATION}/locks".lower()
_LEVELS = {"cannotdelete": "CanNotDelete", "readonly": "ReadOnly", "notspecified": "NotSpecified"}


@dataclass(frozen=True, slots=True)
class _Scoped:
    """A type whose resources lie at a scope.

    `missing` is the row of the refusal where there is none, `fields` are those of its filters (azure-rest-api-specs,
    Microsoft.Authorization).
    """

    name: str
    missing: str
    fields: Mapping[str, bool]

    def key(self, scope: str, name: str) -> str:
        """Return the key of a resource."""
        return f"{scope}/providers/{_AUTHORIZATION}/{self.name}/{name}".lower()


_OF_SCOPES = {"atScope()": True, "atExactScope()": True}
_OF_DEFINITIONS = {**_OF_SCOPES, "policyType": True, "category": True}
_LOCK = _Scoped("locks", "LockNotFound", _OF_SCOPES)
_POLICY = _Scoped("policyAssignments", "PolicyAssignmentNotFound", {**_OF_SCOPES, "policyDefinitionId": True})
_DEFINITIONS = (
    _Scoped("policyDefinitions", "PolicyDefinitionNotFound", _OF_DEFINITIONS),
    _Scoped("policySetDefinitions", "PolicySetDefinitionNotFound", _OF_DEFINITIONS),
)


def _scope(request: Request) -> str:
    return request.path[: request.path.lower().rindex(f"/providers/{_AUTHORIZATION}".lower())]


def _put(kind: _Scoped, state: State, request: Request) -> Response:
    scope, name = _scope(request), request.params["name"]
    if "group" in request.params:
        state.group(request.params["subscription"], request.params["group"])
    properties = dict(section(body_of(request), "properties"))
    if kind is _LOCK:
        level = _LEVELS.get(text(properties, "level").lower())
        if level is None:
            reason = "'level' must be CanNotDelete or ReadOnly."
            raise refuse("InvalidRequestContent", target="level", reason=reason)
        properties["level"] = level
    elif kind is _POLICY:
        properties |= {"scope": scope, "instanceId": guid_of(kind.key(scope, name))}
    else:
        properties.setdefault("policyType", "Custom")
    now = timestamp(state.now())
    document: dict[str, Any] = {
        "id": f"{scope}/providers/{_AUTHORIZATION}/{kind.name}/{name}",
        "name": name,
        "type": f"{_AUTHORIZATION}/{kind.name}",
        **(_place_and_identity(state, kind.key(scope, name), body_of(request)) if kind is _POLICY else {}),
        "properties": properties,
        "systemData": {"createdAt": now, "createdByType": "User", "lastModifiedAt": now},
    }
    check_forms(document)  # of its type, which the request need not name: lists read them
    existed = kind.key(scope, name) in state.scoped
    state.scoped[kind.key(scope, name)] = document
    return Response(200 if existed else 201, body=document)


def _place_and_identity(state: State, key: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return where a policy assignment is and whom it acts as, if its body says so."""
    identity = dict(section(body, "identity"))
    if text(identity, "type") == "SystemAssigned":
        identity |= {"principalId": guid_of(f"principal{key}"), "tenantId": state.settings.tenant}
    location = text(body, "location")
    return {**({"location": location} if location else {}), **({"identity": identity} if identity else {})}


def _get(kind: _Scoped, state: State, request: Request) -> Response:
    resource = state.scoped.get(kind.key(_scope(request), request.params["name"]))
    if resource is None:
        raise refuse(kind.missing, name=request.params["name"])
    return Response(200, body=resource)


def _delete(kind: _Scoped, state: State, request: Request) -> Response:
    resource = state.scoped.pop(kind.key(_scope(request), request.params["name"]), None)
    return Response(204) if resource is None else Response(200, body=None if kind is _LOCK else resource)


def _list(kind: _Scoped, state: State, request: Request) -> Response:
    """Return the resources at the scope, above and below it, that `$filter` lets pass; `atScope()` leaves out those below."""
    scope, wanted, most = _scope(request).lower(), wanted_by(request, kind.fields), largest_page(request)
    documents: list[Document] = []
    for key, document in state.scoped.items():
        own, _, rest = key.rpartition(f"/providers/{_AUTHORIZATION.lower()}/")
        above, properties = scope == own or scope.startswith(f"{own}/"), document["properties"]
        if rest.startswith(f"{kind.name.lower()}/") and (above or own.startswith(f"{scope}/")):
            facts: dict[str, Any] = {"atScope()": above, "atExactScope()": scope == own}
            if "category" in kind.fields:
                facts["category"] = section(properties, "metadata").get("category")
            if wanted({**properties, **facts}):
                documents.append(document)
    return Response(200, body={"value": documents[:most]})


def check_locks(state: State, request: Request) -> None:
    """Refuse what a lock forbids: to delete at its scope or below, or above what it is at; with ReadOnly to change anything there."""
    if not state.scoped or request.method not in ("DELETE", "PUT", "PATCH", "POST"):
        return
    path = request.path.rstrip("/").lower()
    if LOCKS in path:
        return
    deletes = request.method == "DELETE"
    locked = []
    for key, document in state.scoped.items():
        scope, slash, _ = key.rpartition(f"{LOCKS}/")
        if not slash:
            continue
        under = path == scope or path.startswith(f"{scope}/")
        read_only = document["properties"]["level"] == "ReadOnly"
        if (under and (deletes or read_only)) or (deletes and scope.startswith(f"{path}/")):
            locked.append(document["id"].rpartition("/providers/")[0])
    if locked:
        action = "delete" if deletes else "write"
        raise refuse("ScopeLocked", scope=request.path.rstrip("/"), action=action, locked=",".join(locked))


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    subscription = "/subscriptions/{subscription}"
    group = f"{subscription}/resourceGroups/{{group}}"
    resource = f"{group}/providers/{{namespace}}/{{type}}/{{resource}}"
    for kind in _DEFINITIONS:
        all_ = f"{subscription}/providers/{_AUTHORIZATION}/{kind.name}"
        yield Route("PUT", f"{all_}/{{name}}", partial(_put, kind))
        yield Route("GET", f"{all_}/{{name}}", partial(_get, kind))
        yield Route("DELETE", f"{all_}/{{name}}", partial(_delete, kind))
        yield Route("GET", all_, partial(_list, kind))
    for kind in (_LOCK, _POLICY):
        for scope in (subscription, group, resource, f"{resource}/{{type2}}/{{resource2}}"):
            all_ = f"{scope}/providers/{_AUTHORIZATION}/{kind.name}"
            yield Route("PUT", f"{all_}/{{name}}", partial(_put, kind))
            yield Route("GET", f"{all_}/{{name}}", partial(_get, kind))
            yield Route("DELETE", f"{all_}/{{name}}", partial(_delete, kind))
            yield Route("GET", all_, partial(_list, kind))
