"""A NodeClaim while its controller works on it: changed in memory, then written as the smallest patches."""

from __future__ import annotations

from typing import Any

from harness.engine.ports import Writer
from harness.karpenter.lifecycle.conditions import NODECLAIM, Conditions
from harness.kube.api.objects import Object, metadata_of, name_of, status_of
from harness.kube.api.patch import merge_diff


class Draft:
    """The parts of a NodeClaim that its lifecycle changes: labels, annotations, status. `now` is RFC 3339."""

    __slots__ = ("annotations", "conditions", "labels", "status", "stored")

    def __init__(self, stored: Object, now: str) -> None:
        self.stored = stored
        self.labels: dict[str, str] = dict(metadata_of(stored).get("labels") or {})
        self.annotations: dict[str, str] = dict(metadata_of(stored).get("annotations") or {})
        self.status: dict[str, Any] = dict(status_of(stored))
        self.conditions = Conditions(stored, NODECLAIM, now)

    @property
    def object(self) -> dict[str, Any]:
        """The NodeClaim as it stands now."""
        meta = {**metadata_of(self.stored)}
        if self.labels:
            meta["labels"] = self.labels
        if self.annotations:
            meta["annotations"] = self.annotations
        status = {**self.status, "conditions": self.conditions.items} if self.conditions.items else self.status
        return {**self.stored, "metadata": meta, "status": status}

    def write(self, writer: Writer) -> bool:
        """Patch the changes: first metadata, then the status. Return whether there were any. Raises ApiError."""
        new = self.object
        name = name_of(new)
        meta = merge_diff(metadata_of(self.stored), metadata_of(new))
        status = merge_diff(status_of(self.stored), status_of(new))
        if meta:
            writer.patch("NodeClaim", name, {"metadata": meta})
        if status:
            writer.patch("NodeClaim", name, {"status": status}, subresource="status")
        return bool(meta or status)
