"""The state that all request handlers share: one world of Azure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from typing import Any

from fakeazure.addresses import Addresses
from fakeazure.arm.api_versions import API_VERSIONS
from fakeazure.arm.errors import Failure
from fakeazure.arm.ids import ResourceId, resource_id
from fakeazure.arm.messages import Document, Request, Response
from fakeazure.arm.operations import Finish, Operation, Operations, no_effect
from fakeazure.arm.texts import refuse
from fakeazure.arm.throttling import Throttle
from fakeazure.catalog.locations import location_key
from fakeazure.events import Events
from fakeazure.graph_rows import GraphRows
from fakeazure.market.faults import STUCK
from fakeazure.market.market import Allocation, Market
from fakeazure.market.match import Subject
from fakeazure.store import Entry, Store, marked
from fakeazure.timers import Timers
from fakeazure.timing import Timing
from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """The names in a world; the resource groups exist from the start."""

    subscription: str
    tenant: str
    location: str
    resource_group: str
    node_resource_group: str
    cluster: str
    base_url: str
    page_size: int | None = None
    """Items per page of the long lists (SKUs, usages, prices); None for one page."""
    sku_regions: tuple[str, ...] = ()
    """The regions whose SKUs a list without a filter has; Azure's has all, 55,000 records."""
    any_subscription: bool = False
    """Whether a subscription comes to be when somebody asks for it."""


@dataclass(slots=True)
class MachineFacts:
    """The platform's facts about a VM beside its ARM document, by the VM's id."""

    custom_data: str
    allocation: Allocation
    nics: tuple[str, ...]
    created: float
    power: str = "running"
    operation: Operation | None = None
    machine: str | None = None
    """Key of the AKS machine that it stands behind."""
    aks_labels: Mapping[str, str] = field(default_factory=dict)
    scheduled_events: list[Mapping[str, Any]] = field(default_factory=list)
    incarnation: int = 1
    """The incarnation of the document of scheduled events: it grows with every change."""
    generalized: bool = False
    """Whether its system is marked as generalized, so that images are made of it."""


def _nobody(method: str, path: str, query: Mapping[str, str], body: Document) -> Response:
    raise RuntimeError("this state belongs to no cloud")


class State:
    """One world: store, market, time, operations, events."""

    def __init__(
        self,
        settings: Settings,
        market: Market,
        timers: Timers,
        guids: Callable[[], str],
        timing: Timing,
        throttle: Throttle,
    ) -> None:
        """Start with an empty store."""
        self.settings = settings
        self.market = market
        self.timers = timers
        self.guids = guids
        self.timing = timing
        self.throttle = throttle
        self.store = Store(timers.now, self.forget)
        self.graph = GraphRows()
        self.events = Events()
        self.operations = Operations(timers, guids, settings.base_url)
        self.vms: dict[str, MachineFacts] = {}
        self.addresses: dict[str, Addresses] = {}
        """Subnet key → its addresses."""
        self.nic_reservations: dict[str, tuple[str, float]] = {}
        """NIC id → (VM id, until)."""
        self.subscriptions: dict[str, set[str]] = {settings.subscription.lower(): set()}
        """Known subscriptions → namespaces that are not registered there."""
        self.groups: dict[tuple[str, str], Mapping[str, Any]] = {}
        self.instances: dict[str, Allocation] = {}
        """Key of an instance of a uniform scale set → what it was let in with."""
        self.next_instance: dict[str, int] = {}
        """Key of a scale set → the number of its next instance."""
        self.deployments: dict[str, object] = {}
        """Deployments by id; what they are is theirs."""
        self.send: Callable[[str, str, Mapping[str, str], Document], Response] = _nobody
        """One more request to the cloud itself, for what makes resources by a template."""
        self.kubeconfigs: dict[str, str] = {}
        """Key of a managed cluster → the kubeconfig of the real one behind it."""
        self.types: Mapping[str, tuple[str, ...]] = {}
        """Namespace → the resource types that are served."""
        self.actions: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
        """Namespace → resource type → what can be done to it, as roles name it."""
        self.assignments: dict[str, Document] = {}
        """Role assignments by scope and name."""
        self.scoped: dict[str, Document] = {}
        """Locks and policy assignments by their ids."""
        self.features: dict[str, tuple[str, float]] = {}
        """Registered features by subscription, namespace and name → how they are spelt, when the registration has ended."""
        self.subscription_tags: dict[str, Mapping[str, str]] = {}
        """Subscription → its own tags."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return self.timers.now()

    def forget(self, key: str) -> None:
        """Drop what is kept beside a resource that is gone, and what was assigned to it or to what was nested in it.

        Azure removes such role assignments later by itself (learn.microsoft.com, "Move Azure resources to a new resource group or
        subscription"); a deletion waits for no assignment of a policy.
        """
        for beside in (self.addresses, self.next_instance, self.nic_reservations):
            beside.pop(key, None)
        _drop_below(self.assignments, key)
        _drop_below(self.scoped, key)

    def forget_group(self, subscription: str, name: str) -> None:
        """Drop what was kept at a group that is gone: assignments, and the history of its deployments."""
        key = f"/subscriptions/{subscription}/resourcegroups/{name}".lower()
        self.forget(key)
        _drop_below(self.deployments, key)

    def add_group(self, subscription: str, name: str, location: str, tags: Mapping[str, str] | None = None) -> None:
        """Create a resource group."""
        self.groups[(subscription.lower(), name.lower())] = {
            "id": f"/subscriptions/{subscription}/resourceGroups/{name}",
            "name": name,
            "type": "Microsoft.Resources/resourceGroups",
            "location": location,
            "tags": dict(tags or {}),
            "properties": {"provisioningState": "Succeeded"},
        }

    def group(self, subscription: str, name: str) -> Mapping[str, Any]:
        """A resource group. Raises `ResourceGroupNotFound`."""
        group = self.groups.get((subscription.lower(), name.lower()))
        if group is None:
            raise refuse("ResourceGroupNotFound", group=name)
        return group

    def id_of(self, request: Request, namespace: str, *pairs: tuple[str, str]) -> ResourceId:
        """The id that a request is about: `pairs` are (type, name of the path parameter). Its group must exist."""
        group = self.group(request.params["subscription"], request.params["group"])
        return resource_id(
            request.params["subscription"],
            group["name"],
            namespace,
            tuple(type_ for type_, _ in pairs),
            tuple(request.params[parameter] for _, parameter in pairs),
        )

    def begin(
        self,
        subject: Subject,
        id_: ResourceId,
        *,
        location: str,
        seconds: float,
        finish: Finish,
        failed: Callable[[Failure], None] | None = None,
    ) -> Operation:
        """Start the long-running operation of a request, under the declared faults.

        `finish` makes the effect at the end. If a fault hits the end, `failed` is told and `finish` is not called; a stuck
        operation calls neither. Both are kept as `Operations.start` keeps them.
        """
        fault = self.market.faults.take(subject, self.now(), at_end=True)
        end = finish
        stuck = fault is not None and fault.what == STUCK
        if fault is not None and not stuck:
            end = partial(fail_with, fault.failure(subject, id=id_, subscription=id_.subscription), failed)
        if subject.method == "DELETE" and (entry := self.store.get(id_)) is not None and marked(entry.document):
            end = partial(if_deleted, self, id_, end)
        return self.operations.start(
            f"{subject.method} {subject.resource}",
            subscription=id_.subscription,
            namespace=id_.namespace,
            location=location,
            seconds=None if stuck else seconds,
            finish=end,
            resource=id_.key,
        )

    def act(
        self,
        request: Request,
        id_: ResourceId,
        seconds: float,
        *,
        location: str = "",
        finish: Finish = no_effect,
        result: Document | None = None,
    ) -> Response:
        """Begin an action on a resource, and answer 202 with its operation, which takes `seconds` and has `result` at its end.

        It lies in `location`, by default the resource's own.
        """
        location = location or str(self.found(id_).document["location"])
        subject = Subject(request.method, id_.types[-1], id_.name, location=location)
        operation = self.begin(subject, id_, location=location, seconds=seconds, finish=finish)
        operation.result = result
        return self.operations.accepted(202, operation, request.api_version)

    def found(self, id_: ResourceId) -> Entry:
        """A resource. Raises ARM's `ResourceNotFound`."""
        entry = self.store.get(id_)
        if entry is None:
            raise refuse("ResourceNotFound", type=id_.type, name="/".join(id_.names), group=id_.group)
        return entry

    def check_place(self, request: Request, type_: str) -> str:
        """The short name of the location in a path, checked against the regions that exist."""
        text = request.params["location"]
        if self.market.region(text) is None:
            raise refuse(
                "NoRegisteredProviderFound",
                location=text,
                version=request.api_version,
                type=type_,
                versions=", ".join(API_VERSIONS["Microsoft.Compute"]),
                locations=", ".join(self.market.catalogue.regions),
            )
        return location_key(text)

    def location_of(self, body: Mapping[str, Any] | None, type_: str, id_: ResourceId | None = None) -> str:
        """The location of a request body, checked against the regions that exist, and against the one that the resource is in."""
        text = (body or {}).get("location")
        if not isinstance(text, str) or not text:
            raise refuse("LocationRequired")
        if self.market.region(text) is None:
            group = type_ == "resourceGroups"
            raise refuse(
                f"LocationNotAvailableForResource{'Group' if group else 'Type'}",
                location=text,
                type=type_,
                locations=",".join(self.market.catalogue.regions),
            )
        location = location_key(text)
        entry = self.store.get(id_) if id_ is not None else None
        if entry is not None and location_key(str(entry.document.get("location") or location)) != location:
            old = entry.document["location"]
            raise refuse(
                "InvalidResourceLocation", name=entry.id.name, old=old, group=entry.id.group, location=location
            )
        return location


def _drop_below(documents: dict[str, Any], key: str) -> None:
    for below in [name for name in documents if name.startswith(f"{key}/")]:
        del documents[below]


def if_deleted(state: State, id_: ResourceId, finish: Finish) -> Failure | None:
    """Finish the deletion of what is being deleted: a resource that somebody made anew after an earlier deletion stays."""
    entry = state.store.get(id_)
    return finish() if entry is None or marked(entry.document) else None


def fail_with(failure: Failure, failed: Callable[[Failure], None] | None) -> Failure:
    """Finish an operation that a declared fault hits at its end."""
    if failed is not None:
        failed(failure)
    return failure
