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
"""The number of fields of a condition."""

AWAITING = "AwaitingReconciliation"
"""The reason of a condition that nobody has set yet."""


def are_true(obj: Object, kinds: tuple[str, ...]) -> bool:
    """Return whether the conditions of these types are True for the object's present generation, so that `refresh`
    would change none of them.
    """
    generation, count = metadata_of(obj).get("generation", 0), 0
    for condition in conditions_of(obj):
        if condition["type"] in kinds:
            if (
                condition["status"] != TRUE
                or condition.get("observedGeneration") != generation
                or len(condition) != _FIELDS
            ):
                return False
            count += 1
    return count == len(kinds)


def is_ready(obj: Object, dependents: tuple[str, ...]) -> bool:
    """Return whether the root condition is True for its readers: while a dependent was never set, it is not.

    ``dependents`` are the types that the root rests on (ConditionTypes.For sets those that are missing to Unknown, and the root with them).
    """
    statuses = {condition.get("type"): condition.get("status") for condition in conditions_of(obj)}
    return statuses.get(READY) == TRUE and all(kind in statuses for kind in dependents)


def nodepool_is_ready(nodepool: Object) -> bool:
    """Return whether a NodePool is ready (core ``pkg/apis/v1/nodepool_status.go``)."""
    return is_ready(nodepool, NODEPOOL)


class Conditions:
    """The conditions of one object while a controller works on it. `items` are its `status.conditions`, `now` is RFC 3339."""

    __slots__ = ("_created", "_deleting", "_generation", "_now", "changed", "dependents", "items")

    def __init__(self, obj: Object, dependents: tuple[str, ...], now: str) -> None:
        self.dependents = dependents
        meta = metadata_of(obj)
        self._generation = meta.get("generation", 0)
        self._deleting = bool(meta.get("deletionTimestamp"))
        conditions: Any = conditions_of(obj)
        # the object's own, which are never changed: others take their place
        self.items: list[dict[str, Any]] = list(conditions)
        self.changed = False
        self._created = meta.get("creationTimestamp") or now
        self._now = now
        present = {condition["type"] for condition in self.items}
        for kind in dependents:
            if kind not in present:
                self.set(kind, UNKNOWN, AWAITING, "object is awaiting reconciliation")

    def get(self, kind: str) -> Mapping[str, Any] | None:
        """The condition of this type."""
        for condition in self.items:
            if condition["type"] == kind:
                return condition
        return None

    def status(self, kind: str) -> str | None:
        """Its status: True, False, Unknown; None when it was never set."""
        condition = self.get(kind)
        return condition["status"] if condition is not None else None

    def is_true(self, kind: str) -> bool:
        """Return whether it is True."""
        return self.status(kind) == TRUE

    def is_unknown(self, kind: str) -> bool:
        """Return whether it is Unknown, or was never set."""
        return self.status(kind) in (None, UNKNOWN)

    def since(self, kind: str) -> str:
        """The time of its last transition; now when it was never set."""
        condition = self.get(kind)
        return str(condition["lastTransitionTime"]) if condition is not None else self._now

    def set_true(self, kind: str) -> bool:
        """Set it True, with the type as reason. Return whether anything changed."""
        return self.set(kind, TRUE, kind, "")

    def set_false(self, kind: str, reason: str, message: str) -> bool:
        """Set it False. Return whether anything changed."""
        return self.set(kind, FALSE, reason, message)

    def set_unknown(self, kind: str, reason: str, message: str) -> bool:
        """Set it Unknown. Return whether anything changed."""
        return self.set(kind, UNKNOWN, reason, message)

    def refresh(self, kind: str) -> None:
        """Set it again as it is, for the object's present generation."""
        condition = self.get(kind)
        if condition is not None:
            self.set(kind, condition["status"], condition["reason"], condition["message"])

    def clear(self, kind: str) -> bool:
        """Remove a condition that is no dependent. Return whether it was there."""
        others = [condition for condition in self.items if condition["type"] != kind]
        if len(others) == len(self.items):
            return False
        self.items = sorted(others, key=lambda item: str(item["type"]))
        self.changed = True
        return True

    def set(self, kind: str, status: str, reason: str, message: str) -> bool:
        """Set a condition and recompute the root. Return whether anything changed."""
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
        for condition in self.items:
            if condition["type"] == kind:
                old = condition
            else:
                others.append({**condition, "observedGeneration": self._generation} if self._deleting else condition)
        if old is None:
            dependent = kind == READY or kind in self.dependents
            new["lastTransitionTime"] = self._created if dependent else self._now
        else:
            new["lastTransitionTime"] = old["lastTransitionTime"] if old["status"] == status else self._now
        others.append(new)
        others.sort(key=lambda item: (item["type"] == READY, item["lastTransitionTime"]))
        self.items = others
        self.changed = True
        if kind != READY:
            self._recompute()
        return True

    def _says(self, kind: str, status: str, reason: str, message: str) -> bool:
        """Return whether the condition exists with this status, reason and message, for the object's present generation."""
        condition = self.get(kind)
        return (
            condition is not None
            and condition["status"] == status
            and condition.get("reason") == reason
            and condition.get("message") == message
            and condition.get("observedGeneration") == self._generation
            and len(condition) == _FIELDS
        )

    def _recompute(self) -> None:
        unhealthy = [
            condition
            for condition in self.items
            if condition["type"] in self.dependents
            and (condition["status"] != TRUE or condition.get("observedGeneration") != self._generation)
        ]
        if not unhealthy:
            self.set_true(READY)
            return
        unhealthy.sort(key=lambda item: str(item["lastTransitionTime"]), reverse=True)
        failed = any(
            condition["status"] == FALSE and condition.get("observedGeneration") == self._generation
            for condition in unhealthy
        )
        message = ", ".join(f"{condition['type']}={condition['status']}" for condition in unhealthy)
        if failed:
            self.set(READY, FALSE, "UnhealthyDependents", message)
        else:
            self.set(READY, UNKNOWN, "ReconcilingDependents", message)
