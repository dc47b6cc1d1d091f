"""The topology groups of a cluster's running pods, which simulations copy.

Core ``pkg/controllers/provisioning/scheduling/topology.go``.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from harness.karpenter.releases.scheduling import SchedulingRules
from harness.karpenter.scheduling.algebra import Algebra
from harness.karpenter.scheduling.nodes.fleet import Fleet
from harness.karpenter.scheduling.topology.cluster_group import ClusterGroup
from harness.karpenter.scheduling.topology.domains import Domains
from harness.karpenter.scheduling.topology.group import (
    ANTI_AFFINITY,
    MAX_SKEW,
    TopologyError,
    TopologyGroup,
    group_identity,
)
from harness.karpenter.scheduling.topology.inverse import InverseGroups, RepellingPod, RepellingTerm
from harness.karpenter.scheduling.topology.node_filter import ADMITS_ALL, IGNORE, NodeFilter
from harness.karpenter.scheduling.topology.running_pods import RunningPods
from harness.kube.api.fingerprint import fingerprint
from harness.kube.api.objects import Object, labels_of, name_of, namespace_of, same_objects, spec_of
from harness.kube.api.selectors import NOTHING, Selector, SelectorError
from harness.kube.scheduling.taints import Toleration, known_tolerations, untolerated
from lazyrecords import dataclass

__all__ = ["ClusterTopology", "Constraint"]

_MOST_GROUPS = 2048
_SPARE = 1024


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint as it makes a topology group; ``key_name`` is its topology key, ``tolerations`` are those of its pod."""

    kind: str
    key_name: str
    namespaces: frozenset[str]
    raw_selector: Mapping[str, Any] | None
    tolerations: tuple[Toleration, ...]
    max_skew: int = MAX_SKEW
    min_domains: int | None = None
    node_filter: NodeFilter = ADMITS_ALL
    inverse: bool = False

    def key(self, identity: object) -> Hashable:
        """Equal for constraints whose groups are equal in all; ``identity`` is upstream's, which leaves out some."""
        alternatives = self.node_filter.alternatives
        return (
            identity,
            self.inverse,
            self.min_domains,
            fingerprint((self.raw_selector, self.tolerations)),
            None if alternatives is None else alternatives.number,
        )


class ClusterTopology:
    """The groups of one cluster; ``domains`` is the universe of domains on which all of them rest.

    :meth:`look` has to be called with the machines of the moment before any group is asked for.
    """

    def __init__(self, algebra: Algebra, domains: Domains, rules: SchedulingRules) -> None:
        self.algebra, self.domains, self.rules = algebra, domains, rules
        self.running = RunningPods()
        self._namespaces: Sequence[Object] = ()
        self.namespace_labels: frozenset[tuple[str, frozenset[tuple[str, str]]]] = frozenset()
        """Name and labels of all namespaces, by which namespaceSelectors choose."""
        self._groups: dict[Hashable, ClusterGroup] = {}
        self._terms: dict[int, tuple[Object, Sequence[tuple[str, ClusterGroup]]]] = {}
        """The inverse groups of running pods, by the identity of the pod."""
        self._inverse_content: tuple[InverseGroups, int] | None = None
        self._inverse: tuple[Sequence[RepellingPod], Sequence[Object], InverseGroups] | None = None

    def look(self, fleet: Fleet, nodes: Iterable[Object], namespaces: Sequence[Object]) -> None:
        """Take the machines, the Nodes and the namespaces of a moment."""
        if not same_objects(self._namespaces, namespaces):
            self._namespaces = namespaces
            self.namespace_labels = frozenset(
                [(name_of(namespace), frozenset(labels_of(namespace).items())) for namespace in namespaces]
            )
        self.running.look(fleet, nodes)

    def group(self, constraint: Constraint) -> "ClusterGroup":
        """The group of a constraint."""
        identity = self.identity_of(constraint)
        key = constraint.key(identity)
        group = self._groups.get(key)
        if group is None:
            if len(self._groups) >= _MOST_GROUPS:
                self._groups.clear()
            group = self._groups[key] = ClusterGroup(self.running, identity, self._with_universe(constraint))
        return group

    def identity_of(self, constraint: Constraint) -> object:
        """Equal for constraints that share a group."""
        return group_identity(
            constraint.kind,
            constraint.key_name,
            constraint.namespaces,
            constraint.max_skew,
            constraint.raw_selector,
            constraint.node_filter,
            self.rules.repeated_expressions_cancel,
        )

    def _with_universe(self, constraint: Constraint) -> TopologyGroup:
        """The group with the domains of NodePools alone."""
        return TopologyGroup(
            self.algebra,
            constraint.kind,
            constraint.key_name,
            constraint.namespaces,
            constraint.raw_selector,
            _parse(constraint.raw_selector),
            self._universe(constraint),
            max_skew=constraint.max_skew,
            min_domains=constraint.min_domains,
            node_filter=constraint.node_filter,
            inverse=constraint.inverse,
            known_hosts_only=self.rules.hosts_registered_first,
        )

    def _universe(self, constraint: Constraint) -> list[str]:
        """Domains of NodePools, unless the policy ignores taints only those of NodePools whose taints are tolerated."""
        policy, tolerations = constraint.node_filter.taint_policy, constraint.tolerations
        return [
            domain
            for domain, taint_sets in self.domains.of(constraint.key_name).items()
            if policy == IGNORE or any(not untolerated(taints, tolerations) for taints in taint_sets)
        ]

    def inverse_constraint(self, namespace: str, tolerations: Sequence[Toleration], term: Object) -> Constraint:
        """A required anti-affinity term as it constrains other pods. Raises TopologyError."""
        namespaces = self.namespaces(namespace, term)
        selector = term.get("labelSelector")
        return Constraint(ANTI_AFFINITY, term["topologyKey"], namespaces, selector, tuple(tolerations), inverse=True)

    def namespaces(self, namespace: str, term: Object) -> frozenset[str]:
        """The namespaces of an affinity term. Raises TopologyError."""
        names, selector = term.get("namespaces") or (), term.get("namespaceSelector")
        if selector is None:
            return frozenset(names) or frozenset((namespace,))
        try:
            parsed = Selector.parse(selector)
        except SelectorError as error:
            raise TopologyError(f"parsing selector, {error}") from error
        chosen = (name_of(candidate) for candidate in self._namespaces if parsed.matches(labels_of(candidate)))
        return frozenset((*chosen, *names))

    def inverse_groups(self, pods: Sequence[RepellingPod]) -> InverseGroups:
        """The inverse groups of running pods."""
        if (
            self._inverse is None
            or self._inverse[0] is not pods
            or not same_objects(self._inverse[1], self._namespaces)
        ):
            if len(self._terms) > 2 * len(pods) + _SPARE:
                self._terms.clear()
            terms: list[RepellingTerm] = []
            errors: list[tuple[str, TopologyError]] = []
            for pod in pods:
                try:
                    terms += self._terms_of(pod)
                except TopologyError as error:
                    errors.append((pod[2], error))
            self._inverse = pods, self._namespaces, InverseGroups(terms, errors)
        return self._inverse[2]

    @property
    def inverse_content(self) -> int:
        """A number for the inverse groups of the last look, equal for equal ones."""
        assert self._inverse is not None
        groups = self._inverse[2]
        if self._inverse_content is None or self._inverse_content[0] is not groups:
            self._inverse_content = groups, self.algebra.number_of(groups.content)
        return self._inverse_content[1]

    def _terms_of(self, repelling: RepellingPod) -> Iterable[RepellingTerm]:
        pod, node, name, terms = repelling
        entry = self._terms.get(id(pod))
        if entry is None or entry[0] is not pod:
            tolerations = known_tolerations(
                spec_of(pod).get("tolerations") or (), comparing=self.rules.compares_tolerations
            )
            made = [
                (term["topologyKey"], self.group(self.inverse_constraint(namespace_of(pod), tolerations, term)))
                for term in terms
            ]
            entry = pod, made
            if not any(term.get("namespaceSelector") is not None for term in terms):
                self._terms[id(pod)] = entry
        labels = labels_of(node)
        return [RepellingTerm(name, labels.get(key), group.identity, group.group) for key, group in entry[1]]


def _parse(raw_selector: Mapping[str, Any] | None) -> Selector:
    try:
        return Selector.parse(raw_selector)
    except SelectorError:
        return NOTHING
