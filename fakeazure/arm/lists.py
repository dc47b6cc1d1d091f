"""The effect of `$filter` and `$top` on a list; a filter that is not understood is refused in ARM's words."""

from __future__ import annotations

from collections.abc import Mapping

from fakeazure.arm.filters import FilterError, parse_filter
from fakeazure.arm.messages import Request
from fakeazure.arm.texts import refuse
from fakeazure.arm.tokens import Predicate, whole_number

__all__ = ["largest_page", "wanted_by"]


def wanted_by(request: Request, fields: Mapping[str, bool]) -> Predicate:
    """Return what `$filter` lets pass; `fields` as in `parse_filter`. Raises ArmError."""
    try:
        return parse_filter(request.query.get("$filter", ""), fields)
    except FilterError as error:
        raise refuse("InvalidFilterInQueryString", reason=str(error)) from None


def largest_page(request: Request) -> int | None:
    """Return how many items `$top` asks for at most, None for all. Raises ArmError."""
    text = request.query.get("$top")
    if text is None:
        return None
    most = whole_number(text)
    if most is None:
        raise refuse("InvalidRequestContent", reason="The $top query option must be a whole number from 0.")
    return most
