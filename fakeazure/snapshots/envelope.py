"""The parts that every ARM document has alike: what reads all resources, of whatever type, relies on their forms."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fakeazure.arm.messages import Document
from fakeazure.snapshots.values import NAMES, Unreadable, at, shown

_FORMS: Mapping[str, type] = MappingProxyType(
    {
        "id": str,
        "name": str,
        "type": str,
        "location": str,
        "properties": Mapping,
        "tags": Mapping,
    }
)
"""Name → form, as Azure's common types have it (azure-rest-api-specs, common-types/resource-management), of the parts that no
request can make another: a world that was saved is one that can be restored."""
_WORDS = {**NAMES, Mapping: "an object"}


def check_envelope(document: Document, path: str) -> None:
    """Check the common parts of a document of ARM. Unreadable, with the path to the first that is wrong."""
    for name, form in _FORMS.items():
        value = document.get(name)
        if value is not None and not isinstance(value, form):
            raise Unreadable(f"{path}.{name}", f"{_WORDS[form]} is expected, not {shown(value)}")
    for key, tag in (document.get("tags") or {}).items():
        if not isinstance(tag, str):
            raise Unreadable(at(f"{path}.tags", key), f"text is expected, not {shown(tag)}")
    state = (document.get("properties") or {}).get("provisioningState")
    if state is not None and not isinstance(state, str):
        raise Unreadable(f"{path}.properties.provisioningState", f"text is expected, not {shown(state)}")
