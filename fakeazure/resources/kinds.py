"""A kind of ARM resource: PUT, GET, PATCH, DELETE and lists as every resource provider has them, with what is the kind's own filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from fakeazure.arm.bodies import body_of, merged, pairs, section, tags_after
from fakeazure.arm.etags import check_etag
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.lists import largest_page
from fakeazure.arm.messages import Document, Request, Response
from fakeazure.arm.operations import RUNNING, no_effect
from fakeazure.arm.paging import page
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.market.match import Subject
from fakeazure.resources import deletion
from fakeazure.state import State
from lazyrecords import dataclass

Fill = Callable[[State, ResourceId, dict[str, Any], Document | None], None]
"""Completes a document before it is kept, as Azure does; also given what was there before, None for a new resource."""
Check = Callable[[State, ResourceId], None]
"""Refuses to delete a resource that others use."""


def as_given(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """Nothing is filled in."""


def anything(state: State, id_: ResourceId) -> None:
    """Nothing keeps it from being deleted."""


def remove(state: State, id_: ResourceId) -> None:
    """Finish the deletion of a resource, with what is nested in it."""
    state.store.remove(id_)


@dataclass(frozen=True, slots=True)
class Kind:
    """One ARM type.

    `fields` are top-level keys of a body that are kept beside `properties`. `parents` are the types that it is nested in; a
    nested resource has a `location` where `located` says so. `created` is the status of a PUT of a new resource, `long`
    whether PUT, PATCH and DELETE answer with an operation. `fill` completes a document, `check` is asked before a DELETE.
    `place` is the location of a type that has the same everywhere (`global`). `paged`: its list takes `$top`.
    """

    namespace: str
    name: str
    fields: tuple[str, ...] = ("sku", "identity", "zones", "extendedLocation")
    parents: tuple[str, ...] = ()
    located: bool = True
    created: int = 201
    long: bool = False
    fill: Fill = as_given
    check: Check = anything
    place: str = ""
    paged: bool = False

    @property
    def type(self) -> str:
        """`Microsoft.Network/networkSecurityGroups/securityRules`."""
        return "/".join((self.namespace, *self.parents, self.name))

    def id_of(self, state: State, request: Request) -> ResourceId:
        """The id of the resource that a request names."""
        above = ((type_, f"parent{place}") for place, type_ in enumerate(self.parents))
        return state.id_of(request, self.namespace, *above, (self.name, "name"))

    def put(self, state: State, request: Request) -> Response:
        """Create or replace."""
        id_ = self.id_of(state, request)
        body = body_of(request)
        location = self.place or (state.location_of(body, id_.type, id_) if self.located else "")
        self._parent(state, id_)
        old = state.store.get(id_)
        check_etag(request, old.document if old is not None else None)
        document = self.document(id_, body, location, old.document if old is not None else None)
        self.fill(state, id_, document, old.document if old is not None else None)
        state.store.put(id_, document)
        return self._accepted(state, request, id_, 200 if old is not None and self.created == 201 else self.created)

    def _parent(self, state: State, id_: ResourceId) -> None:
        parent = id_.parent
        if parent is not None and state.store.get(parent) is None:
            type_ = "/".join(id_.types)
            raise refuse("ParentResourceNotFound", action="write", type=type_, parent="/".join(parent.names))

    def _accepted(self, state: State, request: Request, id_: ResourceId, status: int) -> Response:
        document = state.found(id_).document
        if not self.long:
            return Response(status, body=document)
        operation = state.begin(
            Subject(request.method, self.name, id_.name, location=str(document.get("location", ""))),
            id_,
            location=str(document.get("location") or state.settings.location),
            seconds=state.timing.resource,
            finish=no_effect,
        )
        if status == 202:  # who follows `Location` gets the resource at its end
            operation.result = document
            if operation.status == RUNNING:  # what azure-cli's recordings of disks show
                document = {**document, "properties": {**document["properties"], "provisioningState": "Updating"}}
        return state.operations.accepted(status, operation, request.api_version, document)

    def document(
        self, id_: ResourceId, body: Mapping[str, Any], location: str, old: Document | None = None
    ) -> dict[str, Any]:
        """The ARM document of a body."""
        etag = guid_of(str(id_)) if old is None else guid_of(str(old.get("etag")))
        document: dict[str, Any] = {
            "id": str(id_),
            "name": id_.name,
            "type": id_.type,
            **({"location": location, "tags": pairs(body, "tags")} if self.located else {}),
            "etag": f'W/"{etag}"',
            "properties": {**section(body, "properties"), "provisioningState": "Succeeded"},
        }
        document.update({key: body[key] for key in self.fields if body.get(key) is not None})
        return document

    def get(self, state: State, request: Request) -> Response:
        """Read one."""
        return Response(200, body=state.found(self.id_of(state, request)).document)

    def patch(self, state: State, request: Request) -> Response:
        """Change what the body names: tags as a whole, everything else merged with what is there."""
        id_ = self.id_of(state, request)
        old = state.found(id_).document
        body = body_of(request)
        check_etag(request, old)
        patch = {key: body[key] for key in self.fields if key in body}
        patch["properties"] = section(body, "properties")
        wanted = {**merged(old, patch), "tags": tags_after(old, body)}
        changed = self.document(id_, wanted, str(old.get("location", "")), old)
        self.fill(state, id_, changed, old)
        state.store.put(id_, changed)
        return self._accepted(state, request, id_, 202 if self.created == 202 else 200)

    def delete(self, state: State, request: Request) -> Response:
        """Take one away, with what is nested in it."""
        id_ = self.id_of(state, request)
        entry = state.store.get(id_)
        if entry is None:
            return Response(204)
        self.check(state, id_)
        if not self.long:
            state.store.remove(id_)
            return Response(200)

        deletion.mark(state, id_)
        operation = state.begin(
            Subject("DELETE", self.name, id_.name, location=str(entry.document.get("location", ""))),
            id_,
            location=str(entry.document.get("location") or state.settings.location),
            seconds=state.timing.resource,
            finish=partial(remove, state, id_),
            failed=partial(deletion.failed, state, (id_,)),
        )
        return state.operations.accepted(202, operation, request.api_version)

    def list(self, state: State, request: Request) -> Response:
        """All of a resource group, of the subscription, or under a parent."""
        group = request.params.get("group")
        if group is not None:
            state.group(request.params["subscription"], group)
        if self.parents:
            above = ((type_, f"parent{place}") for place, type_ in enumerate(self.parents))
            parent = state.id_of(request, self.namespace, *above)
            state.found(parent)
            entries = state.store.children(parent, self.name)
        else:
            entries = state.store.list(self.type, subscription=request.params["subscription"], group=group)
        size = largest_page(request) if self.paged else None
        return page(request, [entry.document for entry in entries], size=size, base_url=state.settings.base_url)

    def routes(self) -> Iterator[Route[State]]:
        """The rows of the routing table."""
        above = "".join(f"/{type_}/{{parent{place}}}" for place, type_ in enumerate(self.parents))
        all_ = f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{self.namespace}{above}/{self.name}"
        yield Route("PUT", f"{all_}/{{name}}", self.put)
        yield Route("GET", f"{all_}/{{name}}", self.get)
        yield Route("PATCH", f"{all_}/{{name}}", self.patch)
        yield Route("DELETE", f"{all_}/{{name}}", self.delete)
        yield Route("GET", all_, self.list)
        if not self.parents:
            yield Route("GET", f"/subscriptions/{{subscription}}/providers/{self.namespace}/{self.name}", self.list)
