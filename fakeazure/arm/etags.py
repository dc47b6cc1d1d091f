"""Conditional requests: `If-Match` and `If-None-Match` against a resource's etag."""

from __future__ import annotations

from fakeazure.arm.messages import Document, Request
from fakeazure.arm.texts import refuse


def check_etag(
    request: Request, document: Document | None, *, etag: str | None = None, row: str = "PreconditionFailed"
) -> None:
    """Refuse with 412 if a condition does not hold for the resource as it is; None for one that does not exist.

    `etag` is the resource's own where it is not its top-level `etag`; `row` names the error's row in the table of texts.
    """
    current = etag if etag is not None else (document or {}).get("etag")
    wanted, unwanted = request.header("If-Match"), request.header("If-None-Match")
    if wanted is not None and (document is None or (wanted != "*" and wanted != current)):
        raise refuse(row)
    if unwanted is not None and document is not None and unwanted in ("*", current):
        raise refuse(row)
