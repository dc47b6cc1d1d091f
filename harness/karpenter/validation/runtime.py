"""Karpenter's own validation of NodePools: what it finds in objects that the API server let pass.

A finding makes the NodePool's condition ValidationSucceeded false; the scheduler then ignores the NodePool.

Source: core pkg/apis/v1/{nodepool_validation,nodeclaim_validation}.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.karpenter.labels.core import NODEPOOL, ON_DEMAND, RESERVED, SPOT
from harness.karpenter.validation.rejections import Rejection, RejectionLayer
from harness.kube.api.names import WORDING, NameWording, label_value_errors, qualified_name_errors
from harness.kube.custom_resources.admission import api_server
from harness.kube.go.text import bracketed, parse_int, quote
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.karpenter.labels.vocabulary import Vocabulary
    from harness.karpenter.releases import ProviderRelease
    from harness.kube.api.field_errors import Pointer

_EFFECTS = frozenset({"NoSchedule", "PreferNoSchedule", "NoExecute", ""})
_BASIC_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})
_CAPACITY_TYPES = (ON_DEMAND, SPOT, RESERVED)
_NUMERIC = frozenset({"Gt", "Lt", "Gte", "Lte"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that Karpenter has against an object: our rule, its sentence, the label key and the place concerned."""

    rule: str
    text: str
    key: str | None
    pointer: Pointer


@dataclass(frozen=True, slots=True)
class Wording:
    """The part of a release that validation needs.

    ``names`` are the sentences about keys and values, ``inclusive`` says that operators Gte and Lte exist; the
    others are as in CoreRelease.
    """

    vocabulary: Vocabulary
    names: NameWording = WORDING
    inclusive: bool = True
    structured_errors: bool = True
    validates_preferred_terms: bool = False

    @property
    def operators(self) -> frozenset[str]:
        return _BASIC_OPERATORS | _NUMERIC if self.inclusive else _BASIC_OPERATORS


def wording_of(release: ProviderRelease) -> Wording:
    """The inputs of a provider release."""
    return Wording(
        release.vocabulary,
        names=api_server(release.core.kubernetes).names,
        inclusive=not release.vocabulary.exclusive_bounds,
        structured_errors=release.core.structured_errors,
        validates_preferred_terms=release.core.validates_preferred_terms,
    )


def joined(findings: Sequence[Finding]) -> str | None:
    """All findings as Karpenter prints them together, None when there are none."""
    return "; ".join(finding.text for finding in findings) if findings else None


def runtime_validate(nodepool: Mapping[str, Any], release: ProviderRelease) -> tuple[Rejection, ...]:
    """Return the reasons why Karpenter does not use a NodePool that the API server accepted; empty when it does."""
    name = (nodepool.get("metadata") or {}).get("name", "")
    return tuple(
        Rejection(
            layer=RejectionLayer.NODEPOOL_RUNTIME,
            object=f"NodePool/{name}",
            path="",
            key=finding.key,
            rule=finding.rule,
            message=finding.text,
            text=finding.text,
            pointer=finding.pointer,
        )
        for finding in nodepool_findings(nodepool, wording_of(release))
    )


def nodepool_findings(nodepool: Mapping[str, Any], wording: Wording) -> list[Finding]:
    """The findings in Karpenter's order; labels, whose order is random there, by key."""
    template = (nodepool.get("spec") or {}).get("template") or {}
    spec = template.get("spec") or {}
    at: Pointer = ("spec", "template", "spec")
    findings = list(_labels((template.get("metadata") or {}).get("labels") or {}, wording))
    seen: set[tuple[str, str]] = set()
    for field in ("taints", "startupTaints"):
        findings.extend(_taints(spec.get(field) or (), seen, field, (*at, field), wording))
    requirements = spec.get("requirements") or ()
    for index, requirement in enumerate(requirements):
        reason = joined(requirement_findings(requirement or {}, wording))
        if reason is not None:
            text = f"invalid value: {reason} in requirements, restricted"
            place = (*at, "requirements", index)
            findings.append(Finding("requirement", text, (requirement or {}).get("key"), place))
    for index, requirement in enumerate(requirements):
        if (requirement or {}).get("key") == NODEPOOL:
            text = f"invalid key: {quote(NODEPOOL)} in requirements, restricted"
            findings.append(Finding("requirement-nodepool", text, NODEPOOL, (*at, "requirements", index, "key")))
    return findings


def _labels(labels: Mapping[str, str], wording: Wording) -> Iterator[Finding]:
    for key in sorted(labels):
        value = labels[key] or ""
        at = ("spec", "template", "metadata", "labels", key)
        if key == NODEPOOL:
            yield Finding("label-nodepool", f"invalid key name {quote(key)} in labels, restricted", key, at)
        for reason in qualified_name_errors(key, wording.names):
            yield Finding("label-key", f"invalid key name {quote(key)} in labels, {quote(reason)}", key, at)
        for reason in label_value_errors(value, wording.names):
            yield Finding("label-value", f"invalid value: {value} for label[{key}], {reason}", key, at)
        restricted = wording.vocabulary.restricted(key)
        if restricted is not None:
            yield Finding("label-restricted", f"invalid key name {quote(key)} in labels, {restricted}", key, at)


def _taints(
    taints: Sequence[Mapping[str, Any]], seen: set[tuple[str, str]], field: str, at: Pointer, wording: Wording
) -> Iterator[Finding]:
    before: list[str] = []

    def found(rule: str, text: str, *place: str | int) -> Finding:
        before.append(text)
        return Finding(rule, text, None, (*at, *place))

    for index, entry in enumerate(taints):
        taint = entry or {}
        key, value, effect = (taint.get(name) or "" for name in ("key", "value", "effect"))
        if not key:
            # the wrapped error is the list of the ones before, which Go prints as %!w(<nil>) when there are none
            earlier = "; ".join(before) if before else "%!w(<nil>)"
            yield found("taint-key", f"invalid value: {earlier} in {field}", index, "key")
        for reason in qualified_name_errors(key, wording.names):
            yield found("taint-key", f"invalid value: {reason} in {field}", index, "key")
        for reason in qualified_name_errors(value, wording.names) if value else ():
            yield found("taint-value", f"invalid value: {reason} in {field}", index, "value")
        if effect not in _EFFECTS:
            yield found("taint-effect", f"invalid value: {quote(effect)} in {field}", index, "effect")
        if (key, effect) in seen:
            yield found("taint-duplicate", f"duplicate taint Key/Effect pair {key}={effect}", index)
        seen.add((key, effect))


def requirement_findings(requirement: Mapping[str, Any], wording: Wording) -> list[Finding]:
    """Return the findings of ValidateRequirement; pods' node selectors and affinities go through it too. Places are
    below the requirement.
    """
    return list(_requirement(requirement, wording))


def _requirement(requirement: Mapping[str, Any], wording: Wording) -> Iterator[Finding]:
    vocabulary = wording.vocabulary
    key = vocabulary.normalize_key(requirement.get("key") or "")
    operator = requirement.get("operator") or ""
    values = [value or "" for value in requirement.get("values") or ()]
    minimum = requirement.get("minValues")
    if isinstance(minimum, float):
        minimum = int(
            minimum
        )  # 50.0 is an integer to the schema, and Karpenter reads the 50 that the API server writes
    if operator not in wording.operators:
        supported = bracketed(sorted(wording.operators))
        text = f"key {key} has an unsupported operator {operator} not in {supported}"
        yield Finding("operator", text, key, ("operator",))
    if (reason := vocabulary.restricted(key)) is not None:
        yield Finding("restricted", reason, key, ("key",))
    yield from _known_values(key, operator, values, minimum, vocabulary)
    for reason in qualified_name_errors(key, wording.names):
        yield Finding("key", f"key {key} is not a qualified name, {reason}", key, ("key",))
    for index, value in enumerate(values):
        for reason in label_value_errors(value, wording.names):
            yield Finding("value", f"invalid value {value} for key {key}, {reason}", key, ("values", index))
    if operator == "In" and not values:
        yield Finding("no-values", f"key {key} with operator {operator} must have a value defined", key, ("values",))
    if operator == "In" and minimum is not None and len(values) < minimum:
        text = (
            f"key {key} with operator {operator} must have at least minimum number of values defined in 'values' field"
        )
        yield Finding("min-values", text, key, ("minValues",))
    if operator in _NUMERIC and operator in wording.operators:
        number = parse_int(values[0]) if len(values) == 1 else None
        if number is None or number < 0:
            text = f"key {key} with operator {operator} must have a single positive integer value"
            yield Finding("number", text, key, ("values",))


def _declared(value: str) -> tuple[int, str]:
    """Order of the values of a set: Go iterates over few values as inserted, from a random one on."""
    return (_CAPACITY_TYPES.index(value) if value in _CAPACITY_TYPES else 0, value)


def _known_values(
    key: str, operator: str, values: Sequence[str], minimum: int | None, vocabulary: Vocabulary
) -> Iterator[Finding]:
    values_known = vocabulary.known_values.get(key)
    if values_known is None or operator != "In" or key not in vocabulary.well_known:
        return
    valid = [value for value in values if value in values_known]
    if not valid:
        expected = " ".join(f"{value}:{{}}" for value in sorted(values_known))
        text = (
            f"no valid values found in {bracketed(values)} for {key}, expected one of: map[{expected}], "
            f"got: {bracketed(values)}"
        )
        yield Finding("known-values", text, key, ("values",))
    elif minimum is not None and len(valid) < minimum:
        text = (
            f"not enough valid values found in {bracketed(values)} for {key}, expected at least {minimum} valid values "
            f"from: {bracketed(sorted(values_known, key=_declared))}, got: {len(valid)}"
        )
        yield Finding("known-values", text, key, ("minValues",))
