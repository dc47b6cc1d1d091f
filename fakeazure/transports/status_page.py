"""The page at `/` for a browser: what is there, what is used of which quota, what was asked last. No scripts, nothing loaded."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import sha256
from html import escape

from fakeazure.cloud import FakeAzure
from fakeazure.coverage import operations
from fakeazure.journal import Call
from fakeazure.routing import router
from fakeazure.timers import timestamp

_ROWS = 200
"""The number of a table's rows that somebody reads."""
_STYLE = (
    ":root{color-scheme:light dark;--ink:#1f2328;--dim:#59636e;--line:#d9dee3;--paper:#fff;--bad:#b3261e}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--dim:#9aa4af;--line:#30363d;--paper:#101418;--bad:#ff8a80}}"
    "*{box-sizing:border-box}body{font:14px/1.5 system-ui,sans-serif;margin:0 auto;padding:1.5rem;max-width:80rem;"
    "color:var(--ink);background:var(--paper)}h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}"
    "p{color:var(--dim);margin:.25rem 0;overflow-wrap:anywhere}code{font-size:13px}"
    ".table{overflow-x:auto}table{border-collapse:collapse;min-width:min(100%,24rem)}"
    "th,td{text-align:left;padding:.3rem 1.25rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top;white-space:nowrap}"
    "th{color:var(--dim);font-weight:600}td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}"
    "tr.bad td{color:var(--bad)}@media(max-width:600px){body{padding:1rem}th,td{padding-right:.9rem}}"
)
POLICY = (
    "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    f"style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'"
)
"""The page's Content-Security-Policy: its own style, and nothing else."""
_NUMBERS = frozenset({"used", "limit", "status", "operations", "seen", "fired"})
"""Columns that are set flush right."""


def render(cloud: FakeAzure) -> bytes:
    """The page as HTML."""
    return "\n".join(_lines(cloud)).encode()


def _lines(cloud: FakeAzure) -> Iterator[str]:
    names = cloud.state.settings
    title = f"fakeazure: {escape(names.location)}"
    yield f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title>"
    yield "<meta name=viewport content='width=device-width,initial-scale=1'><link rel=icon href='data:,'>"
    yield f"<style>{_STYLE}</style></head><body><h1>{title}</h1>"
    yield f"<p>{timestamp(cloud.now())[:19].replace('T', ' ')} UTC</p>"
    yield f"<p>Subscription <code>{names.subscription}</code>, tenant <code>{names.tenant}</code></p>"
    yield from _machines(cloud)
    yield from _resources(cloud)
    yield from _market(cloud)
    running = [
        (operation.kind, operation.location, timestamp(operation.started)[11:19])
        for operation in cloud.state.operations.running()
    ]
    yield from _table("Long operations that are running", ("operation", "region", "since"), running)
    calls = cloud.journal.calls[::-1]
    yield from _table(
        f"Calls: {cloud.journal.last}, the last first",
        ("time", "method", "resource", "status", "error", "declared fault"),
        [
            (
                timestamp(call.time)[11:19],
                call.method,
                _short(call),
                str(call.status),
                call.code or "",
                call.fault or "",
            )
            for call in calls[:_ROWS]
        ],
        bad={place for place, call in enumerate(calls[:_ROWS]) if call.status >= 400},
        left=len(calls) - _ROWS,
    )
    served = operations(router().routes)
    providers = dict.fromkeys(operation.provider for operation in served)
    rows = [(provider, str(sum(operation.provider == provider for operation in served))) for provider in providers]
    yield from _table("Operations that are served", ("provider", "operations"), rows)
    yield "</body></html>"


def _short(call: Call) -> str:
    """Return a call's subject, without the subscription and the namespace that most have in common."""
    path = call.path.rpartition("/providers/")[2] if "/providers/" in call.path else call.path
    return path if len(path) <= 90 else f"{path[:60]}…{path[-29:]}"


def _machines(cloud: FakeAzure) -> Iterator[str]:
    vms = cloud.vms()
    rows = [
        (
            vm.name,
            vm.size,
            vm.zone or "regional",
            vm.priority,
            str(vm.document["properties"].get("provisioningState", "")),
        )
        for vm in vms[:_ROWS]
    ]
    bad = {place for place, row in enumerate(rows) if row[-1] == "Failed"}
    header = ("name", "size", "zone", "priority", "state")
    yield from _table(f"Virtual machines: {len(vms)}", header, rows, bad=bad, left=len(vms) - _ROWS)


def _resources(cloud: FakeAzure) -> Iterator[str]:
    rows = sorted(
        (entry.id.type, entry.id.name, entry.id.group) for entry in cloud.state.store.all() if len(entry.id.types) == 1
    )
    others = [row for row in rows if row[0] != "Microsoft.Compute/virtualMachines"]
    yield from _table(
        f"Other resources: {len(others)}", ("type", "name", "group"), others[:_ROWS], left=len(others) - _ROWS
    )


def _market(cloud: FakeAzure) -> Iterator[str]:
    names = cloud.state.settings
    usages = cloud.market.usages(names.subscription, names.location)
    used = [
        (str(usage["name"]["value"]), str(usage["currentValue"]), str(usage["limit"]))  # type: ignore[index]
        for usage in usages
        if usage["currentValue"]
    ]
    full = {place for place, (_, now, limit) in enumerate(used) if int(now) >= int(limit)}
    yield from _table("Quota in use", ("usage", "used", "limit"), used, bad=full)
    shelves = [
        (str(shelf.where.size), shelf.where.zone, shelf.where.priority, f"{shelf.left} {shelf.unit}")
        for shelf in cloud.market.stock.shelves
    ]
    yield from _table("Stock that is counted", ("size", "zone", "priority", "left"), shelves)
    faults = [(fault.what, str(fault.where), str(fault.seen), str(fault.fired)) for fault in cloud.market.faults.all]
    yield from _table("Declared faults", ("fault", "of", "seen", "fired"), faults)


def _table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, bad: Collection[int] = (), left: int = 0
) -> Iterator[str]:
    shown_rows = list(rows)
    yield f"<h2>{escape(title)}</h2>"
    if not shown_rows:
        yield "<p>none</p>"
        return
    number = [" class=number" if name in _NUMBERS else "" for name in header]
    yield "<div class=table><table><tr>"
    yield "".join(f"<th{style}>{escape(name)}</th>" for name, style in zip(header, number, strict=True)) + "</tr>"
    for place, row in enumerate(shown_rows):
        yield "<tr class=bad>" if place in bad else "<tr>"
        yield "".join(f"<td{style}>{escape(str(cell))}</td>" for cell, style in zip(row, number, strict=True)) + "</tr>"
    yield "</table></div>"
    if left > 0:
        yield f"<p>and {left} more</p>"
