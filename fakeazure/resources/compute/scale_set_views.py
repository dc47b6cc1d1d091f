"""Instances of a scale set as Azure shows them."""

from __future__ import annotations

from typing import Any

from fakeazure.arm.messages import Document

__all__ = ["instance_view", "shown"]


def instance_view(document: Document) -> dict[str, Any]:
    """Its instance view: what state it is in."""
    statuses = [
        {"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Provisioning succeeded"},
        {"code": f"PowerState/{document['properties']['power']}", "level": "Info", "displayStatus": "VM"},
    ]
    return {"statuses": statuses}


def shown(document: Document, *, view: bool) -> dict[str, Any]:
    """The instance as it is answered; with its instance view where that is asked for."""
    properties = {key: value for key, value in document["properties"].items() if key != "power"}
    return {**document, "properties": {**properties, **({"instanceView": instance_view(document)} if view else {})}}
