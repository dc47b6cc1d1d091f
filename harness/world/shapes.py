"""Objects of the wrong shape, refused at the door: an API server answers them with 400 before any plugin sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.karpenter.validation.rejections import Rejection, schema_layer
from harness.kube.admission.core_types import shape_errors
from harness.kube.api.field_errors import Pointer

__all__ = ["misshapen"]


def misshapen(obj: Mapping[str, Any]) -> list[Rejection]:
    """Return a rejection for each field of the wrong type, unknown or missing: of core kinds all, of others the fields
    of every object.

    Raises TypeError for a value that is no mapping at all.
    """
    if not isinstance(obj, Mapping):
        raise TypeError(f"an object is a mapping, not {type(obj).__name__}")
    kind, metadata = obj.get("kind"), obj.get("metadata", {})
    mistakes: list[tuple[Pointer, str]] = [
        ((field,), "a text is expected") for field in ("apiVersion", "kind") if not isinstance(obj.get(field), str)
    ]
    if not isinstance(metadata, Mapping):
        mistakes.append((("metadata",), "a map is expected"))
        metadata = {}
    for field in ("name", "namespace"):
        if not isinstance(metadata.get(field) or "", str):
            mistakes.append((("metadata", field), "a text is expected"))
    for field in ("labels", "annotations"):
        if not isinstance(metadata.get(field) or {}, Mapping):
            mistakes.append((("metadata", field), "a map is expected"))
    if not mistakes:
        mistakes = [(error.pointer, error.what) for error in shape_errors(_without_nulls(obj))]
    name, layer = f"{kind}/{metadata.get('name') or ''}", schema_layer(str(kind))
    return [
        Rejection(
            layer,
            name,
            _dotted(pointer),
            None,
            "shape",
            message,
            f"{_dotted(pointer)}: {message}",
            pointer,
        )
        for pointer, message in mistakes
    ]


def _without_nulls(value: Any) -> Any:
    """Return the value without the fields that are null: to apply a null is to take the field away. Files are held to have none."""
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _dotted(pointer: Pointer) -> str:
    text = ""
    for part in pointer:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
