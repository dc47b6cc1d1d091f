"""The hash of a NodePool's template, which Karpenter writes to NodePools and NodeClaims to detect drift.

Source: core pkg/apis/v1/nodepool.go (Hash), mitchellh/hashstructure v2 with FormatV2, SlicesAsSets, IgnoreZeroValue, ZeroNil.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from harness.kube.go.durations import parse_duration

_OFFSET = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_MASK = (1 << 64) - 1
_YEAR_ONE_TO_UNIX = 62135596800  # seconds


def nodepool_hash(nodepool: Mapping[str, Any]) -> str:
    """The value of the annotation ``karpenter.sh/nodepool-hash`` for a NodePool whose values have the right types."""
    template = (nodepool.get("spec") or {}).get("template") or {}
    spec = template.get("spec") or {}
    meta = template.get("metadata") or {}
    meta_fields = [(name, _map(meta[key])) for name, key in _META if meta.get(key) is not None]
    fields: list[tuple[str, int]] = []
    for name, key in (("Taints", "taints"), ("StartupTaints", "startupTaints")):
        if spec.get(key) is not None:
            fields.append((name, _set(_taint(taint or {}) for taint in spec[key])))
    if (reference := spec.get("nodeClassRef")) is not None:
        texts = (("Kind", "kind"), ("Name", "name"), ("Group", "group"))
        members = [(name, _text(reference[key])) for name, key in texts if reference.get(key)]
        fields.append(("NodeClassRef", _struct("NodeClassReference", members)))
    if (period := spec.get("terminationGracePeriod")) is not None:
        fields.append(("TerminationGracePeriod", _struct("Duration", _duration(period))))
    if (expiry := spec.get("expireAfter")) is not None and expiry != "Never":
        # a pointer to a duration: zero counts here
        fields.append(("ExpireAfter", _struct("NillableDuration", [("Duration", _integer(parse_duration(expiry)))])))
    members = [("ObjectMeta", _struct("ObjectMeta", meta_fields))] if meta_fields else []
    # requirements do not count themselves, but a spec that has a list of them is no zero value
    if fields or spec.get("requirements") is not None:
        members.append(("Spec", _struct("NodeClaimTemplateSpec", fields)))
    return str(_struct("NodeClaimTemplate", members))


_META = (("Labels", "labels"), ("Annotations", "annotations"))


def _duration(text: str) -> list[tuple[str, int]]:
    value = parse_duration(text)
    return [("Duration", _integer(value))] if value else []


def _taint(taint: Mapping[str, Any]) -> int:
    texts = (("Key", "key"), ("Value", "value"), ("Effect", "effect"))
    members = [(name, _text(taint[key])) for name, key in texts if taint.get(key)]
    if taint.get("timeAdded"):
        members.append(("TimeAdded", _struct("Time", [("Time", _time(taint["timeAdded"]))])))
    return _struct("Taint", members)


def _fnv(data: bytes) -> int:
    """FNV-1, 64 bits."""
    value = _OFFSET
    for byte in data:
        value = (value * _PRIME & _MASK) ^ byte
    return value


@lru_cache(maxsize=4096)
def _text(text: str) -> int:
    return _fnv(text.encode("utf-8", "surrogatepass"))


def _integer(value: int) -> int:
    return _fnv((value & _MASK).to_bytes(8, "little"))


def _time(text: str) -> int:
    """Go's binary form of a time in UTC."""
    moment = datetime.fromisoformat(text).astimezone(UTC)
    seconds = int(moment.timestamp()) + _YEAR_ONE_TO_UNIX
    return _fnv(b"\x01" + seconds.to_bytes(8, "big") + (moment.microsecond * 1000).to_bytes(4, "big") + b"\x00\x00")


def _ordered(first: int, second: int) -> int:
    return _fnv(first.to_bytes(8, "little") + second.to_bytes(8, "little"))


def _finished(value: int) -> int:
    return _fnv(value.to_bytes(8, "little"))


def _struct(name: str, members: Iterable[tuple[str, int]]) -> int:
    value = _text(name)
    for member, member_hash in members:
        value = _finished(value ^ _ordered(_text(member), member_hash))
    return value


def _map(entries: Mapping[str, str]) -> int:
    value = 0
    for key, entry in entries.items():
        value ^= _ordered(_text(key), _text(entry or ""))
    return _finished(value)


def _set(hashes: Iterable[int]) -> int:
    value = 0
    for entry in hashes:
        value ^= entry
    return value
