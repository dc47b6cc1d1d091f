"""The ports of nodes that pods take, as kube-scheduler's NodePorts plugin compares them.

Sources: kubernetes pkg/scheduler/util/utils.go (GetHostPorts), kube-scheduler framework/types.go (HostPortInfo).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from harness.kube.api.containers import sidecars_of
from harness.kube.api.objects import Object, spec_of
from harness.kube.api.versions import Version

__all__ = ["KNOWS_SIDECARS", "NodePort", "node_ports", "ports_of_sidecars"]

KNOWS_SIDECARS = Version(1, 33, 6)
"""From this version on the ports of sidecars count (kubernetes #132040, #133390)."""

_ALL = "0.0.0.0"


class NodePort(NamedTuple):
    """One port of a node that a container binds; addresses are compared as texts, and `0.0.0.0` alone is all of them."""

    address: str
    protocol: str
    port: int

    def conflicts(self, other: NodePort) -> bool:
        """Return whether both cannot be bound on one node."""
        return self[1:] == other[1:] and (self.address == other.address or _ALL in (self.address, other.address))


def node_ports(pod: Object) -> list[NodePort]:
    """Return the node ports of the pod's containers."""
    return _of(spec_of(pod).get("containers") or ())


def ports_of_sidecars(pod: Object) -> list[NodePort]:
    """Return the node ports of the init containers that stay."""
    return _of(sidecars_of(pod))


def _of(containers: Iterable[Object]) -> list[NodePort]:
    return [
        NodePort(port.get("hostIP") or _ALL, port.get("protocol") or "TCP", port["hostPort"])
        for container in containers
        for port in container.get("ports") or ()
        if port.get("hostPort")
    ]
