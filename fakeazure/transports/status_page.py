"""The page at `/` for a browser: what is there, what is used of which quota, what was asked last. No scripts, nothing loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from fakeazure.cloud import FakeAzure
from fakeazure.coverage import operations
from fakeazure.routing import router
from fakeazure.timers import timestamp

_CALLS = 100
_STYLE = (
    "body{font:14px system-ui,sans-serif;margin:2em;max-width:90em;color:#222;background:#fff}"
    "table{border-collapse:collapse;margin:.5em 0 2em}td,th{text-align:left;padding:.2em 1em .2em 0;"
    "border-bottom:1px solid #ddd;vertical-align:top}h2{margin-top:1.5em}.bad{color:#b00}code{font-size:13px}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#111}td,th{border-color:#333}.bad{color:#f66}}"
)


def render(cloud: FakeAzure) -> bytes:
    """The page as HTML."""
    return "\n".join(_lines(cloud)).encode()


def _lines(cloud: FakeAzure) -> Iterator[str]:
    names = cloud.state.settings
    yield "<!doctype html><html lang=en><head><meta charset=utf-8><title>fakeazure</title>"
    yield f"<meta name=viewport content='width=device-width'><style>{_STYLE}</style></head><body>"
    yield f"<h1>fakeazure: {escape(names.location)}</h1>"
    yield f"<p>Subscription <code>{names.subscription}</code>, tenant <code>{names.tenant}</code>, {timestamp(cloud.now())[:19]} UTC</p>"
    resources = [
        (
            entry.id.type,
            entry.id.name,
            entry.id.group,
            str(entry.document.get("properties", {}).get("provisioningState", "")),
        )
        for entry in cloud.state.store.all()
        if len(entry.id.types) == 1
    ]
    yield from _table("Resources", ("type", "name", "group", "state"), sorted(resources))
    yield from _market(cloud)
    running = [(one.kind, one.location, timestamp(one.started)[:19]) for one in cloud.state.operations.running()]
    yield from _table("Long operations that are running", ("operation", "region", "since"), running)
    calls = cloud.journal.calls[-_CALLS:][::-1]
    yield from _table(
        f"The last {len(calls)} of {cloud.journal.last} calls",
        ("time", "method", "path", "status", "error", "declared fault"),
        [
            (timestamp(one.time)[11:19], one.method, one.path, str(one.status), one.code or "", one.fault or "")
            for one in calls
        ],
    )
    served = operations(router().routes)
    rows = [
        (provider, str(sum(one.provider == provider for one in served)))
        for provider in dict.fromkeys(one.provider for one in served)
    ]
    yield from _table("Operations that are served", ("provider", "operations"), rows)
    yield "</body></html>"


def _market(cloud: FakeAzure) -> Iterator[str]:
    names = cloud.state.settings
    usages = cloud.market.usages(names.subscription, names.location)
    used = [
        (str(one["name"]["value"]), str(one["currentValue"]), str(one["limit"]))  # type: ignore[index]
        for one in usages
        if one["currentValue"]
    ]
    yield from _table("Quota in use", ("usage", "used", "limit"), used)
    shelves = [
        (str(one.where.size), one.where.zone, one.where.priority, f"{one.left} {one.unit}")
        for one in cloud.market.stock.shelves
    ]
    yield from _table("Stock that is counted", ("size", "zone", "priority", "left"), shelves)
    yield from _table("Declared faults", ("fault",), [(str(one),) for one in cloud.market.faults.all])


def _table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    found = list(rows)
    yield f"<h2>{escape(title)}</h2>"
    if not found:
        yield "<p>none</p>"
        return
    yield "<table><tr>" + "".join(f"<th>{escape(name)}</th>" for name in header) + "</tr>"
    for row in found:
        yield "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
    yield "</table>"
