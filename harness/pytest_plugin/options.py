"""The options of the plugin."""

from __future__ import annotations

import pytest

from harness.pytest_plugin.cluster_options import add_cluster_options, cluster_names

__all__ = ["add_options", "header", "release_override"]


def add_options(parser: pytest.Parser) -> None:
    """Declares them in a group of their own."""
    group = parser.getgroup("scenarios", "Karpenter on Azure scenarios")
    add_cluster_options(group)
    group.addoption(
        "--karpenter", choices=("simulated",), default="simulated", help="which Karpenter runs (default simulated)"
    )
    group.addoption("--release", metavar="R", help="release of the provider, in place of what the files say")


def release_override(config: pytest.Config) -> str | None:
    """The release of `--release`; a usage error for one that does not exist."""
    name: str | None = config.getoption("--release")
    if name is None:
        return None
    from harness.karpenter.releases import UnknownRelease, provider

    try:
        return provider(name).version
    except UnknownRelease as error:
        raise pytest.UsageError(f"--release: {error}") from None


def header(config: pytest.Config) -> list[str]:
    """The line under pytest's own, when an option is set."""
    release = release_override(config)
    lines = [f"scenarios: all with release {release}"] if release is not None else []
    clusters = cluster_names(config)
    return [*lines, f"scenarios: on {', '.join(clusters)}"] if clusters != ("memory",) else lines
