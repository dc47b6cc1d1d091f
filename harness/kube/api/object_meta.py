"""Validation of `metadata`, as the API server does it for every object.

Source: apimachinery pkg/api/validation/objectmeta.go, pkg/apis/meta/v1/validation.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from harness.kube.api.field_errors import ErrorType, FieldError, Pointer, Verbatim, go_json, print_value
from harness.kube.api.names import (
    WORDING,
    NameWording,
    dns_label_errors,
    dns_subdomain_errors,
    is_label_value,
    is_qualified_name,
    label_value_errors,
    qualified_name_errors,
)
from harness.kube.api.objects import is_mapping, mapping_in
from harness.kube.go.text import quote

ANNOTATIONS_LIMIT = 256 * 1024
"""Bytes of all annotation keys and values together."""

_EXCLUSIVE_FINALIZERS = ("orphan", "foregroundDeletion")
_LOOKED_AT_AGAIN = ("labels", "annotations", "ownerReferences")
_REST = (*_LOOKED_AT_AGAIN, "finalizers")


def validate_object_meta(
    obj: Mapping[str, Any], *, namespaced: bool, wording: NameWording = WORDING
) -> list[FieldError]:
    """Return the errors of the metadata of an object about to be created. Names are DNS subdomains."""
    meta = mapping_in(obj.get("metadata"))
    errors: list[FieldError] = []
    _names(meta, namespaced, errors)
    generation = meta.get("generation")
    if isinstance(generation, int) and generation < 0:
        errors.append(_invalid(("generation",), generation, "must be greater than or equal to 0"))
    errors.extend(_errors_of(meta, _REST, wording))
    return errors


def validate_custom_meta_update(
    obj: Mapping[str, Any], old: Mapping[str, Any], *, wording: NameWording = WORDING
) -> list[FieldError]:
    """Return the errors of the metadata of a custom resource, or its status, that replaces another one.

    Names and finalizers passed at creation, and are not judged again (ValidateObjectMetaAccessorUpdate).
    """
    meta = mapping_in(obj.get("metadata"))
    return [*validate_object_meta_update(obj, old), *_errors_of(meta, _LOOKED_AT_AGAIN, wording)]


def _errors_of(meta: Mapping[str, Any], names: tuple[str, ...], wording: NameWording) -> Sequence[FieldError]:
    rest = {name: meta[name] for name in names if name in meta}
    try:
        return _known_errors(marshal.dumps(rest, 2), wording)
    except ValueError:  # texts of other types than str
        return _errors(rest, wording)


@lru_cache(maxsize=1024)
def _known_errors(rest: bytes, wording: NameWording) -> tuple[FieldError, ...]:
    """Return the errors of metadata as text: the pods of a workload, and an object from write to write, have the same."""
    return tuple(_errors(marshal.loads(rest), wording))


def _errors(meta: Mapping[str, Any], wording: NameWording) -> list[FieldError]:
    """Return the errors of labels, annotations, owners and finalizers."""
    errors: list[FieldError] = []
    for key, value in _texts(meta, "labels"):
        if is_qualified_name(key) and is_label_value(value):
            continue
        place = ("labels", key)
        errors += [_invalid(place, key, reason, "labels") for reason in qualified_name_errors(key, wording)]
        errors += [_invalid(place, value, reason, "labels") for reason in label_value_errors(value, wording)]
    annotations = _texts(meta, "annotations")
    for key, _ in annotations:
        if is_qualified_name(key.lower()):
            continue
        reasons = qualified_name_errors(key.lower(), wording)
        errors += [_invalid(("annotations", key), key, reason, "annotations") for reason in reasons]
    if annotations and _bytes_of(annotations) > ANNOTATIONS_LIMIT:
        detail = f"may not be more than {ANNOTATIONS_LIMIT} bytes"
        errors.append(
            FieldError(ErrorType.TOO_LONG, "metadata.annotations", detail, pointer=("metadata", "annotations"))
        )
    _owners(meta, wording, errors)
    finalizers = meta.get("finalizers")
    if isinstance(finalizers, list):
        for index, name in enumerate(finalizers):
            at: Pointer = ("finalizers", index)
            errors.extend(
                _invalid(at, name, reason, "finalizers") for reason in qualified_name_errors(str(name), wording)
            )
        if all(name in finalizers for name in _EXCLUSIVE_FINALIZERS):
            detail = f"finalizer {_EXCLUSIVE_FINALIZERS[0]} and {_EXCLUSIVE_FINALIZERS[1]} cannot be both set"
            errors.append(_invalid(("finalizers",), finalizers, detail))
    return errors


def validate_object_meta_update(obj: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    """Return the errors of a change of metadata, beyond those of validate_object_meta."""
    meta, before = mapping_in(obj.get("metadata")), mapping_in(old.get("metadata"))
    if meta == before:  # mostly so when a status is written
        return []
    errors: list[FieldError] = []
    if before.get("deletionTimestamp"):
        new = sorted(set(meta.get("finalizers") or ()) - set(before.get("finalizers") or ()))
        if new:
            listed = ", ".join(print_value(name) for name in new)
            detail = (
                "no new finalizers can be added if the object is being deleted, "
                f"found new finalizers []string{{{listed}}}"
            )
            errors.append(
                FieldError(ErrorType.FORBIDDEN, "metadata.finalizers", detail, pointer=("metadata", "finalizers"))
            )
    for name in ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"):
        if meta.get(name) and meta.get(name) != before.get(name):
            errors.append(_invalid((name,), meta[name], "field is immutable"))
    return errors


def _names(meta: Mapping[str, Any], namespaced: bool, errors: list[FieldError]) -> None:
    prefix = meta.get("generateName")
    if prefix and isinstance(prefix, str):
        # a trailing dash is fine where a suffix follows
        masked = f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        errors.extend(_invalid(("generateName",), prefix, reason) for reason in dns_subdomain_errors(masked))
    name = meta.get("name")
    if not name or not isinstance(name, str):
        detail = "name or generateName is required"
        errors.append(FieldError(ErrorType.REQUIRED, "metadata.name", detail, pointer=("metadata", "name")))
    else:
        errors.extend(_invalid(("name",), name, reason) for reason in dns_subdomain_errors(name))
    namespace = meta.get("namespace") or ""
    at = ("metadata", "namespace")
    if namespaced and not namespace:
        errors.append(FieldError(ErrorType.REQUIRED, "metadata.namespace", pointer=at))
    elif namespaced:
        errors.extend(_invalid(("namespace",), namespace, reason) for reason in dns_label_errors(namespace))
    elif namespace:
        errors.append(FieldError(ErrorType.FORBIDDEN, "metadata.namespace", "not allowed on this type", pointer=at))


def _owners(meta: Mapping[str, Any], wording: NameWording, errors: list[FieldError]) -> None:
    controller = ""
    owners = meta.get("ownerReferences")
    if not isinstance(owners, list) or [owner for owner in owners if not is_mapping(owner)]:
        return  # Go's accessor finds none
    for index, owner in enumerate(owners):
        at = ("ownerReferences", index)
        named = str(owner.get("apiVersion") or "")
        group, _, version = named.rpartition("/") if named.count("/") < 2 else ("", "", "")
        if not version:
            errors.append(
                _invalid((*at, "apiVersion"), named, "version must not be empty", "ownerReferences.apiVersion")
            )
        errors.extend(
            _invalid(
                (*at, name),
                "",
                f"{name} must not be empty" if wording.names_owner_fields else "must not be empty",
                f"ownerReferences.{name}",
            )
            for name in ("kind", "name", "uid")
            if not owner.get(name)
        )
        if (group, version, owner.get("kind")) == _NO_OWNER:
            detail = "/v1, Kind=Event is disallowed from being an owner"
            value = Verbatim(_owner_json(owner), _owner_syntax(owner))
            errors.append(_invalid(at, value, detail, "ownerReferences"))
        if owner.get("controller") is True:
            this = f"{owner.get('kind', '')}/{owner.get('name', '')}"
            if controller:
                detail = (
                    "Only one reference can have Controller set to true. "
                    f'Found "true" in references for {controller} and {this}'
                )
                listed = ",".join(map(_owner_json, owners))
                errors.append(_invalid(at, Verbatim(f"[{listed}]"), detail, "ownerReferences"))
            controller = controller or this


_NO_OWNER = ("", "v1", "Event")
_OWNER_FIELDS = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")


def _owner_json(owner: Mapping[str, Any]) -> str:
    """Return a reference as Go writes it, in the order of its fields; the texts are always there."""
    fields_of_owner = {**dict.fromkeys(_OWNER_FIELDS[:4], ""), **owner}
    fields = (
        f"{go_json(name)}:{go_json(fields_of_owner[name])}"
        for name in _OWNER_FIELDS
        if fields_of_owner.get(name) is not None
    )
    return f"{{{','.join(fields)}}}"


def _owner_syntax(owner: Mapping[str, Any]) -> str:
    """Return ``%#v`` of a reference without its two flags, which Go would print as addresses."""
    texts = zip(("APIVersion", "Kind", "Name", "UID"), _OWNER_FIELDS, strict=False)
    named = ", ".join(f"{field}:{quote(str(owner.get(name) or ''))}" for field, name in texts)
    return f"v1.OwnerReference{{{named}, Controller:(*bool)(nil), BlockOwnerDeletion:(*bool)(nil)}}"


def _bytes_of(texts: list[tuple[str, str]]) -> int:
    """Return the bytes of the texts; where they are few, only the characters, none of which has more than four bytes."""
    characters = sum([len(key) + len(value) for key, value in texts])
    if characters <= ANNOTATIONS_LIMIT // 4:
        return characters
    return sum(len(key.encode()) + len(value.encode()) for key, value in texts)


def _texts(meta: Mapping[str, Any], name: str) -> list[tuple[str, str]]:
    """Return the entries of a map of strings; one with other values counts as empty, as in Go's accessor."""
    texts = meta.get(name)
    if not is_mapping(texts) or [value for value in texts.values() if not isinstance(value, str)]:
        return []
    return sorted(texts.items())


def _invalid(at: Pointer, value: Any, detail: str, field: str = "") -> FieldError:
    path = field or ".".join(str(part) for part in at)
    return FieldError(ErrorType.INVALID, f"metadata.{path}", detail, value, ("metadata", *at))
