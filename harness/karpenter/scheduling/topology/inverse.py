"""Inverse topology groups of the pods that run: which domains their required anti-affinity closes to others.

Core ``pkg/controllers/provisioning/scheduling/topology.go`` (updateInverseAffinities).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from harness.karpenter.scheduling.remembered import remembered
from harness.karpenter.scheduling.topology.group_index import GroupIndex
from harness.kube.api.objects import Object, name_of, namespace_of
from harness.kube.scheduling.pods import affinity_terms
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.karpenter.scheduling.nodes.fleet import Fleet
    from harness.karpenter.scheduling.nodes.state import StateNode
    from harness.karpenter.scheduling.topology.group import TopologyError, TopologyGroup

__all__ = ["InverseGroup", "InverseGroups", "RepellingPod", "RepellingTerm", "repelling_pods"]

RepellingPod = tuple[Object, Object, str, Sequence[Object]]
"""A running pod with required anti-affinity, its Node, its ``namespace/name``, and these terms."""


@remembered
def repelling_pods(fleet: Fleet) -> Sequence[RepellingPod]:
    """Return the running pods with required anti-affinity, by Node."""
    on_node = fleet.having(_repelling_on)
    states = fleet.by_node.values() if on_node else ()
    return [pod for state in states for pod in on_node.get(state.provider_id, ())]


def _repelling_on(state: StateNode) -> Sequence[RepellingPod]:
    return [
        (pod, state.node, f"{namespace_of(pod)}/{name_of(pod)}", terms)
        for pod in state.pods
        if state.node is not None and (terms := affinity_terms(pod, "podAntiAffinity", "required"))
    ]


@dataclass(frozen=True, slots=True)
class RepellingTerm:
    """A required anti-affinity term of a running pod (``namespace/name``) in a ``domain``, None where its Node has no such label.

    ``group`` is the term's own, with the domains of NodePools alone, ``identity`` that by which several terms share one.
    """

    pod: str
    domain: str | None
    identity: object
    group: TopologyGroup

    @property
    def content(self) -> Hashable:
        """Equal for terms that close the same domain to the same pods."""
        return self.domain, self.group.sort_key, frozenset(self.group.domains)


class InverseGroup:
    """One inverse group; ``group`` is that of its first term, with the domains of NodePools alone."""

    __slots__ = ("_all", "group", "terms")

    def __init__(self, group: TopologyGroup, terms: list[RepellingTerm]) -> None:
        self.group, self.terms = group, terms
        self._all: tuple[dict[str, int], set[str]] | None = None

    def without(self, pods: Collection[str]) -> TopologyGroup | None:
        """A copy for one simulation, without the terms of these pods; None where no term is left."""
        if not any(term.pod in pods for term in self.terms):
            if self._all is None:
                self._all = self._counted(self.terms)
            domains, empty = self._all
            return self.group.copy(domains.copy(), empty.copy())
        left = [term for term in self.terms if term.pod not in pods]
        return self.group.copy(*self._counted(left)) if left else None

    def _counted(self, terms: Sequence[RepellingTerm]) -> tuple[dict[str, int], set[str]]:
        domains, empty = dict(self.group.domains), set(self.group.empty)
        for term in terms:
            if term.domain is not None:
                domains[term.domain] = domains.get(term.domain, 0) + 1
                empty.discard(term.domain)
        return domains, empty

    def keeps(self, pods: Collection[str]) -> bool:
        """Return whether the group is the same without the terms of these pods, but for its counts: its first term makes it."""
        first = next((term for term in self.terms if term.pod not in pods), None)
        return first is None or first.group is self.group


class InverseGroups:
    """The inverse groups of all running pods, by identity; ``errors`` are pods of which a term cannot be read."""

    def __init__(self, terms: Sequence[RepellingTerm], errors: Sequence[tuple[str, TopologyError]] = ()) -> None:
        self._terms, self._errors = terms, errors
        self.by_identity: dict[object, InverseGroup] = {}
        self._of_pod: dict[str, list[InverseGroup]] = {}
        self._index = GroupIndex()
        self._of_group: dict[TopologyGroup, InverseGroup] = {}
        for term in terms:
            group = self.by_identity.get(term.identity)
            if group is None:
                group = self.by_identity[term.identity] = InverseGroup(term.group, [])
                self._index.add(group.group)
                self._of_group[group.group] = group
            group.terms.append(term)
            self._of_pod.setdefault(term.pod, []).append(group)

    @property
    def content(self) -> Hashable:
        """Equal where as many pods repel the same others in the same domains."""
        return tuple([term.content for term in self._terms])

    def difference(self, pods: Collection[str]) -> Hashable | None:
        """Return the part of the counts that the terms of these pods make; None where the rest are other groups."""
        moved = self._of_pod.keys() & pods
        if self._errors or (moved and self.without(pods) is not self):
            return None
        return tuple([term.content for term in self._terms if term.pod in moved]) if moved else ()

    def without(self, pods: Collection[str]) -> InverseGroups:
        """The groups for a simulation that moves these pods; counts are those of all pods still. Raises TopologyError."""
        for pod, error in self._errors:
            if pod not in pods:
                raise error
        moved = self._of_pod.keys() & pods
        if all(group.keeps(moved) for pod in moved for group in self._of_pod[pod]):
            return self
        return InverseGroups([term for term in self._terms if term.pod not in pods])

    def selecting(self, identity: Hashable, namespace: str, labels: Any) -> Sequence[InverseGroup]:
        """The groups that select a pod; ``identity`` stands for namespace and labels."""
        return [self._of_group[group] for group in self._index.selecting(identity, namespace, labels)]
