"""`harness ci-matrix`: what the nightly run on clusters runs, as the matrix of a workflow."""

from __future__ import annotations

import argparse
import json
from typing import Any

__all__ = ["add_arguments", "matrix", "run"]

_CLUSTERS = ("apiserver", "kind")
_RELEASES = ("1.6.5", "1.10.2", "1.14.0")
"""One provider release of each era of its CRDs that is still in use."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("--release", action="append", metavar="R", help="provider release, repeatable (default: a few)")
    parser.add_argument(
        "--kubernetes", action="append", metavar="V", help="Kubernetes version, repeatable (default: kind's newest)"
    )
    parser.add_argument("--cluster", action="append", choices=_CLUSTERS, help="cluster, repeatable (default: all)")
    parser.add_argument(
        "--shards", type=int, default=1, metavar="N", help="parts that each run is cut into (default 1)"
    )


def matrix(
    releases: list[str] | None, versions: list[str] | None, clusters: list[str] | None, shards: int
) -> list[dict[str, Any]]:
    """One row for each release, Kubernetes version, cluster and shard. Raises ValueError for what does not exist."""
    from harness.clusters.kind.images import IMAGES, UnknownImage, image_for
    from harness.karpenter.releases import UnknownRelease, provider

    if shards < 1:
        raise ValueError(f"--shards: {shards} is less than 1")
    newest = sorted(IMAGES, key=lambda version: [int(part) for part in version.split(".")])[-3:]
    rows = []
    for release in releases or _RELEASES:
        try:
            name = provider(release).version
        except UnknownRelease as error:
            raise ValueError(f"--release: {error}") from None
        for version in versions or newest:
            try:
                image = image_for(version, {})
            except UnknownImage as error:
                raise ValueError(f"--kubernetes: {error.args[0]}") from None
            for cluster in clusters or _CLUSTERS:
                rows += [
                    {
                        "release": name,
                        "kubernetes": version,
                        "cluster": cluster,
                        "image": image,
                        "shard": f"{number}/{shards}",
                    }
                    for number in range(1, shards + 1)
                ]
    return rows


def run(arguments: argparse.Namespace) -> int:
    """Prints the matrix as JSON on one line: `{"include": [...]}`."""
    from harness.cli.output import bad_input

    try:
        rows = matrix(arguments.release, arguments.kubernetes, arguments.cluster, arguments.shards)
    except ValueError as error:
        return bad_input(str(error))
    print(json.dumps({"include": rows}))
    return 0
