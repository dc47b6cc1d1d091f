"""Status conditions as Karpenter keeps them: dependents under one root, `Ready`.

A dependent that was never set reads Unknown since the object's creation. A transition time changes only with the status.
Source: awslabs/operatorpkg status/condition_set.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.kube.api.objects import Object, conditions_of, metadata_of

READY = "Ready"

NODECLAIM = ("Launched", "Registered", "Initialized")
NODEPOOL = ("ValidationSucceeded", "NodeClassReady")

TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"

_FIELDS = 6
"""How many fields a condition has."""

AWAITING = "AwaitingReconciliation"
"""The reason of a condition that nobody has set yet."""


def are_true(obj: Object, kinds: tuple[str, ...]) -> bool:
    """Whether the conditions of these types are True for the object's present generation, so that `refresh` would change none of them."""
    generation, found = metadata_of(obj).get("generation", 0), 0
    for each in conditions_of(obj):
        if each["type"] in kinds:
            if each["status"] != TRUE or each.get("observedGeneration") != generation or len(each) != _FIELDS:
                return False
            found += 1
    return found == len(kinds)


def is_ready(obj: Object, dependents: tuple[str, ...]) -> bool:
    """Whether the root condition is True to whoever reads it: while a dependent was never set, it is not, whatever it says.

    ``dependents`` are the types that the root rests on (ConditionTypes.For sets those that are missing to Unknown, and the root with them).
    """
    found = {each.get("type"): each.get("status") for each in conditions_of(obj)}
    return found.get(READY) == TRUE and all(kind in found for kind in dependents)


def nodepool_is_ready(nodepool: Object) -> bool:
    """Whether a NodePool is ready (core ``pkg/apis/v1/nodepool_status.go``)."""
    return is_ready(nodepool, NODEPOOL)


class Conditions:
    """The conditions of one object while a controller works on it. `items` are its `status.conditions`, `now` is RFC 3339."""

    __slots__ = ("_created", "_deleting", "_generation", "_now", "changed", "dependents", "items")

    def __init__(self, obj: Object, dependents: tuple[str, ...], now: str) -> None:
        self.dependents = dependents
        meta = metadata_of(obj)
        self._generation = meta.get("generation", 0)
        self._deleting = bool(meta.get("deletionTimestamp"))
        found: Any = conditions_of(obj)
        # the object's own, which are never changed: others take their place
        self.items: list[dict[str, Any]] = list(found)
        self.changed = False
        self._created = meta.get("creationTimestamp") or now
        self._now = now
        present = {each["type"] for each in self.items}
        for kind in dependents:
            if kind not in present:
                self.set(kind, UNKNOWN, AWAITING, "object is awaiting reconciliation")

    def get(self, kind: str) -> Mapping[str, Any] | None:
        """The condition of this type."""
        for each in self.items:
            if each["type"] == kind:
                return each
        return None

    def status(self, kind: str) -> str | None:
        """Its status: True, False, Unknown; None when it was never set."""
        found = self.get(kind)
        return found["status"] if found is not None else None

    def is_true(self, kind: str) -> bool:
        """Whether it is True."""
        return self.status(kind) == TRUE

    def is_unknown(self, kind: str) -> bool:
        """Whether it is Unknown, or was never set."""
        return self.status(kind) in (None, UNKNOWN)

    def since(self, kind: str) -> str:
        """The time of its last transition; now when it was never set."""
        found = self.get(kind)
        return str(found["lastTransitionTime"]) if found is not None else self._now

    def set_true(self, kind: str) -> bool:
        """Sets it True, with the type as reason. Returns whether anything changed."""
        return self.set(kind, TRUE, kind, "")

    def set_false(self, kind: str, reason: str, message: str) -> bool:
        """Sets it False. Returns whether anything changed."""
        return self.set(kind, FALSE, reason, message)

    def set_unknown(self, kind: str, reason: str, message: str) -> bool:
        """Sets it Unknown. Returns whether anything changed."""
        return self.set(kind, UNKNOWN, reason, message)

    def refresh(self, kind: str) -> None:
        """Sets it again as it is, for the object's present generation."""
        found = self.get(kind)
        if found is not None:
            self.set(kind, found["status"], found["reason"], found["message"])

    def clear(self, kind: str) -> bool:
        """Removes a condition that is no dependent. Returns whether it was there."""
        kept = [each for each in self.items if each["type"] != kind]
        if len(kept) == len(self.items):
            return False
        self.items = sorted(kept, key=lambda each: str(each["type"]))
        self.changed = True
        return True

    def set(self, kind: str, status: str, reason: str, message: str) -> bool:
        """Sets a condition and recomputes the root. Returns whether anything changed."""
        if self._says(kind, status, reason, message):
            return False
        new = {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "observedGeneration": self._generation,
        }
        others: list[dict[str, Any]] = []
        old: dict[str, Any] | None = None
        for each in self.items:
            if each["type"] == kind:
                old = each
            else:
                others.append({**each, "observedGeneration": self._generation} if self._deleting else each)
        if old is None:
            dependent = kind == READY or kind in self.dependents
            new["lastTransitionTime"] = self._created if dependent else self._now
        else:
            new["lastTransitionTime"] = old["lastTransitionTime"] if old["status"] == status else self._now
        others.append(new)
        others.sort(key=lambda each: (each["type"] == READY, each["lastTransitionTime"]))
        self.items = others
        self.changed = True
        if kind != READY:
            self._recompute()
        return True

    def _says(self, kind: str, status: str, reason: str, message: str) -> bool:
        """Whether the condition exists with this status, reason and message, for the object's present generation."""
        found = self.get(kind)
        return (
            found is not None
            and found["status"] == status
            and found.get("reason") == reason
            and found.get("message") == message
            and found.get("observedGeneration") == self._generation
            and len(found) == _FIELDS
        )

    def _recompute(self) -> None:
        unhealthy = [
            each
            for each in self.items
            if each["type"] in self.dependents
            and (each["status"] != TRUE or each.get("observedGeneration") != self._generation)
        ]
        if not unhealthy:
            self.set_true(READY)
            return
        unhealthy.sort(key=lambda each: str(each["lastTransitionTime"]), reverse=True)
        failed = any(
            each["status"] == FALSE and each.get("observedGeneration") == self._generation for each in unhealthy
        )
        message = ", ".join(f"{each['type']}={each['status']}" for each in unhealthy)
        if failed:
            self.set(READY, FALSE, "UnhealthyDependents", message)
        else:
            self.set(READY, UNKNOWN, "ReconcilingDependents", message)
