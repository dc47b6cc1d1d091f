"""The custom resource definitions of every provider release, as tables: one row per field or rule and range of releases.

``releases/data/crds.json`` is written by ``tools/crd_tables.py`` from the releases' own files; nothing is read before a set is first used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from harness.karpenter.releases.policies import closed_domain, split_name
from harness.karpenter.validation.predicates import rule_of
from harness.kube.custom_resources.admission import CustomResource
from harness.kube.custom_resources.scale import Scale
from harness.kube.custom_resources.schema import Rule, parse_schema
from lazyrecords import dataclass

Row: TypeAlias = Sequence[Any]
"""A rule in the tables: path, definition, message, first and last release."""

_CLOSED_FOR: Mapping[str, Mapping[str, str]] = {
    "karpenter.sh/v1/NodePool": {
        "spec.template.metadata.labels": "domains",
        "spec.template.spec.requirements[].key": "domain",
    },
    "karpenter.sh/v1/NodeClaim": {"spec.requirements[].key": "domain"},
}
"""Label domains that a policy closes: path → rule."""

_TABLES = Path(__file__).parents[1] / "releases" / "data" / "crds.json"


class UnknownCrdSet(ValueError):
    """There are no CRD tables of that name."""


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule of a CRD and the releases that have it.

    ``path`` is the schema path (``spec.template.spec.requirements[].key``); ``since`` and ``until`` are the first and the last
    release of one unbroken range, and the same rule may have several.
    """

    resource: str
    path: str
    rule: Rule
    since: str
    until: str

    @property
    def id(self) -> str:
        """Unique within a release."""
        return f"{self.resource.rpartition('/')[2]}/{self.path}/{self.rule.id}"


@dataclass(frozen=True, slots=True)
class CrdSet:
    """The definitions that a cluster has installed: those of one provider release (``1.14.0``)."""

    name: str

    @property
    def kinds(self) -> tuple[str, ...]:
        """``group/version/Kind`` of every resource in the set."""
        return _kinds(self.name)

    def resource(self, api_version: str, kind: str, *, integer_formats: bool = False) -> CustomResource | None:
        """The definition of a kind, None when the set has none. ``integer_formats``: see custom_resources.admission.ApiServer."""
        return _resource(self.name, f"{api_version}/{kind}", integer_formats)

    def rules(self, kind: str = "") -> tuple[RuleRow, ...]:
        """The rules of all resources, or of those of one kind, in the order in which they are evaluated."""
        return tuple(
            RuleRow(resource, path, rule_of(definition, message), first, last)
            for resource, table in _tables()["crds"].items()
            for path, definition, message, first, last in _rows_of(self.name, resource, table)
            if not kind or resource.rpartition("/")[2] == kind
        )


def crd_set(name: str) -> CrdSet:
    """The set of a release (``1.14.0`` or ``v1.14.0``), or of a policy on a release (``design-2025-11-07``).

    Raises UnknownCrdSet, which lists the known ones.
    """
    policy, base = split_name(name)
    bare = base if policy is None else name
    if base not in crd_sets():
        raise UnknownCrdSet(f"no CRDs of release {name!r}; known: {', '.join(crd_sets())}")
    return CrdSet(bare)


@cache
def crd_sets() -> tuple[str, ...]:
    """The names of all sets, oldest first."""
    return tuple(_tables()["releases"])


def openapi_of(crds: CrdSet, resource: str, expression: Callable[[Mapping[str, Any]], str]) -> Mapping[str, Any]:
    """The OpenAPI definition of a resource (``group/version/Kind``) with its rules, as a CRD file carries it.

    ``expression`` writes the CEL of a rule, given the name and the arguments of its predicate. Descriptions are not kept.
    """
    table = _tables()["crds"][resource]
    fields = {path: dict(row) for path, row, first, last in table["fields"] if _within(crds.name, first, last)}
    for path, row, message, _, _ in _rows_of(crds.name, resource, table):
        rule = {"rule": expression(row), "message": message}
        fields[path].setdefault("x-kubernetes-validations", []).append(rule)
    return _definition(fields)


def named_keys(crds: CrdSet, kind: str) -> frozenset[str]:
    """The label keys that the rules of a kind name, as open or as closed."""
    keys: set[str] = set()
    for resource, table in _tables()["crds"].items():
        if resource.rpartition("/")[2] == kind:
            for row in _rows_of(crds.name, resource, table):
                keys.update(row[1].get("keys", ()), [row[1]["key"]] if "key" in row[1] else [])
    return frozenset(key for key in keys if "/" in key)


def names_of(resource: str) -> tuple[str, str]:
    """Plural and scope (``Namespaced``, ``Cluster``) of a resource (``group/version/Kind``)."""
    table = _tables()["crds"][resource]
    return table["plural"], table["scope"]


def scale_of(release: str, resource: str) -> Mapping[str, str] | None:
    """The scale subresource of a resource (``group/version/Kind``) as a definition has it; None where a release has none."""
    rows = _tables()["crds"][resource]["scales"]
    return next((scale for _, scale, first, last in rows if _within(release, first, last)), None)


def field_paths(resource: str) -> tuple[str, ...]:
    """The paths of all fields that a resource (``group/version/Kind``) has or had in any release; empty for an unknown one."""
    table = _tables()["crds"].get(resource)
    return () if table is None else tuple(dict.fromkeys(path for path, _, _, _ in table["fields"]))


def has_field(release: str, resource: str, path: str) -> bool:
    """Return whether a resource (``group/version/Kind``) has a field (``spec.kubelet.failSwapOn``) in a release's CRDs."""
    table = _tables()["crds"].get(resource)
    rows = table["fields"] if table is not None else ()
    return any(name == path and _within(release, first, last) for name, _, first, last in rows)


@cache
def _tables() -> Mapping[str, Any]:
    text = _TABLES.read_text(encoding="utf-8")
    tables: Mapping[str, Any] = json.loads(text)
    return tables


@cache
def _position(release: str) -> int:
    return crd_sets().index(split_name(release)[1])


def _within(release: str, first: str, last: str) -> bool:
    return _position(first) <= _position(release) <= _position(last)


@cache
def _kinds(release: str) -> tuple[str, ...]:
    return tuple(
        resource
        for resource, table in _tables()["crds"].items()
        if any(_within(release, first, last) for path, _, first, last in table["fields"] if not path)
    )


@lru_cache(maxsize=1024)
def _resource(release: str, name: str, integer_formats: bool) -> CustomResource | None:
    if name not in _kinds(release):
        return None
    table = _tables()["crds"][name]
    group, version, kind = name.split("/")
    rules: dict[str, list[Rule]] = {}
    for path, definition, message, _, _ in _rows_of(release, name, table):
        rules.setdefault(path, []).append(rule_of(definition, message))
    fields = {path: definition for path, definition, first, last in table["fields"] if _within(release, first, last)}
    schema = parse_schema(_definition(fields), lambda path: tuple(rules.get(path, ())), integer_formats=integer_formats)
    scale = scale_of(release, name)
    return CustomResource(
        group,
        version,
        kind,
        schema,
        namespaced=table["scope"] == "Namespaced",
        scale=Scale.from_definition(scale) if scale is not None else None,
    )


def _rows_of(release: str, resource: str, table: Mapping[str, Any]) -> Iterator[Row]:
    """The rules of a resource in a release, with those of a policy in place of the release's for the same label domain."""
    closed = closed_domain(release)
    mine = [row for row in table["rules"] if _within(release, row[3], row[4])]
    if closed is None or resource not in _CLOSED_FOR:
        yield from mine
        return
    domain, opened = closed
    yield from (row for row in mine if row[1].get("domain") != domain)
    for path, family in _CLOSED_FOR[resource].items():
        definition = {"domain": domain, "keys": sorted(opened), "rule": family}
        yield (path, definition, f'label domain "{domain}" is restricted', release, release)


def _definition(fields: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """The OpenAPI definition that a table's rows are of."""
    tree: dict[str, dict[str, Any]] = {path: dict(definition) for path, definition in fields.items()}
    for path, node in tree.items():
        if path.endswith("[]"):
            tree[path[:-2]]["items"] = node
        elif path.endswith("{}"):
            tree[path[:-2]]["additionalProperties"] = node
        elif path:
            parent, _, name = path.rpartition(".")
            tree[parent].setdefault("properties", {})[name] = node
    return tree[""]
