"""Real clusters by name: started by one process, lent to another as plain data; and the remains of killed runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.clusters.control_plane.cluster import RealCluster
from harness.clusters.control_plane.pki import MissingTool
from harness.clusters.folders import abandoned
from harness.clusters.owner import lives
from harness.clusters.waiting import poll

if TYPE_CHECKING:
    from harness.clusters.remote.cluster import Attachable

__all__ = ["LEASED", "NAMES", "Lease", "borrow", "leftovers", "remove_leftovers", "start"]

Lease = Mapping[str, str]
"""A running cluster as data: `cluster` (its name) and the facts by which `borrow` reaches it."""

LEASED = ("apiserver", "kind")
"""Clusters that are worth sharing; an `http` cluster is made in a millisecond."""

NAMES = ("memory", "http", *LEASED)


def start(name: str, *, image: str | None = None) -> RealCluster:
    """Start a cluster of LEASED; it ends with this process at the latest. Raises MissingTool, naming what is missing."""
    if name == "apiserver":
        from harness.clusters.apiserver.cluster import ApiServerCluster

        return ApiServerCluster()
    from harness.clusters.kind.cluster import KindCluster

    return KindCluster(image=image)


def borrow(lease: Lease) -> Attachable:
    """Return the cluster of a lease; ending it (`close`) leaves the cluster running."""
    folder = Path(lease["folder"])
    if lease["cluster"] == "apiserver":
        from harness.clusters.apiserver.cluster import borrowed

        return borrowed(folder, int(lease["port"]))
    from harness.clusters.kind.cluster import BorrowedKind

    return BorrowedKind(folder, lease["container"])


def leftovers() -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the remains of killed runs on this machine: in words, and a function that removes them. Clusters of living processes stay."""
    from harness.clusters.kind.cluster import docker_available

    for folder in abandoned():
        yield f"folder {folder}", lambda folder=folder: shutil.rmtree(folder, ignore_errors=True)  # type: ignore[misc]
    try:
        docker_available()
    except MissingTool:
        return
    from harness.clusters.kind.container import LABEL, OWNER
    from harness.clusters.kind.reaper import labelled

    for cluster, owner in sorted(labelled(LABEL, OWNER).items()):
        if not lives(owner):
            yield f"kind cluster {cluster}", lambda cluster=cluster: _until_gone(f"{LABEL}={cluster}")  # type: ignore[misc]


def remove_leftovers() -> list[str]:
    """Remove all remains of killed runs. Return them in words."""
    removed = []
    for leftover, remove in leftovers():
        remove()
        removed.append(leftover)
    return removed


def _until_gone(label: str) -> None:
    """Remove containers, volumes and networks; a network goes once nothing is in it any more. Raises TimedOut, naming the remains."""
    from harness.clusters.kind.reaper import remove_all

    left: list[str] = []

    def gone() -> bool:
        left[:] = remove_all(label)
        return not left

    poll(gone, lambda: f"Docker to remove {', '.join(left)}", seconds=120, every=0.2)
