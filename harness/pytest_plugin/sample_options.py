"""The options about samples."""

from __future__ import annotations

import pytest

from harness.pytest_plugin.option_group import OptionGroup

__all__ = ["add_sample_options", "check_sample_options"]


def add_sample_options(group: OptionGroup) -> None:
    """Declare the options."""
    group.addoption("--sample", type=int, metavar="N", help="run only N cases of each release line (1.13, 1.14, ...)")
    group.addoption("--sample-seed", type=int, default=1, metavar="S", help="which ones --sample draws (default 1)")


def check_sample_options(config: pytest.Config) -> None:
    """A usage error for a sample of no case."""
    if config.getoption("scenarios_sample") < 1:
        raise pytest.UsageError(f"--sample: {config.getoption('scenarios_sample')} is less than 1")
