"""When Python looks for garbage in a run of thousands of scenarios, as `harness.garbage` says."""

from __future__ import annotations

import pytest

from harness import garbage

__all__ = ["GarbageSeldom"]


class GarbageSeldom:
    """A plugin for the sessions that collect scenario files."""

    def __init__(self) -> None:
        garbage.look_seldom()

    def pytest_collection_finish(self) -> None:
        """What was collected lives until the end: nobody needs to look through it."""
        garbage.keep()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """A case leaves a world; a test in Python may leave anything or nothing, so that it is not worth a look of its own."""
        from harness.pytest_plugin.items import ScenarioItem

        if isinstance(item, ScenarioItem):
            garbage.after_world()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """pytest looks through everything five times at the end, for what tests left open; scenarios in memory open nothing."""
        from harness.pytest_plugin.items import ScenarioItem

        if session.config.getoption("scenarios_cluster") == "memory" and all(
            isinstance(item, ScenarioItem) for item in session.items
        ):
            garbage.keep()
