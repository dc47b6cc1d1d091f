"""The cells of the CRDs' rules about label keys: which keys and domains a rule closes, and which it leaves open."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.karpenter.validation import CrdSet, RuleRow, crd_set
from harness.karpenter.validation.crds import openapi_of
from harness.karpenter.validation.predicates import rule_of
from harness.kube.custom_resources.admission import CustomResource
from harness.kube.custom_resources.schema import Rule, parse_schema
from tests.corpus.mutations.cells import RECORDED, Cell, neighbours

__all__ = ["ChangedCrds", "cells_of_crds", "crds_with_open_keys"]

KINDS = ("karpenter.sh/v1/NodePool", "karpenter.sh/v1/NodeClaim")
_FAMILIES = frozenset({"domain", "domains", "key-not", "keys-not"})

Definition = Mapping[str, Any]
Edit = Callable[[str, Definition], Definition | None]


@dataclass(frozen=True, slots=True)
class ChangedCrds:
    """The CRDs of a release with some kinds (``group/version/Kind``) defined differently; rules are predicates as JSON there."""

    base: CrdSet
    openapi: Mapping[str, Mapping[str, Any]]
    _made: dict[tuple[str, bool], CustomResource] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.base.name

    def resource(self, api_version: str, kind: str, *, integer_formats: bool = False) -> CustomResource | None:
        """The changed definition, or that of the release."""
        found = self.base.resource(api_version, kind, integer_formats=integer_formats)
        openapi = self.openapi.get(f"{api_version}/{kind}")
        if found is None or openapi is None:
            return found
        made = self._made.get((kind, integer_formats))
        if made is None:
            rules: dict[str, list[Rule]] = {}
            for path, definition, message in _definitions(openapi):
                rules.setdefault(path, []).append(rule_of(definition, message))
            schema = parse_schema(openapi, lambda path: tuple(rules.get(path, ())), integer_formats=integer_formats)
            made = CustomResource(found.group, found.version, found.kind, schema, namespaced=found.namespaced)
            self._made[kind, integer_formats] = made
        return made

    def rules(self, kind: str = "") -> tuple[RuleRow, ...]:
        """Those of the release: only words about a refusal are made of them."""
        return self.base.rules(kind)


def cells_of_crds(version: str) -> Iterator[Cell]:
    """The cells of a release's NodePool and NodeClaim: all where it is recorded, else those not as in both neighbours."""
    for kind in KINDS:
        openapi = _openapi(version, kind)
        chosen = set(_entries(openapi))
        if version not in RECORDED:
            others = [set(_entries(_openapi(name, kind))) for name in neighbours(version)]
            chosen = {entry for entry in chosen if any(entry not in other for other in others)}
        for path, rule, key in sorted(chosen):
            changed = _edited(openapi, _leaving_out(path, rule, key))
            where = f"{kind.rpartition('/')[2]} {path.removeprefix('spec.').removeprefix('template.')}"
            change = f"is not open beside {rule}" if key else "is not closed"
            crds = ChangedCrds(crd_set(version), {kind: changed})
            yield Cell(version, f"crd of {where}", key or rule.partition(":")[2], change, crds=crds)


def crds_with_open_keys(name: str, domain: str, opened: frozenset[str]) -> ChangedCrds:
    """The CRDs of a policy that leaves other keys of its closed domain open."""

    def edit(_: str, definition: Definition) -> Definition:
        return {**definition, "keys": sorted(opened)} if definition.get("domain") == domain else definition

    return ChangedCrds(crd_set(name), {kind: _edited(_openapi(name, kind), edit) for kind in KINDS})


def _openapi(version: str, kind: str) -> Mapping[str, Any]:
    return openapi_of(crd_set(version), kind, lambda row: json.dumps(dict(row)))


def _definitions(node: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Definition, str]]:
    """Schema path, predicate and message of every rule."""
    for each in node.get("x-kubernetes-validations") or ():
        yield path, json.loads(each["rule"]), each["message"]
    for name, child in (node.get("properties") or {}).items():
        yield from _definitions(child, f"{path}.{name}" if path else name)
    for below, sign in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(node.get(below), Mapping):
            yield from _definitions(node[below], path + sign)


def _entries(openapi: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Path and name of each rule about keys: once for itself, once for each key or domain that it leaves open."""
    for path, definition, _ in _definitions(openapi):
        if definition["rule"] in _FAMILIES:
            for key in ("", *definition.get("keys", ()), *definition.get("domains", ())):
                yield path, _name(definition), key


def _name(definition: Definition) -> str:
    return f"{definition['rule']}:{definition.get('domain') or definition.get('key')}"


def _leaving_out(wanted: str, rule: str, key: str) -> Edit:
    """Without the rule, or with one key of those that it leaves open closed."""

    def edit(path: str, definition: Definition) -> Definition | None:
        if path != wanted or _name(definition) != rule:
            return definition
        if not key:
            return None
        lists = {name: value for name, value in definition.items() if isinstance(value, list)}
        return {**definition, **{name: [each for each in value if each != key] for name, value in lists.items()}}

    return edit


def _edited(node: Mapping[str, Any], edit: Edit, path: str = "") -> dict[str, Any]:
    """The definition with its rules edited."""
    result = dict(node)
    if "x-kubernetes-validations" in node:
        kept = [(each, edit(path, json.loads(each["rule"]))) for each in node["x-kubernetes-validations"]]
        result["x-kubernetes-validations"] = [
            {**each, "rule": json.dumps(definition)} for each, definition in kept if definition is not None
        ]
    if "properties" in node:
        result["properties"] = {
            name: _edited(child, edit, f"{path}.{name}" if path else name) for name, child in node["properties"].items()
        }
    for below, sign in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(node.get(below), Mapping):
            result[below] = _edited(node[below], edit, path + sign)
    return result
