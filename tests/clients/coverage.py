"""`python -m tests.clients.coverage`: the page of operations × clients, from what `make test-clients COVERAGE=FILE` found."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fakeazure.routing import router
from tests.project.tree import ROOT

FILE = ROOT / "tests" / "clients" / "coverage.json"
PAGE = ROOT / "docs" / "reference" / "fakeazure-clients.md"


def operations(calls: Iterable[Mapping[str, Any]]) -> list[str]:
    """The operations, `METHOD pattern`, that were answered without an error."""
    found = set()
    for call in calls:
        match = router().find(call["method"], call["path"])
        if match is not None and call["status"] < 400:
            found.add(f"{match.route.method} {match.route.pattern}")
    return sorted(found)


def write(clients: Mapping[str, Mapping[str, Any]], to: Path) -> None:
    """Keep what clients did: counts of their operations, and the operations of Azure behind them. Others that are kept there stay."""
    kept = json.loads(to.read_text()) if to.exists() else {}
    to.write_text(json.dumps({**kept, **clients}, indent=1, sort_keys=True) + "\n")


def page(clients: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The page, line by line."""
    names = sorted(clients)
    yield "# Which clients do what"
    yield ""
    yield "Made by `make test-clients COVERAGE=tests/clients/coverage.json` and `python -m tests.clients.coverage`: real clients on a"
    yield "served cloud, and the operations that they asked for with success. What works is asserted or, for the documentation of az,"
    yield "succeeds as it stands there; a command that Azure refuses, too, works where it is refused. What is left out needs what is not"
    yield "emulated, and says so."
    yield ""
    states = ("works", "wrong", "missing", "left out")
    yield f"| client | {' | '.join(states)} | operations of Azure |"
    yield f"|---|{'---|' * (len(states) + 1)}"
    for name in names:
        counts = clients[name]["counts"]
        cells = (str(counts.get(state, 0)) for state in states)
        yield f"| {name} | {' | '.join(cells)} | {len(clients[name]['operations'])} |"
    done = {name: set(clients[name]["operations"]) for name in names}
    rows: dict[str, dict[str, list[str]]] = {}
    for route in router().routes:
        key = f"{route.namespace or 'any provider'}/{route.type}"
        for name in names:
            methods = rows.setdefault(key, {}).setdefault(name, [])
            if f"{route.method} {route.pattern}" in done[name] and route.method not in methods:
                methods.append(route.method)
    tried = {key: row for key, row in rows.items() if any(row.values())}
    yield ""
    yield f"{len(tried)} of {len(rows)} types are asked for by one of them at least."
    yield ""
    yield f"| type | {' | '.join(names)} |"
    yield f"|---|{'---|' * len(names)}"
    for key in sorted(tried, key=str.lower):
        yield f"| {key} | {' | '.join(' '.join(sorted(tried[key][name])) for name in names)} |"


def main() -> None:
    """Write the page anew."""
    PAGE.write_text("\n".join(page(json.loads(FILE.read_text()))) + "\n")


if __name__ == "__main__":
    main()
