"""What the plugin keeps in pytest's stash: one runner for collection and run, so that both share their worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from harness.pytest_plugin.options import crds_override
from harness.pytest_plugin.traces import tracing_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.scenario.running.runner import Runner
    from harness.scenario.running.verdicts import Verdict

__all__ = ["AHEAD", "AUTOMATIC", "TAGS", "runner_of"]

TAGS: pytest.StashKey[set[str]] = pytest.StashKey()
"""The tags of scenarios that are declared as markers."""

AUTOMATIC: pytest.StashKey[bool] = pytest.StashKey()
"""There where nobody asked for the plugin but a file: then only files that say so are scenarios."""

AHEAD: pytest.StashKey[Callable[[str], tuple[Verdict, ...] | None]] = pytest.StashKey()
"""What other processes have found out about a test of this id; None if they did not."""

_RUNNER: pytest.StashKey[Runner] = pytest.StashKey()


def runner_of(config: pytest.Config) -> Runner:
    """The session's runner, made when it is first asked for."""
    if _RUNNER not in config.stash:
        from harness.scenario.running.runner import Runner

        config.stash[_RUNNER] = Runner(crds=crds_override(config))
        config.stash[_RUNNER].tracing = tracing_of(config)
    return config.stash[_RUNNER]
