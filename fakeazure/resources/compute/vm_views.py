"""Virtual machines as Azure shows them: without what only the machine may see, and with what `$expand` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.resources.compute import vm_lifecycle
from fakeazure.state import State

__all__ = ["shown", "with_booleans", "without_empty", "without_secrets"]

_SECRET = ("customData", "adminPassword", "secrets")
"""Fields of an `osProfile` that no answer has (azure-rest-api-specs, ComputeRP: `customData`, `adminPassword` are write-only)."""
_DROPPED_WHEN_EMPTY = ("additionalCapabilities",)
"""Properties whose empty object Azure drops: terraform-provider-azurerm sends them, and its acceptance tests ask for an empty plan."""


def without_secrets(profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return an `osProfile` without the fields that no answer has."""
    return {key: value for key, value in profile.items() if key not in _SECRET}


def without_empty(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties without the empty objects that Azure drops."""
    return {key: value for key, value in properties.items() if value or key not in _DROPPED_WHEN_EMPTY}


_BOOLEAN = ("primary", "enableAcceleratedNetworking", "enableIPForwarding")


def with_booleans(value: Any) -> Any:
    """Return a network profile whose switches are booleans: az writes `"primary": "true"`, and Azure reads that as one."""
    if isinstance(value, Mapping):
        return {
            key: inner.lower() == "true"
            if key in _BOOLEAN and isinstance(inner, str) and inner.lower() in ("true", "false")
            else with_booleans(inner)
            for key, inner in value.items()
        }
    return [with_booleans(inner) for inner in value] if isinstance(value, list | tuple) else value


def shown(state: State, document: Document, expand: str = "") -> Document:
    """Return a VM as it is answered; `expand` is the query's `$expand`, which adds the instance view or the user data."""
    wanted, properties = expand.lower(), document["properties"]
    view = "instanceview" in wanted
    if not view and ("userData" not in properties or "userdata" in wanted):
        return document
    properties = {key: value for key, value in properties.items() if key != "userData" or "userdata" in wanted}
    if view:
        properties["instanceView"] = vm_lifecycle.instance_view(state, ResourceId.parse(document["id"]))
    return {**document, "properties": properties}
