"""The pytest plugin: scenario files become tests, one for each case, with a subtest for each expectation.

`harness.pytest_entry` loads it at the first scenario file. ``pytest_plugins = ("harness.pytest_plugin",)`` in the root conftest does so at
once, and takes files of a folder `scenarios` and those named on the command line for scenarios, too. Tests in Python get the fixtures
`world` and `azure`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.pytest_plugin.options import add_options, header
from harness.pytest_plugin.session import azure, scenario_runner, world
from plainlines import joined, printable_lines

if TYPE_CHECKING:
    from harness.pytest_plugin.items import ScenarioFile

__all__ = [
    "azure",
    "pytest_addoption",
    "pytest_cmdline_main",
    "pytest_collect_file",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_configure_node",
    "pytest_report_header",
    "pytest_report_teststatus",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "pytest_testnodedown",
    "pytest_xdist_make_scheduler",
    "scenario_runner",
    "world",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark of Python tests, and refuse impossible options before anything is collected."""
    config.addinivalue_line(
        "markers", "world(**inputs): inputs of the `world` fixture, as World takes them: karpenter, region, azure, ..."
    )
    if hasattr(config, "workerinput"):
        return
    if config.getoption("scenarios_karpenter") != "simulated" or any(
        config.getoption(f"scenarios_{name}") is not None for name in ("record", "real_limit")
    ):
        from harness.pytest_plugin.options import karpenters

        karpenters(config)
    if config.getoption("scenarios_cluster") != "memory":
        from harness.pytest_plugin.options import cluster_names

        cluster_names(config)
    if (
        config.getoption("scenarios_harness_trace") is not None
        or config.getoption("scenarios_harness_trace_dir") is not None
    ):
        from harness.pytest_plugin.session import tracing_of

        tracing_of(config)
    if config.getoption("scenarios_sample") is not None:
        from harness.pytest_plugin.options import check_sample_options

        check_sample_options(config)
    if any(config.getoption(f"scenarios_{name}") for name in ("shard", "shard_durations", "write_durations")):
        from harness.pytest_plugin.selection import check_shard_options

        check_shard_options(config)
    if config.getoption("scenarios_processes") is not None:
        from harness.pytest_plugin.options import check_process_options
        from harness.pytest_plugin.processes import Ahead
        from harness.scenario.running.processes import can_fork

        check_process_options(config)
        count: int = config.getoption("scenarios_processes")
        if count > 1 or can_fork():  # `auto` is one where none can be forked: pytest's own
            config.pluginmanager.register(Ahead(count), "harness-processes")
    if config.getoption("scenarios_write_durations"):
        from harness.pytest_plugin.selection import Durations

        config.pluginmanager.register(Durations(Path(config.getoption("scenarios_write_durations"))))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select the tests of `--only-release`, `--sample` and `--shard`, and order cases by what they need of a real cluster."""
    if config.getoption("scenarios_only_release"):
        from harness.pytest_plugin.selection import select_releases

        select_releases(config, items)
    if config.getoption("scenarios_sample") is not None:
        from harness.pytest_plugin.selection import select_sample

        select_sample(config, items)
    if config.getoption("scenarios_shard"):
        from harness.pytest_plugin.selection import select_shard

        select_shard(config, items)
    if config.getoption("scenarios_cluster") != "memory":
        from harness.pytest_plugin.clusters import by_definitions

        by_definitions(config, items)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Start clusters for a worker that pytest-xdist is about to start."""
    if node.config.getoption("scenarios_cluster") != "memory":
        from harness.pytest_plugin.clusters import configure_worker

        configure_worker(node)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object | None) -> None:
    """Note that a worker has ended: its clusters are free, and its use of them is known."""
    if node.config.getoption("scenarios_cluster") != "memory":
        from harness.pytest_plugin.clusters import release_worker

        release_worker(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Group cases on clusters, so that a worker keeps the CRDs and machines of the case before."""
    if config.getoption("scenarios_cluster") == "memory" or config.getoption("dist") == "each":
        return None
    from harness.pytest_plugin.selection import scheduling

    return scheduling(config, log)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Report a worker's use of its clusters."""
    if session.config.getoption("scenarios_cluster") != "memory" and hasattr(session.config, "workeroutput"):
        from harness.pytest_plugin.clusters import report_home

        report_home(session.config)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the costs of the clusters, and the agreement of two Karpenters."""
    if config.getoption("scenarios_karpenter") != "simulated":
        from harness.pytest_plugin.real import summary as agreement

        reports = [report for stat in terminalreporter.stats.values() for report in stat]
        table = agreement(reports, verbose=config.get_verbosity() > 0)
        if table:
            terminalreporter.section("simulated and real")
            terminalreporter.write(printable_lines(table) + "\n")
    if config.getoption("scenarios_cluster") != "memory":
        from harness.pytest_plugin.clusters import summary

        lines = summary(config)
        if lines:
            terminalreporter.section("clusters")
            terminalreporter.write(joined(lines) + "\n")


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: Any, config: pytest.Config) -> tuple[str, str, str] | None:
    """Count held expectations without a letter: with `-q`, too, progress is that of cases and ends at 100 %."""
    if isinstance(report, pytest.SubtestReport) and report.passed and config.get_verbosity("subtests") <= 0:
        return "subtests passed", "", ""
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """List the tags of the scenarios below the arguments with `--markers`, too: pytest does so before it collects anything."""
    if config.option.markers:
        from harness.pytest_plugin.items import declare_tags

        declare_tags(config)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Return the lines at the top of a run: unusual options."""
    return header(config)


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> ScenarioFile | None:
    """Collect scenario files; a file on the command line counts as one where somebody asked for the plugin."""
    if file_path.suffix not in (".yaml", ".yml"):
        return None
    from harness.pytest_plugin.session import AUTOMATIC
    from harness.sniffing import is_scenario_file, names_scenario

    if AUTOMATIC in parent.config.stash:
        if not names_scenario(file_path):
            return None
    elif not parent.session.isinitpath(file_path) and not is_scenario_file(file_path):
        return None
    from harness.pytest_plugin.items import ScenarioFile
    from harness.pytest_plugin.processes import GarbageSeldom

    if not parent.config.pluginmanager.has_plugin("harness-garbage"):
        parent.config.pluginmanager.register(GarbageSeldom(), "harness-garbage")
    return ScenarioFile.from_parent(parent, path=file_path)
