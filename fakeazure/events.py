"""The cloud's events for its subscribers: a VM powered on, was deleted, failed, will be preempted.

The powered-on event alone starts a boot in whoever plays the node: it holds everything that a machine can read of
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeAlias

from fakeazure.arm.messages import Document
from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class VirtualMachine:
    """A VM as the platform knows it, at the moment of an event.

    `zone` is `1`, `2`, `3`, or empty for a regional VM; `priority` is `Regular` or `Spot`. `custom_data` is the base64 text
    that ARM never gives back. `document` is the ARM body of a GET. `machine` is the AKS machine body that the VM stands
    behind, None for a VM that somebody PUT; `aks_labels` are then the labels that AKS itself adds to the Node.
    `private_address` is the first IPv4 address of its first NIC, empty where it has none.
    """

    id: str
    name: str
    resource_group: str
    location: str
    size: str
    zone: str
    priority: str
    tags: Mapping[str, str]
    custom_data: str
    document: Document
    machine: Document | None = None
    aks_labels: Mapping[str, str] = field(default_factory=dict)
    private_address: str = ""

    @property
    def provider_id(self) -> str:
        """The Node's `spec.providerID`: resource group in lower case, the VM's name as it is."""
        head, _, tail = self.id.partition("/resourceGroups/")
        _, _, rest = tail.partition("/")
        return f"azure://{head}/resourceGroups/{self.resource_group.lower()}/{rest}"


@dataclass(frozen=True, slots=True)
class PoweredOn:
    """The VM was created, or started again, and runs."""

    vm: VirtualMachine
    at: float
    restarted: bool = False


@dataclass(frozen=True, slots=True)
class PoweredOff:
    """The VM was stopped or deallocated; it still exists."""

    vm: VirtualMachine
    at: float


@dataclass(frozen=True, slots=True)
class Deleted:
    """The VM is gone. `evicted` if the platform took it."""

    vm: VirtualMachine
    at: float
    evicted: bool = False


@dataclass(frozen=True, slots=True)
class Preempting:
    """A spot VM will be taken at `not_before`, seconds since the epoch; its scheduled events say so until then."""

    vm: VirtualMachine
    at: float
    not_before: float


@dataclass(frozen=True, slots=True)
class CreationFailed:
    """The long-running creation ended in `code`; the VM stays in state Failed and never runs."""

    vm: VirtualMachine
    at: float
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class ExtensionInstalled:
    """An extension ran on the VM; `protected_settings` carry its command, which ARM never gives back."""

    vm: VirtualMachine
    at: float
    name: str
    protected_settings: Mapping[str, Any]


Event: TypeAlias = PoweredOn | PoweredOff | Deleted | Preempting | CreationFailed | ExtensionInstalled
Subscriber: TypeAlias = Callable[[Event], None]


class Events:
    """Tells every subscriber, in the order of subscription, at the moment it happens."""

    def __init__(self) -> None:
        """Start without subscribers."""
        self._subscribers: list[Subscriber] = []

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Add a subscriber. Returns a function that removes it."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def emit(self, event: Event) -> None:
        """Tell everybody."""
        for subscriber in tuple(self._subscribers):
            subscriber(event)
