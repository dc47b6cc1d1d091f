"""`harness run --karpenter simulated,real`: what it needs, and how it says that it has it not."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from harness.cli.worlds import InputError

if TYPE_CHECKING:
    from harness.scenario.comparing.runner import ComparingRunner
    from harness.scenario.running.runner import Runner

__all__ = ["comparing_runner"]


def comparing_runner(arguments: argparse.Namespace, runner: Runner) -> ComparingRunner | None:
    """Return the runner of cases where both Karpenters are asked for. Raises InputError, ScenarioError for the file of differences."""
    if arguments.karpenter == "simulated":
        if arguments.kept_differences is not None:
            raise InputError("--kept-differences is about --karpenter simulated,real")
        if arguments.real_limit is not None:
            raise InputError("--real-limit is about --karpenter simulated,real")
        return None
    from harness.scenario.comparing.kept import KeptDifferences
    from harness.scenario.comparing.limit import limit_of
    from harness.scenario.comparing.runner import ComparingRunner
    from harness.world.real.binaries import VARIABLE, BinariesWrong, binaries
    from harness.world.real.process import missing_tools

    if arguments.n != 1:
        raise InputError("-n: --karpenter simulated,real runs one case at a time; pytest -n runs several")
    try:
        limit = limit_of(arguments.real_limit)
    except ValueError as error:
        raise InputError(str(error)) from None
    try:
        by_release = binaries()
    except BinariesWrong as error:
        raise InputError(str(error)) from None
    if not by_release:
        raise InputError(
            f"--karpenter simulated,real needs {VARIABLE}: the path of the controller, or RELEASE=PATH,RELEASE=PATH"
        )
    if lacking := missing_tools():
        raise InputError(f"--karpenter simulated,real: {lacking}")
    differences = KeptDifferences.read(arguments.kept_differences) if arguments.kept_differences else KeptDifferences()
    return ComparingRunner(runner, by_release, differences, limit)
