"""When Python looks for garbage in a run of thousands of scenarios: seldom.

Python looks for cycles of dead objects after every 700 new ones, which is made for small programs: a third of the time of such a run
goes into looking at the same living scenarios again.
"""

from __future__ import annotations

import gc

import pytest

__all__ = ["SELDOM", "GarbageSeldom"]

SELDOM = 1_000_000
"""Objects made and not yet gone before cycles among them are looked for."""


class GarbageSeldom:
    """A plugin for the sessions that collect scenario files; whoever has set a larger number, or zero, keeps it."""

    def __init__(self) -> None:
        first, *others = gc.get_threshold()
        if 0 < first < SELDOM:
            gc.set_threshold(SELDOM, *others)

    def pytest_collection_finish(self) -> None:
        """What was collected lives until the end: nobody needs to look through it."""
        gc.freeze()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """pytest looks through everything five times at the end, for what tests left open; scenarios in memory open nothing."""
        from harness.pytest_plugin.items import ScenarioItem

        if session.config.getoption("scenarios_cluster") == "memory" and all(
            isinstance(one, ScenarioItem) for one in session.items
        ):
            gc.freeze()
