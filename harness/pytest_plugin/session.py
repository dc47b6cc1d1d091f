"""Parts that the tests of a session share: its runner, its traces, and the fixtures of tests in Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.pytest_plugin.options import TRACES, crds_override, release_override

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.scenario.expectations.verdicts import Verdict
    from harness.scenario.running.runner import Runner
    from harness.scenario.running.tracing import Tracing
    from harness.world import World

__all__ = ["AHEAD", "AUTOMATIC", "TAGS", "azure", "runner_of", "scenario_runner", "tracing_of", "world", "world_of"]

TAGS: pytest.StashKey[set[str]] = pytest.StashKey()
"""The tags of scenarios that are declared as markers."""

AUTOMATIC: pytest.StashKey[bool] = pytest.StashKey()
"""Set where a file alone asked for the plugin: then only files that name themselves scenarios are scenarios."""

AHEAD: pytest.StashKey[Callable[[str], tuple[Verdict, ...] | None]] = pytest.StashKey()
"""The verdicts of other processes on a test of this id; None without any."""

_RUNNER: pytest.StashKey[Runner] = pytest.StashKey()


def runner_of(config: pytest.Config) -> Runner:
    """Return the session's runner, made at its first use."""
    if _RUNNER not in config.stash:
        from harness.scenario.running.runner import Runner

        config.stash[_RUNNER] = Runner(crds=crds_override(config))
        config.stash[_RUNNER].tracing = tracing_of(config)
    return config.stash[_RUNNER]


def tracing_of(config: pytest.Config, cluster: str = "") -> Tracing | None:
    """Return the tracing of a runner, on one of several clusters in a folder of its own; a usage error for an impossible folder."""
    which = config.getoption("scenarios_harness_trace")
    named = config.getoption("scenarios_harness_trace_dir")
    if which is None:
        if named is not None:
            raise pytest.UsageError("--harness-trace-dir: nothing is written without --harness-trace=failed or =all")
        return None
    from harness.scenario.running.tracing import Tracing

    folder = config.rootpath / TRACES if named is None else config.invocation_params.dir / Path(named)
    if folder.exists() and not folder.is_dir():
        raise pytest.UsageError(f"--harness-trace-dir {folder}: a file; a folder is expected")
    return Tracing(folder / cluster, all=which == "all")


@pytest.fixture(scope="session")
def scenario_runner(pytestconfig: pytest.Config) -> Runner:
    """Run cases; their worlds share the catalogue and the instance types."""
    return runner_of(pytestconfig)


@pytest.fixture
def world(request: pytest.FixtureRequest, scenario_runner: Runner) -> World:
    """An empty world with the newest defaults, or with the inputs of `@pytest.mark.world(region="westus")`."""
    return world_of(request, scenario_runner)


@pytest.fixture
def azure(world: World) -> Any:
    """The cloud of `world`: its regions, market and journal."""
    return world.cloud


def world_of(request: pytest.FixtureRequest, scenario_runner: Runner) -> World:
    """Return the world of a test, by its marks."""
    from harness.world import World

    inputs: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("world"))):
        inputs |= mark.kwargs
    release = release_override(request.config)
    replaced = {**scenario_runner.shared.overrides, **({"karpenter": release} if release is not None else {})}
    return World(**{**inputs, **replaced}, caches=scenario_runner.shared.caches)
