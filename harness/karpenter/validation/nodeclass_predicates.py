"""Predicates of the AKSNodeClass's rules: tags, operating system, LocalDNS."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

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
from harness.kube.custom_resources.cel_rules import CelError

# Tags


def _key_length(arguments: Arguments) -> Predicate:
    limit = arguments["limit"]
    return each_key(f"key-length:{limit}", lambda key: len(key) <= limit)


def _value_length(arguments: Arguments) -> Predicate:
    limit = arguments["limit"]

    def culprits(mapping: Mapping[str, str]) -> tuple[Pointer, ...]:
        return tuple((key,) for key, value in mapping.items() if len(value) > limit)

    return Predicate(f"value-length:{limit}", lambda mapping, _: not culprits(mapping), culprits)


def _keys_without(arguments: Arguments) -> Predicate:
    characters = frozenset(arguments["characters"])
    return each_key(f"keys-without:{arguments['characters']}", characters.isdisjoint)


# Node operating system


def _fips_family(arguments: Arguments) -> Predicate:
    families = frozenset(arguments["families"])

    def check(spec: Mapping[str, Any], _: Any) -> bool:
        family = spec.get("imageFamily")
        return spec.get("fipsMode") != "FIPS" or (family is not None and family not in families)

    return Predicate("fips-family", check, lambda _: (("fipsMode",), ("imageFamily",)))


def _trusted_launch(spec: Mapping[str, Any]) -> bool:
    trusted = spec.get("security", {}).get("trustedLaunch", {})
    return bool(trusted.get("vtpm") or trusted.get("secureBoot"))


def _fips_family_trusted_launch(arguments: Arguments) -> Predicate:
    families = frozenset(arguments["families"])

    def check(spec: Mapping[str, Any], _: Any) -> bool:
        family = spec.get("imageFamily")
        if spec.get("fipsMode") != "FIPS":
            return True
        return family is not None and (family not in families or _trusted_launch(spec))

    return Predicate(
        "fips-family-trusted-launch", check, lambda _: (("fipsMode",), ("imageFamily",), ("security", "trustedLaunch"))
    )


def _trusted_launch_fips_families(arguments: Arguments) -> Predicate:
    families = frozenset(arguments["families"])

    def check(spec: Mapping[str, Any], _: Any) -> bool:
        both = spec.get("fipsMode") == "FIPS" and _trusted_launch(spec)
        return not both or "imageFamily" not in spec or spec["imageFamily"] in families

    return Predicate(
        "trusted-launch-fips-families",
        check,
        lambda _: (("imageFamily",), ("fipsMode",), ("security", "trustedLaunch")),
    )


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
    return cel_int(parts[index])


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

    def there(overrides: Sequence[Mapping[str, Any]], zone: str) -> bool:
        return cel_any(*(lambda override=override: present(override, "zone") == zone for override in overrides))

    def check(overrides: Sequence[Mapping[str, Any]], _: Any) -> bool:
        return cel_all(attempt(lambda zone=zone: there(overrides, zone)) for zone in zones)  # type: ignore[misc]

    return Predicate(f"zones:{','.join(zones)}", check, itself)


def _zone_not_forwarded(arguments: Arguments) -> Predicate:
    zone, destination = arguments["zone"], arguments["destination"]

    def check(override: Mapping[str, Any], _: Any) -> bool:
        return not cel_all(
            (
                attempt(lambda: present(override, "zone").endswith(zone)),
                attempt(lambda: bool(present(override, "forwardDestination") == destination)),
            )
        )

    return Predicate(f"not-forwarded:{zone},{destination}", check, lambda _: (("forwardDestination",),))


def _stale_not_tcp(arguments: Arguments) -> Predicate:
    stale, protocol = arguments["stale"], arguments["protocol"]

    def check(override: Mapping[str, Any], _: Any) -> bool:
        return not cel_all(
            (
                attempt(lambda: bool(present(override, "serveStale") == stale)),
                attempt(lambda: bool(present(override, "protocol") == protocol)),
            )
        )

    return Predicate(f"stale-not:{protocol}", check, lambda _: (("serveStale",), ("protocol",)))


def _forwarding(name: str, concerns: Callable[[str], bool], destination: str) -> Predicate:
    def fine(override: Mapping[str, Any]) -> bool:
        return not cel_all(
            (
                attempt(lambda: concerns(present(override, "zone"))),
                attempt(lambda: bool(present(override, "forwardDestination") == destination)),
            )
        )

    return each_element(name, fine, "forwardDestination")


def _root_not_forwarded(arguments: Arguments) -> Predicate:
    destination = arguments["destination"]
    return _forwarding(f"root-not-forwarded:{destination}", lambda zone: zone == ".", destination)


def _external_not_forwarded(arguments: Arguments) -> Predicate:
    inner, destination = arguments["zone"], arguments["destination"]
    return _forwarding(
        f"external-not-forwarded:{destination}", lambda zone: zone != "." and not zone.endswith(inner), destination
    )


NODECLASS_FAMILIES: Mapping[str, Callable[[Arguments], Predicate]] = {
    "external-not-forwarded": _external_not_forwarded,
    "fips-excludes": _fips_excludes,
    "fips-family": _fips_family,
    "fips-family-trusted-launch": _fips_family_trusted_launch,
    "trusted-launch-fips-families": _trusted_launch_fips_families,
    "key-length": _key_length,
    "keys-without": _keys_without,
    "port-between": _port_between,
    "ports-ordered": _ports_ordered,
    "root-not-forwarded": _root_not_forwarded,
    "stale-not-tcp": _stale_not_tcp,
    "swap-needs-no-fail": _swap_needs_no_fail,
    "value-length": _value_length,
    "zone-not-forwarded": _zone_not_forwarded,
    "zones-present": _zones_present,
}
"""Predicates by the name that the tables use."""
