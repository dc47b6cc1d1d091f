"""The types that a template declares its parameters and outputs with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakeazure.arm.bodies import text
from fakeazure.resources.deployments.template_values import TemplateError, type_name

_TYPES: Mapping[str, tuple[str, str]] = {
    "string": ("String", "String"),
    "securestring": ("SecureString", "String"),
    "int": ("Int", "Integer"),
    "bool": ("Bool", "Boolean"),
    "object": ("Object", "Object"),
    "secureobject": ("SecureObject", "Object"),
    "array": ("Array", "Array"),
}
"""Declared type → as a deployment shows it, and the type of JSON that its values have."""
_EXPECTED: Mapping[str, str] = {"String": "String, Uri"}
_PAGES: Mapping[str, str] = {"parameter": "resource-manager-parameter-files", "output": "arm-syntax-outputs"}
"""Part of a template → the page that its refusals name (that of outputs is a guess)."""


def shown_type(declared: Any, value: Any) -> str:
    """Return the type of a parameter or output as a deployment shows it: the declared one, else that of its value."""
    name = _name(declared)
    return _TYPES[name][0] if name in _TYPES else type_name(value)


def check_type(part: str, declared: Any, value: Any) -> None:
    """Refuse a value of another type than is declared; `part` is `parameter` or `output`. Raises TemplateError.

    The words are those of ARM (issues 9 of stgeorgi/wvdquickstart, 14055 of Azure/azure-rest-api-specs).
    """
    if value is None and isinstance(declared, Mapping) and declared.get("nullable") is True:
        return
    name = _name(declared)
    if name in _TYPES and type_name(value) != _TYPES[name][1]:
        expected = _EXPECTED.get(_TYPES[name][1], _TYPES[name][1])
        raise TemplateError(
            f"Template {part} JToken type is not valid. Expected '{expected}'. Actual '{type_name(value)}'. "
            f"Please see https://aka.ms/{_PAGES[part]} for usage details."
        )


def _name(declared: Any) -> str:
    return text(declared, "type").lower() if isinstance(declared, Mapping) else ""
