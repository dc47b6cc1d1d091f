"""The options of the plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from harness.pytest_plugin.cluster_options import add_cluster_options, cluster_names
from harness.pytest_plugin.option_group import declared_names
from harness.pytest_plugin.process_options import add_process_options
from harness.pytest_plugin.real_options import add_real_options
from harness.pytest_plugin.sample_options import add_sample_options
from harness.pytest_plugin.shards import add_shard_options
from harness.pytest_plugin.traces import add_trace_options
from harness.reading.checkout import OPTION, Checkout

if TYPE_CHECKING:
    from pathlib import Path

    from harness.clusters.crd_files import CrdFiles

__all__ = ["add_options", "checkout_of", "crds_override", "header", "only_releases", "release_override"]


def add_options(parser: pytest.Parser) -> None:
    """Declare them in a group of their own; their values are `config.getoption("scenarios_…")`."""
    group = _OwnNames(parser)
    add_cluster_options(group)
    add_process_options(group)
    add_shard_options(group)
    add_sample_options(group)
    add_real_options(group)
    group.addoption("--release", metavar="R", help="release of the provider, in place of what the files say")
    group.addoption(
        "--only-release",
        action="append",
        metavar="R",
        help="only the cases that are about this release of the provider (1.6: about any 1.6.x); repeatable",
    )
    add_trace_options(group)
    group.addoption(
        "--crds", metavar="DIR", help="CRD files (or a release) to judge objects by, in place of what the files say"
    )
    group.addoption(OPTION, action="store_true", help="let scenarios name files outside the checkout that they are in")


class _OwnNames:
    """A group of options. One whose name another plugin or a conftest has is called `--scenarios-NAME`."""

    def __init__(self, parser: pytest.Parser) -> None:
        self._group = parser.getgroup("scenarios", "Karpenter on Azure scenarios")
        self._taken = declared_names(parser)

    def addoption(self, name: str, **attributes: Any) -> None:
        """As pytest's groups have it."""
        destination = "scenarios_" + name.removeprefix("--").replace("-", "_")
        self._group.addoption(f"--scenarios{name[1:]}" if name in self._taken else name, dest=destination, **attributes)


def release_override(config: pytest.Config) -> str | None:
    """The release of `--release`; a usage error for one that does not exist."""
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
    """What a file may name files of: its checkout, without git what is below the rootdir; all with `--allow-outside`."""
    if config.getoption("scenarios_allow_outside"):
        return Checkout(None)
    return Checkout.around(file.parent, config.rootpath)


def only_releases(config: pytest.Config) -> frozenset[str] | None:
    """The releases of `--only-release`, None without it; a usage error for one that does not exist."""
    names: list[str] | None = config.getoption("scenarios_only_release")
    if not names:
        return None
    from harness.karpenter.releases import UnknownRelease, releases_of

    try:
        return frozenset(version for name in names for version in releases_of(name))
    except UnknownRelease as error:
        raise pytest.UsageError(f"--only-release: {error}") from None


def crds_override(config: pytest.Config) -> str | CrdFiles | None:
    """The CRDs of `--crds`, read anew; a usage error where they cannot be used."""
    name: str | None = config.getoption("scenarios_crds")
    if name is None:
        return None
    from harness.scenario.language.crds import CelEngineMissing, CrdDirectories, UnknownCrds

    try:
        return CrdDirectories().named(name, config.invocation_params.dir)
    except (UnknownCrds, CelEngineMissing) as error:
        raise pytest.UsageError(f"--crds: {error}") from None


def header(config: pytest.Config) -> list[str]:
    """The line under pytest's own, when an option is set."""
    release = release_override(config)
    lines = [f"scenarios: all with release {release}"] if release is not None else []
    if config.getoption("scenarios_crds") is not None:
        lines.append(f"scenarios: CRDs of {config.getoption('scenarios_crds')}")
    clusters = cluster_names(config)
    return [*lines, f"scenarios: on {', '.join(clusters)}"] if clusters != ("memory",) else lines
