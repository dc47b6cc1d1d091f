"""The labels that pods select Nodes by: whether a new Node has them as the old one had, and what takes their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from harness.kube.api.objects import Object, labels_of, mapping_in, spec_of
from lazyrecords import dataclass

__all__ = ["AFFINITY", "PREFERENCE", "PREFERRED", "REQUIRED", "SELECTOR", "Asked", "Change", "asked_labels"]

SELECTOR, AFFINITY, PREFERENCE = "nodeSelector", "nodeAffinity", "preferred nodeAffinity"
"""Places in which a pod asks for a Node's label."""

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


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
    yield from ((SELECTOR, str(key)) for key in mapping_in(spec.get("nodeSelector")))
    affinity = mapping_in(spec.get("affinity"))
    node = mapping_in(affinity.get("nodeAffinity"))
    required = mapping_in(node.get(REQUIRED)).get("nodeSelectorTerms") or ()
    preferred = (weighted.get("preference") or {} for weighted in node.get(PREFERRED) or ())
    for where, terms in ((AFFINITY, required), (PREFERENCE, preferred)):
        for term in terms:
            yield from ((where, str(expression.get("key"))) for expression in term.get("matchExpressions") or ())
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = mapping_in(affinity.get(kind))
        inner = [
            *(rules.get(REQUIRED) or ()),
            *(weighted.get("podAffinityTerm") or {} for weighted in rules.get(PREFERRED) or ()),
        ]
        yield from ((kind, str(term.get("topologyKey"))) for term in inner)
    for constraint in spec.get("topologySpreadConstraints") or ():
        yield "topologySpreadConstraints", str(constraint.get("topologyKey"))
