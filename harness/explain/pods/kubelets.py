"""Errors of kubelets that end before they register a Node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, provider
from harness.kube.api.objects import Object, status_of
from harness.kube.api.versions import Version
from harness.world import World

__all__ = ["kubelet_failure", "kubelet_failures"]

_UNKNOWN = "unknown flag: "


def kubelet_failure(world: World, claim: Object) -> str:
    """Return the last error of the kubelet on a NodeClaim's machine, and the remedy where there is one; empty without an error."""
    machine = str(status_of(claim).get("providerID") or "").rpartition("/")[2]
    messages = [message for node, message in _errors(world, 0) if machine and node == machine]
    return f"the kubelet of {machine} ended: {_with_remedy(world, messages[-1])}" if messages else ""


def kubelet_failures(world: World, since: float) -> Iterator[str]:
    """Yield each error with which kubelets ended after a moment in virtual time, with the number of machines."""
    counts: dict[str, dict[str, None]] = {}
    for node, message in _errors(world, since):
        counts.setdefault(message, {})[node] = None
    for message, nodes in counts.items():
        first, more = next(iter(nodes)), len(nodes) - 1
        who = f"{first} and {more} more" if more else first
        yield f"the kubelet of {who} ended: {_with_remedy(world, message)}"


def _errors(world: World, since: float) -> Iterable[tuple[str, str]]:
    return (
        (str(line.values.get("node") or ""), line.message)
        for line in world.log
        if line.at >= since and line.controller == "kubelet" and line.level == "error"
    )


def _with_remedy(world: World, message: str) -> str:
    """Return the message, and for an unknown flag the first release that does not pass it to this kubelet."""
    flag = message.partition(_UNKNOWN)[2]
    minor = Version.parse(world.kubernetes).minor
    cured = [
        name for name in ALL_PROVIDER_RELEASES if minor >= provider(name).kubelet_flags_left_out.get(flag, minor + 1)
    ]
    if not cured:
        return message
    return (
        f"{message}, which provider {world.release.version} passes and Kubernetes {world.kubernetes} does not know; "
        f"provider {cured[0]} leaves it out"
    )
