"""The option about processes."""

from __future__ import annotations

import pytest

from harness.pytest_plugin.option_group import OptionGroup
from harness.scenario.running.processes import processes_of

__all__ = ["add_process_options", "check_process_options"]


def add_process_options(group: OptionGroup) -> None:
    """Declare the option."""
    group.addoption(
        "--processes",
        type=processes_of,
        metavar="N",
        help="judge the cases of scenarios in N processes, auto in as many as there are cores; only in memory, where it takes less time "
        "than pytest-xdist's -n",
    )


def check_process_options(config: pytest.Config) -> None:
    """A usage error for a number that there cannot be, and where processes would share a cluster or a Karpenter."""
    count = config.getoption("scenarios_processes")
    if count < 1:
        raise pytest.UsageError(f"--processes: {count} is less than 1")
    if config.getoption("scenarios_cluster") != "memory" or config.getoption("scenarios_karpenter") != "simulated":
        raise pytest.UsageError(
            "--processes: only in memory, with the simulated Karpenter; elsewhere pytest-xdist's -n divides the cases"
        )
    if config.getoption("numprocesses", None):
        raise pytest.UsageError("--processes: pytest-xdist's -n starts processes of its own; one of both is enough")
