"""`Microsoft.ResourceGraph/resources`: KQL over everything in the store, as late as the world's `graph_lag` says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import body_of, section, text, texts
from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.resources.graph.kql import QueryError, Row, compile_query
from fakeazure.state import State
from fakeazure.store import Entry

_TABLE = "resources"
_MAX_PAGE = 1000


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
    found: list[Row] = []
    for subscription in state.subscriptions:
        if not wanted or subscription in wanted:
            id_, type_ = f"/subscriptions/{subscription}", "microsoft.resources/subscriptions"
            found.append({"id": id_, "name": "fakeazure", "type": type_, "subscriptionId": subscription, **tenant})
    for (subscription, name), group in state.groups.items():
        if not wanted or subscription in wanted:
            own = {"type": "microsoft.resources/subscriptions/resourcegroups", "resourceGroup": name}
            found.append({**group, **own, "subscriptionId": subscription, **tenant})
    return found


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
        return [row for entry in state.store.as_of(moment) if (row := judged(entry)) is not None]

    def passes(entry: Entry) -> Row | None:
        row = judged(entry)
        return row if row is not None and query.passes(row) else None

    try:
        query = compile_query(text(body, "query"))
        if query.table.lower() == _TABLE:
            asked = text(body, "query"), frozenset(wanted)
            found = query.rest(state.graph.passing(asked, state.store, moment, passes), tables)
        else:
            found = query(tables)
    except QueryError as error:
        raise ArmError(_invalid(str(error))) from None
    options = section(body, "options")
    skip = _number(options, "$skipToken", "$skip")
    top = min(_number(options, "$top") or _MAX_PAGE, _MAX_PAGE)
    shown = found[skip : skip + top]
    answer: dict[str, Any] = {
        "totalRecords": len(found),
        "count": len(shown),
        "resultTruncated": "false",
        "facets": [],
        "data": shown,
    }
    if skip + top < len(found):
        answer["$skipToken"] = str(skip + top)
    return Response(200, body=answer)


def _number(options: Mapping[str, Any], *names: str) -> int:
    for name in names:
        if options.get(name) is not None:
            try:
                return max(0, int(options[name]))
            except (TypeError, ValueError, OverflowError):
                raise ArmError(_invalid(f"{name} is not a number")) from None
    return 0


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
