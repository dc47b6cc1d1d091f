"""PersistentVolumeClaims as kube-controller-manager makes and binds them to present PersistentVolumes. Nobody provisions.

Source: kubernetes pkg/controller/volume/persistentvolume/pv_controller.go, index.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import Change, ChangeType, View, Writer, of_types
from harness.kube.api.objects import (
    Object,
    annotations_of,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.api.quantity import Quantity
from harness.kube.api.selectors import EVERYTHING, Selector
from harness.kube.scheduling.volume_binding import BIND_COMPLETED, default_class, is_reserved_for, waits_for_consumer
from harness.kube.workloads.claims import ephemeral_claims

__all__ = ["EphemeralVolumes", "VolumeBinder"]

_BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"


class VolumeBinder:
    """The binder of claims and volumes. A key is (kind, namespace, name) of a claim or a volume."""

    name = "persistent-volumes"
    backoff = (0.005, 1000.0)

    def __init__(self, view: View, writer: Writer) -> None:
        self._view = view
        self._writer = writer

    def watches(self) -> Mapping[str, Router]:
        """Watch claims, volumes, and the classes that decide when claims are bound."""
        return dict.fromkeys(("PersistentVolumeClaim", "PersistentVolume", "StorageClass"), self._keys)

    def _keys(self, change: Change) -> Iterable[Hashable]:
        obj = change.object
        if obj["kind"] != "StorageClass" and change.type is not ChangeType.DELETED:
            yield (obj["kind"], namespace_of(obj), name_of(obj))
        if obj["kind"] != "PersistentVolumeClaim":
            for claim in self._view.list("PersistentVolumeClaim"):
                yield ("PersistentVolumeClaim", namespace_of(claim), name_of(claim))
        else:
            for volume in self._view.list("PersistentVolume"):
                if (spec_of(volume).get("claimRef") or {}).get("name") == name_of(obj):
                    yield ("PersistentVolume", "", name_of(volume))

    def reconcile(self, key: Hashable) -> Result:
        """Bring one claim or one volume to its right state."""
        assert isinstance(key, tuple)
        kind, namespace, name = key
        obj = self._view.get(kind, name, namespace)
        if obj is None:
            return DONE
        if kind == "PersistentVolume":
            self._volume(obj)
        elif is_terminating(obj):
            return DONE
        elif BIND_COMPLETED in annotations_of(obj):
            self._bound(obj)
        else:
            self._unbound(obj)
        return DONE

    def _bound(self, claim: Object) -> None:
        volume = self._view.get("PersistentVolume", spec_of(claim).get("volumeName") or "")
        if volume is None:
            self._phase(claim, "Lost")
            return
        reference = spec_of(volume).get("claimRef")
        if reference is None or reference.get("uid") == uid_of(claim):
            self._bind(claim, volume)
        else:
            self._phase(claim, "Lost")

    def _unbound(self, claim: Object) -> None:
        wanted = spec_of(claim).get("volumeName")
        if wanted:
            volume = self._view.get("PersistentVolume", wanted)
            fits = volume is not None and (
                is_reserved_for(volume, claim) or (_is_free(volume) and _satisfies(volume, claim))
            )
        else:
            volume = self._match(claim)
            fits = volume is not None
        if volume is not None and fits:
            self._bind(claim, volume)
        elif not wanted and spec_of(claim).get("storageClassName") is None and self._defaulted(claim):
            return
        else:
            self._phase(claim, "Pending")

    def _defaulted(self, claim: Object) -> bool:
        """Give a claim without a class the default class, also one that was created later; return whether there is one."""
        class_name = default_class(self._view.list("StorageClass"))
        if class_name is not None:
            spec = {"spec": {"storageClassName": class_name}}
            self._writer.patch("PersistentVolumeClaim", name_of(claim), spec, namespace=namespace_of(claim))
        return class_name is not None

    def _match(self, claim: Object) -> Object | None:
        """Return the volume that is reserved for the claim, or the smallest that satisfies it where claims do not wait for pods."""
        volumes = [volume for volume in self._view.list("PersistentVolume") if _satisfies(volume, claim)]
        own = next((volume for volume in volumes if is_reserved_for(volume, claim)), None)
        storage = self._view.get("StorageClass", spec_of(claim).get("storageClassName") or "")
        if own is not None or (storage is not None and waits_for_consumer(storage)):
            return own
        selector = spec_of(claim).get("selector")
        takes = Selector.parse(selector) if selector else EVERYTHING
        free = [volume for volume in volumes if _is_free(volume) and takes.matches(labels_of(volume))]
        return min(free, key=lambda volume: (_capacity(volume).nano, name_of(volume)), default=None)

    def _bind(self, claim: Object, volume: Object) -> None:
        reference = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": namespace_of(claim),
            "name": name_of(claim),
            "uid": uid_of(claim),
        }
        present = spec_of(volume).get("claimRef") or {}
        if any(present.get(field) != value for field, value in reference.items()):
            patch: dict[str, Any] = {"spec": {"claimRef": reference}}
            if not present:
                patch["metadata"] = {"annotations": {_BOUND_BY_CONTROLLER: "yes"}}
            volume = self._writer.patch("PersistentVolume", name_of(volume), patch)
        if status_of(volume).get("phase") != "Bound":
            self._writer.patch(
                "PersistentVolume", name_of(volume), {"status": {"phase": "Bound"}}, subresource="status"
            )
        name, namespace = name_of(claim), namespace_of(claim)
        marks = {BIND_COMPLETED: "yes"}
        if spec_of(claim).get("volumeName") != name_of(volume):
            marks[_BOUND_BY_CONTROLLER] = "yes"
        if any(annotations_of(claim).get(key) != value for key, value in marks.items()):
            self._writer.patch(
                "PersistentVolumeClaim",
                name,
                {"metadata": {"annotations": marks}, "spec": {"volumeName": name_of(volume)}},
                namespace=namespace,
            )
        self._phase(
            claim,
            "Bound",
            accessModes=spec_of(volume).get("accessModes") or [],
            capacity=dict(spec_of(volume).get("capacity") or {}),
        )

    def _phase(self, claim: Object, phase: str, **more: Any) -> None:
        wanted = {"phase": phase, **more}
        if any(status_of(claim).get(key) != value for key, value in wanted.items()):
            self._writer.patch(
                "PersistentVolumeClaim",
                name_of(claim),
                {"status": wanted},
                namespace=namespace_of(claim),
                subresource="status",
            )

    def _volume(self, volume: Object) -> None:
        """Make a volume available that nobody has bound, and released when its claim has gone."""
        reference = spec_of(volume).get("claimRef") or {}
        phase = "Available"
        if reference.get("uid"):
            claim = self._view.get(
                "PersistentVolumeClaim", reference.get("name") or "", reference.get("namespace") or ""
            )
            phase = "Bound" if claim is not None and uid_of(claim) == reference["uid"] else "Released"
        if status_of(volume).get("phase") != phase:
            self._writer.patch("PersistentVolume", name_of(volume), {"status": {"phase": phase}}, subresource="status")


def _is_free(volume: Object) -> bool:
    return not spec_of(volume).get("claimRef") and not is_terminating(volume)


def _satisfies(volume: Object, claim: Object) -> bool:
    has, wants = spec_of(volume), spec_of(claim)
    requests = (wants.get("resources") or {}).get("requests") or {}
    return (
        Quantity.parse(requests.get("storage") or "0") <= _capacity(volume)
        and (has.get("storageClassName") or "") == (wants.get("storageClassName") or "")
        and (has.get("volumeMode") or "Filesystem") == (wants.get("volumeMode") or "Filesystem")
        and set(wants.get("accessModes") or ()) <= set(has.get("accessModes") or ())
    )


def _capacity(volume: Object) -> Quantity:
    return Quantity.parse((spec_of(volume).get("capacity") or {}).get("storage") or "0")


class EphemeralVolumes:
    """Makes the claims of pods that bring their own; a key is (namespace, name) of a pod."""

    name = "ephemeral-volumes"
    backoff = (0.005, 1000.0)

    def __init__(self, view: View, writer: Writer) -> None:
        self._view = view
        self._writer = writer

    def watches(self) -> Mapping[str, Router]:
        """Watch pods with such volumes."""
        return {"Pod": self._of_pod}

    @of_types(ChangeType.ADDED)
    def _of_pod(self, change: Change) -> Iterable[Hashable]:
        volumes = spec_of(change.object).get("volumes") or ()
        if any(volume.get("ephemeral") for volume in volumes):
            yield (namespace_of(change.object), name_of(change.object))

    def reconcile(self, key: Hashable) -> Result:
        """Make the missing claims of one pod."""
        assert isinstance(key, tuple)
        namespace, name = key
        pod = self._view.get("Pod", name, namespace)
        if pod is None or is_terminating(pod):
            return DONE
        for claim in ephemeral_claims(pod):
            if self._view.get("PersistentVolumeClaim", name_of(claim), namespace) is None:
                self._writer.create(claim)
        return DONE
