"""The universe of topology domains: the values that NodePools and their instance types can give a node's labels.

Core ``pkg/controllers/provisioning/scheduling/{topology,topologydomaingroup}.go``.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from harness.karpenter.requirement import Requirement
from harness.karpenter.scheduling.algebra import Algebra
from harness.karpenter.scheduling.catalog import CatalogIndex
from harness.kube.api.objects import Object, labels_of, name_of, spec_of
from harness.kube.scheduling.taints import Taint

TaintsByDomain: TypeAlias = Mapping[str, list[Sequence[Taint]]]


class Domains:
    """The values that the label of a key can have, worked out for the keys that some constraint has: it looks at every instance type."""

    def __init__(self, algebra: Algebra, nodepools: Sequence[Object], indexes: Mapping[str, CatalogIndex]) -> None:
        self._algebra, self._nodepools, self._indexes = algebra, nodepools, indexes
        self._found: dict[str, TaintsByDomain] = {}

    def of(self, key: str) -> TaintsByDomain:
        """Domain → taints of the NodePools that have it; one without taints makes the others irrelevant."""
        domains = self._found.get(key)
        if domains is None:
            domains = self._found[key] = self._new(key)
        return domains

    @cached_property
    def _templates(self) -> list[tuple[CatalogIndex, Sequence[Taint], Mapping[str, Requirement]]]:
        """Instance types, taints and requirements of each NodePool that has instance types."""
        templates: list[tuple[CatalogIndex, Sequence[Taint], Mapping[str, Requirement]]] = []
        for nodepool in self._nodepools:
            index = self._indexes.get(name_of(nodepool))
            if index is None or not index.types:
                continue
            template = spec_of(nodepool).get("template") or {}
            own = self._algebra.together(
                self._algebra.from_node_selector(spec_of(template).get("requirements")),
                self._algebra.from_labels(labels_of(template)).items,
            ).items
            templates.append((index, tuple(spec_of(template).get("taints") or ()), own))
        return templates

    def _new(self, key: str) -> TaintsByDomain:
        domains: dict[str, list[Sequence[Taint]]] = {}

        def insert(values: Iterable[str], taints: Sequence[Taint]) -> None:
            for value in values:
                present = domains.get(value)
                if present is None or not taints:
                    domains[value] = [taints]
                elif present[0] and taints not in present:
                    present.append(taints)

        for index, taints, own in self._templates:
            mine, silent = own.get(key), index.full
            for theirs, mask in index.having(key).items():
                silent &= ~mask
                insert((theirs if mine is None else theirs.intersection(mine)).values, taints)
            if mine is not None and (silent or not mine.complement):
                insert(mine.values, taints)
        return domains
