"""Protobuf bodies of the built-in kinds that Go clients send by themselves: controller-runtime writes known kinds in protobuf.

The envelope is `k8s\\0`, then a message Unknown: TypeMeta and the object's own bytes (apimachinery runtime/serializer/protobuf).
Field numbers: apimachinery pkg/apis/meta/v1/generated.proto, api policy/v1 and coordination/v1 generated.proto.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

__all__ = ["CONTENT_TYPE", "NotProtobuf", "decode"]

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"

_MAGIC = b"k8s\x00"


class NotProtobuf(ValueError):
    """Bytes that are no object of a known kind; the text tells why."""


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a message. `of` are the fields of its own message."""

    name: str
    type: Literal["text", "integer", "truth", "message", "map", "time"]
    repeated: bool = False
    of: Mapping[int, _Field] | None = None


_PRECONDITIONS = {1: _Field("uid", "text"), 2: _Field("resourceVersion", "text")}

_DELETE_OPTIONS = {
    1: _Field("gracePeriodSeconds", "integer"),
    2: _Field("preconditions", "message", of=_PRECONDITIONS),
    3: _Field("orphanDependents", "truth"),
    4: _Field("propagationPolicy", "text"),
    5: _Field("dryRun", "text", repeated=True),
}

_OWNER = {
    1: _Field("kind", "text"),
    3: _Field("name", "text"),
    4: _Field("uid", "text"),
    5: _Field("apiVersion", "text"),
    6: _Field("controller", "truth"),
    7: _Field("blockOwnerDeletion", "truth"),
}

_OBJECT_META = {
    1: _Field("name", "text"),
    2: _Field("generateName", "text"),
    3: _Field("namespace", "text"),
    5: _Field("uid", "text"),
    6: _Field("resourceVersion", "text"),
    11: _Field("labels", "map"),
    12: _Field("annotations", "map"),
    13: _Field("ownerReferences", "message", repeated=True, of=_OWNER),
    14: _Field("finalizers", "text", repeated=True),
}

_LEASE_SPEC = {
    1: _Field("holderIdentity", "text"),
    2: _Field("leaseDurationSeconds", "integer"),
    3: _Field("acquireTime", "time"),
    4: _Field("renewTime", "time"),
    5: _Field("leaseTransitions", "integer"),
    6: _Field("strategy", "text"),
    7: _Field("preferredHolder", "text"),
}

_MESSAGES: Mapping[str, Mapping[int, _Field]] = {
    "DeleteOptions": _DELETE_OPTIONS,
    "Eviction": {
        1: _Field("metadata", "message", of=_OBJECT_META),
        2: _Field("deleteOptions", "message", of=_DELETE_OPTIONS),
    },
    "Lease": {
        1: _Field("metadata", "message", of=_OBJECT_META),
        2: _Field("spec", "message", of=_LEASE_SPEC),
    },
}

_MOMENT = {1: _Field("seconds", "integer"), 2: _Field("nanos", "integer")}

_UNKNOWN = {
    1: _Field("typeMeta", "message", of={1: _Field("apiVersion", "text"), 2: _Field("kind", "text")}),
}


def decode(data: bytes) -> dict[str, Any]:
    """The object as JSON would have it. Raises NotProtobuf, also for kinds that nobody sends so."""
    if not data.startswith(_MAGIC):
        raise NotProtobuf("the body is not in the envelope of Kubernetes")
    envelope = data[len(_MAGIC) :]
    about = _message(envelope, _UNKNOWN).get("typeMeta") or {}
    fields = _MESSAGES.get(about.get("kind") or "")
    if fields is None:
        raise NotProtobuf(f"a {about.get('kind') or 'body without kind'} is not read from protobuf; send JSON")
    raw = next((value for number, value in _fields(envelope) if number == 2), b"")
    assert isinstance(raw, bytes)
    return {**about, **_message(raw, fields)}


def _message(data: bytes, fields: Mapping[int, _Field]) -> dict[str, Any]:
    message: dict[str, Any] = {}
    for number, value in _fields(data):
        field = fields.get(number)
        if field is None:
            continue
        if field.type == "map":
            entry = _message(_bytes(value), {1: _Field("key", "text"), 2: _Field("value", "text")})
            message.setdefault(field.name, {})[entry.get("key", "")] = entry.get("value", "")
        elif field.repeated:
            message.setdefault(field.name, []).append(_value(value, field))
        else:
            message[field.name] = _value(value, field)
    return message


def _value(value: int | bytes, field: _Field) -> Any:
    if field.type == "message":
        return _message(_bytes(value), field.of or {})
    if field.type == "time":
        moment = _message(_bytes(value), _MOMENT)
        whole = datetime.fromtimestamp(moment.get("seconds", 0), UTC)
        return f"{whole:%Y-%m-%dT%H:%M:%S}.{moment.get('nanos', 0) // 1000:06d}Z"
    if field.type == "text":
        return _bytes(value).decode("utf-8", "replace")
    if not isinstance(value, int):
        raise NotProtobuf(f"{field.name} is no number")
    if field.type == "truth":
        return bool(value)
    return value - (1 << 64) if value >> 63 else value


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise NotProtobuf("a number stands where bytes are expected")
    return value


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field: integers of wire type 0, bytes of 1, 2 and 5."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        wire = tag & 7
        if wire == 0:
            value: int | bytes
            value, at = _varint(data, at)
        else:
            if wire == 2:
                length, at = _varint(data, at)
            elif wire in (1, 5):
                length = 8 if wire == 1 else 4
            else:
                raise NotProtobuf(f"wire type {wire} is not known")
            if at + length > len(data):
                raise NotProtobuf("the body ends in the middle of a field")
            value, at = data[at : at + length], at + length
        yield tag >> 3, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise NotProtobuf("the body ends in the middle of a number")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
