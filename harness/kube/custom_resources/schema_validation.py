"""Validation of a value against a structural schema, with the texts of the API server's OpenAPI validator.

Source: kube-openapi pkg/validation/{validate,errors}, apiextensions-apiserver pkg/apiserver/validation.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from harness.kube.api.field_errors import NO_FIELD, ErrorType, FieldError, Pointer, go_json, print_value
from harness.kube.custom_resources.correlation import Correlation, same
from harness.kube.custom_resources.schema import META_FIELDS, Schema
from harness.kube.go.text import quote
from harness.kube.go.times import parse_rfc3339

_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))")
_MAX_EXACT = (1 << 53) - 1  # larger floats are no integers to the validator
_FORMAT_OF = {"integer": "int64", "number": "float64"}
_BITS = {"int32": 31, "int64": 63, "": 63}


def validate(schema: Schema, value: Any, old: Correlation | None = None) -> list[FieldError]:
    """Return the schema's errors about a resource, sorted by text. With ``old``, unchanged places are not complained about."""
    errors: list[FieldError] = []
    _validate(schema, value, (), errors, old)
    errors.sort(key=str)
    return errors


def openapi_path(pointer: Pointer) -> str:
    """A place as the OpenAPI validator names it: keys of mappings after a dot, too."""
    text = ""
    for part in pointer:
        text = f"{text}[{part}]" if isinstance(part, int) else f"{text}.{part}"
    return text.removeprefix(".")


def _validate(schema: Schema, value: Any, at: Pointer, errors: list[FieldError], old: Correlation | None) -> None:
    before = len(errors)
    kind = value.__class__
    if kind is str:
        _string(schema, value, at, errors)
    elif kind is dict:
        _object(schema, value, at, errors, old)
    elif kind is list:
        _list(schema, value, at, errors, old)
    elif value is None:
        if schema.type and not schema.nullable:
            _type_error(schema, "null", at, errors)
    elif kind is bool:
        if "boolean" not in schema.type and schema.type:
            _type_error(schema, "boolean", at, errors)
    else:
        _number(schema, value, at, errors)
    if schema.combined and value is not None:
        _combinations(schema, value, at, errors)
    if schema.enum and not (kind is str and value in schema.enum) and not any(same(value, e) for e in schema.enum):
        _enum_error(schema, value, at, errors)
    if len(errors) > before and old is not None and old.unchanged():
        old.tolerated.extend(errors[before:])
        del errors[before:]


def _add(errors: list[FieldError], kind: ErrorType, at: Pointer, value: Any, detail: str = "") -> None:
    errors.append(FieldError(kind, openapi_path(at) or NO_FIELD, detail, value, at))


def _invalid(errors: list[FieldError], at: Pointer, value: Any, complaint: str) -> None:
    _add(errors, ErrorType.INVALID, at, value, f"{openapi_path(at)} in body {complaint}")


def _type_error(schema: Schema, actual: str, at: Pointer, errors: list[FieldError]) -> None:
    expected = ",".join(schema.type)
    if schema.format and actual not in ("string", "array", "null"):
        expected, actual = schema.format, _FORMAT_OF.get(actual, "")
    detail = f"{openapi_path(at)} in body must be of type {expected}: {quote(actual)}"
    _add(errors, ErrorType.TYPE_INVALID, at, actual, detail)


def _enum_error(schema: Schema, value: Any, at: Pointer, errors: list[FieldError]) -> None:
    supported = ", ".join(quote(entry if isinstance(entry, str) else go_json(entry)) for entry in schema.enum)
    _add(errors, ErrorType.NOT_SUPPORTED, at, value, f"supported values: {supported}")


def _string(schema: Schema, value: str, at: Pointer, errors: list[FieldError]) -> None:
    if schema.format == "date-time":
        if not _is_date_time(value):
            detail = f"{openapi_path(at)} in body must be of type {schema.format}: {quote(value)}"
            _add(errors, ErrorType.TYPE_INVALID, at, value, detail)
    elif schema.type and "string" not in schema.type:
        _type_error(schema, "string", at, errors)
    if schema.max_length is not None and len(value) > schema.max_length:
        unit = "byte" if schema.max_length == 1 else "bytes"
        _add(errors, ErrorType.TOO_LONG, at, None, f"may not be more than {schema.max_length} {unit}")
    elif schema.min_length is not None and len(value) < schema.min_length:
        _invalid(errors, at, value, f"should be at least {schema.min_length} chars long")
    elif schema.matches is not None and not schema.matches(value):
        _invalid(errors, at, value, f"should match '{schema.pattern}'")


@lru_cache(maxsize=4096)
def _is_date_time(text: str) -> bool:
    """Return whether the validator takes the text for a date-time; it looks no further than a second T (kube-openapi strfmt/time.go)."""
    day, _, behind = text.lower().partition("t")
    try:
        parse_rfc3339(f"{day}T00:00:00Z")
    except ValueError:
        return False
    time = _TIME.fullmatch(behind.partition("t")[0])
    return time is not None and time[1] <= "23" and time[2] <= "59" and time[3] <= "59"


def _number(schema: Schema, value: int | float, at: Pointer, errors: list[FieldError]) -> None:
    kind = "integer" if isinstance(value, int) else "number"
    whole = isinstance(value, int) or (value.is_integer() and abs(value) <= _MAX_EXACT)
    fits = (
        kind in schema.type or ("integer" in schema.type and whole) or ("number" in schema.type and kind == "integer")
    )
    if schema.type and not fits:
        _type_error(schema, kind, at, errors)
    if schema.checks_range and schema.type == ("integer",):
        limit = 1 << _BITS[schema.format]
        if not (isinstance(value, int) or value.is_integer()) or not -limit <= value < limit:
            form = f"with format {schema.format}" if schema.format else "(default format)"
            detail = f"Checked value must be of type integer {form} in {openapi_path(at)}"
            errors.append(FieldError(ErrorType.INVALID, NO_FIELD, detail, "", at))
    if schema.multiple_of is not None and value % schema.multiple_of:
        _invalid(errors, at, value, f"should be a multiple of {print_value(_bound(schema.multiple_of, value))}")
    if schema.minimum is not None:
        low = _bound(schema.minimum, value)
        if value < low or (schema.exclusive_minimum and value == low):
            words = "greater than" if schema.exclusive_minimum else "greater than or equal to"
            _invalid(errors, at, value, f"should be {words} {print_value(low)}")
    if schema.maximum is not None:
        high = _bound(schema.maximum, value)
        if value > high or (schema.exclusive_maximum and value == high):
            words = "less than" if schema.exclusive_maximum else "less than or equal to"
            _invalid(errors, at, value, f"should be {words} {print_value(high)}")


def _bound(number: float, value: float) -> float:
    """A bound as it is compared and printed: cut off to an integer where the value is one, else a float."""
    return int(number) if isinstance(value, int) else float(number)


def _list(schema: Schema, value: list[Any], at: Pointer, errors: list[FieldError], old: Correlation | None) -> None:
    if schema.type and "array" not in schema.type and schema.format != "date-time":
        _type_error(schema, "array", at, errors)
    items = schema.items
    if items is not None:
        sound = _string_test(items)
        for index, entry in enumerate(value):
            if sound is None or not sound(entry):
                _validate(items, entry, (*at, index), errors, old.index(index) if old else None)
    size = len(value)
    if schema.min_items is not None and size < schema.min_items:
        _invalid(errors, at, size, f"should have at least {schema.min_items} items")
    if schema.max_items is not None and size > schema.max_items:
        _too_many(errors, at, size, schema.max_items)
    if schema.unique_items and any(same(a, b) for i, a in enumerate(value) for b in value[:i]):
        _invalid(errors, at, "", "shouldn't contain duplicates")


def _string_test(schema: Schema) -> Callable[[Any], bool] | None:
    """Return a quick test of one entry of a list of plain strings; None where the schema needs the whole validation.

    Long lists hold little else than good entries.
    """
    if schema.type != ("string",) or schema.format or schema.enum or schema.combined:
        return None
    least, matches = schema.min_length or 0, schema.matches
    most = sys.maxsize if schema.max_length is None else schema.max_length
    if matches is None:
        return lambda entry: entry.__class__ is str and least <= len(entry) <= most
    return lambda entry: entry.__class__ is str and least <= len(entry) <= most and matches(entry)


def _too_many(errors: list[FieldError], at: Pointer, size: int, limit: int) -> None:
    unit = "item" if limit == 1 else "items"
    _add(errors, ErrorType.TOO_MANY, at, size, f"must have at most {limit} {unit}")


def _object(
    schema: Schema, value: dict[str, Any], at: Pointer, errors: list[FieldError], old: Correlation | None
) -> None:
    if schema.type and "object" not in schema.type:
        _type_error(schema, "object", at, errors)
    size = len(value)
    if schema.min_properties is not None and size < schema.min_properties:
        _invalid(errors, at, size, f"should have at least {schema.min_properties} properties")
    if schema.max_properties is not None and size > schema.max_properties:
        _too_many(errors, at, size, schema.max_properties)
    for key, entry in value.items():
        child = schema.properties.get(key) or schema.additional
        if child is not None:
            # apiVersion, kind and metadata of the root are never taken for unchanged
            below = None if old is None or (not at and key in META_FIELDS) else old.key(key)
            _validate(child, entry, (*at, key), errors, below)
    for key in schema.required:
        if key not in value:
            _add(errors, ErrorType.REQUIRED, (*at, key), "")


def _combinations(schema: Schema, value: Any, at: Pointer, errors: list[FieldError]) -> None:
    def failures(alternative: Schema) -> list[FieldError]:
        errors_of_alternative: list[FieldError] = []
        _validate(alternative, value, at, errors_of_alternative, None)
        return errors_of_alternative

    def whole(detail: str) -> None:
        errors.append(FieldError(ErrorType.INVALID, NO_FIELD, f"{quote(openapi_path(at))} {detail}", "", at))

    if schema.any_of:
        outcomes = [failures(alternative) for alternative in schema.any_of]
        if all(outcomes):
            whole("must validate at least one schema (anyOf)")
            errors.extend(outcomes[0])
    if schema.one_of:
        outcomes = [failures(alternative) for alternative in schema.one_of]
        valid = sum(not failed for failed in outcomes)
        if valid != 1:
            reason = f"Found {valid} valid alternatives" if valid else "Found none valid"
            whole(f"must validate one and only one schema (oneOf). {reason}")
            if not valid:
                errors.extend(outcomes[0])
    if schema.all_of:
        outcomes = [failures(alternative) for alternative in schema.all_of]
        for failed in outcomes:
            errors.extend(failed)
        if any(outcomes):
            whole(f"must validate all the schemas (allOf){'. None validated' if all(outcomes) else ''}")
    if schema.not_ is not None and not failures(schema.not_):
        whole("must not validate the schema (not)")
