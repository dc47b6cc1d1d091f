"""`--karpenter simulated,real`: each case is run under both, and what came of it must be the same."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.clusters.leases import LEASED
from harness.pytest_plugin.clusters import runners_of
from harness.pytest_plugin.options import real_limit
from harness.pytest_plugin.session import runner_of, tracing_of
from plainlines import printable, printable_lines

if TYPE_CHECKING:
    from harness.scenario.comparing.comparison import Comparison
    from harness.scenario.comparing.real_runs import RealRuns
    from harness.scenario.language.cases import Case

__all__ = ["compare", "summary"]

_RUNS: pytest.StashKey[RealRuns] = pytest.StashKey()
_PROPERTY = "karpenter"


def compare(case: Case, request_node: pytest.Item) -> None:
    """Run a case under both. Fails where they differ, skips what cannot be compared."""
    from harness.reports.agreement import render_difference
    from harness.scenario.comparing.comparison import Result

    config = request_node.config
    runs = _runs_of(config)
    if runners_of(config).names[0] in LEASED:
        runners_of(config).prepare(case)
    comparison = runs.compare(case)
    request_node.user_properties.append((_PROPERTY, comparison.to_json()))
    if comparison.result is Result.DIFFER:
        pytest.fail(render_difference(comparison), pytrace=False)
    if comparison.result is not Result.AGREE:
        pytest.skip(printable(f"{comparison.result}: {comparison.reason}"))


def summary(reports: Iterable[Any], *, verbose: bool) -> str:
    """The table of all reports; empty when nothing was compared."""
    from harness.reports.agreement import render_agreement

    comparisons = list(_comparisons(reports))
    return render_agreement(comparisons, verbose=verbose) if comparisons else ""


def _comparisons(reports: Iterable[Any]) -> Iterable[Comparison]:
    from harness.scenario.comparing.comparison import Comparison

    for report in reports:
        for name, value in getattr(report, "user_properties", ()):
            if name == _PROPERTY and getattr(report, "when", "") == "call" and not hasattr(report, "context"):
                yield Comparison.from_json(value)


def _runs_of(config: pytest.Config) -> RealRuns:
    """Return the session's comparisons. Skips where there is no controller or no way to start one."""
    if _RUNS not in config.stash:
        from harness.reading.problems import ScenarioError
        from harness.scenario.comparing.kept import KeptDifferences
        from harness.scenario.comparing.real_runs import RealRuns
        from harness.world.real.binaries import VARIABLE, BinariesWrong, binaries
        from harness.world.real.process import missing_tools

        try:
            controllers = binaries()
            kept_differences = (
                KeptDifferences.read(path) if (path := _kept_file(config)) is not None else KeptDifferences()
            )
        except (BinariesWrong, ScenarioError) as error:
            pytest.exit(printable_lines(str(error)), returncode=pytest.ExitCode.USAGE_ERROR)
        if not controllers:
            pytest.skip(f"the real Karpenter needs {VARIABLE}: the path of its controller")
        if lacking := missing_tools():
            pytest.skip(f"the real Karpenter cannot be started: {lacking}")
        shared = runner_of(config).shared
        record_folder = config.getoption("scenarios_record")
        record = Path(config.invocation_params.dir) / str(record_folder) if record_folder is not None else None
        overrides, cluster = shared.overrides, None
        if runners_of(config).names[0] in LEASED:
            cluster, version = runners_of(config).live()
            overrides = {**overrides, "kubernetes": version}
        config.stash[_RUNS] = RealRuns(
            shared.caches,
            controllers,
            kept_differences,
            overrides,
            record=record,
            cluster=cluster,
            tracing=tracing_of(config),
            limit=real_limit(config),
        )
        config.add_cleanup(config.stash[_RUNS].close)
    return config.stash[_RUNS]


def _kept_file(config: pytest.Config) -> Path | None:
    named_file = config.getoption("scenarios_kept_differences")
    if named_file is not None:
        return Path(config.invocation_params.dir) / str(named_file)
    usual = config.rootpath / "tests" / "real" / "differences.yaml"
    return usual if usual.exists() else None
