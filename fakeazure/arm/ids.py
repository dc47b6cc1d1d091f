"""ARM resource ids: parsed, compared without case, rendered in Azure's spelling."""

from __future__ import annotations

from dataclasses import field

from fakeazure.short_texts import remember_short
from lazyrecords import dataclass

_KEPT = 4096
"""Ids that are remembered: the same few resources are asked for again and again, in one world after the other."""


@dataclass(frozen=True, slots=True)
class ResourceId:
    """`/subscriptions/S/resourceGroups/G/providers/NAMESPACE/TYPE/NAME[/TYPE/NAME...]`."""

    subscription: str
    group: str
    namespace: str
    types: tuple[str, ...]
    names: tuple[str, ...]
    key: str = field(init=False, compare=False, repr=False)
    """The common form of all spellings of the same id."""
    _text: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Render once: an id is asked for its text and key dozens of times in a launch."""
        tail = "".join([f"/{type_}/{name}" for type_, name in zip(self.types, self.names, strict=True)])
        text = f"/subscriptions/{self.subscription}/resourceGroups/{self.group}/providers/{self.namespace}{tail}"
        object.__setattr__(self, "_text", text)
        object.__setattr__(self, "key", text.lower())

    @classmethod
    def parse(cls, text: str) -> ResourceId:
        """Read an id. Raises ValueError if it is not the id of a resource in a resource group."""
        parts = text.strip("/").split("/")
        if (
            len(parts) < 8
            or len(parts) % 2
            or parts[0].lower() != "subscriptions"
            or parts[2].lower() != "resourcegroups"
            or parts[4].lower() != "providers"
        ):
            raise ValueError(f"not the id of an Azure resource: {text!r}")
        return cls(parts[1], parts[3], parts[5], tuple(parts[6::2]), tuple(parts[7::2]))

    @property
    def type(self) -> str:
        """`Microsoft.Compute/virtualMachines`, nested types joined by `/`."""
        return "/".join((self.namespace, *self.types))

    @property
    def name(self) -> str:
        """The last name."""
        return self.names[-1]

    @property
    def parent(self) -> ResourceId | None:
        """The resource that this one is nested in."""
        if len(self.types) == 1:
            return None
        return resource_id(self.subscription, self.group, self.namespace, self.types[:-1], self.names[:-1])

    def child(self, type_: str, name: str) -> ResourceId:
        """A resource nested in this one."""
        return ResourceId(self.subscription, self.group, self.namespace, (*self.types, type_), (*self.names, name))

    def __str__(self) -> str:
        """The id as text."""
        return self._text


@remember_short(
    _KEPT, lambda subscription, group, namespace, types, names: len(subscription) + len(group) + sum(map(len, names))
)
def resource_id(
    subscription: str, group: str, namespace: str, types: tuple[str, ...], names: tuple[str, ...]
) -> ResourceId:
    """The id with these parts; the same object for those that were asked for lately."""
    return ResourceId(subscription, group, namespace, types, names)
