"""The rule that Karpenter's Go types can hold a NodePool, with the error of Go's JSON decoder when they cannot.

The API server never stores such a NodePool, since the schema refuses it; the conformance protocol asks nevertheless.

Source: Go encoding/json, core pkg/apis/v1/{nodepool,nodeclaim,duration}.go, k8s.io/api and apimachinery types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, TypeAlias

from harness.kube.api.field_errors import go_json
from harness.kube.api.quantity import Quantity, QuantityError
from harness.kube.go.durations import DurationError, parse_duration
from harness.kube.go.times import parse_rfc3339
from lazyrecords import dataclass


class DecodeError(ValueError):
    """The message is the Go decoder's."""


@dataclass(frozen=True, slots=True)
class _Scalar:
    """A Go type that a JSON string, number or boolean goes into; ``bits`` for integers."""

    name: str
    accepts: str = "string"
    bits: int = 0


@dataclass(frozen=True, slots=True)
class _Custom:
    """A Go type that decodes itself: the check gets the value and raises DecodeError."""

    check: Callable[[Any], None]
    string: bool = True


@dataclass(frozen=True, slots=True)
class _List:
    name: str
    items: _Type


@dataclass(frozen=True, slots=True)
class _Map:
    name: str
    values: _Type


@dataclass(frozen=True, slots=True)
class _Struct:
    """``struct`` is how errors inside call it, ``name`` how errors about it call it. ``embedded`` is the struct inside it, by whose
    name errors lead to some ``of_embedded`` of its fields."""

    struct: str
    fields: Mapping[str, _Type] = field(default_factory=dict)
    package: str = "v1"
    embedded: str = ""
    of_embedded: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return f"{self.package}.{self.struct}"


_Type: TypeAlias = _Scalar | _Custom | _List | _Map | _Struct


def _quantity(value: Any) -> None:
    if value is not None:
        try:
            Quantity.parse(value.strip() if isinstance(value, str) else value)
        except QuantityError as error:
            raise DecodeError(str(error)) from None


def _duration(value: Any) -> None:
    if value is None:  # the field is a pointer
        return
    try:
        parse_duration(value)
    except DurationError as error:
        raise DecodeError(str(error)) from None


def _duration_or_never(value: Any) -> None:
    if value != "Never":
        _duration(value or "")


def _time(value: Any) -> None:
    if value is None:
        return
    try:
        parse_rfc3339(value)
    except ValueError as error:
        raise DecodeError(str(error)) from None


_STRING = _Scalar("string")
_BOOL = _Scalar("bool", "bool")
_INT = _Scalar("int", "number", 63)
_INT32 = _Scalar("int32", "number", 31)
_INT64 = _Scalar("int64", "number", 63)
_STRINGS = _List("[]string", _STRING)
_STRING_MAP = _Map("map[string]string", _STRING)
_TIME = _Custom(_time)
_QUANTITY = _Custom(_quantity, string=False)
_DURATION = _Custom(_duration)
_DURATION_OR_NEVER = _Custom(_duration_or_never)
_TAINT = _Struct("Taint", {"key": _STRING, "value": _STRING, "effect": _Scalar("v1.TaintEffect"), "timeAdded": _TIME})
_OWNER = _Struct(
    "OwnerReference",
    {
        "apiVersion": _STRING,
        "kind": _STRING,
        "name": _STRING,
        "uid": _Scalar("types.UID"),
        "controller": _BOOL,
        "blockOwnerDeletion": _BOOL,
    },
)
_OBJECT_META = _Struct(
    "ObjectMeta",
    {
        **dict.fromkeys(("name", "generateName", "namespace", "selfLink", "resourceVersion"), _STRING),
        "uid": _Scalar("types.UID"),
        "generation": _INT64,
        "creationTimestamp": _TIME,
        "deletionTimestamp": _TIME,
        "deletionGracePeriodSeconds": _INT64,
        "labels": _STRING_MAP,
        "annotations": _STRING_MAP,
        "ownerReferences": _List("[]v1.OwnerReference", _OWNER),
        "finalizers": _STRINGS,
    },
)
_REQUIREMENT = _Struct(
    "NodeSelectorRequirementWithMinValues",
    {"key": _STRING, "operator": _Scalar("v1.NodeSelectorOperator"), "values": _STRINGS, "minValues": _INT},
)
_OLD_REQUIREMENT = replace(
    _REQUIREMENT, embedded="NodeSelectorRequirement", of_embedded=frozenset({"key", "operator", "values"})
)


def _template(requirement: _Struct) -> _Struct:
    spec = _Struct(
        "NodeClaimTemplateSpec",
        {
            "taints": _List("[]v1.Taint", _TAINT),
            "startupTaints": _List("[]v1.Taint", _TAINT),
            "requirements": _List("[]v1.NodeSelectorRequirementWithMinValues", requirement),
            "nodeClassRef": _Struct("NodeClassReference", dict.fromkeys(("kind", "name", "group"), _STRING)),
            "terminationGracePeriod": _DURATION,
            "expireAfter": _DURATION_OR_NEVER,
        },
    )
    metadata = _Struct("ObjectMeta", {"labels": _STRING_MAP, "annotations": _STRING_MAP})
    return _Struct("NodeClaimTemplate", {"metadata": metadata, "spec": spec})


_BUDGET = _Struct(
    "Budget",
    {
        "reasons": _List("[]v1.DisruptionReason", _Scalar("v1.DisruptionReason")),
        "nodes": _STRING,
        "schedule": _STRING,
        "duration": _DURATION,
    },
)
_DISRUPTION = _Struct(
    "Disruption",
    {
        "consolidateAfter": _DURATION_OR_NEVER,
        "consolidationPolicy": _Scalar("v1.ConsolidationPolicy"),
        "budgets": _List("[]v1.Budget", _BUDGET),
    },
)
_CONDITION = _Struct(
    "Condition",
    {
        "type": _STRING,
        "status": _Scalar("v1.ConditionStatus"),
        "observedGeneration": _INT64,
        "lastTransitionTime": _TIME,
        "reason": _STRING,
        "message": _STRING,
    },
    package="status",
)


def _nodepool(static: bool) -> _Struct:
    spec: dict[str, _Type] = {
        "template": _template(_REQUIREMENT if static else _OLD_REQUIREMENT),
        "disruption": _DISRUPTION,
        "limits": _Map("v1.Limits", _QUANTITY),
        "weight": _INT32,
    }
    status: dict[str, _Type] = {
        "resources": _Map("v1.ResourceList", _QUANTITY),
        "nodeClassObservedGeneration": _INT64,
        "conditions": _List("[]status.Condition", _CONDITION),
    }
    if static:
        spec["replicas"] = _INT64
        status["nodes"] = _INT64
    return _Struct(
        "NodePool",
        {
            "kind": _STRING,
            "apiVersion": _STRING,
            "metadata": _OBJECT_META,
            "spec": _Struct("NodePoolSpec", spec),
            "status": _Struct("NodePoolStatus", status),
        },
    )


_NODEPOOL = {static: _nodepool(static) for static in (False, True)}


def decode_error(nodepool: Mapping[str, Any], *, static_pools: bool = True) -> str | None:
    """Return the error of Go's decoder for a NodePool, None when it decodes. ``static_pools``: the types are those of
    core releases with static pools (``spec.replicas``).
    """
    decoder = _Decoder()
    try:
        decoder.value(_NODEPOOL[static_pools], nodepool, "", "")
    except DecodeError as error:
        return str(error)
    return decoder.first


def metadata_error(metadata: Any) -> str | None:
    """Return the error of Go's decoder for the metadata of an object, None when it decodes."""
    decoder = _Decoder()
    try:
        decoder.value(_OBJECT_META, metadata, "", "")
    except DecodeError as error:
        return str(error)
    return decoder.first


def known_metadata(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The metadata without fields that no object has; the same mapping where there are none."""
    unknown = metadata.keys() - _OBJECT_META.fields.keys() - {"managedFields"}
    return {key: value for key, value in metadata.items() if key not in unknown} if unknown else metadata


class _Decoder:
    """One pass over an object, keys in sorted order. A type that does not fit is noted and passed over; the first note is the
    error, unless a type that decodes itself fails, which ends the pass."""

    def __init__(self) -> None:
        self.first: str | None = None

    def note(self, value_kind: str, struct: str, path: str, name: str) -> None:
        if self.first is None:
            self.first = f"json: cannot unmarshal {value_kind} into Go struct field {struct}.{path} of type {name}"

    def value(self, kind: _Type, value: Any, struct: str, path: str) -> None:
        if isinstance(kind, _Custom):
            if kind.string and value is not None and not isinstance(value, str):
                raise DecodeError(
                    f"json: cannot unmarshal {_word(value)} into Go struct field {struct}.{path} of type string"
                )
            kind.check(value)
        elif value is None:
            return
        elif isinstance(kind, _Struct):
            if not isinstance(value, Mapping):
                self.note(_word(value), struct, path, kind.name)
                return
            for key in sorted(value):
                if (inner := kind.fields.get(key)) is not None:
                    step = f"{kind.embedded}.{key}" if key in kind.of_embedded else key
                    self.value(inner, value[key], kind.struct, f"{path}.{step}" if path else step)
        elif isinstance(kind, _Map):
            if not isinstance(value, Mapping):
                self.note(_word(value), struct, path, kind.name)
                return
            for key in sorted(value):
                self.value(kind.values, value[key], struct, path)
        elif isinstance(kind, _List):
            if not isinstance(value, list):
                self.note(_word(value), struct, path, kind.name)
                return
            for entry in value:
                self.value(kind.items, entry, struct, path)
        else:
            self._scalar(kind, value, struct, path)

    def _scalar(self, kind: _Scalar, value: Any, struct: str, path: str) -> None:
        word = _word(value)
        if word != kind.accepts:
            self.note(word, struct, path, kind.name)
        elif kind.bits:
            limit = 1 << kind.bits
            if not float(value).is_integer() or not -limit <= value < limit:
                self.note(f"number {go_json(value)}", struct, path, kind.name)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    return "array" if isinstance(value, list) else "object"
