"""States of pods, NodeClaims and Nodes, read off the changes of a cluster in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from harness.karpenter.labels.azure import AKS_SCALE_SET_PRIORITY
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL, SPOT
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import (
    Key,
    Object,
    condition,
    condition_is,
    conditions_of,
    controller_of,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    owners_of,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.api.quantity import QuantityError
from harness.kube.scheduling.pods import is_terminal, pod_requests
from harness.kube.scheduling.taints import taint_text
from harness.trace.amounts import amounts, numbers
from harness.trace.changes import Seen, changed_fields
from harness.trace.facts import Applied, ClaimState, Condition, NodeState, PodState, Usage, Write
from harness.trace.header import Fact

__all__ = ["States"]

_WITH_CONDITIONS = frozenset({"NodeClaim", "Node", "NodePool", "AKSNodeClass"})
_UNTOLD = frozenset({"Lease", "Event"})
_OF_SERVER = frozenset({"uid", "creationTimestamp", "generation", "resourceVersion", "managedFields"})
_STAGES = ("Launched", "Registered", "Initialized")

Place = tuple[str, int]
Price = Callable[[float, str, str], float | None]


class States:
    """Turns changes into facts. `seconds` turns a moment into virtual seconds; `places` are lines of manifests by reference."""

    def __init__(self, seconds: Callable[[int], float], places: Mapping[str, Place], price: Price) -> None:
        self._seconds = seconds
        self._places = places
        self._price = price
        self._owners: dict[str, str] = {}
        self._requests: dict[str, Mapping[str, float]] = {}
        self._on: dict[str, dict[str, None]] = {}
        self._allocatable: dict[str, Mapping[str, float]] = {}
        self._stirred: dict[str, None] = {}
        self._seen: dict[str, tuple[bool, tuple[str, ...]]] = {}

    def facts(self, changes: Iterable[Seen]) -> Iterator[Fact]:
        """The facts of all changes, in their order."""
        now = -1.0
        for change in changes:
            if change.key.kind in _UNTOLD:
                continue
            t = self._seconds(change.at)
            if t != now:
                yield from self._usage(now)
                now = t
            yield from self._facts(t, change)
        yield from self._usage(now)

    def _facts(self, t: float, change: Seen) -> Iterator[Fact]:
        name = change.key.reference
        if change.sent is not None or (change.by == "user" and change.verb == "delete"):
            yield self._applied(t, change, name)
        changed = {}
        if change.before is not None and change.after is not None:
            changed = changed_fields(change.before, change.after)
        yield Write(t, name, change.verb, change.by, change.subresource, changed, change.status, change.error)
        if change.status:
            return
        if change.key.kind in _WITH_CONDITIONS and change.after is not None:
            yield from _conditions(t, name, change.before, change.after)
        obj = change.after if change.after is not None else change.before
        if obj is None:
            return
        if change.key.kind == "Pod":
            yield from self._pod(t, change, obj)
        elif change.key.kind == "NodeClaim":
            yield from _claim(t, change, obj)
        elif change.key.kind == "Node":
            yield from self._node(t, change, obj)
        elif change.after is not None and (owner := controller_of(obj)) is not None:
            self._owners[uid_of(obj)] = Key(owner["kind"], namespace_of(obj), owner["name"]).reference

    def _applied(self, t: float, change: Seen, name: str) -> Applied:
        file, line = self._places.get(name, ("", 0))
        manifest: Mapping[str, Any] = {}
        if change.verb == "create" and change.sent is not None:
            own = {key: value for key, value in metadata_of(change.sent).items() if key not in _OF_SERVER}
            manifest = {**change.sent, "metadata": own}
        refused = (change.error,) if change.status else ()
        return Applied(t, name, "delete" if change.verb == "delete" else "apply", manifest, file, line, refused)

    def _pod(self, t: float, change: Seen, pod: Object) -> Iterator[Fact]:
        name = f"{namespace_of(pod)}/{name_of(pod)}"
        before, after = change.before, change.after
        node = str(spec_of(pod).get("nodeName") or "")
        if before is None:
            try:
                requests: Mapping[str, float] = numbers(pod_requests(pod))
            except QuantityError:
                requests = {}
            self._requests[name] = requests
            yield PodState(t, name, "created", uid_of(pod), self._owner(pod), "", requests)
        if after is None:
            self._leave(name, node)
            yield PodState(t, name, "deleted", node=node)
            return
        old = before or {}
        if node and node != spec_of(old).get("nodeName"):
            self._on.setdefault(node, {})[name] = None
            self._stirred[node] = None
            yield PodState(t, name, "bound", node=node)
        marked, was = condition(after, "PodScheduled") or {}, condition(old, "PodScheduled") or {}
        if marked.get("status") == "False" and marked.get("message") != was.get("message"):
            yield PodState(t, name, "pending", why=str(marked.get("message") or marked.get("reason") or ""))
        phase = str(status_of(after).get("phase") or "")
        if phase in ("Running", "Succeeded", "Failed") and phase != status_of(old).get("phase"):
            if is_terminal(after):
                self._leave(name, node)
            yield PodState(t, name, phase.lower(), node=node)
        if is_terminating(after) and before is not None and not is_terminating(before):
            yield PodState(t, name, "deleting", node=node)

    def _owner(self, pod: Object) -> str:
        owner = controller_of(pod)
        if owner is None:
            return ""
        own = Key(owner["kind"], namespace_of(pod), owner["name"]).reference
        return self._owners.get(str(owner.get("uid")), own)

    def _leave(self, pod: str, node: str) -> None:
        if pod in self._on.get(node, {}):
            del self._on[node][pod]
            self._stirred[node] = None

    def _node(self, t: float, change: Seen, node: Object) -> Iterator[Fact]:
        name, before, after = name_of(node), change.before, change.after
        if after is None:
            self._on.pop(name, None)
            self._allocatable.pop(name, None)
            self._seen.pop(name, None)
            yield NodeState(t, name, "deleted")
            return
        facts = _node_facts(t, after, self._price)
        if before is None:
            yield NodeState(t, name, "created", **facts)
        allocatable = facts["allocatable"]
        if allocatable != self._allocatable.get(name):
            self._allocatable[name] = allocatable
            self._stirred[name] = None
        ready = condition_is(after, "Ready")
        seen = (ready, facts["taints"])
        if before is not None and seen != self._seen.get(name):
            yield NodeState(t, name, "ready" if ready else "unready", **facts)
        self._seen[name] = seen
        if is_terminating(after) and before is not None and not is_terminating(before):
            yield NodeState(t, name, "deleting", **facts)

    def _usage(self, t: float) -> Iterator[Usage]:
        """Yield the usage of each Node on which something has changed at this moment."""
        stirred, self._stirred = self._stirred, {}
        for node in stirred:
            if node not in self._allocatable:
                continue
            pods = tuple(self._on.get(node, ()))
            total: dict[str, float] = {"pods": len(pods)}
            for pod in pods:
                for name, amount in self._requests.get(pod, {}).items():
                    total[name] = round(total.get(name, 0) + amount, 9)
            yield Usage(t, node, pods, total, self._allocatable[node])


def _conditions(t: float, name: str, before: Object | None, after: Object) -> Iterator[Condition]:
    new = conditions_of(after)
    old = conditions_of(before) if before is not None else ()
    if new is old:
        return
    old_by_type = {former.get("type"): former for former in old}
    for present in new:
        was = old_by_type.get(present["type"])
        if was is None or any(was.get(field) != present.get(field) for field in ("status", "reason", "message")):
            yield Condition(
                t,
                name,
                present["type"],
                str(present.get("status")),
                present.get("reason") or "",
                present.get("message") or "",
            )


def _claim(t: float, change: Seen, claim: Object) -> Iterator[ClaimState]:
    name, pool = name_of(claim), labels_of(claim).get(NODEPOOL, "")
    before, after = change.before, change.after
    if after is None:
        yield ClaimState(t, name, "deleted", pool)
        return
    if before is None:
        spec = spec_of(claim)
        requests = amounts((spec.get("resources") or {}).get("requests"))
        sizes, zones = _values(spec, INSTANCE_TYPE), _values(spec, ZONE)
        yield ClaimState(t, name, "created", pool, sizes, requests=requests, zones=zones)
    for stage in _STAGES:
        if condition_is(after, stage) and not condition_is(before or {}, stage):
            yield ClaimState(t, name, stage.lower(), pool, **_claim_facts(after))
    if is_terminating(after) and before is not None and not is_terminating(before):
        yield ClaimState(t, name, "deleting", pool, **_claim_facts(after))


def _values(spec: Object, key: str) -> tuple[str, ...]:
    """The values that requirements name for a key."""
    matching = (
        requirement
        for requirement in spec.get("requirements") or ()
        if requirement.get("key") == key and requirement.get("operator") == "In"
    )
    return tuple(value for requirement in matching for value in requirement.get("values") or ())


def _claim_facts(claim: Object) -> dict[str, Any]:
    labels, status = labels_of(claim), status_of(claim)
    return {
        "size": labels.get(INSTANCE_TYPE, ""),
        "zone": labels.get(ZONE, ""),
        "capacity_type": labels.get(CAPACITY_TYPE, ""),
        "node": status.get("nodeName") or "",
        "vm": _vm(status.get("providerID")),
        "image": status.get("imageID") or "",
    }


def _node_facts(t: float, node: Object, price: Price) -> dict[str, Any]:
    labels, spec, status = labels_of(node), spec_of(node), status_of(node)
    size = labels.get(INSTANCE_TYPE, "")
    spot = SPOT in (labels.get(CAPACITY_TYPE), labels.get(AKS_SCALE_SET_PRIORITY))
    capacity_type = labels.get(CAPACITY_TYPE, SPOT if spot else "")
    claims = [owner["name"] for owner in owners_of(node) if owner.get("kind") == "NodeClaim"]
    return {
        "claim": claims[0] if claims else "",
        "nodepool": labels.get(NODEPOOL, ""),
        "size": size,
        "zone": labels.get(ZONE, ""),
        "capacity_type": capacity_type,
        "price": price(t, size, capacity_type) if size else None,
        "capacity": amounts(status.get("capacity")),
        "allocatable": amounts(status.get("allocatable")),
        "taints": tuple(taint_text(taint) for taint in spec.get("taints") or ()),
        "vm": _vm(spec.get("providerID")),
    }


def _vm(provider_id: Any) -> str:
    return str(provider_id or "").rpartition("/")[2]
