"""pytest in this process."""

from __future__ import annotations

import pytest

# imported once here: a run of pytest forgets what it has imported itself
import harness.pytest_plugin.items
import harness.world  # noqa: F401

__all__ = ["run"]


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Without what would take time or write files."""
    return project.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist", *arguments)
