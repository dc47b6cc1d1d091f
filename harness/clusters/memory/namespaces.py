"""Namespaces of the memory cluster: those of every cluster, the lifecycle plugin, and the end of a namespace.

Sources: apiserver pkg/admission/plugin/namespace/lifecycle, kubernetes pkg/controller/namespace, pkg/registry/core/namespace.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from harness.clusters.memory.request import Admission, Request
from harness.clusters.memory.store import Store
from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import Change, ChangeType, Identity, of_types
from harness.kube.api.kinds import KINDS
from harness.kube.api.objects import Key, Object, is_terminating, labels_of, metadata_of, name_of, namespace_of, spec_of
from harness.kube.api.status import forbidden, ignoring, not_found

__all__ = ["SYSTEM_NAMESPACES", "NamespaceController", "lifecycle", "system_namespaces"]

SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_HELD = "kubernetes"
_NAME = "kubernetes.io/metadata.name"


def system_namespaces(now: str) -> Iterable[dict[str, Any]]:
    """Return the namespaces of a new cluster; their uids are the same in every cluster."""
    for number, name in enumerate(SYSTEM_NAMESPACES, start=1):
        meta = {
            "name": name,
            "uid": f"ffffffff-0000-4000-8000-{number:012x}",
            "resourceVersion": "0",
            "creationTimestamp": now,
        }
        yield _defaulted({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})


def _defaulted(namespace: Mapping[str, Any]) -> dict[str, Any]:
    meta = {**metadata_of(namespace), "labels": {**labels_of(namespace), _NAME: name_of(namespace)}}
    finalizers = spec_of(namespace).get("finalizers") or []
    spec = {**spec_of(namespace), "finalizers": finalizers if _HELD in finalizers else [*finalizers, _HELD]}
    return {**namespace, "metadata": meta, "spec": spec, "status": {"phase": "Active"}}


def lifecycle(store: Callable[[], Store]) -> Admission:
    """Refuse objects in a namespace that is missing or terminating, and default new namespaces."""

    def judge(request: Request) -> dict[str, Any]:
        if request.verb != "create":
            return request.object
        if request.kind.kind == "Namespace":
            return _defaulted(request.object)
        if not request.kind.namespaced:
            return request.object
        name = request.key.namespace
        namespace = store().get("Namespace", name)
        if namespace is None:
            raise not_found(KINDS["Namespace"], name)
        if is_terminating(namespace):
            cause = {
                "reason": "NamespaceTerminating",
                "message": f"namespace {name} is being terminated",
                "field": "metadata.namespace",
            }
            why = f"unable to create new content in namespace {name} because it is being terminated"
            raise forbidden(request.kind, request.key.name, why, causes=(cause,))
        return request.object

    return judge


class NamespaceController:
    """Empties namespaces that are going, then lets them go. A key is the name of a namespace."""

    name = "namespaces"
    backoff = (0.005, 1000.0)

    def __init__(self, store: Store, identity: Identity) -> None:
        self._store = store
        self._identity = identity

    def watches(self) -> Mapping[str, Router]:
        """Watch namespaces, and everything that leaves one."""
        return dict.fromkeys((kind for kind, row in KINDS.items() if row.namespaced), self._left) | {
            "Namespace": self._going
        }

    @of_types(ChangeType.ADDED, ChangeType.MODIFIED)
    def _going(self, change: Change) -> Iterable[Hashable]:
        return (name_of(change.object),) if is_terminating(change.object) else ()

    @of_types(ChangeType.DELETED)
    def _left(self, change: Change) -> Iterable[Hashable]:
        return (namespace_of(change.object),)

    def reconcile(self, key: Hashable) -> Result:
        """Delete the objects of the namespace; the namespace itself, once it is empty."""
        name = str(key)
        namespace = self._store.get("Namespace", name)
        if namespace is None or not is_terminating(namespace):
            return DONE
        left = False
        for kind, row in KINDS.items():
            for obj in self._store.list(kind, namespace=name) if row.namespaced else ():
                left = True
                if not is_terminating(obj):
                    with ignoring(404, 409):  # deleting one may delete another with it
                        self._store.delete(Key(kind, name, name_of(obj)), self._identity)
        if not left:
            key = Key("Namespace", "", name)
            self._store.modify("update", key, _without_hold, self._identity, subresource="finalize")
        return DONE


def _without_hold(namespace: Object) -> dict[str, Any]:
    return {**namespace, "spec": {**spec_of(namespace), "finalizers": []}}
