"""The CEL expressions of the CRD rules, written from the tables: the way back from a predicate to the rule that an API server runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["expression"]

Row = Mapping[str, Any]


def expression(definition: Row) -> str:
    """The CEL expression of a table row (`rule` and its arguments). Raises KeyError for a rule that does not exist."""
    return _FAMILIES[definition["rule"]](definition)


def _words(values: Sequence[str], quote: str = "'") -> str:
    return ", ".join(f"{quote}{value}{quote}" for value in values)


def _domain_test(row: Row, variable: str) -> str:
    def ends_with(domain: str) -> str:
        return f'{variable}.find("^([^/]+)").endsWith("{domain}")'

    parts = []
    if row.get("keys"):
        parts.append(f"{variable} in [{_words(row['keys'], chr(34))}]")
    parts += [ends_with(domain) for domain in row.get("domains", ())]
    parts.append("!" + ends_with(row["domain"]))
    return " || ".join(parts)


def _keys_not(row: Row) -> str:
    if "key" in row:
        return f'self.all(x, x != "{row["key"]}")'
    return f"self.all(x, !(x in [{_words(row['keys'], chr(34))}]))"


def _requirement_number(row: Row) -> str:
    operators = " || ".join(f"x.operator == '{operator}'" for operator in row["operators"])
    return f"self.all(x, ({operators}) ? (x.values.size() == 1 && int(x.values[0]) >= 0) : true)"


def _lone_key(row: Row) -> str:
    when, field, key = row["when"], row["field"], row["key"]
    size = f"size(self.{field})"
    return f"!has(self.{when}) || (!has(self.{field}) || {size} == 0 || ({size} == 1 && '{key}' in self.{field}))"


def _keys_without(row: Row) -> str:
    characters = row["characters"]
    if characters == "\\":
        return "self.all(k, !k.contains('\\\\'))"
    return f"self.all(k, !k.matches('[{characters}]'))"


def _fips_family(row: Row) -> str:
    families = "".join(f" && self.imageFamily != '{family}'" for family in row["families"])
    return f"has(self.fipsMode) && self.fipsMode == 'FIPS' ? (has(self.imageFamily){families}) : true"


_LAUNCH = "self.security.trustedLaunch"
_TRUSTED_LAUNCH = (
    f"has(self.security) && has({_LAUNCH}) && ((has({_LAUNCH}.vtpm) && {_LAUNCH}.vtpm) || "
    f"(has({_LAUNCH}.secureBoot) && {_LAUNCH}.secureBoot))"
)


def _fips_family_trusted_launch(row: Row) -> str:
    family = _words(row["families"])
    return (
        f"has(self.fipsMode) && self.fipsMode == 'FIPS' ? (has(self.imageFamily) && "
        f"(self.imageFamily != {family} || ({_TRUSTED_LAUNCH}))) : true"
    )


def _trusted_launch_fips_families(row: Row) -> str:
    families = "".join(f" || self.imageFamily == '{family}'" for family in row["families"])
    return f"has(self.fipsMode) && self.fipsMode == 'FIPS' && {_TRUSTED_LAUNCH} ? (!has(self.imageFamily){families}) : true"


def _fips_excludes(row: Row) -> str:
    family = _words(row["families"])
    return f"has(self.imageFamily) && has(self.fipsMode) ? !(self.imageFamily == {family} && self.fipsMode == 'FIPS') : true"


def _port_between(row: Row) -> str:
    part = f"int(self.{row['field']}.split(' ')[{row['index']}])"
    return f"!has(self.{row['field']}) || ({part} >= {row['low']} && {part} <= {row['high']})"


def _ports_ordered(row: Row) -> str:
    first, second = (f"int(self.{row['field']}.split(' ')[{index}])" for index in (0, 1))
    return f"!has(self.{row['field']}) || {first} <= {second}"


_SWAP = (
    "!has(self.linuxOSConfig) || !has(self.linuxOSConfig.swapFileSize) || "
    "(has(self.kubelet) && has(self.kubelet.failSwapOn) && self.kubelet.failSwapOn == false)"
)

_FAMILIES: Mapping[str, Callable[[Row], str]] = {
    "above": lambda row: (
        f"has(self.{row['high']}) && has(self.{row['low']}) ? self.{row['high']} > self.{row['low']} : true"
    ),
    "domain": lambda row: _domain_test(row, "self"),
    "domains": lambda row: f"self.all(x, {_domain_test(row, 'x')})",
    "exclusive": lambda row: f"!has(self.{row['first']}) || !has(self.{row['second']})",
    "external-not-forwarded": lambda row: (
        f"!self.exists(x, x.zone != '.' && !x.zone.endsWith('{row['zone']}') && "
        f"x.forwardDestination == '{row['destination']}')"
    ),
    "fips-excludes": _fips_excludes,
    "fips-family": _fips_family,
    "fips-family-trusted-launch": _fips_family_trusted_launch,
    "key-length": lambda row: f"self.all(k, size(k) <= {row['limit']})",
    "key-not": lambda row: f'self != "{row["key"]}"',
    "keys-not": _keys_not,
    "keys-without": _keys_without,
    "lone-key": _lone_key,
    "not-above": lambda row: (
        f"has(self.{row['low']}) && has(self.{row['high']}) ? self.{row['low']} <= self.{row['high']} : true"
    ),
    "not-empty": lambda row: "self != ''",
    "port-between": _port_between,
    "ports-ordered": _ports_ordered,
    "requirement-min-values": lambda row: (
        "self.all(x, (x.operator == 'In' && has(x.minValues)) ? x.values.size() >= x.minValues : true)"
    ),
    "requirement-number": _requirement_number,
    "requirement-values": lambda row: f"self.all(x, x.operator == '{row['operator']}' ? x.values.size() != 0 : true)",
    "root-not-forwarded": lambda row: (
        f"!self.exists(x, x.zone == '.' && x.forwardDestination == '{row['destination']}')"
    ),
    "stale-not-tcp": lambda row: f"!(self.serveStale == '{row['stale']}' && self.protocol == '{row['protocol']}')",
    "swap-needs-no-fail": lambda row: _SWAP,
    "trusted-launch-fips-families": _trusted_launch_fips_families,
    "together": lambda row: f"self.all(x, has(x.{row['first']}) == has(x.{row['second']}))",
    "unchanged": lambda row: "self == oldSelf",
    "unchanged-field": lambda row: f"self.{row['field']} == oldSelf.{row['field']}",
    "unchanged-presence": lambda row: f"has(self.{row['field']}) == has(oldSelf.{row['field']})",
    "value-length": lambda row: f"self.all(k, size(self[k]) <= {row['limit']})",
    "zone-not-forwarded": lambda row: (
        f"!(self.zone.endsWith('{row['zone']}') && self.forwardDestination == '{row['destination']}')"
    ),
    "zones-present": lambda row: f"[{_words(row['zones'])}].all(z, self.exists(x, x.zone == z))",
}
