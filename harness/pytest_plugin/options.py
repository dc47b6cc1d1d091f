"""The options of the plugin, and their checks: a value that cannot be is a usage error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from harness.reading.checkout import OPTION, Checkout
from harness.scenario.running.processes import processes_of

if TYPE_CHECKING:
    from pathlib import Path

    from harness.clusters.crd_files import CrdFiles

__all__ = [
    "TRACES",
    "add_options",
    "check_process_options",
    "check_sample_options",
    "checkout_of",
    "cluster_names",
    "crds_override",
    "declared_names",
    "header",
    "is_compared",
    "karpenters",
    "only_releases",
    "real_limit",
    "release_override",
]

TRACES = "harness-traces"
"""The default folder of traces, in the root folder."""

_BOTH = ("simulated", "real")

REAL_CLUSTERS = ("memory", "http", "apiserver", "kind")
"""Clusters that the real Karpenter can work on. In memory is the same as http: an API server over HTTPS for each case."""


_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "--cluster",
        {
            "default": "memory",
            "metavar": "NAMES",
            "help": "clusters to run scenarios on: memory (default), http, apiserver, kind; with several (memory,apiserver) each case runs "
            "on all and must come out the same",
        },
    ),
    (
        "--require-cluster",
        {"action": "store_true", "help": "a cluster that cannot be started fails the run instead of skipping cases"},
    ),
    (
        "--kind-image",
        {"metavar": "IMAGE", "help": "node image of kind clusters (default: HARNESS_KIND_IMAGE, or kind's own)"},
    ),
    (
        "--processes",
        {
            "type": processes_of,
            "metavar": "N",
            "help": "judge the cases of scenarios in N processes, auto in as many as there are cores; only in memory, "
            "where it takes less time than pytest-xdist's -n",
        },
    ),
    ("--shard", {"metavar": "I/N", "help": "run only part I of N, balanced by --shard-durations"}),
    (
        "--shard-durations",
        {
            "metavar": "FILE",
            "help": "JSON of seconds by test id, as a run writes it with --write-durations: the same for all parts; without it all "
            "tests count alike",
        },
    ),
    ("--write-durations", {"metavar": "FILE", "help": "write the seconds of each test, for --shard-durations"}),
    ("--sample", {"type": int, "metavar": "N", "help": "run only N cases of each release line (1.13, 1.14, ...)"}),
    ("--sample-seed", {"type": int, "default": 1, "metavar": "S", "help": "which ones --sample draws (default 1)"}),
    (
        "--karpenter",
        {
            "default": "simulated",
            "metavar": "NAMES",
            "help": "which Karpenter runs: simulated (default); simulated,real runs each case under both, the real one by "
            "HARNESS_KARPENTER, and fails where something else comes of it",
        },
    ),
    (
        "--record",
        {
            "metavar": "DIR",
            "help": "with --karpenter simulated,real: write what came of each real run into this folder",
        },
    ),
    (
        "--kept-differences",
        {
            "metavar": "FILE",
            "help": "known differences from the real Karpenter, with their reasons (default: tests/real/differences.yaml, if it is there)",
        },
    ),
    (
        "--real-limit",
        {
            "metavar": "DURATION",
            "help": "with --karpenter simulated,real: how much virtual time a case may take to be run in real time as well (default 1m)",
        },
    ),
    ("--release", {"metavar": "R", "help": "release of the provider, in place of what the files say"}),
    (
        "--only-release",
        {
            "action": "append",
            "metavar": "R",
            "help": "only the cases that are about this release of the provider (1.6: about any 1.6.x); repeatable",
        },
    ),
    ("--harness-trace", {"choices": ("failed", "all"), "help": "write a trace of the scenarios that fail, or of all"}),
    (
        "--harness-trace-dir",
        {"metavar": "DIR", "help": f"the folder of the traces (default {TRACES} in the root folder)"},
    ),
    (
        "--crds",
        {"metavar": "DIR", "help": "CRD files (or a release) to judge objects by, in place of what the files say"},
    ),
    (OPTION, {"action": "store_true", "help": "let scenarios name files outside the checkout that they are in"}),
)
"""Every option with its attributes."""


def add_options(parser: pytest.Parser) -> None:
    """Declare the options in a group of their own; their values are `config.getoption("scenarios_…")`."""
    group = _OwnNames(parser)
    for name, attributes in _OPTIONS:
        group.addoption(name, **attributes)


class _OwnNames:
    """A group of options. An option with the name of another plugin's or a conftest's is called `--scenarios-NAME`."""

    def __init__(self, parser: pytest.Parser) -> None:
        self._group = parser.getgroup("scenarios", "Karpenter on Azure scenarios")
        self._taken = declared_names(parser)

    def addoption(self, name: str, **attributes: Any) -> None:
        """Declare an option, as pytest's groups do; its value is `config.getoption("scenarios_…")`."""
        destination = "scenarios_" + name.removeprefix("--").replace("-", "_")
        self._group.addoption(f"--scenarios{name[1:]}" if name in self._taken else name, dest=destination, **attributes)


def release_override(config: pytest.Config) -> str | None:
    """Return the release of `--release`; a usage error for one that does not exist."""
    name: str | None = config.getoption("scenarios_release")
    if name is None:
        return None
    from harness.karpenter.releases import provider
    from harness.world.inputs import release_mistake

    mistake = release_mistake(name)
    if mistake is not None:
        raise pytest.UsageError(f"--release: {mistake}")
    return provider(name).version


def checkout_of(config: pytest.Config, file: Path) -> Checkout:
    """Return the checkout of the files that a file may name: its own, without git the rootdir; all with `--allow-outside`."""
    if config.getoption("scenarios_allow_outside"):
        return Checkout(None)
    return Checkout.around(file.parent, config.rootpath)


def only_releases(config: pytest.Config) -> frozenset[str] | None:
    """Return the releases of `--only-release`, None without it; a usage error for one that does not exist."""
    names: list[str] | None = config.getoption("scenarios_only_release")
    if not names:
        return None
    from harness.karpenter.releases import UnknownRelease, releases_of

    try:
        return frozenset(version for name in names for version in releases_of(name))
    except UnknownRelease as error:
        raise pytest.UsageError(f"--only-release: {error}") from None


def crds_override(config: pytest.Config) -> str | CrdFiles | None:
    """Return the CRDs of `--crds`, read anew; a usage error where they cannot be used."""
    name: str | None = config.getoption("scenarios_crds")
    if name is None:
        return None
    from harness.scenario.language.crds import CelEngineMissing, CrdDirectories, UnknownCrds

    try:
        return CrdDirectories().named(name, config.invocation_params.dir)
    except (UnknownCrds, CelEngineMissing) as error:
        raise pytest.UsageError(f"--crds: {error}") from None


def header(config: pytest.Config) -> list[str]:
    """Return the lines under pytest's own, when an option is set."""
    release = release_override(config)
    lines = [f"scenarios: all with release {release}"] if release is not None else []
    if config.getoption("scenarios_crds") is not None:
        lines.append(f"scenarios: CRDs of {config.getoption('scenarios_crds')}")
    clusters = cluster_names(config)
    return [*lines, f"scenarios: on {', '.join(clusters)}"] if clusters != ("memory",) else lines


def declared_names(parser: pytest.Parser) -> set[str]:
    """Return the names of all declared options."""
    groups = [*getattr(parser, "_groups", ()), getattr(parser, "_anonymous", None)]
    return {name for group in groups if group is not None for option in group.options for name in option.names()}


def cluster_names(config: pytest.Config) -> tuple[str, ...]:
    """Return the clusters of `--cluster`; a usage error for one that does not exist."""
    from harness.clusters.leases import NAMES

    names = tuple(filter(None, (name.strip() for name in config.getoption("scenarios_cluster").split(","))))
    unknown = [name for name in names if name not in NAMES]
    if unknown or not names:
        raise pytest.UsageError(f"--cluster: {', '.join(unknown) or 'empty'}; there are {', '.join(NAMES)}")
    return tuple(dict.fromkeys(names))


def karpenters(config: pytest.Config) -> tuple[str, ...]:
    """Return the names of `--karpenter`; a usage error for others."""
    names = tuple(filter(None, (name.strip() for name in config.getoption("scenarios_karpenter").split(","))))
    if names not in (("simulated",), _BOTH):
        raise pytest.UsageError(f"--karpenter {config.getoption('scenarios_karpenter')}: simulated, or simulated,real")
    if len(names) == 1 and config.getoption("scenarios_record") is not None:
        raise pytest.UsageError("--record is about --karpenter simulated,real")
    if len(names) == 1 and config.getoption("scenarios_real_limit") is not None:
        raise pytest.UsageError("--real-limit is about --karpenter simulated,real")
    real_limit(config)
    if len(names) > 1 and config.getoption("scenarios_cluster") not in REAL_CLUSTERS:
        raise pytest.UsageError(
            f"--cluster {config.getoption('scenarios_cluster')}: --karpenter simulated,real has one of {', '.join(REAL_CLUSTERS[1:])}"
        )
    return names


def real_limit(config: pytest.Config) -> float:
    """Return the seconds of `--real-limit`; a usage error for a text that is no duration."""
    from harness.scenario.comparing.limit import limit_of

    try:
        return limit_of(config.getoption("scenarios_real_limit"))
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


def is_compared(config: pytest.Config) -> bool:
    """Return whether the real one runs, too."""
    return bool(config.getoption("scenarios_karpenter") != "simulated") and len(karpenters(config)) > 1


def check_process_options(config: pytest.Config) -> None:
    """Raise a usage error for an impossible number, and where processes would share a cluster or a Karpenter."""
    count = config.getoption("scenarios_processes")
    if count < 1:
        raise pytest.UsageError(f"--processes: {count} is less than 1")
    if config.getoption("scenarios_cluster") != "memory" or config.getoption("scenarios_karpenter") != "simulated":
        raise pytest.UsageError(
            "--processes: only in memory, with the simulated Karpenter; elsewhere pytest-xdist's -n divides the cases"
        )
    if config.getoption("numprocesses", None):
        raise pytest.UsageError("--processes: pytest-xdist's -n starts processes of its own; one of both is enough")


def check_sample_options(config: pytest.Config) -> None:
    """Raise a usage error for a sample of no case."""
    if config.getoption("scenarios_sample") < 1:
        raise pytest.UsageError(f"--sample: {config.getoption('scenarios_sample')} is less than 1")
