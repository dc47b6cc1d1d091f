"""The facts of an object, by field, and what two values of a field say of each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from harness.kube.api.labels import HOSTNAME, UNSCHEDULABLE
from harness.kube.api.objects import Object, is_mapping, labels_of, mapping_in
from harness.kube.api.quantity import Quantity, QuantityError
from harness.kube.scheduling.taints import NO_SCHEDULE
from lazyrecords import dataclass

__all__ = ["ABSENT", "Comparison", "State", "compared", "facts_of", "memory_bound"]


class State(StrEnum):
    """The agreement of a value of the cluster with ours."""

    EQUAL = "equal"
    DIFFERENT = "different"
    INCOMPARABLE = "not comparable"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One fact: the field of an object, its value in the dump, ours, and where it stands (`FILE:LINE:COLUMN`).

    `why` says why the values cannot be compared; `within` is the bound by which they are taken to be equal, None where they are the same.
    """

    object: str
    field: str
    place: str
    theirs: str
    ours: str
    state: State
    why: str = ""
    within: float | None = None

    def value(self) -> dict[str, Any]:
        """For JSON."""
        value = {"object": self.object, "field": self.field, "place": self.place, "state": str(self.state)}
        more = {"within": self.within} if self.within is not None else {}
        return {**value, "theirs": self.theirs, "ours": self.ours, **({"why": self.why} if self.why else {}), **more}


ABSENT = "(absent)"

_NAMED: Mapping[str, str] = {
    f"labels.{HOSTNAME}": "a name",
    "labels.kubernetes.azure.com/cluster": "the name of the cluster",
    "labels.kubernetes.azure.com/nodenetwork-vnetguid": "an id of the network",
    "labels.kubernetes.azure.com/network-name": "a name",
    "labels.kubernetes.azure.com/network-resourcegroup": "a name",
    "labels.kubernetes.azure.com/network-subnet": "a name",
    "labels.kubernetes.azure.com/network-subscription": "an id of the subscription",
    "labels.kubernetes.azure.com/kubelet-identity-client-id": "an id of the cluster",
}
"""Fields whose values belong to one cluster alone."""
_VERSIONED: Mapping[str, str] = {
    "nodeInfo.kubeletVersion": "the Node is older or younger than the version that is taken",
    "nodeInfo.kernelVersion": "each image has a kernel of its own",
    "nodeInfo.containerRuntimeVersion": "each image has a runtime of its own",
    "labels.kubernetes.azure.com/node-image-version": "images come out every week",
    "imageID": "images come out every week",
}
"""Fields whose other value only says that the image, or the version, is another one."""
_BY_SOMEBODY: Mapping[str, str] = {f"taints.{UNSCHEDULABLE}:{NO_SCHEDULE}": "the Node is cordoned"}
"""Fields that are there because of what somebody did to the Node."""
_INFO = ("architecture", "operatingSystem", "osImage", "kernelVersion", "containerRuntimeVersion", "kubeletVersion")
_OTHERS_WRITE = re.compile(
    r"conditions\.(?!Ready$|MemoryPressure$|DiskPressure$|PIDPressure$|Launched$|Registered$|Initialized$)"
)
_NOT_FOUND = "the simulation has no such field: somebody else writes it"


def memory_bound(gib: float) -> float:
    """Return the share by which the rule for memory may be off: what firmware and kernel keep differs by generation (tests/recorded).

    `gib`: what the machine has, as its size says or as its kubelet sees it, which is up to half a GiB less.
    """
    return 0.001 if gib >= 15.5 else 0.004 if gib >= 6.5 else 0.0075


def facts_of(obj: Object) -> Iterator[tuple[str, str, tuple[str | int, ...]]]:
    """Yield every fact of a Node or a NodeClaim: field, value, and its path in the object.

    A field that is empty, or of another form than Kubernetes gives it, is no fact.
    """
    for key, value in mapping_in(labels_of(obj)).items():
        yield f"labels.{key}", str(value), ("metadata", "labels", key)
    status = mapping_in(obj.get("status"))
    for side in ("capacity", "allocatable"):
        for name, value in mapping_in(status.get(side)).items():
            yield f"{side}.{name}", str(value), ("status", side, name)
    info = mapping_in(status.get("nodeInfo"))
    for name in _INFO:
        if info.get(name):
            yield f"nodeInfo.{name}", str(info[name]), ("status", "nodeInfo", name)
    for number, condition in _entries(status, "conditions"):
        if condition.get("type"):
            path = ("status", "conditions", number, "status")
            yield f"conditions.{condition['type']}", str(condition.get("status")), path
    for number, taint in _entries(mapping_in(obj.get("spec")), "taints"):
        field = f"taints.{taint.get('key')}:{taint.get('effect')}"
        yield field, str(taint.get("value") or ""), ("spec", "taints", number)
    if status.get("imageID"):
        yield "imageID", str(status["imageID"]), ("status", "imageID")
    for number, address in _entries(status, "addresses"):
        yield f"addresses.{address.get('type')}", "there", ("status", "addresses", number)


def _entries(part: Object, name: str) -> Iterator[tuple[int, Object]]:
    """Yield the objects of a list with their numbers."""
    value = part.get(name)
    for number, entry in enumerate(value if isinstance(value, list | tuple) else ()):
        if is_mapping(entry):
            yield number, entry


def compared(field: str, theirs: str | None, ours: str | None, gib: float) -> tuple[State, str, float | None]:
    """Return the state of one fact, why it is not comparable, and the bound within which it is equal; None stands for no value."""
    if theirs == ours:
        return State.EQUAL, "", None
    if field in _NAMED:
        return State.INCOMPARABLE, _NAMED[field], None
    if ours is None and field in _BY_SOMEBODY:
        return State.INCOMPARABLE, _BY_SOMEBODY[field], None
    if ours is None and (_OTHERS_WRITE.match(field) or field.startswith(("labels.", "taints."))):
        return State.INCOMPARABLE, _NOT_FOUND, None
    if theirs is None or ours is None:
        return State.DIFFERENT, "", None
    if field in _VERSIONED:
        return State.INCOMPARABLE, _VERSIONED[field], None
    bound = memory_bound(gib) if field.endswith(".memory") else 0.0
    share = _share(theirs, ours)
    if share is not None and share <= bound:
        return State.EQUAL, "", bound or None
    return State.DIFFERENT, "", None


def _share(theirs: str, ours: str) -> float | None:
    """The share by which two quantities differ; None for what is none."""
    try:
        expected, other = Quantity.parse(theirs).value(), Quantity.parse(ours).value()
    except QuantityError:
        return None
    return abs(expected - other) / expected if expected else float(expected != other)
