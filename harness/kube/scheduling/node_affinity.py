"""Node affinity: whether a pod may, or would rather, run on a node by nodeSelector and its required and preferred
terms.

Source: component-helpers scheduling/corev1/nodeaffinity/nodeaffinity.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.kube.api.objects import Object, labels_of, name_of, spec_of
from harness.kube.go.text import parse_int


def _expression_matches(expression: Mapping[str, object], labels: Mapping[str, str]) -> bool:
    key, operator = str(expression.get("key")), expression.get("operator")
    raw = expression.get("values")
    values = [str(value) for value in raw] if isinstance(raw, (list, tuple)) else []
    present = labels.get(key)
    if operator == "In":
        return present in values
    if operator == "NotIn":
        return present not in values
    if operator == "Exists":
        return present is not None
    if operator == "DoesNotExist":
        return present is None
    if operator in ("Gt", "Lt") and present is not None and len(values) == 1:
        have, bound = parse_int(present), parse_int(values[0])
        if have is None or bound is None:
            return False
        return have > bound if operator == "Gt" else have < bound
    return False


def term_matches(term: Object, node: Object) -> bool:
    """Return whether a node selector term takes the node. A term without expressions and fields takes nothing."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    labels = labels_of(node)
    names = {"metadata.name": name_of(node)}
    return all(_expression_matches(expression, labels) for expression in expressions) and all(
        _expression_matches(field, names) for field in fields
    )


def required_matches(pod: Object, node: Object) -> bool:
    """Return whether nodeSelector and required node affinity of the pod take the node."""
    spec = spec_of(pod)
    selector, affinity = spec.get("nodeSelector"), spec.get("affinity")
    if selector:
        labels = labels_of(node)
        for key, value in selector.items():
            if labels.get(key) != value:
                return False
    if not affinity:
        return True
    required = (affinity.get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(term_matches(term, node) for term in required.get("nodeSelectorTerms") or ())


def named_nodes(pod: Object) -> frozenset[str] | None:
    """The nodes that the pod's required affinity names (as a DaemonSet's do), None where a term names none.

    Source: kubernetes pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go (PreFilter).
    """
    affinity = (spec_of(pod).get("affinity") or {}).get("nodeAffinity") or {}
    node_names: frozenset[str] = frozenset()
    for term in (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or ():
        names = [
            frozenset(field.get("values") or ())
            for field in term.get("matchFields") or ()
            if field.get("key") == "metadata.name" and field.get("operator") == "In"
        ]
        if not names:
            return None
        node_names |= frozenset.intersection(*names)
    return node_names or None


def preferred_weight(pod: Object, node: Object) -> int:
    """The sum of the weights of the preferred terms that take the node."""
    preferred = ((spec_of(pod).get("affinity") or {}).get("nodeAffinity") or {}).get(
        "preferredDuringSchedulingIgnoredDuringExecution"
    )
    total = 0
    for weighted in preferred or ():
        if term_matches(weighted.get("preference") or {}, node):  # a term that states nothing takes no node
            total += int(weighted.get("weight") or 0)
    return total
