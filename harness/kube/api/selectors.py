"""Label selectors ``{matchLabels, matchExpressions}``: parsed once, matched often.

Source: apimachinery ``pkg/apis/meta/v1/helpers.go``, ``pkg/labels/selector.go``.
"""

from collections.abc import Mapping
from typing import Any

from harness.kube.api.names import label_value_errors, qualified_name_errors
from harness.kube.go.text import quote
from lazyrecords import dataclass

_EQUALS, _IN, _NOT_IN, _EXISTS, _DOES_NOT_EXIST = "=", "In", "NotIn", "Exists", "DoesNotExist"
_OPERATORS = (_IN, _NOT_IN, _EXISTS, _DOES_NOT_EXIST)


class SelectorError(ValueError):
    """A selector that the API machinery refuses; the message is its own."""


@dataclass(frozen=True, slots=True)
class Selector:
    """Conditions ``(key, operator, values)`` that all have to hold; ``nothing`` matches no labels at all."""

    conditions: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    nothing: bool = False

    @classmethod
    def parse(cls, selector: Mapping[str, Any] | None) -> "Selector":
        """The selector of an API object: None matches nothing, an empty one everything. Raises SelectorError."""
        if selector is None:
            return NOTHING
        conditions = [(key, _EQUALS, (value,)) for key, value in (selector.get("matchLabels") or {}).items()]
        for expression in selector.get("matchExpressions") or ():
            operator, values = expression.get("operator") or "", tuple(expression.get("values") or ())
            if operator not in _OPERATORS:
                raise SelectorError(f"{quote(operator)} is not a valid label selector operator")
            conditions.append((expression.get("key") or "", operator, values))
        for condition in conditions:
            _check(*condition)
        return cls(tuple(sorted(conditions, key=lambda condition: condition[0])))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether the labels meet all conditions; NotIn holds for absent keys."""
        if self.nothing:
            return False
        for key, operator, values in self.conditions:
            if operator == _DOES_NOT_EXIST:
                if key in labels:
                    return False
            elif operator == _NOT_IN:
                if key in labels and labels[key] in values:
                    return False
            elif key not in labels or (operator != _EXISTS and labels[key] not in values):
                return False
        return True

    def __str__(self) -> str:
        return ",".join(_text(*condition) for condition in self.conditions)


def pod_selector(workload: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the label selector with which a workload selects its pods; None where it has none.

    That of a ReplicationController is a map of labels (kubernetes pkg/controller/replication/conversion.go).
    """
    selector: Mapping[str, Any] | None = (workload.get("spec") or {}).get("selector")
    return {"matchLabels": selector} if selector and workload.get("kind") == "ReplicationController" else selector


NOTHING = Selector(nothing=True)
EVERYTHING = Selector()


def format_selector(selector: Mapping[str, Any] | None) -> str:
    """The text of kubectl's SELECTOR columns (FormatLabelSelector)."""
    try:
        return str(Selector.parse(selector)) or "<none>"
    except SelectorError:
        return "<error>"


def _check(key: str, operator: str, values: tuple[str, ...]) -> None:
    for error in qualified_name_errors(key):
        raise SelectorError(f"key: Invalid value: {quote(key)}: {error}")
    if operator in (_IN, _NOT_IN) and not values:
        raise SelectorError("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty")
    if operator in (_EXISTS, _DOES_NOT_EXIST) and values:
        raise SelectorError("values: Invalid value: []: values set must be empty for exists and does not exist")
    for value in values:
        for error in label_value_errors(value):
            raise SelectorError(f"values[0][{key}]: Invalid value: {quote(value)}: {error}")


def _text(key: str, operator: str, values: tuple[str, ...]) -> str:
    if operator == _EQUALS:
        return f"{key}={values[0]}"
    if operator == _EXISTS:
        return key
    if operator == _DOES_NOT_EXIST:
        return f"!{key}"
    return f"{key} {'in' if operator == _IN else 'notin'} ({','.join(sorted(values))})"
