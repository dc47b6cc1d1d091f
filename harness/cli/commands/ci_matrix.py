"""`harness dev ci-matrix`: what the nightly run on clusters runs, as the matrix of a workflow.

A row is one run of pytest: the cases about one line of releases, on one kind of cluster with one version of Kubernetes, or a part of
them. Together the rows of a cluster and a version run every case that the corpus has for that cluster, each once.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from plainlines import json_text, print_document

__all__ = ["add_arguments", "matrix", "run"]

_PATHS = {"apiserver": "scenarios", "kind": "scenarios/labels"}
"""The scenarios of each backend. A machine of a kind cluster takes half a minute to join: there only what real kubelets decide."""

_NEWEST = 2
"""The number of Kubernetes versions that run where none is named."""

_MOST_JOBS = 256
"""https://docs.github.com/en/actions/reference/limits: jobs of a matrix in one run."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--release",
        action="append",
        metavar="R",
        help="provider release, or a line of them (1.6), whose cases run; repeatable (default: all lines)",
    )
    parser.add_argument(
        "--kubernetes",
        action="append",
        metavar="V",
        help=f"Kubernetes version, repeatable (default: the newest {_NEWEST} of which kind has an image)",
    )
    parser.add_argument("--cluster", action="append", choices=tuple(_PATHS), help="cluster, repeatable (default: all)")
    parser.add_argument(
        "--shards", type=int, default=1, metavar="N", help="parts that each run on apiserver is cut into (default 1)"
    )


def matrix(
    releases: Sequence[str] | None, versions: Sequence[str] | None, clusters: Sequence[str] | None, shards: int
) -> list[dict[str, Any]]:
    """One row for each release, Kubernetes version, cluster and shard. Raises ValueError for what does not exist."""
    from harness.clusters.kind.images import IMAGES, UnknownImage, image_for
    from harness.karpenter.releases import ALL_PROVIDER_RELEASES, UnknownRelease, releases_of
    from harness.karpenter.releases.order import line_of
    from harness.kube.api.versions import Version

    if shards < 1:
        raise ValueError(f"--shards: {shards} is less than 1")
    if shards > _MOST_JOBS:
        raise ValueError(f"--shards: {shards} is more than the {_MOST_JOBS} jobs that GitHub starts for a matrix")
    lines = dict.fromkeys(line_of(version) for version in ALL_PROVIDER_RELEASES)
    newest = sorted(IMAGES, key=Version.parse)[-_NEWEST:]
    rows = []
    for release in releases or lines:
        try:
            releases_of(release)
        except UnknownRelease as error:
            raise ValueError(f"--release: {error}") from None
        for version in versions or newest:
            try:
                image = image_for(version, {})
            except UnknownImage as error:
                raise ValueError(f"--kubernetes: {error.args[0]}") from None
            for cluster in clusters or _PATHS:
                parts = shards if cluster == "apiserver" else 1
                rows += [
                    {
                        "release": release.removeprefix("v"),
                        # the patch release that the image has, so that all clusters of a row are of one version
                        "kubernetes": image.partition("@")[0].rpartition(":v")[2],
                        "cluster": cluster,
                        "image": image,
                        "paths": _PATHS[cluster],
                        "shard": f"{number}/{parts}",
                    }
                    for number in range(1, parts + 1)
                ]
    return rows


def run(arguments: argparse.Namespace) -> int:
    """Print the matrix as JSON on one line: `{"include": [...]}`."""
    from harness.cli.output import bad_input

    try:
        rows = matrix(arguments.release, arguments.kubernetes, arguments.cluster, arguments.shards)
    except ValueError as error:
        return bad_input(str(error))
    print_document(json_text({"include": rows}, indent=None) + "\n")
    return 0
