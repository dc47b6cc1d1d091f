"""Fixtures: the runner that all scenarios of a session share, and `world` and `azure` for tests in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from harness.pytest_plugin.keys import runner_of
from harness.pytest_plugin.options import release_override

if TYPE_CHECKING:
    from harness.scenario.running.runner import Runner
    from harness.world import World

__all__ = ["azure", "scenario_runner", "world", "world_of"]


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
    """The world of a test, by its marks."""
    from harness.world import World

    inputs: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("world"))):
        inputs |= mark.kwargs
    release = release_override(request.config)
    replaced = {**scenario_runner.shared.overrides, **({"karpenter": release} if release is not None else {})}
    return World(**{**inputs, **replaced}, caches=scenario_runner.shared.caches)
