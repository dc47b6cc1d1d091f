"""The places of deployments, and the paths of their resources: in a resource group, at a subscription, as an extension of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakeazure.arm.ids import ResourceId
from fakeazure.resources.deployments.template_values import TemplateError
from lazyrecords import dataclass

GROUPS = "microsoft.resources/resourcegroups"


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a template, and the deployment's name."""

    subscription: str
    group: Mapping[str, Any] | None
    """The resource group's document, None at the scope of the subscription."""
    name: str
    location: str
    """The location of the deployment's record."""

    @property
    def scope(self) -> str:
        """The ARM id of where it is deployed."""
        return f"/subscriptions/{self.subscription}" if self.group is None else str(self.group["id"])

    @property
    def id(self) -> str:
        """The ARM id of the deployment."""
        return f"{self.scope}/providers/Microsoft.Resources/deployments/{self.name}"


@dataclass(frozen=True, slots=True)
class Target:
    """A resource of a template: its path, its type, its names."""

    path: str
    type: str
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse what is called nothing, which a snapshot can hold. ValueError."""
        if not self.names:
            raise ValueError("a resource has a name")

    @property
    def key(self) -> str:
        """The path, to compare by."""
        return self.path.lower()

    @property
    def name(self) -> str:
        """Its own name, without those above."""
        return self.names[-1]

    @property
    def parent(self) -> str | None:
        """The key of what it is nested in, None for a resource that is nested in nothing."""
        return self.key.rpartition("/")[0].rpartition("/")[0] if len(self.names) > 1 else None

    def __str__(self) -> str:
        """The path."""
        return self.path


def resource_id(subscription: str, group: str, type_: str, name: str) -> ResourceId:
    """The id of a resource of a template: `Microsoft.Network/virtualNetworks/subnets` named `a/b`. TemplateError if they do not fit."""
    type_ = type_.rstrip("/")  # which ARM takes
    namespace, *types = type_.split("/")
    names = name.split("/")
    if not types or len(types) != len(names) or not all((namespace, *types, *names)):
        raise TemplateError(
            f"The resource '{type_[:200]}' at '{name[:200]}' has an invalid name: it must have one segment for each type."
        )
    return ResourceId(subscription, group, namespace, tuple(types), tuple(names))


def target(scope: str, type_: str, name: str) -> Target:
    """A resource at a scope, the ARM id of a group, a subscription or another resource. TemplateError if name and type do not fit."""
    id_ = resource_id("", "", type_, name)
    if type_.lower() == GROUPS and scope.lower().count("/") == 2:
        return Target(f"{scope}/resourceGroups/{name}", "Microsoft.Resources/resourceGroups", (name,))
    tail = str(id_).partition("/providers/")[2]
    return Target(f"{scope}/providers/{tail}", type_, id_.names)
