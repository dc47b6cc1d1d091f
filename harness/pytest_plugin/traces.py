"""`--harness-trace`: traces of the cases of a session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.scenario.running.tracing import Tracing

__all__ = ["add_trace_options", "tracing_of"]

_FOLDER = "harness-traces"


def add_trace_options(group: Any) -> None:
    """Declare them."""
    group.addoption(
        "--harness-trace", choices=("failed", "all"), help="write a trace of the scenarios that fail, or of all"
    )
    group.addoption(
        "--harness-trace-dir", metavar="DIR", help=f"the folder of the traces (default {_FOLDER} in the root folder)"
    )


def tracing_of(config: pytest.Config, cluster: str = "") -> Tracing | None:
    """What a runner does with traces, on one of several clusters in a folder of its own; a usage error for a folder that cannot be."""
    which = config.getoption("scenarios_harness_trace")
    named = config.getoption("scenarios_harness_trace_dir")
    if which is None:
        if named is not None:
            raise pytest.UsageError("--harness-trace-dir: nothing is written without --harness-trace=failed or =all")
        return None
    from harness.scenario.running.tracing import Tracing

    folder = config.rootpath / _FOLDER if named is None else config.invocation_params.dir / Path(named)
    if folder.exists() and not folder.is_dir():
        raise pytest.UsageError(f"--harness-trace-dir {folder}: a file; a folder is expected")
    return Tracing(folder / cluster, all=which == "all")
