"""The predicates that the CRDs' rules are made of, by name; the tables give their arguments.

A predicate takes the value of its field (and the old one) and says whether it passes. Where the CEL expression of the same rule would
fail to evaluate, it raises CelError with cel-go's words. Each comes with a function that names what inside the value fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from harness.kube.cel_rules import CelError, Rule
from harness.kube.correlation import same
from harness.kube.field_errors import Pointer
from harness.kube.gotext import parse_int

Check: TypeAlias = Callable[[Any, Any], bool]
Culprits: TypeAlias = Callable[[Any], tuple[Pointer, ...]]
Arguments: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Predicate:
    """A named predicate with its arguments filled in. ``id`` tells it apart from the others on the same field."""

    id: str
    check: Check
    culprits: Culprits
    transition: bool = False


def rule_of(definition: Arguments, message: str) -> Rule:
    """The rule of a table row. Raises KeyError for a predicate that does not exist."""
    found = _FAMILIES[definition["rule"]](definition)
    return Rule(found.id, message, found.check, found.transition, found.culprits, expression=_read(definition))


def _read(definition: Arguments) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in definition.items() if name != "rule")
    return f"{definition['rule']}({arguments})"


def _itself(_: Any) -> tuple[Pointer, ...]:
    return ((),)


def _int(text: Any) -> int:
    """CEL's int()."""
    number = parse_int(text)
    if number is None:
        raise CelError("type conversion error from 'string' to 'int'")
    return number


def _present(holder: Mapping[str, Any], key: str) -> Any:
    """CEL's field selection."""
    if key not in holder:
        raise CelError(f"no such key: {key}")
    return holder[key]


def _all(outcomes: Iterable[bool | CelError]) -> bool:
    """CEL's conjunction: false wins over an error, which wins over true."""
    failure: CelError | None = None
    for outcome in outcomes:
        if outcome is False:
            return False
        if failure is None and outcome is not True:
            failure = outcome
    if failure is not None:
        raise failure
    return True


def _try(test: Callable[[], bool]) -> bool | CelError:
    try:
        return test()
    except CelError as failure:
        return failure


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
    return Predicate(f"domain:{arguments['domain']}", lambda key, _: allowed(key), _itself)


def _domains(arguments: Arguments) -> Predicate:
    allowed = _domain_test(arguments)
    return _each_key(f"domain:{arguments['domain']}", allowed)


def _each_key(name: str, allowed: Callable[[str], bool]) -> Predicate:
    def check(mapping: Mapping[str, Any], _: Any) -> bool:
        return all(map(allowed, mapping))

    def culprits(mapping: Mapping[str, Any]) -> tuple[Pointer, ...]:
        return tuple((key,) for key in mapping if not allowed(key))

    return Predicate(name, check, culprits)


def _key_not(arguments: Arguments) -> Predicate:
    forbidden = arguments["key"]
    return Predicate(f"key:{forbidden}", lambda key, _: bool(key != forbidden), _itself)


def _keys_not(arguments: Arguments) -> Predicate:
    forbidden = frozenset(arguments["keys"] if "keys" in arguments else (arguments["key"],))

    def check(mapping: Mapping[str, Any], _: Any) -> bool:
        return forbidden.isdisjoint(mapping)

    def culprits(mapping: Mapping[str, Any]) -> tuple[Pointer, ...]:
        return tuple((key,) for key in mapping if key in forbidden)

    return Predicate(f"key:{','.join(sorted(forbidden))}", check, culprits)


# Requirements


def _each_element(name: str, test: Callable[[Mapping[str, Any]], bool], part: str = "") -> Predicate:
    def check(elements: Sequence[Mapping[str, Any]], _: Any) -> bool:
        return _all(_try(lambda element=element: test(element)) for element in elements)  # type: ignore[misc]

    def culprits(elements: Sequence[Mapping[str, Any]]) -> tuple[Pointer, ...]:
        return tuple(
            (index, part) if part and part in element else (index,)
            for index, element in enumerate(elements)
            if _try(lambda element=element: test(element)) is not True  # type: ignore[misc]
        )

    return Predicate(name, check, culprits)


def _requirement_values(arguments: Arguments) -> Predicate:
    operator = arguments["operator"]

    def test(requirement: Mapping[str, Any]) -> bool:
        return _present(requirement, "operator") != operator or len(_present(requirement, "values")) != 0

    return _each_element(f"values:{operator}", test, "values")


def _requirement_number(arguments: Arguments) -> Predicate:
    operators = frozenset(arguments["operators"])

    def test(requirement: Mapping[str, Any]) -> bool:
        if _present(requirement, "operator") not in operators:
            return True
        values = _present(requirement, "values")
        return len(values) == 1 and _int(values[0]) >= 0

    return _each_element(f"number:{','.join(sorted(operators))}", test, "values")


def _requirement_min_values(_: Arguments) -> Predicate:
    def test(requirement: Mapping[str, Any]) -> bool:
        if "minValues" not in requirement or _present(requirement, "operator") != "In":
            return True
        return bool(len(_present(requirement, "values")) >= requirement["minValues"])

    return _each_element("min-values", test, "minValues")


# Fields that depend on each other


def _together(arguments: Arguments) -> Predicate:
    first, second = arguments["first"], arguments["second"]
    return _each_element(f"together:{first},{second}", lambda element: (first in element) == (second in element))


def _exclusive(arguments: Arguments) -> Predicate:
    first, second = arguments["first"], arguments["second"]
    return Predicate(
        f"exclusive:{first},{second}",
        lambda value, _: first not in value or second not in value,
        lambda _: ((second,),),
    )


def _lone_key(arguments: Arguments) -> Predicate:
    when, field, key = arguments["when"], arguments["field"], arguments["key"]

    def check(value: Mapping[str, Any], _: Any) -> bool:
        return when not in value or not value.get(field) or list(value[field]) == [key]

    def culprits(value: Mapping[str, Any]) -> tuple[Pointer, ...]:
        return tuple((field, other) for other in value.get(field, ()) if other != key)

    return Predicate(f"lone:{field}.{key}", check, culprits)


def _above(arguments: Arguments) -> Predicate:
    high, low = arguments["high"], arguments["low"]
    return Predicate(
        f"above:{high},{low}",
        lambda value, _: high not in value or low not in value or bool(value[high] > value[low]),
        lambda _: ((high,), (low,)),
    )


def _not_above(arguments: Arguments) -> Predicate:
    high, low = arguments["high"], arguments["low"]
    return Predicate(
        f"not-above:{low},{high}",
        lambda value, _: high not in value or low not in value or bool(value[low] <= value[high]),
        lambda _: ((low,), (high,)),
    )


def _not_empty(_: Arguments) -> Predicate:
    return Predicate("not-empty", lambda value, _: bool(value != ""), _itself)


# Updates


def _unchanged(_: Arguments) -> Predicate:
    return Predicate("unchanged", same, _itself, transition=True)


def _unchanged_field(arguments: Arguments) -> Predicate:
    field = arguments["field"]
    return Predicate(
        f"unchanged:{field}",
        lambda value, old: same(_present(value, field), _present(old, field)),
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


# Tags


def _key_length(arguments: Arguments) -> Predicate:
    limit = arguments["limit"]
    return _each_key(f"key-length:{limit}", lambda key: len(key) <= limit)


def _value_length(arguments: Arguments) -> Predicate:
    limit = arguments["limit"]

    def culprits(mapping: Mapping[str, str]) -> tuple[Pointer, ...]:
        return tuple((key,) for key, value in mapping.items() if len(value) > limit)

    return Predicate(f"value-length:{limit}", lambda mapping, _: not culprits(mapping), culprits)


def _keys_without(arguments: Arguments) -> Predicate:
    characters = frozenset(arguments["characters"])
    return _each_key(f"keys-without:{arguments['characters']}", characters.isdisjoint)


# Node operating system


def _fips_family(arguments: Arguments) -> Predicate:
    families = frozenset(arguments["families"])

    def check(spec: Mapping[str, Any], _: Any) -> bool:
        family = spec.get("imageFamily")
        return spec.get("fipsMode") != "FIPS" or (family is not None and family not in families)

    return Predicate("fips-family", check, lambda _: (("fipsMode",), ("imageFamily",)))


def _fips_excludes(arguments: Arguments) -> Predicate:
    families = frozenset(arguments["families"])

    def check(spec: Mapping[str, Any], _: Any) -> bool:
        return spec.get("fipsMode") != "FIPS" or spec.get("imageFamily") not in families

    return Predicate("fips-excludes", check, lambda _: (("fipsMode",), ("imageFamily",)))


def _swap_needs_no_fail(_: Arguments) -> Predicate:
    def check(spec: Mapping[str, Any], _: Any) -> bool:
        if "swapFileSize" not in spec.get("linuxOSConfig", ()):
            return True
        return spec.get("kubelet", {}).get("failSwapOn") is False

    return Predicate("swap-needs-no-fail", check, lambda _: (("linuxOSConfig", "swapFileSize"),))


def _port(value: Mapping[str, Any], field: str, index: int) -> int:
    parts = value[field].split(" ")
    if index >= len(parts):
        raise CelError(f"index out of bounds: {index}")
    return _int(parts[index])


def _port_between(arguments: Arguments) -> Predicate:
    field, index, low, high = (arguments[name] for name in ("field", "index", "low", "high"))
    return Predicate(
        f"port-between:{field}[{index}]",
        lambda value, _: field not in value or low <= _port(value, field, index) <= high,
        lambda _: ((field,),),
    )


def _ports_ordered(arguments: Arguments) -> Predicate:
    field = arguments["field"]
    return Predicate(
        f"ports-ordered:{field}",
        lambda value, _: field not in value or _port(value, field, 0) <= _port(value, field, 1),
        lambda _: ((field,),),
    )


# LocalDNS


def _zones_present(arguments: Arguments) -> Predicate:
    zones = arguments["zones"]

    def check(overrides: Sequence[Mapping[str, Any]], _: Any) -> bool:
        present = {override.get("zone") for override in overrides}
        return present.issuperset(zones)

    return Predicate(f"zones:{','.join(zones)}", check, _itself)


def _zone_not_forwarded(arguments: Arguments) -> Predicate:
    zone, destination = arguments["zone"], arguments["destination"]

    def check(override: Mapping[str, Any], _: Any) -> bool:
        return not _all(
            (
                _try(lambda: _present(override, "zone").endswith(zone)),
                _try(lambda: bool(_present(override, "forwardDestination") == destination)),
            )
        )

    return Predicate(f"not-forwarded:{zone},{destination}", check, lambda _: (("forwardDestination",),))


def _stale_not_tcp(arguments: Arguments) -> Predicate:
    stale, protocol = arguments["stale"], arguments["protocol"]

    def check(override: Mapping[str, Any], _: Any) -> bool:
        return not _all(
            (
                _try(lambda: bool(_present(override, "serveStale") == stale)),
                _try(lambda: bool(_present(override, "protocol") == protocol)),
            )
        )

    return Predicate(f"stale-not:{protocol}", check, lambda _: (("serveStale",), ("protocol",)))


def _forwarding(name: str, concerns: Callable[[str], bool], destination: str) -> Predicate:
    def fine(override: Mapping[str, Any]) -> bool:
        if not concerns(_present(override, "zone")):
            return True
        return bool(_present(override, "forwardDestination") != destination)

    return _each_element(name, fine, "forwardDestination")


def _root_not_forwarded(arguments: Arguments) -> Predicate:
    destination = arguments["destination"]
    return _forwarding(f"root-not-forwarded:{destination}", lambda zone: zone == ".", destination)


def _external_not_forwarded(arguments: Arguments) -> Predicate:
    inner, destination = arguments["zone"], arguments["destination"]
    return _forwarding(
        f"external-not-forwarded:{destination}", lambda zone: zone != "." and not zone.endswith(inner), destination
    )


_FAMILIES: Mapping[str, Callable[[Arguments], Predicate]] = {
    "above": _above,
    "domain": _domain,
    "domains": _domains,
    "exclusive": _exclusive,
    "external-not-forwarded": _external_not_forwarded,
    "fips-excludes": _fips_excludes,
    "fips-family": _fips_family,
    "key-length": _key_length,
    "key-not": _key_not,
    "keys-not": _keys_not,
    "keys-without": _keys_without,
    "lone-key": _lone_key,
    "not-above": _not_above,
    "not-empty": _not_empty,
    "port-between": _port_between,
    "ports-ordered": _ports_ordered,
    "requirement-min-values": _requirement_min_values,
    "requirement-number": _requirement_number,
    "requirement-values": _requirement_values,
    "root-not-forwarded": _root_not_forwarded,
    "stale-not-tcp": _stale_not_tcp,
    "swap-needs-no-fail": _swap_needs_no_fail,
    "together": _together,
    "unchanged": _unchanged,
    "unchanged-field": _unchanged_field,
    "unchanged-presence": _unchanged_presence,
    "value-length": _value_length,
    "zone-not-forwarded": _zone_not_forwarded,
    "zones-present": _zones_present,
}
