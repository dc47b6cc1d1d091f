"""The event by which Karpenter says where a pod should schedule (core
pkg/controllers/provisioning/scheduling/events.go, NominatePodEvent).
"""

from __future__ import annotations

__all__ = ["NOMINATED", "machine_text", "nominated_node", "nomination"]

NOMINATED = "Nominated"
"""The reason of the event."""

_BEGIN = "Pod should schedule on: "


def nomination(nodeclaim: str | None, node: str | None) -> str:
    """Return the message of the event: the NodeClaim, the Node, or both where a NodeClaim has its Node."""
    return _BEGIN + machine_text(nodeclaim, node)


def machine_text(nodeclaim: str | None, node: str | None) -> str:
    """Return Karpenter's name of a machine in its sentences: `nodeclaim/NAME, node/NAME`, one of which it may lack."""
    names = [f"nodeclaim/{nodeclaim}"] if nodeclaim is not None else []
    names += [f"node/{node}"] if node is not None else []
    return ", ".join(names)


def nominated_node(message: str) -> tuple[str, str]:
    """Return (`node`, name) of the Node that the message of such an event names, (`nodeclaim`, name) where it names none."""
    kind, _, name = message.removeprefix(_BEGIN).rpartition(", ")[2].partition("/")
    return kind, name
