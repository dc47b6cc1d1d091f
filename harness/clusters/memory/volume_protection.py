"""Claims and volumes in use: they are deleted when nothing uses them any more.

Sources: kubernetes plugin/pkg/admission/storage/storageobjectinuseprotection, pkg/controller/volume/{pvcprotection,pvprotection}.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from harness.clusters.memory.request import Admission, Request
from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import Change, ChangeType, View, Writer, of_types
from harness.kube.api.claims import claim_name
from harness.kube.api.objects import (
    Object,
    finalizers_of,
    finalizers_without,
    is_terminating,
    name_of,
    namespace_of,
    spec_of,
    status_of,
    with_metadata,
)
from harness.kube.api.status import ignoring

__all__ = ["VolumeProtection", "volume_protection"]

_CLAIM, _VOLUME = "PersistentVolumeClaim", "PersistentVolume"
_FINALIZERS: Mapping[str, str] = {_CLAIM: "kubernetes.io/pvc-protection", _VOLUME: "kubernetes.io/pv-protection"}


def volume_protection() -> Admission:
    """Return the plugin that puts a finalizer on new claims and volumes."""

    def judge(request: Request) -> dict[str, Any]:
        finalizer = _FINALIZERS.get(request.kind.kind)
        present = finalizers_of(request.object)
        if finalizer is None or request.verb != "create" or request.subresource or finalizer in present:
            return request.object
        return with_metadata(request.object, finalizers=[*present, finalizer])

    return judge


class VolumeProtection:
    """Lets claims go that no scheduled pod uses, and volumes that no claim has. A key is (kind, namespace, name)."""

    name = "volume-protection"
    backoff = (0.005, 1000.0)

    def __init__(self, view: View, writer: Writer) -> None:
        self._view = view
        self._writer = writer

    def watches(self) -> Mapping[str, Router]:
        """Watch claims, volumes, and pods that are gone."""
        return {_CLAIM: self._own, _VOLUME: self._own, "Pod": self._of_pod}

    @of_types(ChangeType.ADDED, ChangeType.MODIFIED)
    def _own(self, change: Change) -> Iterable[Hashable]:
        obj = change.object
        if is_terminating(obj):
            yield (obj["kind"], namespace_of(obj), name_of(obj))

    @of_types(ChangeType.DELETED)
    def _of_pod(self, change: Change) -> Iterable[Hashable]:
        for claim in _claims_of(change.object):
            yield (_CLAIM, namespace_of(change.object), claim)

    def reconcile(self, key: Hashable) -> Result:
        """Take the finalizer off one claim or volume that is being deleted, when it is not in use."""
        assert isinstance(key, tuple)
        kind, namespace, name = key
        obj = self._view.get(kind, name, namespace)
        if obj is None or not is_terminating(obj) or _FINALIZERS[kind] not in finalizers_of(obj):
            return DONE
        if not self._is_in_use(obj):
            finalizers = finalizers_without(obj, _FINALIZERS[kind])
            with ignoring(404, 409):
                self._writer.patch(kind, name, {"metadata": {"finalizers": finalizers}}, namespace=namespace)
        return DONE

    def _is_in_use(self, obj: Object) -> bool:
        if obj["kind"] == _VOLUME:
            return status_of(obj).get("phase") == "Bound"
        pods = self._view.list("Pod", namespace=namespace_of(obj))
        return any(spec_of(pod).get("nodeName") and name_of(obj) in _claims_of(pod) for pod in pods)


def _claims_of(pod: Object) -> list[str]:
    """Return the names of the claims of a pod, those that it brings itself included."""
    return [name for volume in spec_of(pod).get("volumes") or () if (name := claim_name(pod, volume))]
