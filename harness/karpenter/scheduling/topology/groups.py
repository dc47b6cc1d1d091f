"""The topology groups of a simulation, each made once, and what the cluster's own pods count in them.

Core ``pkg/controllers/provisioning/scheduling/{topology,topologydomaingroup}.go``.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

from harness.karpenter.releases.scheduling import SchedulingRules
from harness.karpenter.scheduling.algebra import Algebra
from harness.karpenter.scheduling.nodes.cluster_state import ClusterState
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.karpenter.scheduling.topology.domains import TaintsByDomain
from harness.karpenter.scheduling.topology.group import ANTI_AFFINITY, MAX_SKEW, SPREAD, TopologyGroup, group_identity
from harness.karpenter.scheduling.topology.group_index import GroupIndex
from harness.karpenter.scheduling.topology.node_filter import ADMITS_ALL, HONOR, IGNORE, Alternatives, NodeFilter
from harness.karpenter.scheduling.topology.own_groups import in_order
from harness.kube.api.objects import Object, labels_of, name_of, namespace_of, spec_of
from harness.kube.api.selectors import EVERYTHING, NOTHING, Selector, SelectorError
from harness.kube.scheduling.pods import affinity_terms, is_active, is_scheduled
from harness.kube.scheduling.taints import known_tolerations, untolerated

_MOST_REPEATS = 64


class TopologyError(ValueError):
    """A constraint that stops the whole simulation; the message is Karpenter's."""


class RunningPods:
    """The cluster's pods that count for topology, of which a simulation leaves out those that it moves."""

    def __init__(self, state: ClusterState) -> None:
        self.state = state

    @cached_property
    def active(self) -> list[tuple[StateNode, str]]:
        """The nodes whose room counts, with their names."""
        return [(node, node.name) for node in self.state.active() if node.node is not None]

    @cached_property
    def by_namespace(self) -> dict[str, list[tuple[Object, Object, str]]]:
        """Running pods with their nodes and ``namespace/name``."""
        nodes = {name_of(node): node for node in self.state.snapshot.nodes}
        found: dict[str, list[tuple[Object, Object, str]]] = {}
        for pod in self.state.snapshot.pods:
            if not is_scheduled(pod) or not is_active(pod):
                continue
            node = nodes.get(spec_of(pod)["nodeName"])
            if node is not None:
                found.setdefault(namespace_of(pod), []).append((pod, node, _identity(pod)))
        return found

    @cached_property
    def repelling(self) -> list[tuple[Object, Object, str, Sequence[Object]]]:
        """Running pods with required anti-affinity terms, with their nodes, ``namespace/name`` and these terms."""
        known: dict[Hashable, Any] = self.state.fleet.remembered
        if RunningPods not in known:
            some = self.state.fleet.having(_repelling)
            states = self.state.by_node.values() if some else ()
            known[RunningPods] = [each for state in states for each in some.get(state.provider_id, ())]
        found: list[tuple[Object, Object, str, Sequence[Object]]] = known[RunningPods]
        return found


class TopologyGroups:
    """The groups, by upstream's notion of identity; ``generation`` counts them.

    ``domains`` gives the universe of domains by key. ``moving`` are the pods (``namespace/name``) that are scheduled anew, and
    ``leaving`` the names of nodes that take no part.
    """

    def __init__(
        self,
        algebra: Algebra,
        running: RunningPods,
        domains: Callable[[str], TaintsByDomain],
        moving: frozenset[str],
        leaving: frozenset[str],
        rules: SchedulingRules,
    ) -> None:
        self.algebra = algebra
        self._running, self._state = running, running.state
        self._leaving, self._excluded = leaving, moving
        self._comparing = rules.compares_tolerations
        self._cancel, self._known_hosts_only = rules.repeated_expressions_cancel, rules.hosts_registered_first
        self._domains = domains
        self._groups: dict[object, TopologyGroup] = {}
        self._inverse: dict[object, TopologyGroup] = {}
        self._by_label, self._repelling = GroupIndex(), GroupIndex()
        self._by_hostname: list[TopologyGroup] = []
        self.generation = 0
        self._count_repelling_pods()

    # making

    def spread(self, shape: PodShape, constraint: Object) -> TopologyGroup:
        """The group of a spread constraint.

        Raises TopologyError, and ValueError where no API server admits the constraint and Go panics.
        """
        selector = constraint.get("labelSelector")
        added = [
            {"key": key, "operator": "In", "values": [shape.labels[key]]}
            for key in constraint.get("matchLabelKeys") or ()
            if key in shape.labels
        ]
        if added:
            if selector is None:
                raise ValueError("matchLabelKeys without a labelSelector")
            # Where two count as none, it matters whether the number is odd, and no more.
            added *= min(shape.repeats, _MOST_REPEATS + shape.repeats % 2)
            selector = {**selector, "matchExpressions": [*(selector.get("matchExpressions") or ()), *added]}
        group = self._group(
            shape,
            SPREAD,
            constraint["topologyKey"],
            frozenset((shape.namespace,)),
            selector,
            max_skew=constraint.get("maxSkew") or 0,
            min_domains=constraint.get("minDomains"),
            node_filter=self._node_filter(shape, constraint),
        )
        if not added:
            shape.spread_groups[id(constraint)] = group
        return group

    def _node_filter(self, shape: PodShape, constraint: Object) -> NodeFilter:
        return NodeFilter(
            self._alternatives(shape),
            constraint.get("nodeTaintsPolicy") or IGNORE,
            constraint.get("nodeAffinityPolicy") or HONOR,
            shape.preferences.tolerations,
        )

    def _alternatives(self, shape: PodShape) -> Alternatives:
        found, terms, before = shape.alternatives, shape.preferences.required_nodes, shape.before
        if found is not None:
            return found
        if before is not None and before.alternatives is not None:
            known, dropped = before.alternatives, len(before.preferences.required_nodes) - len(terms)
            found = known.rest() if dropped else known
        else:
            base = self.algebra.from_labels(shape.node_selector)
            affinity = (spec_of(shape.pod).get("affinity") or {}).get("nodeAffinity") or {}
            if affinity.get("requiredDuringSchedulingIgnoredDuringExecution") is None:
                sets = [base]
            else:
                wanted = (self.algebra.from_node_selector(term.get("matchExpressions")) for term in terms)
                sets = [self.algebra.together(base, each.items) for each in wanted]
            found = Alternatives(self.algebra, sets)
        shape.alternatives = found
        return found

    def affinity(self, shape: PodShape, kind: str, term: Object) -> TopologyGroup:
        """The group of an (anti-)affinity term. Raises TopologyError."""
        namespaces = self._namespaces(shape.namespace, term)
        return self._group(shape, kind, term["topologyKey"], namespaces, term.get("labelSelector"))

    def _group(
        self,
        shape: PodShape,
        kind: str,
        key: str,
        namespaces: frozenset[str],
        raw_selector: Mapping[str, Any] | None,
        *,
        max_skew: int = MAX_SKEW,
        min_domains: int | None = None,
        node_filter: NodeFilter = ADMITS_ALL,
    ) -> TopologyGroup:
        identity = group_identity(kind, key, namespaces, max_skew, raw_selector, node_filter, self._cancel)
        group = self._groups.get(identity)
        if group is None:
            domains = self._domains_for(key, shape.preferences.tolerations, node_filter.taint_policy)
            group = TopologyGroup(
                self.algebra,
                kind,
                key,
                namespaces,
                raw_selector,
                _parse(raw_selector),
                domains,
                max_skew=max_skew,
                min_domains=min_domains,
                node_filter=node_filter,
                known_hosts_only=self._known_hosts_only,
            )
            self._count_cluster(group)
            self._keep(self._groups, identity, group)
        return group

    def repelling(self, namespace: str, tolerations: Sequence[Object], term: Object) -> TopologyGroup:
        """The inverse group of a required anti-affinity term: the pods that it selects may not go where its pods are.

        Raises TopologyError.
        """
        key, raw_selector = term["topologyKey"], term.get("labelSelector")
        namespaces = self._namespaces(namespace, term)
        identity = group_identity(ANTI_AFFINITY, key, namespaces, MAX_SKEW, raw_selector, ADMITS_ALL, self._cancel)
        group = self._inverse.get(identity)
        if group is None:
            domains = self._domains_for(key, tolerations, "")
            selector = _parse(raw_selector)
            group = TopologyGroup(
                self.algebra,
                ANTI_AFFINITY,
                key,
                namespaces,
                raw_selector,
                selector,
                domains,
                inverse=True,
                known_hosts_only=self._known_hosts_only,
            )
            self._keep(self._inverse, identity, group)
        return group

    def _keep(self, groups: dict[object, TopologyGroup], identity: object, group: TopologyGroup) -> None:
        groups[identity] = group
        (self._repelling if group.inverse else self._by_label).add(group)
        self.generation += 1
        if group.by_hostname:
            self._by_hostname.append(group)

    def _domains_for(self, key: str, tolerations: Sequence[Object], taint_policy: str) -> list[str]:
        """Domains of NodePools, unless the policy ignores taints only those of NodePools whose taints are tolerated."""
        return [
            domain
            for domain, taint_sets in self._domains(key).items()
            if taint_policy == IGNORE or any(not untolerated(taints, tolerations) for taints in taint_sets)
        ]

    def _namespaces(self, namespace: str, term: Object) -> frozenset[str]:
        names, selector = term.get("namespaces") or (), term.get("namespaceSelector")
        if selector is None:
            return frozenset(names) or frozenset((namespace,))
        try:
            parsed = Selector.parse(selector)
        except SelectorError as error:
            raise TopologyError(f"parsing selector, {error}") from error
        chosen = (name_of(each) for each in self._state.snapshot.namespaces if parsed.matches(labels_of(each)))
        return frozenset((*chosen, *names))

    def _count_repelling_pods(self) -> None:
        """Counts the required anti-affinity of running pods."""
        for pod, node, identity, terms in self._running.repelling:
            if identity in self._excluded:
                continue
            for term in terms:
                tolerations = known_tolerations(spec_of(pod).get("tolerations") or (), comparing=self._comparing)
                group = self.repelling(namespace_of(pod), tolerations, term)
                domain = labels_of(node).get(group.key)
                if domain is not None:
                    group.record(domain)

    def _count_cluster(self, group: TopologyGroup) -> None:
        for state, name in self._running.active:
            if name in self._leaving:
                continue
            node = state.node or {}
            labels = self.algebra.from_labels(labels_of(node))
            taints = tuple(spec_of(node).get("taints") or ())
            if group.filter.admits(self.algebra, taints, labels.items, labels.id):
                domain = state.labels.get(group.key)
                if domain is not None and domain not in group.domains:
                    group.register(domain)
        selector = EVERYTHING if group.raw_selector is None else group.selector
        known = self._running.by_namespace
        for pod, bound_to, identity in chain.from_iterable(known.get(each, ()) for each in group.namespaces):
            if identity in self._excluded or not selector.matches(labels_of(pod)):
                continue
            domain = labels_of(bound_to).get(group.key)
            if domain is None and group.by_hostname:
                domain = name_of(bound_to)
            if domain is None:
                continue
            labels = self.algebra.from_labels(labels_of(bound_to))
            taints = tuple(spec_of(bound_to).get("taints") or ())
            if group.filter.admits(self.algebra, taints, labels.items, labels.id):
                group.record(domain)

    # asking

    def register_hosts(self, hostnames: Iterable[str]) -> None:
        """Makes nodes known to the hostname groups that exist."""
        if self._by_hostname:
            for hostname in hostnames:
                self.register_host(hostname)

    def register_host(self, hostname: str) -> None:
        """Makes a node known to the hostname groups that exist."""
        for group in self._by_hostname:
            group.register(hostname)

    def unregister_host(self, hostname: str) -> None:
        """Undoes :meth:`register_host` for a node that is not created after all."""
        for group in self._by_hostname:
            group.unregister(hostname)

    def counted(self, shape: PodShape) -> tuple[Sequence[TopologyGroup], tuple[TopologyGroup, ...]]:
        """The groups, and the inverse groups, whose selector selects the pod."""
        known = shape.counted
        if known is None or known[0] != self.generation:
            who = shape.identity, shape.namespace, shape.labels
            plain, inverse = self._by_label.selecting(*who), self._repelling.selecting(*who)
            ordered = known[2] if known is not None and len(known[2]) == len(inverse) else in_order(inverse)
            known = shape.counted = (self.generation, plain, ordered)
        return known[1], known[2]


def _repelling(state: StateNode) -> Sequence[tuple[Object, Object, str, Sequence[Object]]]:
    return [
        (pod, state.node, _identity(pod), terms)
        for pod in state.pods
        if state.node is not None and (terms := affinity_terms(pod, "podAntiAffinity", "required"))
    ]


def _identity(pod: Object) -> str:
    return f"{namespace_of(pod)}/{name_of(pod)}"


def _parse(raw_selector: Mapping[str, Any] | None) -> Selector:
    try:
        return Selector.parse(raw_selector)
    except SelectorError:
        return NOTHING
