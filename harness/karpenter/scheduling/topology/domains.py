"""The universe of topology domains: the values that NodePools and their instance types can give a node's labels.

Core ``pkg/controllers/provisioning/scheduling/{topology,topologydomaingroup}.go``.
"""

from collections.abc import Iterable, Mapping, Sequence

from harness.karpenter.scheduling.algebra import Algebra
from harness.karpenter.scheduling.catalog import CatalogIndex
from harness.kube.api.objects import Object, labels_of, name_of, spec_of
from harness.kube.scheduling.taints import Taint


def domains_by_key(
    algebra: Algebra, nodepools: Sequence[Object], indexes: Mapping[str, CatalogIndex]
) -> dict[str, dict[str, list[Sequence[Taint]]]]:
    """Key → domain → taints of the NodePools that have it; one without taints makes the others irrelevant."""
    found: dict[str, dict[str, list[Sequence[Taint]]]] = {}

    def insert(key: str, values: Iterable[str], taints: Sequence[Taint]) -> None:
        domains = found.setdefault(key, {})
        for value in values:
            present = domains.get(value)
            if present is None or not taints:
                domains[value] = [taints]
            elif present[0] and taints not in present:
                present.append(taints)

    for nodepool in nodepools:
        index = indexes.get(name_of(nodepool))
        if index is None or not index.types:
            continue
        template = spec_of(nodepool).get("template") or {}
        taints = tuple(spec_of(template).get("taints") or ())
        own = algebra.together(
            algebra.from_node_selector(spec_of(template).get("requirements")),
            algebra.from_labels(labels_of(template)).items,
        ).items
        index_keys = index.keys()
        for key, sharing in index_keys.items():
            mine, silent = own.get(key), index.full
            for theirs, mask in sharing.items():
                silent &= ~mask
                insert(key, (theirs if mine is None else theirs.intersection(mine)).values, taints)
            if silent and mine is not None:
                insert(key, mine.values, taints)
        for key, mine in own.items():
            if key not in index_keys or not mine.complement:
                insert(key, mine.values, taints)
    return found
