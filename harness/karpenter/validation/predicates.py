"""The predicates that the CRDs' rules are made of, by name; the tables give their arguments.

A predicate takes the value of its field (and the old one) and says whether it passes. Where the CEL expression of the same rule would
fail to evaluate, it raises CelError with cel-go's words. Each comes with a function that names what inside the value fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.karpenter.validation.nodeclass_predicates import NODECLASS_FAMILIES
from harness.karpenter.validation.predicate_logic import (
    Arguments,
    Predicate,
    attempt,
    cel_all,
    cel_any,
    cel_int,
    each_element,
    each_key,
    itself,
    present,
)
from harness.kube.api.field_errors import Pointer
from harness.kube.custom_resources.cel_rules import cel_equal
from harness.kube.custom_resources.schema import Rule


def rule_of(definition: Arguments, message: str) -> Rule:
    """The rule of a table row. Raises KeyError for a predicate that does not exist."""
    predicate = _FAMILIES[definition["rule"]](definition)
    return Rule(
        predicate.id, message, predicate.check, predicate.transition, predicate.culprits, expression=_read(definition)
    )


def _read(definition: Arguments) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in definition.items() if name != "rule")
    return f"{definition['rule']}({arguments})"


# Labels and keys of requirements


def _domain_test(arguments: Arguments) -> Callable[[str], bool]:
    domain = arguments["domain"]
    keys = frozenset(arguments.get("keys", ()))
    domains = tuple(arguments.get("domains", ()))

    def allowed(key: str) -> bool:
        prefix = key.partition("/")[0]
        # without a dot in front: "mykarpenter.sh" ends with "karpenter.sh", too
        return not prefix.endswith(domain) or key in keys or (bool(domains) and prefix.endswith(domains))

    return allowed


def _domain(arguments: Arguments) -> Predicate:
    allowed = _domain_test(arguments)
    return Predicate(f"domain:{arguments['domain']}", lambda key, _: allowed(key), itself)


def _domains(arguments: Arguments) -> Predicate:
    allowed = _domain_test(arguments)
    return each_key(f"domain:{arguments['domain']}", allowed)


def _key_not(arguments: Arguments) -> Predicate:
    forbidden = arguments["key"]
    return Predicate(f"key:{forbidden}", lambda key, _: bool(key != forbidden), itself)


def _keys_not(arguments: Arguments) -> Predicate:
    forbidden = frozenset(arguments["keys"] if "keys" in arguments else (arguments["key"],))

    def check(mapping: Mapping[str, Any], _: Any) -> bool:
        return forbidden.isdisjoint(mapping)

    def culprits(mapping: Mapping[str, Any]) -> tuple[Pointer, ...]:
        return tuple((key,) for key in mapping if key in forbidden)

    return Predicate(f"key:{','.join(sorted(forbidden))}", check, culprits)


# Requirements


def _requirement_values(arguments: Arguments) -> Predicate:
    operator = arguments["operator"]

    def test(requirement: Mapping[str, Any]) -> bool:
        return present(requirement, "operator") != operator or len(present(requirement, "values")) != 0

    return each_element(f"values:{operator}", test, "values")


def _requirement_number(arguments: Arguments) -> Predicate:
    operators = frozenset(arguments["operators"])

    def test(requirement: Mapping[str, Any]) -> bool:
        if present(requirement, "operator") not in operators:
            return True
        values = present(requirement, "values")
        return len(values) == 1 and cel_int(values[0]) >= 0

    return each_element(f"number:{','.join(sorted(operators))}", test, "values")


def _requirement_min_values(_: Arguments) -> Predicate:
    def test(requirement: Mapping[str, Any]) -> bool:
        conditions = (
            attempt(lambda: bool(present(requirement, "operator") == "In")),
            attempt(lambda: "minValues" in requirement),
        )
        if not cel_all(conditions):
            return True
        return bool(len(present(requirement, "values")) >= requirement["minValues"])

    return each_element("min-values", test, "minValues")


# Fields that depend on each other


def _together(arguments: Arguments) -> Predicate:
    first, second = arguments["first"], arguments["second"]
    return each_element(f"together:{first},{second}", lambda element: (first in element) == (second in element))


def _exclusive(arguments: Arguments) -> Predicate:
    first, second = arguments["first"], arguments["second"]
    return Predicate(
        f"exclusive:{first},{second}",
        lambda value, _: cel_any(lambda: first not in value, lambda: second not in value),
        lambda _: ((second,),),
    )


def _lone_key(arguments: Arguments) -> Predicate:
    when, field, key = arguments["when"], arguments["field"], arguments["key"]

    def check(value: Mapping[str, Any], _: Any) -> bool:
        return not value.get(field) or list(value[field]) == [key] or when not in value

    def culprits(value: Mapping[str, Any]) -> tuple[Pointer, ...]:
        return tuple((field, other) for other in value.get(field, ()) if other != key)

    return Predicate(f"lone:{field}.{key}", check, culprits)


def _above(arguments: Arguments) -> Predicate:
    high, low = arguments["high"], arguments["low"]
    return Predicate(
        f"above:{high},{low}",
        lambda value, _: cel_any(
            lambda: high not in value, lambda: low not in value, lambda: bool(value[high] > value[low])
        ),
        lambda _: ((high,), (low,)),
    )


def _not_above(arguments: Arguments) -> Predicate:
    high, low = arguments["high"], arguments["low"]
    return Predicate(
        f"not-above:{low},{high}",
        lambda value, _: cel_any(
            lambda: high not in value, lambda: low not in value, lambda: bool(value[low] <= value[high])
        ),
        lambda _: ((low,), (high,)),
    )


def _not_empty(_: Arguments) -> Predicate:
    return Predicate("not-empty", lambda value, _: bool(value != ""), itself)


# Updates


def _unchanged(_: Arguments) -> Predicate:
    return Predicate("unchanged", cel_equal, itself, transition=True)


def _unchanged_field(arguments: Arguments) -> Predicate:
    field = arguments["field"]
    return Predicate(
        f"unchanged:{field}",
        lambda value, old: cel_equal(present(value, field), present(old, field)),
        lambda _: ((field,),),
        transition=True,
    )


def _unchanged_presence(arguments: Arguments) -> Predicate:
    field = arguments["field"]
    return Predicate(
        f"unchanged-presence:{field}",
        lambda value, old: (field in value) == (field in old),
        lambda _: ((field,),),
        transition=True,
    )


_FAMILIES: Mapping[str, Callable[[Arguments], Predicate]] = {
    "above": _above,
    "domain": _domain,
    "domains": _domains,
    "exclusive": _exclusive,
    "key-not": _key_not,
    "keys-not": _keys_not,
    "lone-key": _lone_key,
    "not-above": _not_above,
    "not-empty": _not_empty,
    "requirement-min-values": _requirement_min_values,
    "requirement-number": _requirement_number,
    "requirement-values": _requirement_values,
    "together": _together,
    "unchanged": _unchanged,
    "unchanged-field": _unchanged_field,
    "unchanged-presence": _unchanged_presence,
    **NODECLASS_FAMILIES,
}
