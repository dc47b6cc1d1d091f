"""Rules of capture: each takes a value and returns the part of it that may stay, `NOTHING` where none may.

A field without a rule is left out. No rule lets free text through: each takes a text in the form of a number, a quantity, a word of a
list or a time, and returns a pseudonym for a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from harness.capture.pseudonyms import Pseudonyms
from harness.karpenter.labels.core import DO_NOT_DISRUPT

__all__ = [
    "ANNOTATIONS",
    "FIELDS",
    "FLAG",
    "LABELS",
    "NOTHING",
    "NUMBER",
    "QUANTITY",
    "REQUIREMENTS",
    "RESOURCES",
    "SELECTOR",
    "SPAN",
    "TAINTS",
    "TIME",
    "TOPOLOGIES",
    "VERSION",
    "Rule",
    "each",
    "fields",
    "fixed",
    "key",
    "name",
    "parameters",
    "path",
    "some",
    "unless",
    "whole",
    "words",
]

NOTHING: Final = object()
Rule: TypeAlias = Callable[[Any, Pseudonyms], Any]

_KEPT_ANNOTATIONS = frozenset(
    {
        DO_NOT_DISRUPT,
        "controller.kubernetes.io/pod-deletion-cost",
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    }
)
_VERSION = re.compile(r"v?[0-9]{1,3}\.[0-9]{1,4}\.[0-9]{1,4}")
_WHOLE = re.compile(r"-?[0-9]{1,12}")
_COMPARE = ("Gt", "Lt", "Gte", "Lte")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte", "Equal")


def fields(**rules: Rule) -> Rule:
    """Return the rule of a map with these fields; empty ones stay where the map has no other content."""

    def rule(value: Any, names: Pseudonyms) -> Any:
        if not isinstance(value, Mapping):
            return NOTHING
        reduced = {
            field: field_rule(value[field], names)
            for field, field_rule in rules.items()
            if value.get(field) is not None
        }
        reduced = {field: left for field, left in reduced.items() if left is not NOTHING}
        return reduced if reduced or not value else NOTHING

    return rule


def each(item_rule: Rule) -> Rule:
    """Return the rule of a list of such values."""

    def rule(value: Any, names: Pseudonyms) -> Any:
        if not isinstance(value, Sequence) or isinstance(value, str):
            return NOTHING
        return [left for item in value if (left := item_rule(item, names)) is not NOTHING]

    return rule


def whole(map_rule: Rule, *needed: str) -> Rule:
    """Return the rule of a map that needs these fields to keep its meaning: nothing where one of them may not stay."""

    def rule(value: Any, names: Pseudonyms) -> Any:
        left = map_rule(value, names)
        return left if isinstance(left, dict) and left.keys() >= set(needed) else NOTHING

    return rule


def parameters(rules: Mapping[str, Rule]) -> Rule:
    """Return the rule of a map whose keys are read in any case."""

    def rule(value: Any, names: Pseudonyms) -> Any:
        if not isinstance(value, Mapping):
            return NOTHING
        reduced = {key: rules[key.lower()](item, names) for key, item in value.items() if key.lower() in rules}
        return {key: left for key, left in reduced.items() if left is not NOTHING} or NOTHING

    return rule


def some(item_rule: Rule) -> Rule:
    """Return the rule of a list of such values, with nothing in place of an empty one."""
    list_rule = each(item_rule)
    return lambda value, names: list_rule(value, names) or NOTHING


def unless(default: Any, other_rule: Rule) -> Rule:
    """Return the rule that drops the default value."""
    return lambda value, names: NOTHING if value == default else other_rule(value, names)


def name(category: str) -> Rule:
    """Return the rule of a name."""
    return lambda value, names: names.name(category, value) if isinstance(value, str) and value else NOTHING


def path(category: str, form: str) -> Rule:
    """Return the rule of an id in Azure; `form` has `{}` for its number."""
    return lambda value, names: names.path(category, value, form) if isinstance(value, str) and value else NOTHING


def fixed(text: str) -> Rule:
    """Return the rule that puts this text in place of any value."""
    return lambda value, names: text


def words(*allowed: str) -> Rule:
    """Return the rule of one of these words."""
    return lambda value, names: value if value in allowed else NOTHING


def _form(pattern: str) -> Rule:
    compiled = re.compile(pattern)

    def rule(value: Any, names: Pseudonyms) -> Any:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
        return value if isinstance(value, str) and compiled.fullmatch(value) else NOTHING

    return rule


QUANTITY = _form(r"[+-]?([0-9]{1,19}(\.[0-9]{0,9})?|\.[0-9]{1,9})([eE][+-]?[0-9]{1,3}|[KMGTPE]i|[numkMGTPE])?%?")
"""A number, a quantity, a share in per cent."""
_NAMED_TIMES = "SUN|MON|TUE|WED|THU|FRI|SAT|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC"
_SCHEDULES = "@(annually|yearly|monthly|weekly|daily|midnight|hourly)"
SPAN = _form(
    rf"Never|([0-9]{{1,12}}(\.[0-9]{{1,9}})?(ns|us|µs|ms|s|m|h))+|([0-9 */,?-]|\b(?i:{_NAMED_TIMES})\b){{1,40}}|{_SCHEDULES}"
)
"""A duration, or a schedule of cron (core pkg/apis/v1/nodepool.go)."""
TIME = _form(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}Z")
"""A moment."""


def VERSION(value: Any, names: Pseudonyms) -> Any:
    """A version, without what a build adds to it."""
    match_ = _VERSION.match(value) if isinstance(value, str) else None
    return match_[0] if match_ else NOTHING


def NUMBER(value: Any, names: Pseudonyms) -> Any:
    """A number."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else NOTHING


def FLAG(value: Any, names: Pseudonyms) -> Any:
    """True or false."""
    return value if isinstance(value, bool) else NOTHING


def key(value: Any, names: Pseudonyms) -> Any:
    """The key of a label."""
    return names.key(value) if isinstance(value, str) else NOTHING


def LABELS(value: Any, names: Pseudonyms) -> Any:
    """Reduce labels, or a map that selects by them."""
    if not isinstance(value, Mapping):
        return NOTHING
    return {names.key(label): names.value(label, text) for label, text in value.items() if isinstance(text, str)}


def ANNOTATIONS(value: Any, names: Pseudonyms) -> Any:
    """Reduce annotations to those that decide something, where they have a short word or a number."""
    if not isinstance(value, Mapping):
        return NOTHING
    reduced = {
        annotation: text
        for annotation, text in value.items()
        if annotation in _KEPT_ANNOTATIONS and re.fullmatch(r"true|false|-?\d{1,10}", str(text))
    }
    return reduced or NOTHING


def RESOURCES(value: Any, names: Pseudonyms) -> Any:
    """Quantities by resource."""
    if not isinstance(value, Mapping):
        return NOTHING
    reduced = {names.resource(resource): QUANTITY(amount, names) for resource, amount in value.items()}
    return {resource: amount for resource, amount in reduced.items() if amount is not NOTHING}


def _expression(value: Any, names: Pseudonyms) -> Any:
    if not isinstance(value, Mapping) or not isinstance(value.get("key"), str):
        return NOTHING
    left: dict[str, Any] = {"key": names.key(value["key"])}
    if value.get("operator") in _OPERATORS:
        left["operator"] = value["operator"]
    if isinstance(value.get("values"), list):
        number = left.get("operator") in _COMPARE  # the API server wants a number
        left["values"] = [
            str(operand) if number and _WHOLE.fullmatch(str(operand)) else names.value(value["key"], str(operand))
            for operand in value["values"]
        ]
    if isinstance(value.get("minValues"), int):
        left["minValues"] = value["minValues"]
    return left


REQUIREMENTS = each(whole(_expression, "key", "operator"))
"""Requirements and expressions: key, operator, values."""
TOPOLOGIES = each(fields(matchLabelExpressions=each(_expression)))
"""The zones in which a StorageClass may make volumes: keys and values, without operators."""


def _by_name(value: Any, names: Pseudonyms) -> Any:
    """Reduce the selection of a Node by its name: the only field that there is (kube pkg/apis/core/validation)."""
    if not isinstance(value, Mapping) or value.get("key") != "metadata.name":
        return NOTHING
    listed = value.get("values")
    named = [names.name("node", str(node_name)) for node_name in listed] if isinstance(listed, list) else []
    return {"key": "metadata.name", "operator": words(*_OPERATORS)(value.get("operator"), names), "values": named}


FIELDS = each(whole(_by_name, "operator"))
"""Requirements of a Node's fields."""
SELECTOR = fields(matchLabels=LABELS, matchExpressions=REQUIREMENTS)


def _taint(value: Any, names: Pseudonyms) -> Any:
    if not isinstance(value, Mapping):
        return NOTHING
    left: dict[str, Any] = {}
    of = value.get("key")
    if isinstance(of, str):
        left["key"] = names.key(of)
    if value.get("operator") in ("Exists", "Equal", "Lt", "Gt"):
        left["operator"] = value["operator"]
    if isinstance(value.get("value"), str):
        left["value"] = names.value(str(of), value["value"])
    # a toleration of no effect tolerates all of them, a taint has one
    if value.get("effect") in ("NoSchedule", "PreferNoSchedule", "NoExecute"):
        left["effect"] = value["effect"]
    if isinstance(value.get("tolerationSeconds"), int):
        left["tolerationSeconds"] = value["tolerationSeconds"]
    return left or NOTHING


TAINTS = each(_taint)
"""Taints and tolerations."""
