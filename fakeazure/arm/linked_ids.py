"""Ids of other resources in a body, refused in ARM's words where they are none."""

from __future__ import annotations

from fakeazure.arm.ids import ResourceId
from fakeazure.arm.texts import refuse

__all__ = ["linked_id", "linked_subnet"]


def linked_id(text: str, path: str) -> ResourceId:
    """Return the id that stands at a path of a body. Raises ArmError for a text that is no id of a resource."""
    try:
        return ResourceId.parse(text)
    except ValueError:
        raise refuse("LinkedInvalidPropertyId", id=text, path=path) from None


def linked_subnet(text: str, path: str) -> ResourceId:
    """Return the id of a subnet at a path of a body. Raises ArmError for an id that lies in no network, too."""
    id_ = linked_id(text, path)
    if id_.parent is None:
        raise refuse("LinkedInvalidPropertyId", id=text, path=path)
    return id_
