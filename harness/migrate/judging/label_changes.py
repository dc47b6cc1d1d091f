"""The labels that pods select Nodes by: whether a new Node has them as the old one had, and what takes their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from harness.explain.advice.synonyms import KEYS_ALSO_CALLED
from harness.karpenter.labels.azure import AKS_DOMAIN
from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.objects import Object, copy_json, labels_of, mapping_in, spec_of
from lazyrecords import dataclass

__all__ = ["POOL_LABELS", "Asked", "Change", "asked_labels", "patched"]

POOL_LABELS = ("agentpool", f"{AKS_DOMAIN}/agentpool")
"""The labels that name a Node's agent pool."""
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class Change(StrEnum):
    """Relation of a new Node's label to that of the old one."""

    SAME = "same"
    DIFFERENT = "different"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Asked:
    """A label key that a pod's placement depends on: where it is asked for, and its values on the old and the new Node."""

    key: str
    where: str
    old: str | None
    new: str | None

    @property
    def change(self) -> Change:
        """Return how the new Node's label stands to the old one's."""
        if self.new is None:
            return Change.SAME if self.old is None else Change.MISSING
        return Change.SAME if self.old in (self.new, None) else Change.DIFFERENT

    @property
    def text(self) -> str:
        """Return the change as a sentence."""
        shown = f"{self.key}={self.old}" if self.old is not None else self.key
        if self.new is None:
            return f"{self.where} {shown}: the new Node has no such label"
        return f"{self.where} {shown}: the new Node has {self.key}={self.new}"


def asked_labels(pod: Object, old: Object | None, new: Object) -> list[Asked]:
    """Return each key that selectors, affinities and spread constraints of a pod name, once for each such place."""
    before, after = (labels_of(old) if old is not None else {}), labels_of(new)
    keys = dict.fromkeys((where, key) for where, key in _keys(spec_of(pod)))
    return [Asked(key, where, before.get(key), after.get(key)) for where, key in keys]


def _keys(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from (("nodeSelector", str(key)) for key in mapping_in(spec.get("nodeSelector")))
    affinity = mapping_in(spec.get("affinity"))
    for term in _terms(affinity):
        yield from (("nodeAffinity", str(expression.get("key"))) for expression in term.get("matchExpressions") or ())
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = mapping_in(affinity.get(kind))
        inner = [
            *(rules.get(_REQUIRED) or ()),
            *(expression.get("podAffinityTerm") or {} for expression in rules.get(_PREFERRED) or ()),
        ]
        yield from ((kind, str(term.get("topologyKey"))) for term in inner)
    for constraint in spec.get("topologySpreadConstraints") or ():
        yield "topologySpreadConstraints", str(constraint.get("topologyKey"))


def _terms(affinity: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The terms of a node affinity, required and preferred."""
    node = mapping_in(affinity.get("nodeAffinity"))
    yield from mapping_in(node.get(_REQUIRED)).get("nodeSelectorTerms") or ()
    yield from (preference.get("preference") or {} for preference in node.get(_PREFERRED) or ())


def patched(pod: Object, nodepool: Callable[[str], str | None], new: Object | None = None) -> dict[str, Any] | None:
    """Return the pod with Karpenter's labels in the place of those that only agent pools have; None where there is nothing to replace.

    `nodepool` gives the name of the NodePool in the place of an agent pool, None for one that stays. `new` is the Node that the pod would
    get: a label of its that means the same takes the place of one that it lacks.
    """
    changed_pod: dict[str, Any] = copy_json(pod)
    spec = changed_pod["spec"]
    labels = labels_of(new) if new is not None else {}
    changed = False
    selector = spec.get("nodeSelector") or {}
    for key in list(selector):
        replaced = _replaced(key, [str(selector[key])], nodepool, labels)
        if replaced is not None:
            del selector[key]
            selector[replaced[0]] = replaced[1][0]
            changed = True
    for term in _terms(spec.get("affinity") or {}):
        for expression in term.get("matchExpressions") or ():
            values = [str(value) for value in expression.get("values") or ()]
            replaced = _replaced(str(expression.get("key")), values, nodepool, labels)
            if replaced is not None and expression.get("operator") == "In":
                expression |= {"key": replaced[0], "values": replaced[1]}
                changed = True
    return changed_pod if changed else None


def _replaced(
    key: str, values: Sequence[str], nodepool: Callable[[str], str | None], labels: Mapping[str, str]
) -> tuple[str, list[str]] | None:
    """Return key and values in the place of a label; None where none is known."""
    if key in POOL_LABELS:
        names = [name for value in values if (name := nodepool(value)) is not None]
        return (NODEPOOL, names) if names else None
    other = KEYS_ALSO_CALLED.get(key, "")
    alike = [value for value in values if labels.get(other) == value]
    return (other, alike) if alike and key not in labels else None
