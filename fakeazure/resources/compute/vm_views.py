"""Virtual machines as Azure shows them: without what only the machine may see, and with what `$expand` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.resources.compute import vm_lifecycle
from fakeazure.state import State

__all__ = ["shown", "without_empty", "without_secrets"]

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
