"""The entry point that pytest loads wherever this package is installed; it loads `harness.pytest_plugin` at the first scenario file.

A repository without scenario files pays for this module alone. `-p no:karpenter_azure_harness` turns it off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "OPTIONS",
    "azure",
    "pytest_collect_file",
    "pytest_configure",
    "pytest_load_initial_conftests",
    "scenario_runner",
    "world",
]

PLUGIN = "harness.pytest_plugin"

OPTIONS = frozenset(
    {
        "--allow-outside",
        "--cluster",
        "--crds",
        "--harness-trace",
        "--harness-trace-dir",
        "--karpenter",
        "--kept-differences",
        "--kind-image",
        "--only-release",
        "--processes",
        "--real-limit",
        "--record",
        "--release",
        "--require-cluster",
        "--sample",
        "--sample-seed",
        "--shard",
        "--shard-durations",
        "--write-durations",
    }
)
"""The plugin's own options: a command line with one of them needs the plugin."""

_LISTS = frozenset({"-h", "--help", "--markers"})
_PYTEST = (9, 0)


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: Sequence[str]
) -> Iterator[None]:
    """Load the plugin where its options are used: after the conftests, whose options keep their names."""
    yield
    named = {argument.partition("=")[0] for argument in args}
    if named & _LISTS or (named & OPTIONS and _ours(named & OPTIONS, parser)):
        _load(early_config)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark of Python tests."""
    if not config.pluginmanager.has_plugin(PLUGIN):
        config.addinivalue_line("markers", "world(**inputs): inputs of the `world` fixture of karpenter-azure-harness")


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> Any:
    """Load the plugin at the first scenario file; from then on it collects by itself."""
    if file_path.suffix not in (".yaml", ".yml") or parent.config.pluginmanager.has_plugin(PLUGIN):
        return None
    from harness.sniffing import names_scenario

    if not names_scenario(file_path):
        return None
    return _load(parent.config).pytest_collect_file(parent, file_path)


@pytest.fixture(scope="session")
def scenario_runner(pytestconfig: pytest.Config) -> Any:
    """Run cases; their worlds share the catalogue and the instance types."""
    _load(pytestconfig)
    from harness.pytest_plugin.session import runner_of

    return runner_of(pytestconfig)


@pytest.fixture
def world(request: pytest.FixtureRequest, scenario_runner: Any) -> Any:
    """An empty world with the newest defaults, or with the inputs of `@pytest.mark.world(region="westus")`."""
    from harness.pytest_plugin.session import world_of

    return world_of(request, scenario_runner)


@pytest.fixture
def azure(world: Any) -> Any:
    """The cloud of `world`: its regions, market and journal."""
    return world.cloud


def _ours(names: set[str], parser: pytest.Parser) -> bool:
    from harness.pytest_plugin.options import declared_names

    return bool(names - declared_names(parser))


def _load(config: pytest.Config) -> Any:
    """Return the plugin, which collects only files that name a scenario; raise a usage error where pytest is too old for it."""
    manager = config.pluginmanager
    if not manager.has_plugin(PLUGIN):
        if pytest.version_tuple[:2] < _PYTEST:
            need = ".".join(map(str, _PYTEST))
            raise pytest.UsageError(f"scenario files need pytest {need}: pip install 'karpenter-azure-harness[pytest]'")
        manager.import_plugin(PLUGIN)
        from harness.pytest_plugin.session import AUTOMATIC

        config.stash[AUTOMATIC] = True
    return manager.get_plugin(PLUGIN)
