"""All topology constraints of a simulation: which groups there are, whom they concern, and what they still allow.

Core ``pkg/controllers/provisioning/scheduling/{topology,topologydomaingroup}.go``.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from harness.karpenter.requirement import Requirement
from harness.karpenter.scheduling.algebra import Algebra, RequirementSet
from harness.karpenter.scheduling.catalog import CatalogIndex
from harness.karpenter.scheduling.domains import domains_by_key
from harness.karpenter.scheduling.reasons import Reason, RequirementsIncompatible, TopologyUnsatisfiable
from harness.karpenter.scheduling.shapes import PodShape
from harness.karpenter.scheduling.snapshot import IGNORE as IGNORE_PREFERENCES
from harness.karpenter.scheduling.snapshot import SchedulingRules
from harness.karpenter.scheduling.state import ClusterState
from harness.karpenter.scheduling.topology_group import (
    ADMITS_ALL,
    AFFINITY,
    ANTI_AFFINITY,
    HONOR,
    IGNORE,
    MAX_SKEW,
    SPREAD,
    NodeFilter,
    TopologyGroup,
    group_identity,
)
from harness.karpenter.vocabulary import HOSTNAME
from harness.kube.objects import Object, is_terminating, labels_of, name_of, namespace_of, spec_of
from harness.kube.pods import affinity_terms, is_scheduled, is_terminal
from harness.kube.selectors import EVERYTHING, NOTHING, Selector, SelectorError
from harness.kube.taints import Taint, untolerated


class TopologyError(ValueError):
    """A constraint that stops the whole simulation; the message is Karpenter's."""


class Topology:
    """The groups, by upstream's notion of identity; ``generation`` counts them."""

    def __init__(
        self,
        algebra: Algebra,
        state: ClusterState,
        nodepools: Sequence[Object],
        indexes: Mapping[str, CatalogIndex],
        preference_policy: str,
        scheduled_pods: frozenset[str],
        rules: SchedulingRules,
    ) -> None:
        self.algebra = algebra
        self._state = state
        self._active = [node for node in state.active() if node.node is not None]
        self._ignore_preferences = preference_policy == IGNORE_PREFERENCES
        self._excluded = scheduled_pods
        self._cancel, self._known_hosts_only = rules.repeated_expressions_cancel, rules.hosts_registered_first
        self._nodepools, self._indexes = nodepools, indexes
        self._groups: dict[object, TopologyGroup] = {}
        self._inverse: dict[object, TopologyGroup] = {}
        self._by_hostname: list[TopologyGroup] = []
        self.keys: set[str] = set()
        self.generation = 0
        self._filtered: dict[tuple[int, int, int, str], bool] = {}
        self._bound = self._countable_pods()
        self._count_repelling_pods()

    @cached_property
    def _domains(self) -> dict[str, dict[str, list[Sequence[Taint]]]]:
        """Worked out only when a pod has a constraint: it looks at every instance type."""
        return domains_by_key(self.algebra, self._nodepools, self._indexes)

    def _countable_pods(self) -> dict[str, list[tuple[Object, Object]]]:
        """Running pods that count for topology, with their nodes, by namespace."""
        nodes = {name_of(node): node for node in self._state.snapshot.nodes}
        found: dict[str, list[tuple[Object, Object]]] = {}
        for pod in self._state.snapshot.pods:
            if not is_scheduled(pod) or is_terminal(pod) or is_terminating(pod) or _identity(pod) in self._excluded:
                continue
            node = nodes.get(spec_of(pod)["nodeName"])
            if node is not None:
                found.setdefault(namespace_of(pod), []).append((pod, node))
        return found

    # building

    def reach(self, shape: PodShape) -> None:
        """Finds, and where necessary makes, the groups of a pod; groups count the cluster's pods at the time they are made.

        A deferred pod, which runs on a node that goes away, is one of those that are counted, and repels others already.
        """
        if shape.reached:
            return
        shape.reached = not shape.deferred
        required = shape.required_anti
        if required:
            tolerations = shape.preferences.tolerations
            owned = (self._inverse_group(shape.namespace, tolerations, term) for term in required)
            shape.anti = tuple(dict.fromkeys(owned))  # equal terms are one group, and count once
        if shape.deferred:
            return
        known = shape.spread_groups
        groups = [known.get(id(one)) or self._spread_group(shape, one) for one in self._spread_constraints(shape)]
        for kind, terms in self._affinity_terms(shape):
            for term in terms:
                namespaces = self._namespaces(shape.namespace, term)
                groups.append(self._group(shape, kind, term["topologyKey"], namespaces, term.get("labelSelector")))
        shape.groups = tuple(sorted(dict.fromkeys(groups), key=lambda group: group.sort_key))

    def _spread_constraints(self, shape: PodShape) -> Iterable[Object]:
        for constraint in shape.preferences.spread:
            if not (self._ignore_preferences and constraint.get("whenUnsatisfiable") != "DoNotSchedule"):
                yield constraint

    def _affinity_terms(self, shape: PodShape) -> Iterable[tuple[str, Iterable[Object]]]:
        preferences = shape.preferences
        for kind, required, preferred in (
            (AFFINITY, shape.required_pods, preferences.preferred_pods),
            (ANTI_AFFINITY, shape.required_anti, preferences.preferred_anti),
        ):
            yield kind, required
            if not self._ignore_preferences:
                yield kind, [term["podAffinityTerm"] for term in preferred]

    def _spread_group(self, shape: PodShape, constraint: Object) -> TopologyGroup:
        selector = constraint.get("labelSelector")
        added = [
            {"key": key, "operator": "In", "values": [shape.labels[key]]}
            for key in constraint.get("matchLabelKeys") or ()
            if key in shape.labels
        ]
        if added:
            added *= shape.repeats
            if selector is None:
                raise TopologyError("matchLabelKeys without a labelSelector")
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
        base = self.algebra.from_labels(shape.node_selector)
        affinity = (spec_of(shape.pod).get("affinity") or {}).get("nodeAffinity") or {}
        if affinity.get("requiredDuringSchedulingIgnoredDuringExecution") is None:
            alternatives: tuple[RequirementSet, ...] = (base,)
        else:
            alternatives = tuple(
                self.algebra.together(base, self.algebra.from_node_selector(term.get("matchExpressions")).items)
                for term in shape.preferences.required_nodes
            )
        return NodeFilter(
            alternatives,
            constraint.get("nodeTaintsPolicy") or IGNORE,
            constraint.get("nodeAffinityPolicy") or HONOR,
            shape.preferences.tolerations,
        )

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

    def _inverse_group(self, namespace: str, tolerations: Sequence[Object], term: Object) -> TopologyGroup:
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
        self.generation += 1
        if group.by_hostname:
            self._by_hostname.append(group)
        else:
            self.keys.add(group.key)

    def _domains_for(self, key: str, tolerations: Sequence[Object], taint_policy: str) -> list[str]:
        """Domains of NodePools, unless the policy ignores taints only those of NodePools whose taints are tolerated."""
        return [
            domain
            for domain, taint_sets in self._domains.get(key, {}).items()
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
        """Required anti-affinity of pods that run already."""
        for state in self._state.by_node.values():
            for pod in state.pods:
                if _identity(pod) in self._excluded or state.node is None:
                    continue
                for term in affinity_terms(pod, "podAntiAffinity", "required"):
                    group = self._inverse_group(namespace_of(pod), spec_of(pod).get("tolerations") or (), term)
                    domain = labels_of(state.node).get(group.key)
                    if domain is not None:
                        group.record(domain)

    def _count_cluster(self, group: TopologyGroup) -> None:
        for state in self._active:
            node = state.node or {}
            labels = self.algebra.from_labels(labels_of(node)).items
            if group.filter.admits(self.algebra, tuple(spec_of(node).get("taints") or ()), labels):
                domain = state.labels.get(group.key)
                if domain is not None and domain not in group.domains:
                    group.register(domain)
        selector = EVERYTHING if group.raw_selector is None else group.selector
        running = (pair for namespace in group.namespaces for pair in self._bound.get(namespace, ()))
        for pod, bound_to in running:
            if not selector.matches(labels_of(pod)):
                continue
            domain = labels_of(bound_to).get(group.key)
            if domain is None and group.by_hostname:
                domain = name_of(bound_to)
            if domain is None:
                continue
            labels = self.algebra.from_labels(labels_of(bound_to)).items
            if group.filter.admits(self.algebra, tuple(spec_of(bound_to).get("taints") or ()), labels):
                group.record(domain)

    # asking and recording

    def register_host(self, hostname: str) -> None:
        """Makes a node known to the hostname groups that exist."""
        for group in self._by_hostname:
            group.register(hostname)

    def unregister_host(self, hostname: str) -> None:
        """Takes back :meth:`register_host` for a node that will not be."""
        for group in self._by_hostname:
            group.unregister(hostname)

    def counted(self, shape: PodShape) -> tuple[tuple[TopologyGroup, ...], tuple[TopologyGroup, ...]]:
        """The groups, and the inverse groups, whose selector selects the pod."""
        known = shape.counted
        if known is None or known[0] != self.generation:
            namespace, labels = shape.namespace, shape.labels
            known = shape.counted = (
                self.generation,
                tuple(g for g in self._groups.values() if g.selects(namespace, labels)),
                tuple(
                    sorted(
                        (g for g in self._inverse.values() if g.selects(namespace, labels)), key=lambda g: g.sort_key
                    )
                ),
            )
        return known[1], known[2]

    def concerns(self, shape: PodShape) -> tuple[TopologyGroup, ...]:
        """The groups that constrain where the pod goes: its own, then those of pods that repel it."""
        return shape.groups + self.counted(shape)[1]

    def narrow(
        self, shape: PodShape, here: RequirementSet, host: Requirement, strict: bool = False
    ) -> RequirementSet | Reason:
        """The node's requirements with the domains that the pod's constraints choose, or why there are none.

        ``host`` is the node's requirement on the hostname, which ``here`` may leave out.
        """
        chosen: dict[str, Requirement] = {}
        algebra, items = self.algebra, here.items
        own = len(shape.groups)
        for position, group in enumerate(self.concerns(shape)):
            key = group.key
            exists = algebra.exists(key)
            pod_domains = shape.strict.items.get(key) or exists
            node_domains = host if key == HOSTNAME else items.get(key) or exists
            selected = position >= own or group.selects(shape.namespace, shape.labels)
            domains = group.next_domains(selected, pod_domains, node_domains)
            if not domains.values:
                return TopologyUnsatisfiable(group, pod_domains, node_domains)
            label = group.label
            known = chosen.get(label) or (host if label == HOSTNAME else items.get(label))
            chosen[label] = domains if known is None else algebra.intersect(domains, known)
        if not chosen:
            return here
        full = {**items, HOSTNAME: host}
        conflict = algebra.conflict(full, chosen, strict)
        if conflict is not None:
            return RequirementsIncompatible("", conflict)
        if HOSTNAME not in items:
            chosen.pop(HOSTNAME, None)
        return algebra.together(here, chosen)

    def record(
        self, shape: PodShape, taints: tuple[Taint, ...], here: RequirementSet, host: Requirement, bit: int = 0
    ) -> None:
        """Counts the pod on a node with these requirements; ``bit`` is the node's among the simulation's new ones."""
        for group in self.counted(shape)[0]:
            if group.admits_all or self._admits(group, taints, here, host):
                key = group.key
                requirement = host if key == HOSTNAME else here.items.get(key)
                if requirement is None:
                    continue
                if group.kind == ANTI_AFFINITY:
                    for value in requirement.values:
                        group.record(value, bit)
                elif not requirement.complement and len(requirement.values) == 1:
                    group.record(next(iter(requirement.values)), bit)
        for group in shape.anti:
            requirement = host if group.key == HOSTNAME else here.items.get(group.key)
            if requirement is not None:
                for value in requirement.values:
                    group.record(value, bit)

    def _admits(self, group: TopologyGroup, taints: tuple[Taint, ...], here: RequirementSet, host: Requirement) -> bool:
        pair = (id(group), here.id, id(taints), min(host.values, default=""))
        found = self._filtered.get(pair)
        if found is None:
            items = here.items if HOSTNAME in here.items else {**here.items, HOSTNAME: host}
            found = self._filtered[pair] = group.filter.admits(self.algebra, taints, items)
        return found


def _identity(pod: Object) -> str:
    return f"{namespace_of(pod)}/{name_of(pod)}"


def _parse(raw_selector: Mapping[str, Any] | None) -> Selector:
    try:
        return Selector.parse(raw_selector)
    except SelectorError:
        return NOTHING
