"""The hash of a NodePool's template, which Karpenter writes to NodePools and NodeClaims to detect drift.

Source: core pkg/apis/v1/nodepool.go (Hash), mitchellh/hashstructure v2 with FormatV2, SlicesAsSets, IgnoreZeroValue, ZeroNil.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from harness.karpenter.hashstructure import of_bytes, of_int, of_map, of_set, of_string, of_struct
from harness.kube.go.durations import parse_duration

_YEAR_ONE_TO_UNIX = 62135596800  # seconds


CURRENT_HASH_VERSION = "v3"
"""The annotation ``karpenter.sh/nodepool-hash-version`` of all releases (core ``pkg/apis/v1/nodepool.go``, NodePoolHashVersion)."""


def nodepool_hash(nodepool: Mapping[str, Any]) -> str:
    """The value of the annotation ``karpenter.sh/nodepool-hash`` for a NodePool whose values have the right types."""
    template = (nodepool.get("spec") or {}).get("template") or {}
    spec = template.get("spec") or {}
    meta = template.get("metadata") or {}
    meta_fields = [(name, _texts(meta[key])) for name, key in _META if meta.get(key) is not None]
    fields: list[tuple[str, int]] = []
    for name, key in (("Taints", "taints"), ("StartupTaints", "startupTaints")):
        if spec.get(key) is not None:
            fields.append((name, of_set(_taint(taint or {}) for taint in spec[key])))
    if (reference := spec.get("nodeClassRef")) is not None:
        texts = (("Kind", "kind"), ("Name", "name"), ("Group", "group"))
        members = [(name, of_string(reference[key])) for name, key in texts if reference.get(key)]
        fields.append(("NodeClassRef", of_struct("NodeClassReference", members)))
    if (period := spec.get("terminationGracePeriod")) is not None:
        fields.append(("TerminationGracePeriod", of_struct("Duration", _duration(period))))
    if (expiry := spec.get("expireAfter")) is not None and expiry != "Never":
        # a pointer to a duration: zero counts here
        fields.append(("ExpireAfter", of_struct("NillableDuration", [("Duration", of_int(parse_duration(expiry)))])))
    members = [("ObjectMeta", of_struct("ObjectMeta", meta_fields))] if meta_fields else []
    # requirements do not count themselves, but a spec that has a list of them is no zero value
    if fields or spec.get("requirements") is not None:
        members.append(("Spec", of_struct("NodeClaimTemplateSpec", fields)))
    return str(of_struct("NodeClaimTemplate", members))


_META = (("Labels", "labels"), ("Annotations", "annotations"))


def _duration(text: str) -> list[tuple[str, int]]:
    value = parse_duration(text)
    return [("Duration", of_int(value))] if value else []


def _taint(taint: Mapping[str, Any]) -> int:
    texts = (("Key", "key"), ("Value", "value"), ("Effect", "effect"))
    members = [(name, of_string(taint[key])) for name, key in texts if taint.get(key)]
    if taint.get("timeAdded"):
        members.append(("TimeAdded", of_struct("Time", [("Time", _time(taint["timeAdded"]))])))
    return of_struct("Taint", members)


def _time(text: str) -> int:
    """Go's binary form of a time in UTC."""
    moment = datetime.fromisoformat(text).astimezone(UTC)
    seconds = int(moment.timestamp()) + _YEAR_ONE_TO_UNIX
    return of_bytes(b"\x01" + seconds.to_bytes(8, "big") + (moment.microsecond * 1000).to_bytes(4, "big") + b"\x00\x00")


def _texts(entries: Mapping[str, str]) -> int:
    return of_map({key: of_string(entry or "") for key, entry in entries.items()})
