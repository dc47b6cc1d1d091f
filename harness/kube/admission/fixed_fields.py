"""Fields that an update may not change, of classes, volumes, ConfigMaps and Secrets.

Sources: kubernetes 1.36 pkg/apis/storage/validation/validation.go (ValidateStorageClassUpdate),
pkg/apis/scheduling/validation/validation.go (ValidatePriorityClassUpdate), pkg/apis/core/validation/validation.go
(ValidatePersistentVolumeUpdate, ValidateConfigMapUpdate, ValidateSecretUpdate).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from harness.kube.admission.immutability import IMMUTABLE, comparable, immutable
from harness.kube.admission.places import Place
from harness.kube.api.field_errors import FieldError
from harness.kube.api.objects import Object, spec_of
from harness.kube.api.versions import Version

__all__ = ["CLASS_FIELDS", "FIXED_KINDS", "fixed_field_errors"]

FIXED_KINDS = frozenset({"StorageClass", "PriorityClass", "PersistentVolume", "ConfigMap", "Secret"})
CLASS_FIELDS = ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode")
"""Fields of a StorageClass that stay."""
_WORDED_ALIKE = Version(1, 36)
"""The first version that says of each of them that the field is immutable."""
_DEFAULTS: Mapping[str, Any] = {
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
    "preemptionPolicy": "PreemptLowerPriority",
    "type": "Opaque",
    "volumeMode": "Filesystem",
}
_SOURCE = "spec.persistentvolumesource is immutable after creation"
_OF_VOLUMES = frozenset(
    {"capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName"}
) | {*("mountOptions", "volumeMode", "nodeAffinity", "volumeAttributesClassName")}
"""Fields of a PersistentVolume beside its source."""
_OF_DISKS = {"cachingMode": "ReadWrite", "fsType": "ext4", "kind": "Shared"}
"""Defaults of `azureDisk` (pkg/apis/core/v1/defaults.go)."""
_FROZEN = "field is immutable when `immutable` is set"


def fixed_field_errors(new: Object, old: Object, kubernetes: Version) -> Iterator[FieldError]:
    """Yield the errors of a change of an object of `FIXED_KINDS` on an API server of this version."""
    kind = old["kind"]
    if kind == "StorageClass":
        yield from _class_errors(new, old, kubernetes)
    elif kind == "PriorityClass":
        if (new.get("value") or 0) != (old.get("value") or 0):
            yield _top("value").forbidden("may not be changed in an update.")
        yield from _fixed(new, old, "preemptionPolicy")
    elif kind == "PersistentVolume":
        yield from _volume_errors(spec_of(new), spec_of(old))
    else:
        if kind == "Secret":
            yield from _fixed(new, old, "type")
        if old.get("immutable"):
            yield from _frozen_errors(new, old)


def _top(field: str) -> Place:
    return Place(field, (field,))


def _fixed(new: Mapping[str, Any], old: Mapping[str, Any], field: str) -> Iterator[FieldError]:
    value, before = (side.get(field) or _DEFAULTS.get(field) for side in (new, old))
    yield from immutable(_top(field), value, before)


def _class_errors(new: Object, old: Object, kubernetes: Version) -> Iterator[FieldError]:
    """Yield the errors of a StorageClass; before 1.36 three of its fields had words of their own."""
    for field in CLASS_FIELDS:
        for error in _fixed(new, old, field):
            worded = kubernetes >= _WORDED_ALIKE or field == "volumeBindingMode"
            yield error if worded else _top(field).forbidden(f"updates to {field} are forbidden.")


def _volume_errors(spec: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors of a PersistentVolume's spec. Upstream adds a diff of both sources."""
    source, before = _source(spec), _source(old)
    if "controllerExpandSecretRef" not in (before.get("csi") or {}):
        (source.get("csi") or {}).pop("controllerExpandSecretRef", None)  # may be added
    if source != before:
        yield Place("spec.persistentvolumesource", ("spec",)).forbidden(_SOURCE)
    mode, mode_before = (side.get("volumeMode") or _DEFAULTS["volumeMode"] for side in (spec, old))
    yield from immutable(Place("volumeMode", ("spec", "volumeMode")), mode, mode_before)
    affinity = spec.get("nodeAffinity")
    if old.get("nodeAffinity") and comparable(affinity) != comparable(old["nodeAffinity"]):
        detail = f"{IMMUTABLE}, except for updating from beta label to GA"
        yield Place("nodeAffinity", ("spec", "nodeAffinity")).invalid(affinity, detail)


def _source(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the source of a volume with its defaults, without what is empty or false."""
    source: dict[str, Any] = {}
    for name, fields in spec.items():
        if name not in _OF_VOLUMES and isinstance(fields, Mapping):
            defaults = _OF_DISKS if name == "azureDisk" else {}
            present = {field: value for field, value in fields.items() if value}
            source[name] = comparable({**defaults, **present}) or {}
    return source


def _frozen_errors(new: Object, old: Object) -> Iterator[FieldError]:
    """Yield the errors of a ConfigMap or Secret that is immutable."""
    if not new.get("immutable"):
        yield _top("immutable").forbidden(_FROZEN)
    if _data(new) != _data(old):
        yield _top("data").forbidden(_FROZEN)
    if (new.get("binaryData") or {}) != (old.get("binaryData") or {}):
        yield _top("binaryData").forbidden(_FROZEN)


def _data(obj: Object) -> dict[str, Any]:
    """Return the data, in a Secret together with those that are written as texts."""
    texts = {name: b64encode(str(text).encode()).decode() for name, text in (obj.get("stringData") or {}).items()}
    return {**(obj.get("data") or {}), **texts}
