"""Prints, after a run, how many rows of the design documents' tables were tried: by release, by who asks, by how the Node was made."""

from __future__ import annotations

import pytest

from harness.pytest_plugin.items import ScenarioItem
from tests.corpus.seed_count import Cell, cells_of, lines

CELLS = pytest.StashKey[dict[str, tuple[Cell, ...]]]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Remembers what each scenario is about. With pytest-xdist only the workers know."""
    cells = {item.nodeid: tuple(cells_of(item.case)) for item in session.items if isinstance(item, ScenarioItem)}
    session.config.stash[CELLS] = cells


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The count."""
    cells = config.stash.get(CELLS, {})
    reports = [each for kind in terminalreporter.stats.values() for each in kind if isinstance(each, pytest.TestReport)]
    bad = {report.nodeid for report in reports if report.failed}
    good = {report.nodeid for report in reports if report.passed and report.when == "call"} - bad
    tried = {cell for found in cells.values() for cell in found}
    held = {cell for node in good for cell in cells.get(node, ())}
    told = list(lines(tried, held))
    if told:
        terminalreporter.section("rows of the design documents")
        for line in told:
            terminalreporter.write_line(line)
