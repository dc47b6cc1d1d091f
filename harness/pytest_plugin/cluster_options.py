"""The options about clusters."""

from __future__ import annotations

import pytest

from harness.pytest_plugin.option_group import OptionGroup

__all__ = ["add_cluster_options", "cluster_names"]


def add_cluster_options(group: OptionGroup) -> None:
    """Declare the options."""
    group.addoption(
        "--cluster",
        default="memory",
        metavar="NAMES",
        help="clusters to run scenarios on: memory (default), http, apiserver, kind; with several (memory,apiserver) each case runs "
        "on all and must come out the same",
    )
    group.addoption(
        "--require-cluster",
        action="store_true",
        help="a cluster that cannot be started fails the run instead of skipping cases",
    )
    group.addoption(
        "--kind-image", metavar="IMAGE", help="node image of kind clusters (default: HARNESS_KIND_IMAGE, or kind's own)"
    )


def cluster_names(config: pytest.Config) -> tuple[str, ...]:
    """The clusters of `--cluster`; a usage error for one that does not exist."""
    from harness.clusters.leases import NAMES

    names = tuple(filter(None, (name.strip() for name in config.getoption("scenarios_cluster").split(","))))
    unknown = [name for name in names if name not in NAMES]
    if unknown or not names:
        raise pytest.UsageError(f"--cluster: {', '.join(unknown) or 'empty'}; there are {', '.join(NAMES)}")
    return tuple(dict.fromkeys(names))
