"""A Writer onto the store, in the name of one identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.clusters.memory.eviction import check_eviction
from harness.clusters.memory.kubelets import may_evict
from harness.clusters.memory.store import Store
from harness.engine.ports import CONTROLLER_MANAGER, Identity, PatchType
from harness.kube.api.kinds import KINDS
from harness.kube.api.objects import Key, Object, conditions_of, is_held, is_mapping, name_of, status_of, with_status
from harness.kube.api.patch import json_patch, merge_patch
from harness.kube.api.status import ApiError, bad_request, not_found, not_served, precondition_failed
from harness.kube.api.strategic import strategic_patch
from harness.kube.scheduling.pods import is_terminal

_SCALABLE = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})


class MemoryWriter:
    """Writes in the name of one identity; see the Writer port for the meaning of each call."""

    __slots__ = ("_store", "identity")

    def __init__(self, store: Store, identity: Identity) -> None:
        self._store = store
        self.identity = identity

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        """Create an object, and return it as stored. Raises ApiError."""
        return self._store.create(obj, self.identity, dry_run=dry_run)

    def update(self, obj: Object, *, subresource: str = "", dry_run: bool = False) -> Object:
        """Replace an object, or its status; a resourceVersion in it must be the current one."""
        return self._store.update(obj, self.identity, subresource=subresource, dry_run=dry_run)

    def patch(
        self,
        kind: str,
        name: str,
        patch: Any,
        *,
        namespace: str = "",
        type: PatchType = "merge",
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object:
        """Patch an object, or its status, by one of the three patch types."""
        row = KINDS.get(kind)
        if type == "json":
            if not isinstance(patch, Sequence) or isinstance(patch, str):
                raise bad_request(
                    "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"
                )
            change = lambda old: json_patch(old, patch)  # noqa: E731
        elif type == "strategic":
            if row is not None and row.custom:
                raise ApiError(
                    415,
                    "UnsupportedMediaType",
                    "the body of the request was in an unknown format - accepted media types include: "
                    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
                )
            change = lambda old: strategic_patch(old, patch)  # noqa: E731
        else:
            if not is_mapping(patch):
                raise bad_request(
                    "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"
                )
            change = lambda old: merge_patch(old, patch)  # noqa: E731
        return self._store.modify(
            "patch", Key(kind, namespace, name), change, self.identity, subresource=subresource, dry_run=dry_run
        )

    def delete(
        self,
        kind: str,
        name: str,
        *,
        namespace: str = "",
        grace_period_seconds: int | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
    ) -> Object:
        """Delete; finalizers and a running pod's grace period delay it. `uid` is a precondition."""
        return self._store.delete(
            Key(kind, namespace, name),
            self.identity,
            grace_period_seconds=grace_period_seconds,
            uid=uid,
            resource_version=resource_version,
        )

    def bind(self, name: str, namespace: str, node: str) -> None:
        """Put a pod on a node, by `pods/binding`. Raises ApiError 404, 409 when it is bound or being deleted."""

        def bound(pod: Object) -> dict[str, Any]:
            spec, status = pod["spec"], pod.get("status") or {}
            if pod["metadata"].get("deletionTimestamp"):
                raise _unbindable(name, f"pod {name} is being deleted, cannot be assigned to a host")
            if spec.get("nodeName"):
                raise _unbindable(name, f'pod {name} is already assigned to node "{spec["nodeName"]}"')
            now = self._store.clock.timestamp()
            scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": now}
            conditions = list(status.get("conditions") or ())
            place = next(
                (at for at, present in enumerate(conditions) if present.get("type") == "PodScheduled"), len(conditions)
            )
            conditions[place : place + 1] = [scheduled]
            return {
                **pod,
                "spec": {**spec, "nodeName": node},
                "status": {**status, "conditions": conditions},
            }

        self._store.modify("bind", Key("Pod", namespace, name), bound, self.identity, subresource="binding")

    def evict(
        self, name: str, namespace: str, *, uid: str | None = None, grace_period_seconds: int | None = None
    ) -> None:
        """Delete a pod by `pods/eviction`, unless a PodDisruptionBudget forbids it (429) or two match (500)."""
        key = Key("Pod", namespace, name)
        self._store.authorize(self.identity, "create", KINDS["Pod"], "eviction", key)
        pod = self._store.get("Pod", name, namespace)
        if pod is None:
            raise not_found(KINDS["Pod"], name)
        may_evict(self.identity, KINDS["Pod"], pod)
        if uid is not None and uid != pod["metadata"]["uid"]:
            raise precondition_failed(KINDS["Pod"], name, "UID", uid, pod["metadata"]["uid"])
        budget = check_eviction(pod, self._store.list("PodDisruptionBudget", namespace=namespace))
        if budget is not None:
            # the server takes one off at once; the controller that recounts comes later
            left = status_of(budget)["disruptionsAllowed"] - 1
            # the server does that by itself, whoever evicts
            self._store.modify(
                "patch",
                Key("PodDisruptionBudget", namespace, name_of(budget)),
                lambda old: with_status(old, disruptionsAllowed=left),
                CONTROLLER_MANAGER,
                subresource="status",
            )
        if is_held(pod) and not is_terminal(pod):
            self._mark_evicted(key)
        self.delete("Pod", name, namespace=namespace, grace_period_seconds=grace_period_seconds)

    def _mark_evicted(self, key: Key) -> None:
        """Say why a pod ends for whose end somebody waits (addConditionAndDeletePod)."""
        now = self._store.clock.timestamp()

        def marked(old: Object) -> dict[str, Any]:
            others = [present for present in conditions_of(old) if present["type"] != _EVICTED["type"]]
            return with_status(old, conditions=[*others, {**_EVICTED, "lastTransitionTime": now}])

        self._store.modify("patch", key, marked, CONTROLLER_MANAGER, subresource="status")

    def scale(self, kind: str, name: str, namespace: str, replicas: int) -> Object:
        """Set the number of replicas of a workload by `…/scale`."""
        if kind not in _SCALABLE:
            raise not_served()

        def scaled(old: Object) -> dict[str, Any]:
            return {**old, "spec": {**old["spec"], "replicas": replicas}}

        return self._store.modify("patch", Key(kind, namespace, name), scaled, self.identity, subresource="scale")


_EVICTED: Mapping[str, str] = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}


def _unbindable(name: str, why: str) -> ApiError:
    details = {"name": name, "kind": "pods/binding"}
    text = f'Operation cannot be fulfilled on pods/binding "{name}": {why}'
    return ApiError(409, "Conflict", text, details=details)
