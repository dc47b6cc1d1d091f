"""The scale subresource of a custom resource: the numbers that it names must be such as a Scale can carry.

Source: apiextensions-apiserver pkg/registry/customresource/validator.go (ValidateScaleSpec, ValidateScaleStatus), apimachinery
pkg/apis/meta/v1/unstructured/helpers.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.kube.api.field_errors import ErrorType, FieldError, go_text
from lazyrecords import dataclass

__all__ = ["Scale", "scale_errors"]

_MOST = (1 << 31) - 1
_GO_TYPES = ((bool, "bool"), (int, "int64"), (float, "float64"), (str, "string"), (list, "[]interface {}"))


@dataclass(frozen=True, slots=True)
class Scale:
    """The paths under which a definition keeps the number of replicas of its objects, like ``.spec.replicas``.

    ``selector`` is the path of the label selector's text, empty where there is none.
    """

    spec: str
    status: str
    selector: str = ""

    @classmethod
    def from_definition(cls, definition: Mapping[str, str]) -> Scale:
        """The subresource as a CustomResourceDefinition has it."""
        return cls(
            definition["specReplicasPath"], definition["statusReplicasPath"], definition.get("labelSelectorPath", "")
        )


def scale_errors(scale: Scale | None, obj: Mapping[str, Any], *, subresource: str = "") -> list[FieldError]:
    """The errors about an object; those about its spec only where that can be written."""
    if scale is None:
        return []
    errors = [] if subresource == "status" else _number(obj, scale.spec)
    errors += _number(obj, scale.status)
    if scale.selector:
        _, problem = _nested(obj, scale.selector, str, "string", "")
        errors += [_invalid(scale.selector, "", problem)] if problem else []
    return errors


def _number(obj: Mapping[str, Any], path: str) -> list[FieldError]:
    value, problem = _nested(obj, path, int, "int64", 0)
    if not problem and value < 0:
        problem = "should be a non-negative integer"
    elif not problem and value > _MOST:
        problem = f"should be less than or equal to {_MOST}"
    return [_invalid(path, value, problem)] if problem else []


def _nested(obj: Mapping[str, Any], path: str, kind: type, name: str, zero: Any) -> tuple[Any, str]:
    """Return the value at a path, `zero` where there is none, and the complaint of Go's accessor."""
    value: Any = obj
    keys = path.removeprefix(".").split(".")
    for depth, key in enumerate(keys):
        if value is None:
            return zero, ""
        if not isinstance(value, Mapping):
            return zero, _accessor_error(keys[: depth + 1], value, "map[string]interface{}")
        if key not in value:
            return zero, ""
        value = value[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        return zero, _accessor_error(keys, value, name)
    return value, ""


def _accessor_error(keys: list[str], value: Any, wanted: str) -> str:
    go_type = next((text for kind, text in _GO_TYPES if isinstance(value, kind)), "map[string]interface {}")
    return f".{'.'.join(keys)} accessor error: {go_text(value)} is of the type {'<nil>' if value is None else go_type}, expected {wanted}"


def _invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(ErrorType.INVALID, path, detail, value=value, pointer=tuple(path.removeprefix(".").split(".")))
