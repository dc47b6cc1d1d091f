"""The reads, writes and events that the controllers of workloads have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from harness.clusters.memory.controllers.orphans import Orphans
from harness.clusters.memory.pod_counts import PodCounts
from harness.engine.clock import Clock
from harness.engine.engine import DONE, ReconcileError, Result, Wait
from harness.engine.ports import Sink, View, Writer
from harness.kube.api.objects import Object, controller_of, metadata_of, name_of, namespace_of, status_of, uid_of
from harness.kube.api.status import ApiError
from harness.kube.api.versions import Version
from lazyrecords import dataclass

__all__ = ["Tools", "outcome"]


@dataclass(frozen=True, slots=True)
class Tools:
    """The ports of kube-controller-manager, and the counts for its controllers. `version`: the control plane's, now."""

    view: View
    writer: Writer
    sink: Sink
    clock: Clock
    counts: PodCounts
    orphans: Orphans
    version: Callable[[], Version]

    def controlled(self, owner: Object, kind: str) -> list[Object]:
        """Return the objects of a kind that this owner controls, in the order in which they came to it."""
        uid = uid_of(owner)
        return [
            owned
            for owned in self.view.indexed("owned-by", uid)
            if owned["kind"] == kind and (controller_of(owned) or {}).get("uid") == uid
        ]

    def set_status(self, owner: Object, status: Mapping[str, Any]) -> Object:
        """Write the changed fields of a status, and the generation that it is about; a value of None removes a field."""
        return self.set_fields(owner, {"observedGeneration": metadata_of(owner).get("generation", 1), **status})

    def set_fields(self, owner: Object, status: Mapping[str, Any]) -> Object:
        """Write the changed fields of a status that names no generation, as that of a Job."""
        present = status_of(owner)
        changed = {key: value for key, value in status.items() if present.get(key) != value}
        if not changed:
            return owner
        return self.writer.patch(
            owner["kind"], name_of(owner), {"status": changed}, namespace=namespace_of(owner), subresource="status"
        )

    def create(self, owner: Object, wanted: Iterable[Object], failed: str = "Error creating: ") -> ApiError | None:
        """Make pods and their claims until one is refused, and return the refusal, which becomes an event.

        A claim that a pod of the same name left behind is used again. `failed` begins the event's message; `{name}` is
        the name of the refused object.
        """
        for obj in wanted:
            if obj["kind"] != "Pod" and self.view.get(obj["kind"], name_of(obj), namespace_of(obj)) is not None:
                continue
            try:
                made = self.writer.create(obj)
            except ApiError as error:
                text = failed.format(kind=obj["kind"], name=name_of(obj)) + error.message
                self.publish_event(owner, "Warning", "FailedCreate", text)
                return error
            self.publish_event(owner, "Normal", "SuccessfulCreate", _created(owner, made))
        return None

    def delete_pod(self, owner: Object, pod: Object) -> None:
        """Delete a pod of a workload, and publish an event about it."""
        self.delete(pod)
        name = name_of(pod)
        stateful = owner["kind"] == "StatefulSet"
        text = f"delete Pod {name} in StatefulSet {name_of(owner)} successful" if stateful else f"Deleted pod: {name}"
        self.publish_event(owner, "Normal", "SuccessfulDelete", text)

    def delete(self, obj: Object) -> None:
        """Delete an object with its own grace period."""
        self.writer.delete(obj["kind"], name_of(obj), namespace=namespace_of(obj), uid=uid_of(obj))

    def publish_event(self, owner: Object, type: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """Publish an event about a workload, by its controller."""
        self.sink.event(owner, type, reason, message, source=f"{owner['kind'].lower()}-controller")


def outcome(refused: ApiError | None, wait: float | None = None) -> Result:
    """Return the result of a reconciliation: the next one after so many seconds. Raises ReconcileError for a refusal."""
    if refused is not None:
        raise ReconcileError(refused.message, wait=Wait.POLL)
    return DONE if wait is None else Result(wait)


def _created(owner: Object, made: Object) -> str:
    """Return the message about a new pod or claim (stateful_pod_control.go, controller_utils.go)."""
    name = name_of(made)
    if owner["kind"] != "StatefulSet":
        return f"Created pod: {name}"
    if made["kind"] == "Pod":
        return f"create Pod {name} in StatefulSet {name_of(owner)} successful"
    return f"create Claim {name} in StatefulSet {name_of(owner)} success"
