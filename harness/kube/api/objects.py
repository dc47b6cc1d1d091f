"""Kubernetes objects as plain JSON-shaped mappings, with the accessors that everything needs.

An object handed out by a cluster is shared and must be treated as immutable: whoever wants another
object builds one (`copy_json`, `assign`), and gives it to a Writer.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from operator import is_
from typing import Any, TypeAlias, TypeGuard

from lazyrecords import dataclass

Object: TypeAlias = Mapping[str, Any]
"""A Kubernetes object, or a part of one, as the API's JSON has it."""

_NOTHING: Mapping[str, Any] = {}

TIMES = frozenset(
    {
        "creationTimestamp",
        "deletionTimestamp",
        "lastHeartbeatTime",
        "lastPodEventTime",
        "lastTransitionTime",
        "startTime",
    }
)
"""Fields of metadata and status that hold a time (meta/v1 Time: RFC 3339)."""


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Names one object of a cluster: its kind, namespace ("" for cluster-scoped kinds) and name."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.namespace}/{self.name}" if self.namespace else f"{self.kind}/{self.name}"

    @property
    def reference(self) -> str:
        """The key as text: `Kind/name`, or `Kind/namespace/name` outside of namespace default."""
        return f"{self.kind}/{self.name}" if self.namespace == "default" else str(self)

    @property
    def short(self) -> str:
        """The key without its kind: `name`, or `namespace/name` outside of namespace default. Every text names objects so."""
        return f"{self.namespace}/{self.name}" if self.namespace not in ("", "default") else self.name


def key_of(obj: Object) -> Key:
    """The key of an object that has a kind and a name."""
    meta = obj["metadata"]
    return Key(obj["kind"], meta.get("namespace") or "", meta["name"])


# Fields that are nearly always there are read by key, not by `get`, which takes twice as long: nothing else is called as often.


def metadata_of(obj: Object) -> Mapping[str, Any]:
    """`metadata`, empty when absent."""
    try:
        return obj["metadata"] or _NOTHING
    except KeyError:
        return _NOTHING


def name_of(obj: Object) -> str:
    """`metadata.name`, "" when absent."""
    try:
        return obj["metadata"]["name"] or ""
    except (KeyError, TypeError):
        return metadata_of(obj).get("name") or ""


def short_name(obj: Object) -> str:
    """Return the name of an object in texts, beside its kind: `name`, or `namespace/name` outside of namespace default."""
    return Key("", namespace_of(obj), name_of(obj)).short


def shorter(name: str) -> str:
    """Return the short form of a name that is written `namespace/name` whatever the namespace is, as in traces."""
    return name.removeprefix("default/")


def namespace_of(obj: Object) -> str:
    """`metadata.namespace`, "" when absent."""
    try:
        return obj["metadata"].get("namespace") or ""
    except (KeyError, AttributeError):
        return metadata_of(obj).get("namespace") or ""


def uid_of(obj: Object) -> str:
    """`metadata.uid`, "" when absent."""
    try:
        return obj["metadata"]["uid"] or ""
    except (KeyError, TypeError):
        return metadata_of(obj).get("uid") or ""


def labels_of(obj: Object) -> Mapping[str, str]:
    """`metadata.labels`, empty when absent."""
    try:
        return obj["metadata"].get("labels") or _NOTHING
    except (KeyError, AttributeError):
        return metadata_of(obj).get("labels") or _NOTHING


def annotations_of(obj: Object) -> Mapping[str, str]:
    """`metadata.annotations`, empty when absent."""
    try:
        return obj["metadata"].get("annotations") or _NOTHING
    except (KeyError, AttributeError):
        return metadata_of(obj).get("annotations") or _NOTHING


def finalizers_of(obj: Object) -> Sequence[str]:
    """`metadata.finalizers`, empty when absent."""
    return metadata_of(obj).get("finalizers") or ()


def finalizers_without(obj: Object, finalizer: str) -> list[str] | None:
    """Return the value of `metadata.finalizers` in a patch that takes one off: None where no other is left."""
    return [other for other in finalizers_of(obj) if other != finalizer] or None


def is_held(obj: Object) -> bool:
    """Return whether finalizers delay the object's deletion: those of its metadata, or of a Namespace's spec."""
    return bool(finalizers_of(obj)) or (obj.get("kind") == "Namespace" and bool(spec_of(obj).get("finalizers")))


def owners_of(obj: Object) -> Sequence[Object]:
    """`metadata.ownerReferences`, empty when absent."""
    try:
        return obj["metadata"].get("ownerReferences") or ()
    except (KeyError, AttributeError):
        return metadata_of(obj).get("ownerReferences") or ()


def controller_of(obj: Object) -> Object | None:
    """The owner reference with `controller: true`, if there is one."""
    for ref in owners_of(obj):
        if ref.get("controller"):
            return ref
    return None


def owner_reference(owner: Object, *, controller: bool = True, block_owner_deletion: bool = True) -> dict[str, Any]:
    """An owner reference to `owner`, as controllers put it on what they create."""
    ref: dict[str, Any] = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": name_of(owner),
        "uid": uid_of(owner),
    }
    if controller:
        ref["controller"] = True
    if block_owner_deletion:
        ref["blockOwnerDeletion"] = True
    return ref


def spec_of(obj: Object) -> Mapping[str, Any]:
    """`spec`, empty when absent."""
    try:
        return obj["spec"] or _NOTHING
    except KeyError:
        return _NOTHING


def status_of(obj: Object) -> Mapping[str, Any]:
    """`status`, empty when absent."""
    try:
        return obj["status"] or _NOTHING
    except KeyError:
        return _NOTHING


def differ(new: Object, old: Object, *, outside: Container[str]) -> bool:
    """Return whether any top-level field but those ``outside`` differs; an absent one is the same as null."""
    for field, value in new.items():
        if field not in outside:
            before = old.get(field)
            if value is not before and value != before:
                return True
    return bool([field for field in old if field not in new and field not in outside and old[field] is not None])


def same_objects(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return whether these are the very same objects, in the same order."""
    return some is others or (len(some) == len(others) and all(map(is_, some, others)))


def is_terminating(obj: Object) -> bool:
    """Return whether a deletion was requested and still waits (finalizers, grace period)."""
    try:
        return bool(obj["metadata"].get("deletionTimestamp"))
    except (KeyError, AttributeError):
        return bool(metadata_of(obj).get("deletionTimestamp"))


def conditions_of(obj: Object) -> Sequence[Object]:
    """`status.conditions`, empty when absent."""
    return status_of(obj).get("conditions") or ()


def condition(obj: Object, kind: str) -> Object | None:
    """The condition of this type, if the object has one."""
    try:
        conditions: Sequence[Object] = obj["status"].get("conditions") or ()
    except (KeyError, AttributeError):
        conditions = conditions_of(obj)
    for condition in conditions:
        if condition.get("type") == kind:
            return condition
    return None


def condition_is(obj: Object, kind: str, status: str = "True") -> bool:
    """Return whether the condition of this type exists with this status."""
    present = condition(obj, kind)
    return present is not None and present.get("status") == status


_SCALARS = frozenset({str, int, float, bool, type(None)})
_NO_MAPPINGS = _SCALARS | {list, tuple}


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a JSON value is an object.

    The types of nearly all values are tried first: a check against Mapping takes ten times as long.
    """
    kind = value.__class__
    return kind is dict or (kind not in _NO_MAPPINGS and isinstance(value, Mapping))


def mapping_in(value: object) -> Mapping[str, Any]:
    """The value, an empty mapping where it is none."""
    return value if is_mapping(value) else _NOTHING


class Frozen(dict[str, Any]):
    """An object that is never changed, in any of its parts, so that it need not be copied.

    So one copy of a large dump serves its reader, a world and its store.
    """

    __slots__ = ()


def frozen(obj: Object) -> Frozen:
    """Return the object itself when it is Frozen, else a Frozen deep copy."""
    return obj if isinstance(obj, Frozen) else Frozen(copy_json(obj))


def copy_json(value: Any) -> Any:
    """A deep, mutable copy of a JSON-shaped value; mappings become dicts, sequences lists."""
    kind = value.__class__
    if kind is dict:
        return {k: v if v.__class__ in _SCALARS else copy_json(v) for k, v in value.items()}
    if kind is list:
        return [v if v.__class__ in _SCALARS else copy_json(v) for v in value]
    if kind in _SCALARS:
        return value
    if isinstance(value, Mapping):
        return {k: copy_json(v) for k, v in value.items()}
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Iterable):
        return [copy_json(v) for v in value]
    raise TypeError(f"not JSON-shaped: {type(value).__name__}")


def assign(obj: Object, **sections: Any) -> dict[str, Any]:
    """A shallow copy with the given top-level fields replaced (`assign(node, spec=...)`)."""
    return {**obj, **sections}


def with_metadata(obj: Object, **fields: Any) -> dict[str, Any]:
    """A copy with the given `metadata` fields replaced; a value of None removes the field."""
    meta = {**metadata_of(obj), **fields}
    return {**obj, "metadata": {k: v for k, v in meta.items() if v is not None}}


def with_spec(obj: Object, **fields: Any) -> dict[str, Any]:
    """A copy with the given `spec` fields replaced."""
    return {**obj, "spec": {**spec_of(obj), **fields}}


def with_status(obj: Object, **fields: Any) -> dict[str, Any]:
    """A copy with the given `status` fields replaced."""
    return {**obj, "status": {**status_of(obj), **fields}}
