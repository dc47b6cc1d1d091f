"""The CRDs' rules as JSON Schema, where it can express them, and values that an editor should mark although an API server takes them.

A rule that compares a value with its old one, or two values with each other, has no form in JSON Schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.karpenter.labels import azure

__all__ = ["constraint", "escaped", "in_any_case", "more_than_the_crd"]

_LETTERS = re.compile(r"\\.|\[[^\]]*\]|[A-Za-z]")
"""A letter, and the parts whose letters mean something else: what is escaped, and classes, which have both cases in the CRDs."""

Arguments = Mapping[str, Any]
Schema = dict[str, Any]


def escaped(text: str) -> str:
    """Return a text as it stands in a pattern of ECMA-262, where other characters may not be escaped (SyntaxCharacter)."""
    return re.sub(r"[\^$\\.*+?()\[\]{}|/]", r"\\\g<0>", text)


def in_any_case(pattern: str) -> str:
    """Return a pattern with Go's flag `(?i)` in the way of ECMA-262, which JSON Schema has: with both forms of each letter."""
    if not pattern.startswith("(?i)"):
        return pattern
    return _LETTERS.sub(
        lambda part: f"[{part[0].upper()}{part[0].lower()}]" if part[0].isalpha() else part[0],
        pattern.removeprefix("(?i)"),
    )


def constraint(row: Arguments, message: str) -> Schema:
    """Return the JSON Schema of a rule, with the API server's message for editors that show it; empty where there is none."""
    write = _FORMS.get(row["rule"])
    return {} if write is None else {**write(row), "errorMessage": message}


def _free_key(row: Arguments) -> Schema:
    """A label key that a closed domain leaves open; a prefix that only ends with the domain is closed, too."""
    open_below = [{"pattern": f"^[^/]*{escaped(name)}(/|$)"} for name in row.get("domains", ())]
    listed: Schema = {"enum": sorted(row.get("keys", ()))}
    return {
        "if": {"pattern": f"^[^/]*{escaped(row['domain'])}(/|$)"},
        "then": {"anyOf": [listed, *open_below]} if open_below else listed,
    }


def _forbidden_keys(row: Arguments) -> Schema:
    return {"propertyNames": {"not": {"enum": sorted(row["keys"] if "keys" in row else (row["key"],))}}}


def _with_values(operators: list[str], values: Schema) -> Schema:
    """Requirements with one of these operators have such values."""
    having = {"properties": {"operator": {"enum": operators}}, "required": ["operator"]}
    return {"items": {"if": having, "then": {"required": ["values"], "properties": {"values": values}}}}


def _together(row: Arguments) -> Schema:
    first, second = row["first"], row["second"]
    return {"items": {"dependencies": {first: [second], second: [first]}}}


def _lone_key(row: Arguments) -> Schema:
    only = {row["field"]: {"propertyNames": {"const": row["key"]}}}
    return {"if": {"required": [row["when"]]}, "then": {"properties": only}}


_FORMS: Mapping[str, Callable[[Arguments], Schema]] = {
    "domain": _free_key,
    "domains": lambda row: {"propertyNames": _free_key(row)},
    "exclusive": lambda row: {"not": {"required": [row["first"], row["second"]]}},
    "key-length": lambda row: {"propertyNames": {"maxLength": row["limit"]}},
    "key-not": lambda row: {"not": {"const": row["key"]}},
    "keys-not": _forbidden_keys,
    "keys-without": lambda row: {"propertyNames": {"pattern": f"^[^{escaped(row['characters'])}]*$"}},
    "lone-key": _lone_key,
    "not-empty": lambda row: {"minLength": 1},
    "requirement-number": lambda row: _with_values(
        list(row["operators"]), {"minItems": 1, "maxItems": 1, "items": {"pattern": "^\\+?[0-9]+$"}}
    ),
    "requirement-values": lambda row: _with_values([row["operator"]], {"minItems": 1}),
    "together": _together,
    "value-length": lambda row: {"additionalProperties": {"maxLength": row["limit"]}},
}

_NAMES = {
    "month": "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",
    "day": "sun|mon|tue|wed|thu|fri|sat",
}


def _cron_field(names: str = "") -> str:
    """One field of a cron expression: numbers, names in any case, ranges, steps, lists (robfig/cron v3 parser.go, getField, getRange)."""
    letters = "".join(f"[{letter.lower()}{letter.upper()}]" if letter.isalpha() else letter for letter in names)
    value = f"(?:[0-9]+|{letters})" if letters else "[0-9]+"
    part = f"(?:[*?]|{value}(?:-{value})?)(?:/[0-9]+)?"
    return f"{part}(?:,{part})*"


_CRON = " +".join([_cron_field()] * 3 + [_cron_field(_NAMES["month"]), _cron_field(_NAMES["day"])])
_SCHEDULE: Schema = {
    "pattern": f"^(?:(?:TZ|CRON_TZ)=\\S+ +)?(?: *{_CRON} *|@(?:annually|yearly|monthly|weekly|daily|midnight|hourly))$",
    "errorMessage": "no cron expression: nothing would be disrupted",
}
_NODE_CLASS: Mapping[str, Schema] = {
    "group": {"const": "karpenter.azure.com", "errorMessage": "on Azure a node class is of this group"},
    "kind": {"const": "AKSNodeClass", "errorMessage": "on Azure a node class is of this kind"},
}
_FAMILY: Schema = {
    "items": {
        "if": {
            "properties": {
                "key": {"const": azure.SKU_FAMILY},
                "operator": {"enum": ["In", "NotIn"]},
            },
            "required": ["key", "operator"],
        },
        "then": {
            "properties": {
                "values": {
                    "items": {"pattern": "^[A-Z]+$", "errorMessage": "a family is letters alone, such as D or NC"}
                }
            }
        },
    }
}


def more_than_the_crd(kind: str, path: str) -> Schema:
    """Return the schema of a meaningful value of a field, beyond the CRD's; empty for most fields.

    An API server takes other values and Karpenter does nothing with them: a node class of another kind, a schedule that cannot be read, a
    family that is a series.
    """
    place = path.removeprefix("spec.template.") if kind == "NodePool" else path
    if place.startswith("spec.nodeClassRef."):
        return dict(_NODE_CLASS.get(place.rpartition(".")[2], {}))
    return dict({"spec.disruption.budgets[].schedule": _SCHEDULE, "spec.requirements": _FAMILY}.get(place, {}))
