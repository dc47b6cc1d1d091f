"""The verdict on two values of a field: which may differ, why, and by how much."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from harness.karpenter.labels import azure, core
from harness.kube.api.labels import HOSTNAME, UNSCHEDULABLE
from harness.kube.api.quantity import Quantity, QuantityError
from harness.kube.scheduling.taints import NO_SCHEDULE
from harness.reality.facts import State

__all__ = ["HASHES", "compared", "memory_bound"]

_NAME, _ID = "a name", "an id of the machine"
_NAMED: Mapping[str, str] = {
    f"labels.{HOSTNAME}": _NAME,
    "labels.kubernetes.azure.com/cluster": "the name of the cluster",
    "labels.kubernetes.azure.com/nodenetwork-vnetguid": "an id of the network",
    "labels.kubernetes.azure.com/network-name": _NAME,
    "labels.kubernetes.azure.com/network-resourcegroup": _NAME,
    "labels.kubernetes.azure.com/network-subnet": _NAME,
    "labels.kubernetes.azure.com/network-subscription": "an id of the subscription",
    "labels.kubernetes.azure.com/kubelet-identity-client-id": "an id of the cluster",
    "nodeName": _NAME,
    "providerID": _ID,
}
"""Fields whose values belong to one cluster alone."""
_OF_THE_DAY: Mapping[str, str] = {
    "nodeInfo.kubeletVersion": "the Node is older or younger than the version that is taken",
    "nodeInfo.kubeProxyVersion": "the Node is older or younger than the version that is taken",
    "nodeInfo.kernelVersion": "each image has a kernel of its own",
    "nodeInfo.containerRuntimeVersion": "each image has a runtime of its own",
    "labels.kubernetes.azure.com/node-image-version": "images come out every week",
    "imageID": "images come out every week",
    "lastPodEventTime": "a moment",
}
"""Fields whose other value only says that the image, the version or the hour is another one."""
_ITS_PODS = "it depends on the pods that the machine was made for"
_BY_HISTORY = re.compile(r"conditions\.(Consolidatable|Drifted|DisruptionReason)(\.reason)?|startupTaints\..*")
_HISTORY = "it depends on what happened to the machine"
_BY_SOMEBODY: Mapping[str, str] = dict.fromkeys(
    (f"taints.{UNSCHEDULABLE}:{NO_SCHEDULE}", "unschedulable"), "the Node is cordoned"
)
"""Fields that are there because of what somebody did to the Node."""
_CONDITIONS = "Ready|MemoryPressure|DiskPressure|PIDPressure|Launched|Registered|Initialized"
_OURS_ALONE = re.compile(rf"(capacity|allocatable|addresses)\..*|conditions\.({_CONDITIONS})(\.reason)?")
"""Fields that nobody but the kubelet and Karpenter writes: where there is none here, one is missing."""
_NOT_FOUND = "the simulation has no such field: somebody else writes it"
_OTHER_HASH = "its NodePool or AKSNodeClass has another hash in the dump, or none: it was changed since"
_OF_THE_POOL = re.compile(r"expireAfter|terminationGracePeriod|nodeClassRef\..*")
"""Fields of the NodePool's template, without labels and taints, which others write, too."""
HASHES: Mapping[str, str] = {
    f"annotations.{core.NODEPOOL_HASH}": core.NODEPOOL_HASH,
    f"annotations.{azure.NODE_CLASS_HASH}": azure.NODE_CLASS_HASH,
}
"""Fields that hold the hash of a NodePool or an AKSNodeClass, and the annotation that has it there."""


def memory_bound(gib: float) -> float:
    """Return the share by which the rule for memory may be off: what firmware and kernel keep differs by generation (tests/recorded).

    `gib`: what the machine has, as its size says or as its kubelet sees it, which is up to half a GiB less.
    """
    return 0.001 if gib >= 15.5 else 0.004 if gib >= 6.5 else 0.0075


def compared(
    field: str, theirs: str | None, ours: str | None, gib: float, changed: Collection[str]
) -> tuple[State, str, float | None]:
    """Return the state of one fact, why it is not comparable, and the bound within which it is equal; None stands for no value.

    `changed`: the annotations of the hashes that the machine's NodePool and AKSNodeClass have no more.
    """
    if theirs == ours:
        return State.EQUAL, "", None
    if why := _why_not(field, theirs, ours, changed):
        return State.INCOMPARABLE, why, None
    bound = memory_bound(gib) if field.endswith(".memory") else 0.0
    share = None if theirs is None or ours is None else _share(theirs, ours)
    if share is not None and share <= bound:
        return State.EQUAL, "", bound or None
    return State.DIFFERENT, "", None


def _why_not(field: str, theirs: str | None, ours: str | None, changed: Collection[str]) -> str:
    """Return why two values that differ say nothing, empty where they do."""
    if field.startswith(("requirements.", "resources.")):
        return _ITS_PODS
    if _BY_HISTORY.fullmatch(field):
        return _HISTORY
    if ours is None:
        return _BY_SOMEBODY.get(field, "" if _OURS_ALONE.fullmatch(field) else _NOT_FOUND)
    if HASHES.get(field) in changed or (core.NODEPOOL_HASH in changed and _OF_THE_POOL.fullmatch(field)):
        return _OTHER_HASH
    if theirs is None:
        return ""
    return _NAMED.get(field) or _OF_THE_DAY.get(field, "")


def _share(theirs: str, ours: str) -> float | None:
    """Return the share by which two quantities differ; None for what is none."""
    try:
        expected, other = Quantity.parse(theirs).value(), Quantity.parse(ours).value()
    except QuantityError:
        return None
    return abs(expected - other) / expected if expected else float(expected != other)
