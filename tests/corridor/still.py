"""Objects that stand still but for what is written, as one controller sees them: no server, no loop, nobody else."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

from harness.engine.ports import ADMIN
from harness.kube.api.objects import Object, name_of, namespace_of, spec_of, status_of
from harness.kube.api.patch import merge_patch

__all__ = ["Still", "going"]

_INDEXES: dict[str, Any] = {
    "pods-by-node": lambda obj: obj["kind"] == "Pod" and spec_of(obj).get("nodeName"),
    "nodes-by-provider-id": lambda obj: obj["kind"] == "Node" and spec_of(obj).get("providerID"),
    "nodeclaims-by-provider-id": lambda obj: obj["kind"] == "NodeClaim" and status_of(obj).get("providerID"),
}


class Still:
    """A view and a writer. `written` are the patches, deletions and evictions, in order; a deletion changes nothing else."""

    def __init__(self, *objects: Object) -> None:
        self.objects = list(objects)
        for number, obj in enumerate(self.objects):
            obj["metadata"] = {"uid": f"uid{number}", "resourceVersion": "1", **obj["metadata"]}
        self.written: list[tuple[str, str, str, Any]] = []
        self.refusing: Exception | None = None
        self.sink = MagicMock(unsafe=True)  # as `asserted` is a method of it
        self.identity = ADMIN

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        found = [each for each in self.list(kind) if name_of(each) == name and namespace in ("", namespace_of(each))]
        return found[0] if found else None

    def list(self, kind: str, **_: Any) -> list[Object]:
        return [each for each in self.objects if each["kind"] == kind]

    def indexed(self, index: str, value: str) -> list[Object]:
        return [each for each in self.objects if _INDEXES[index](each) == value]

    def patch(self, kind: str, name: str, patch: Any, **_: Any) -> Object:
        self._write("patch", kind, name, patch)
        for number, each in enumerate(self.objects):
            if (each["kind"], name_of(each)) == (kind, name):
                self.objects[number] = merge_patch(each, patch)
                return self.objects[number]
        raise AssertionError(f"there is no {kind} {name}")

    def delete(self, kind: str, name: str, **more: Any) -> None:
        self._write("delete", kind, name, more.get("grace_period_seconds"))

    def evict(self, name: str, namespace: str, **_: Any) -> None:
        self._write("evict", "Pod", name, None)

    def _write(self, verb: str, kind: str, name: str, what: Any) -> None:
        if self.refusing is not None:
            raise self.refusing
        self.written.append((verb, kind, name, what))

    @property
    def verbs(self) -> list[tuple[str, str, str]]:
        """What was written of which object."""
        return [(verb, kind, name) for verb, kind, name, _ in self.written]

    def events(self) -> list[tuple[str, str]]:
        """Reason and message of each event."""
        return [(call.args[2], call.args[3]) for call in self.sink.event.call_args_list]


def going(obj: Object, since: str, **metadata: Any) -> Object:
    """The object, deleted at this time."""
    obj["metadata"] = {**obj["metadata"], "deletionTimestamp": since, **metadata}
    return obj
