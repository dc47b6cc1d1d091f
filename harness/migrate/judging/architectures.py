"""Processor architectures of Nodes: whether a workload's images run on those that it would get, no dump says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from harness.kube.api.labels import ARCH
from harness.kube.api.objects import Object, labels_of
from harness.wording import first_few

__all__ = ["architectures_of", "unproven_images"]


def architectures_of(nodes: Iterable[Object | None]) -> frozenset[str]:
    """Return the architectures of Nodes (`amd64`, `arm64`)."""
    return frozenset(arch for node in nodes if node is not None and (arch := labels_of(node).get(ARCH)))


def unproven_images(before: Set[str], running: Set[str], after: Set[str]) -> Iterator[str]:
    """Yield a sentence where pods may get a Node of an architecture on which nobody has seen their images run.

    `before`: of all agent pools that may have taken them; `running`: of the Nodes that they are on; `after`: of those that they may get.
    """
    proven = running or (before if len(before) == 1 else frozenset())
    unproven = sorted(after - proven)
    if not unproven or (not running and not before):
        return
    where = f"they ran on {first_few(sorted(proven), 2)}" if proven else "no file says where they ran"
    keep = first_few(sorted(proven), 2) if proven else f"{' or '.join(sorted(after))}"
    yield (
        f"its pods may get {first_few(unproven, 2)} Nodes, for which nothing says that there are images: {where}; "
        f"nodeSelector kubernetes.io/arch: {keep} decides it"
    )
