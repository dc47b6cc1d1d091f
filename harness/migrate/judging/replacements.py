"""Karpenter's labels in the place of those that only agent pools have, in the selectors and affinities of a pod."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from harness.explain.advice.synonyms import KEYS_ALSO_CALLED
from harness.karpenter.labels.azure import AKS_DOMAIN
from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.objects import Object, copy_json, mapping_in, spec_of
from harness.kube.scheduling.node_affinity import term_matches
from harness.migrate.judging.label_changes import PREFERRED, REQUIRED
from lazyrecords import dataclass

__all__ = ["POOL_LABELS", "PoolLabels", "excluding_expressions", "patched"]

POOL_LABELS = ("agentpool", f"{AKS_DOMAIN}/agentpool")
"""The labels that name a Node's agent pool."""
_EXCLUDING = ("NotIn", "DoesNotExist")

Expression = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PoolLabels:
    """The labels of the Nodes of all agent pools, by pool, and of those in their place; `successors`: the NodePools of each that goes.

    `refuses`: whether the API server takes no NodeClaim that names a label, so that no machine is made for a pod that does.
    """

    old: Mapping[str, Mapping[str, str]]
    new: Mapping[str, Mapping[str, str]]
    successors: Mapping[str, Sequence[str]]
    refuses: Callable[[str], bool]

    def alternatives(self, expression: Mapping[str, Any], node: Mapping[str, str]) -> Sequence[Expression]:
        """Return the expressions that together mean on the new Nodes what one means on the old ones; itself where that is so.

        Nothing where it keeps a pod off no pool. `node`: the labels of the Node that the pod would get.
        """
        key, operator = str(expression.get("key")), expression.get("operator")
        values = [str(value) for value in expression.get("values") or ()]
        if operator in _EXCLUDING:
            return self._excluding(expression) if self.must_change(expression) else [dict(expression)]
        if key in POOL_LABELS and operator == "Exists":
            return [{"key": NODEPOOL, "operator": "Exists"}, dict(expression)]
        if operator != "In":
            return [dict(expression)]
        if key in POOL_LABELS:
            return self._chosen(expression, values)
        other = KEYS_ALSO_CALLED.get(key, "")
        alike = [value for value in values if node.get(other) == value]
        return [{**expression, "key": other, "values": alike}] if alike and key not in node else [dict(expression)]

    def must_change(self, expression: Mapping[str, Any]) -> bool:
        """Return whether an expression that keeps pods off Nodes hinders machines, or means another thing on new Nodes."""
        if expression.get("operator") not in _EXCLUDING:
            return False
        if self.refuses(str(expression.get("key"))):
            return True
        return any(
            not _meets(expression, self.old[pool]) and _meets(expression, self.new[pool])
            for pool in self.successors
            if pool in self.new
        )

    def _chosen(self, expression: Mapping[str, Any], values: Sequence[str]) -> Sequence[Expression]:
        """Return the NodePools of the agent pools that go, or the agent pools that stay."""
        names = self._nodepools(value for value in values if value in self.successors)
        staying = [value for value in values if value in self.old and value not in self.successors]
        if not names:
            return [dict(expression)]
        moved = {**expression, "key": NODEPOOL, "values": names}
        return [moved, {**expression, "values": staying}] if staying else [moved]

    def _excluding(self, expression: Mapping[str, Any]) -> Sequence[Expression]:
        meeting = {pool for pool, labels in self.old.items() if _meets(expression, labels)}
        within = set(self._nodepools(meeting))  # a joined NodePool has machines of a pool that is meant, too
        excluded = [pool for pool, names in self.successors.items() if not within.intersection(names)]
        staying = [pool for pool in self.old if pool not in self.successors]
        stays = [pool for pool in staying if pool in meeting]
        if len(excluded) < len(self.successors):
            if len(stays) == len(staying):
                return [{"key": NODEPOOL, "operator": "NotIn", "values": self._nodepools(excluded)}] if excluded else []
            values = {"operator": "In", "values": self._nodepools(meeting)}
            here = {"key": NODEPOOL, **(values if excluded else {"operator": "Exists"})}
            return [here, _in_pools(stays)] if stays else [here]
        # kept off all that go: off Karpenter's Nodes, too, unless no agent pool at all was meant
        return [_in_pools(stays)] if stays else [{"key": NODEPOOL, "operator": "Exists"}]

    def _nodepools(self, pools: Iterable[str]) -> list[str]:
        chosen = set(pools)
        names = (name for pool, nodepools in self.successors.items() if pool in chosen for name in nodepools)
        return list(dict.fromkeys(names))


def _in_pools(names: Sequence[str]) -> Expression:
    return {"key": POOL_LABELS[0], "operator": "In", "values": list(names)}


def _meets(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    return term_matches({"matchExpressions": [expression]}, {"metadata": {"labels": labels}})


def excluding_expressions(pod: Object, pools: PoolLabels) -> Iterator[tuple[str, str]]:
    """Yield key and text of each expression of a pod's node affinity that keeps it off Nodes and has to change."""
    node = mapping_in(mapping_in(spec_of(pod).get("affinity")).get("nodeAffinity"))
    required = mapping_in(node.get(REQUIRED)).get("nodeSelectorTerms") or ()
    terms = [*required, *(weighted.get("preference") or {} for weighted in node.get(PREFERRED) or ())]
    for expression in (expression for term in terms for expression in term.get("matchExpressions") or ()):
        if pools.must_change(expression):
            values = ", ".join(map(str, expression.get("values") or ()))
            yield str(expression["key"]), f"{expression['key']} {expression['operator']} {values}".rstrip()


def patched(pod: Object, pools: PoolLabels, node: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the pod with Karpenter's labels in the place of those that only agent pools have; None where there is nothing to replace.

    `node`: the labels of the Node that the pod would get: one that means the same takes the place of one that it lacks.
    """
    changed: dict[str, Any] = copy_json(pod)
    spec = changed["spec"]
    everywhere: list[Expression] = []
    selector = spec.get("nodeSelector") or {}
    for key in list(selector):
        expression = pools.alternatives({"key": key, "operator": "In", "values": [str(selector[key])]}, node)[0]
        if expression["key"] == key:
            continue
        del selector[key]
        if len(expression["values"]) == 1:
            selector[expression["key"]] = expression["values"][0]
        else:
            everywhere.append(expression)
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    if terms := mapping_in(affinity.get(REQUIRED)).get("nodeSelectorTerms"):
        ways = [way for term in terms for way in _ways(term, pools, node)]
        if all(ways):
            affinity[REQUIRED] = {"nodeSelectorTerms": ways}
        else:  # a term without expressions would take nothing, and one that keeps off nothing takes all
            del affinity[REQUIRED]
    if preferred := affinity.get(PREFERRED):
        weights = [
            {**weighted, "preference": way}
            for weighted in preferred
            for way in _ways(weighted.get("preference") or {}, pools, node)
            if way
        ]
        affinity[PREFERRED] = weights
        if not weights:
            del affinity[PREFERRED]
    _require(spec, everywhere)
    return changed if changed != pod else None


def _require(spec: dict[str, Any], expressions: Sequence[Expression]) -> None:
    """Add expressions to each required term of a pod's node affinity, of which one is made where there is none."""
    if not expressions:
        return
    affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    terms = mapping_in(affinity.get(REQUIRED)).get("nodeSelectorTerms") or [{}]
    longer = [{**term, "matchExpressions": [*(term.get("matchExpressions") or ()), *expressions]} for term in terms]
    affinity[REQUIRED] = {"nodeSelectorTerms": longer}


def _ways(term: Mapping[str, Any], pools: PoolLabels, node: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the terms in the place of one, which are alternatives; an empty one takes every Node."""
    expressions = term.get("matchExpressions") or ()
    choices = [choice for part in expressions if (choice := pools.alternatives(part, node))]
    for way in product(*choices):
        fields = {key: value for key, value in term.items() if key != "matchExpressions"}
        yield {**fields, **({"matchExpressions": list(way)} if way else {})}
