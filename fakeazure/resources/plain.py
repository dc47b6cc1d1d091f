"""Resources without rules of their own: kept as they are PUT, read and listed. The controller only reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fakeazure.arm.bodies import body_of, pairs, section
from fakeazure.arm.etags import check_etag
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.paging import page
from fakeazure.arm.routes import Route
from fakeazure.guids import guid_of
from fakeazure.state import State


@dataclass(frozen=True, slots=True)
class PlainType:
    """One ARM type; `fields` are top-level keys of the body that are kept beside `properties`."""

    namespace: str
    name: str
    fields: tuple[str, ...] = ("sku", "identity", "zones", "extendedLocation")

    def id_of(self, state: State, request: Request) -> ResourceId:
        """The id of the resource that a request names."""
        return state.id_of(request, self.namespace, (self.name, "name"))

    def put(self, state: State, request: Request) -> Response:
        """Create or replace."""
        id_ = self.id_of(state, request)
        body = body_of(request)
        location = state.location_of(body, id_.type)
        old = state.store.get(id_)
        existed = old is not None
        check_etag(request, old.document if old is not None else None)
        entry = state.store.put(id_, self.document(id_, body, location))
        return Response(200 if existed else 201, body=entry.document)

    def document(self, id_: ResourceId, body: Mapping[str, Any], location: str) -> dict[str, Any]:
        """The ARM document of a body."""
        document: dict[str, Any] = {
            "id": str(id_),
            "name": id_.name,
            "type": id_.type,
            "location": location,
            "tags": pairs(body, "tags"),
            "etag": f'W/"{guid_of(str(id_))}"',
            "properties": {**section(body, "properties"), "provisioningState": "Succeeded"},
        }
        document.update({key: body[key] for key in self.fields if key in body})
        return document

    def get(self, state: State, request: Request) -> Response:
        """Read one."""
        return Response(200, body=state.found(self.id_of(state, request)).document)

    def delete(self, state: State, request: Request) -> Response:
        """Take one away."""
        id_ = self.id_of(state, request)
        if state.store.get(id_) is None:
            return Response(204)
        state.store.remove(id_)
        return Response(200)

    def list(self, state: State, request: Request) -> Response:
        """All of a resource group, or of the subscription."""
        group = request.params.get("group")
        if group is not None:
            state.group(request.params["subscription"], group)
        entries = state.store.list(
            f"{self.namespace}/{self.name}", subscription=request.params["subscription"], group=group
        )
        items = [entry.document for entry in entries]
        return page(request, items, size=None, base_url=state.settings.base_url)

    def routes(self) -> Iterator[Route[State]]:
        """The rows of the routing table."""
        group = f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{self.namespace}/{self.name}"
        yield Route("PUT", f"{group}/{{name}}", self.put)
        yield Route("GET", f"{group}/{{name}}", self.get)
        yield Route("DELETE", f"{group}/{{name}}", self.delete)
        yield Route("GET", group, self.list)
        yield Route("GET", f"/subscriptions/{{subscription}}/providers/{self.namespace}/{self.name}", self.list)


NETWORK_SECURITY_GROUPS = PlainType("Microsoft.Network", "networkSecurityGroups")
LOAD_BALANCERS = PlainType("Microsoft.Network", "loadBalancers")
ROUTE_TABLES = PlainType("Microsoft.Network", "routeTables")
PUBLIC_IP_ADDRESSES = PlainType("Microsoft.Network", "publicIPAddresses")
DISKS = PlainType("Microsoft.Compute", "disks", ("sku", "zones", "managedBy"))
DISK_ENCRYPTION_SETS = PlainType("Microsoft.Compute", "diskEncryptionSets")
IDENTITIES = PlainType("Microsoft.ManagedIdentity", "userAssignedIdentities")

PLAIN_TYPES = (
    NETWORK_SECURITY_GROUPS,
    LOAD_BALANCERS,
    ROUTE_TABLES,
    PUBLIC_IP_ADDRESSES,
    DISKS,
    DISK_ENCRYPTION_SETS,
    IDENTITIES,
)


def routes() -> Iterator[Route[State]]:
    """The rows of all plain types."""
    for plain in PLAIN_TYPES:
        yield from plain.routes()
