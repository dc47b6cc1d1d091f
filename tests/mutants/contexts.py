"""pytest plugin for the run that records what each test reaches: a coverage context per test, and the names of failed tests."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

FAILED: pytest.StashKey[set[str]] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[FAILED] = set()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    running = coverage.Coverage.current()
    if running is not None:
        running.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        if running is not None:
            running.switch_context("")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[pytest.TestReport]:
    report: pytest.TestReport = yield
    if report.failed:
        item.config.stash[FAILED].add(item.nodeid)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    failed = sorted(session.config.stash[FAILED])
    Path(os.environ["MUTANTS_FAILED"]).write_text(json.dumps(failed))
