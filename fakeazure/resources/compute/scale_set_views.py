"""Scale sets and their instances as Azure shows them: user data and instance views only where `$expand` asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fakeazure.arm.bodies import section
from fakeazure.arm.messages import Document

__all__ = ["INSTANCE_FIELDS", "filter_facts", "instance_view", "set_shown", "shown"]

_CODE = "instanceView/statuses/code"
_LATEST = "properties/latestModelApplied"
INSTANCE_FIELDS: Mapping[str, bool] = MappingProxyType({_CODE: True, _LATEST: True})
"""The fields of a filter on instances (azure-rest-api-specs, VirtualMachineScaleSetVMs_List)."""


def set_shown(document: Document, expand: str = "") -> Document:
    """Return a scale set as it is answered; `expand` is the query's `$expand`, which adds the user data."""
    profile = section(document["properties"], "virtualMachineProfile")
    if "userData" not in profile or "userdata" in expand.lower():
        return document
    profile = {key: value for key, value in profile.items() if key != "userData"}
    return {**document, "properties": {**document["properties"], "virtualMachineProfile": profile}}


def instance_view(document: Document) -> dict[str, Any]:
    """Return the instance view: what state the instance is in."""
    statuses = [
        {"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Provisioning succeeded"},
        {"code": f"PowerState/{document['properties']['power']}", "level": "Info", "displayStatus": "VM"},
    ]
    return {"statuses": statuses}


def shown(document: Document, expand: str = "") -> dict[str, Any]:
    """Return an instance as it is answered; `expand` is the query's `$expand`, which adds the instance view or the user data."""
    wanted = expand.lower()
    hidden = ("power",) if "userdata" in wanted else ("power", "userData")
    properties = {key: value for key, value in document["properties"].items() if key not in hidden}
    if "instanceview" in wanted:
        properties["instanceView"] = instance_view(document)
    return {**document, "properties": properties}


def filter_facts(document: Document) -> list[dict[str, Any]]:
    """Return the facts of an instance that a filter can ask for, once for each of its statuses."""
    latest = document["properties"].get("latestModelApplied", True)
    return [{_CODE: status["code"], _LATEST: latest} for status in instance_view(document)["statuses"]]
