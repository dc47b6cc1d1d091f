"""The facts of an object, by field, and what two values of a field say of each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from harness.kube.api.labels import HOSTNAME
from harness.kube.api.objects import Object, conditions_of, labels_of, spec_of, status_of
from harness.kube.api.quantity import Quantity, QuantityError
from lazyrecords import dataclass

__all__ = ["ABSENT", "Comparison", "State", "compared", "facts_of", "memory_bound", "missing"]


class State(StrEnum):
    """How a value of the cluster and ours stand to each other."""

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
        found = {"object": self.object, "field": self.field, "place": self.place, "state": str(self.state)}
        more = {"within": self.within} if self.within is not None else {}
        return {**found, "theirs": self.theirs, "ours": self.ours, **({"why": self.why} if self.why else {}), **more}


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
    """Every fact of a Node or a NodeClaim: field, value, and its path in the object."""
    for key, value in labels_of(obj).items():
        yield f"labels.{key}", str(value), ("metadata", "labels", key)
    status = status_of(obj)
    for side in ("capacity", "allocatable"):
        for name, value in (status.get(side) or {}).items():
            yield f"{side}.{name}", str(value), ("status", side, name)
    for name in (
        "architecture",
        "operatingSystem",
        "osImage",
        "kernelVersion",
        "containerRuntimeVersion",
        "kubeletVersion",
    ):
        if name in (info := status.get("nodeInfo") or {}):
            yield f"nodeInfo.{name}", str(info[name]), ("status", "nodeInfo", name)
    for number, condition in enumerate(conditions_of(obj)):
        yield (
            f"conditions.{condition['type']}",
            str(condition.get("status")),
            ("status", "conditions", number, "status"),
        )
    for number, taint in enumerate(spec_of(obj).get("taints") or ()):
        text = f"{taint.get('value') or ''}:{taint.get('effect')}"
        yield f"taints.{taint.get('key')}", text, ("spec", "taints", number)
    if "imageID" in status:
        yield "imageID", str(status["imageID"]), ("status", "imageID")
    for number, address in enumerate(status.get("addresses") or ()):
        yield f"addresses.{address.get('type')}", "there", ("status", "addresses", number)


def compared(field: str, theirs: str, ours: str | None, gib: float) -> tuple[State, str, float | None]:
    """The state of one fact, why it is not comparable, and the bound within which it is equal."""
    if theirs == ours:
        return State.EQUAL, "", None
    if field in _NAMED:
        return State.INCOMPARABLE, _NAMED[field], None
    if ours is None and (_OTHERS_WRITE.match(field) or field.startswith(("labels.", "taints."))):
        return State.INCOMPARABLE, _NOT_FOUND, None
    if ours is not None and field in _VERSIONED:
        return State.INCOMPARABLE, _VERSIONED[field], None
    bound = memory_bound(gib) if field.endswith(".memory") else 0.0
    share = _share(theirs, ours)
    if share is not None and share <= bound:
        return State.EQUAL, "", bound or None
    return State.DIFFERENT, "", None


def missing(field: str) -> tuple[State, str]:
    """The state of a fact that only the simulation has, and why it is not comparable."""
    return (State.INCOMPARABLE, _NAMED[field]) if field in _NAMED else (State.DIFFERENT, "")


def _share(theirs: str, ours: str | None) -> float | None:
    """The share by which two quantities differ; None for what is none."""
    try:
        one, other = Quantity.parse(theirs).value(), Quantity.parse(ours or "").value()
    except QuantityError:
        return None
    return abs(one - other) / one if one else float(one != other)
