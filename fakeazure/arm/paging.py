"""Paging: `value` with an absolute `nextLink` while there is more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from fakeazure.arm.messages import Request, Response
from fakeazure.arm.texts import refuse
from fakeazure.arm.tokens import shortened, whole_number


def page(request: Request, items: Sequence[Any], *, size: int | None, base_url: str) -> Response:
    """One page of `items`: all of them if `size` is None, none if it is 0.

    `base_url` (scheme and host) makes `nextLink` absolute, because clients follow it as it stands. A `$skiptoken` that this
    cloud did not hand out is refused.
    """
    if size is None:
        return Response(200, body={"value": items})
    token = request.query.get("$skiptoken", "0")
    start = whole_number(token)
    if start is None:
        raise refuse("InvalidRequestContent", reason=f"invalid $skiptoken {shortened(token)}")
    body: dict[str, Any] = {"value": items[start : start + size]}
    if size and start + size < len(items):
        query = {**request.query, "$skiptoken": str(start + size)}
        body["nextLink"] = f"{base_url}{request.path}?{urlencode(query)}"
    return Response(200, body=body)
