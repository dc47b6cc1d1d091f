"""Prints, after a run, how many rows of the design documents' tables were tried: by release, by who asks, by how the Node was made."""

from __future__ import annotations

from typing import Any

import pytest

from harness.pytest_plugin.items import ScenarioItem
from tests.corpus.seed_count import Cell, cells_of, lines

CELLS = pytest.StashKey[dict[str, tuple[Cell, ...]]]()
_OUTPUT = "seed_cells"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Remembers what each scenario is about; a worker of pytest-xdist also for the process that started it, which collects nothing."""
    items = [item for item in session.items if isinstance(item, ScenarioItem)]
    cells = {item.nodeid: found for item in items if (found := tuple(cells_of(item.case)))}
    session.config.stash[CELLS] = cells
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[_OUTPUT] = {node: [list(cell) for cell in found] for node, found in cells.items()}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object | None) -> None:
    """A worker has ended and tells what its scenarios were about; each has collected all of them."""
    cells = node.config.stash.setdefault(CELLS, {})
    for name, found in getattr(node, "workeroutput", {}).get(_OUTPUT, {}).items():
        cells[name] = tuple(tuple(cell) for cell in found)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The count of what ran; skipped cases are counted apart."""
    cells = config.stash.get(CELLS, {})
    reports = [each for kind in terminalreporter.stats.values() for each in kind if isinstance(each, pytest.TestReport)]
    bad = {report.nodeid for report in reports if report.failed}
    good = {report.nodeid for report in reports if report.passed and report.when == "call"} - bad
    tried = {cell for node in good | bad for cell in cells.get(node, ())}
    held = {cell for node in good for cell in cells.get(node, ())}
    skipped = {cell for report in reports if report.skipped for cell in cells.get(report.nodeid, ())} - tried
    told = list(lines(tried, held, skipped))
    if told:
        terminalreporter.section("rows of the design documents")
        for line in told:
            terminalreporter.write_line(line)
