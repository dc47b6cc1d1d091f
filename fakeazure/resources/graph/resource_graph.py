"""`Microsoft.ResourceGraph/resources`: KQL over everything in the store, as late as the world's `graph_lag` says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import body_of, section, text, texts
from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.tokens import whole_number
from fakeazure.resources.graph.kql import QueryError, Row, compile_query
from fakeazure.resources.graph.kql_functions import text_of
from fakeazure.state import State
from fakeazure.store import Entry

_TABLE = "resources"
_MAX_PAGE = 1000
_CELLS = 20
"""Columns of a row; resources have fewer."""
_PAYLOAD = 16 * 1024 * 1024
"""Characters of an answer (learn.microsoft.com, "Troubleshoot errors using Azure Resource Graph")."""


def _row(state: State, entry: Entry) -> dict[str, Any]:
    return {
        **entry.document,
        "type": entry.id.type.lower(),
        "resourceGroup": entry.id.group.lower(),
        "subscriptionId": entry.id.subscription,
        "tenantId": state.settings.tenant,
    }


def _containers(state: State, wanted: set[str]) -> list[Row]:
    """Subscriptions and resource groups."""
    tenant = {"tenantId": state.settings.tenant}
    rows: list[Row] = []
    for subscription in state.subscriptions:
        if not wanted or subscription in wanted:
            id_, type_ = f"/subscriptions/{subscription}", "microsoft.resources/subscriptions"
            rows.append({"id": id_, "name": "fakeazure", "type": type_, "subscriptionId": subscription, **tenant})
    for (subscription, name), group in state.groups.items():
        if not wanted or subscription in wanted:
            own = {"type": "microsoft.resources/subscriptions/resourcegroups", "resourceGroup": name}
            rows.append({**group, **own, "subscriptionId": subscription, **tenant})
    return rows


def _query(state: State, request: Request) -> Response:
    body = body_of(request)
    wanted = {item.lower() for item in texts(body, "subscriptions")}

    def judged(entry: Entry) -> Row | None:
        if len(entry.id.types) > 1 or (wanted and entry.id.subscription.lower() not in wanted):
            return None
        return _row(state, entry)

    moment = state.now() - state.timing.graph_lag

    def tables(name: str) -> list[Row]:
        if name.lower() == "resourcecontainers":
            return _containers(state, wanted)
        if name.lower() != _TABLE:
            raise QueryError(f"table '{name[:100]}' is not known")
        query.meter.step(state.store.count)
        return [row for entry in state.store.as_of(moment) if (row := judged(entry)) is not None]

    def passes(entry: Entry) -> Row | None:
        row = judged(entry)
        return row if row is not None and query.passes(row) else None

    query_text, options = text(body, "query"), section(body, "options")
    skip = _number(options, "$skipToken", "$skip")
    top = min(_number(options, "$top") or _MAX_PAGE, _MAX_PAGE)
    try:
        query = state.graph.compiled(query_text, compile_query)
        query.meter.reset()
        if query.table.lower() == _TABLE and state.graph.remembers(query_text, *wanted):
            passing = state.graph.passing((query_text, frozenset(wanted)), state.store, moment, passes)
            rows = query.rest(passing, tables)
        else:
            rows = query.found(tables)
        shown = rows[skip : skip + top]
        _check_size(shown)
    except QueryError as error:
        raise ArmError(_invalid(str(error))) from None
    answer: dict[str, Any] = {
        "totalRecords": len(rows),
        "count": len(shown),
        "resultTruncated": "false",
        "facets": [],
        "data": shown,
    }
    if skip + top < len(rows):
        answer["$skipToken"] = str(skip + top)
    return Response(200, body=answer)


def _number(options: Mapping[str, Any], *names: str) -> int:
    for name in names:
        value = options.get(name)
        if value is None:
            continue
        number = whole_number(str(value) if type(value) in (int, str) else "")
        if number is None:
            raise ArmError(_invalid(f"{name} is not a number"))
        return number
    return 0


def _check_size(rows: list[Row]) -> None:
    """Refuse an answer that is too large. Only that of a query that makes wide rows, several of the same cells, is looked at."""
    if sum(map(len, rows)) <= _CELLS * len(rows):
        return
    size = 0
    for row in rows:
        for value in row.values():
            size += len(text_of(value))
            if size > _PAYLOAD:
                raise ArmError(
                    Failure(
                        "ResponsePayloadTooLarge",
                        f"Response payload size is {size}, and has exceeded the limit of {_PAYLOAD}. Please consider querying less "
                        "data at a time and make paginated call if needed.",
                    )
                )


def _invalid(reason: str) -> Failure:
    return Failure(
        "BadRequest",
        "Please provide below info when asking for support: timestamp, correlationId.",
        400,
        details=(
            Failure("InvalidQuery", "Query is invalid. Please refer to the documentation for more details."),
            Failure("ParserFailure", reason),
        ),
    )


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("POST", "/providers/Microsoft.ResourceGraph/resources", _query)
