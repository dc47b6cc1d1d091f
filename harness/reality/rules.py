"""The verdict on two values of a field: which may differ, why, and by how much."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from harness.karpenter.labels import azure, core
from harness.kube.api.labels import HOSTNAME, UNSCHEDULABLE
from harness.kube.api.quantity import Quantity, QuantityError
from harness.kube.scheduling.taints import NO_SCHEDULE
from harness.reality.facts import State

__all__ = ["HASHES", "OTHER_HASH", "Excuse", "compared", "memory_bound", "share_off"]

Excuse: TypeAlias = tuple[re.Pattern[str], str]
"""Fields of one object whose other value says nothing, and why."""

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
    "nodeInfo.osImage": "each image has a version of its own",
    "lastPodEventTime": "a moment",
}
"""Fields whose other value only says that the image, the version or the hour is another one."""
_ITS_PODS = "it depends on the pods that the machine was made for"
_BY_HISTORY = re.compile(r"conditions\.(Consolidatable|Drifted|DisruptionReason)(\.reason)?")
_HISTORY = "it depends on what happened to the machine"
_MAY_BE_GONE: Mapping[str, str] = {
    "lastPodEventTime": "a moment, which is noted when a pod comes or goes",
    f"labels.{azure.AKS_CLUSTER}": "whether it was written depends on who made the machine and when",
}
"""Fields without which a machine is whole."""
_BY_SOMEBODY: Mapping[str, str] = dict.fromkeys(
    (f"taints.{UNSCHEDULABLE}:{NO_SCHEDULE}", "unschedulable"), "the Node is cordoned"
)
"""Fields that are there because of what somebody did to the Node."""
_CONDITIONS = "Ready|MemoryPressure|DiskPressure|PIDPressure|Launched|Registered|Initialized"
_RESOURCES = "cpu|memory|ephemeral-storage|pods|hugepages-1Gi|hugepages-2Mi"
_OURS_ALONE = re.compile(
    rf"(capacity|allocatable)\.({_RESOURCES})|addresses\.(InternalIP|Hostname)|startupTaints\..*"
    rf"|conditions\.({_CONDITIONS})(\.reason)?"
)
"""Fields that nobody but the kubelet and Karpenter writes: where there is none here, one is missing.

Other resources are those of device plugins; a second address of one type is one of another family or card.
"""
_QUANTITIES = re.compile(r"(capacity|allocatable)\..*")
_NOT_FOUND = "the simulation has no such field: somebody else writes it"
OTHER_HASH = "its NodePool or AKSNodeClass has another hash in the dump, or none: it was changed since"
HASHES = (core.NODEPOOL_HASH, azure.NODE_CLASS_HASH)
"""Annotations that hold the hash of a NodePool or an AKSNodeClass, on it and on its machines."""


def memory_bound(gib: float) -> float:
    """Return the share by which the rule for memory may be off: what firmware and kernel keep differs by generation (tests/recorded).

    `gib`: what the machine has, as its size says or as its kubelet sees it, which is up to half a GiB less.
    """
    return 0.001 if gib >= 15.5 else 0.004 if gib >= 6.5 else 0.0075


def compared(
    field: str, theirs: str | None, ours: str | None, gib: float, excuses: Iterable[Excuse] = ()
) -> tuple[State, str, float | None]:
    """Return the state of one fact, why it is not comparable, and the bound within which it is equal; None stands for no value.

    `excuses`: those of the object, of which the first that fits is taken.
    """
    if theirs == ours:
        return State.EQUAL, "", None
    excuse = next((why for pattern, why in excuses if pattern.fullmatch(field)), "")
    if why := excuse or _why_not(field, theirs, ours):
        return State.INCOMPARABLE, why, None
    if theirs is not None and ours is not None and _QUANTITIES.fullmatch(field):
        bound = memory_bound(gib) if field.endswith(".memory") else 0.0
        share = share_off(theirs, ours)
        if share is not None and share <= bound:
            return State.EQUAL, "", bound or None
    return State.DIFFERENT, "", None


def _why_not(field: str, theirs: str | None, ours: str | None) -> str:
    """Return why two values that differ say nothing, empty where they do."""
    if field.startswith(("requirements.", "resources.")):
        return _ITS_PODS
    if _BY_HISTORY.fullmatch(field):
        return _HISTORY
    if ours is None:
        return _BY_SOMEBODY.get(field, "" if _OURS_ALONE.fullmatch(field) else _NOT_FOUND)
    if theirs is None:
        return _MAY_BE_GONE.get(field, "")
    return _NAMED.get(field) or _OF_THE_DAY.get(field, "")


def share_off(expected: str, other: str) -> float | None:
    """Return the share by which two quantities differ, 1 at most; None for what is none."""
    try:
        amount, against = Quantity.parse(expected).nano, Quantity.parse(other).nano
    except QuantityError:
        return None
    difference = abs(amount - against)
    return difference / abs(amount) if difference < abs(amount) else float(difference > 0)
