"""The topology groups of a simulation: copies of the cluster's groups, without the pods that the simulation moves.

Core ``pkg/controllers/provisioning/scheduling/{topology,topologydomaingroup}.go``.
"""

from collections.abc import KeysView, Sequence

from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.karpenter.scheduling.topology.cluster import ClusterTopology, Constraint
from harness.karpenter.scheduling.topology.cluster_group import ClusterGroup
from harness.karpenter.scheduling.topology.group import SPREAD, TopologyGroup
from harness.karpenter.scheduling.topology.group_index import GroupIndex
from harness.karpenter.scheduling.topology.inverse import InverseGroup, InverseGroups
from harness.karpenter.scheduling.topology.node_filter import HONOR, IGNORE, Alternatives, NodeFilter
from harness.karpenter.scheduling.topology.own_groups import in_order
from harness.kube.api.objects import Object, spec_of

_MOST_REPEATS = 64


class TopologyGroups:
    """The groups, by upstream's notion of identity; ``generation`` counts them.

    ``cluster`` and ``inverse`` have the groups of all running pods. ``moving`` are the pods (``namespace/name``) that are scheduled anew,
    ``leaving`` the nodes that take no part (provider ids).
    """

    def __init__(
        self, cluster: ClusterTopology, inverse: InverseGroups, moving: frozenset[str], leaving: frozenset[str]
    ) -> None:
        self.algebra, self._cluster = cluster.algebra, cluster
        self._leaving, self._excluded = leaving, moving & cluster.running.keys
        self._running, self._moving = inverse.without(moving), moving
        self._copies: dict[InverseGroup, TopologyGroup | None] = {}
        self._groups: dict[object, TopologyGroup] = {}
        self._looked_at: list[ClusterGroup] = []
        self._inverse: dict[object, TopologyGroup] = {}
        self._by_label, self._repelling = GroupIndex(), GroupIndex()
        self._by_hostname: list[TopologyGroup] = []
        self._hosts: dict[str, None] = {}
        self.generation = 0

    # making

    def spread(self, shape: PodShape, constraint: Object) -> TopologyGroup:
        """The group of a spread constraint.

        Raises TopologyError, and ValueError where no API server admits the constraint and Go panics.
        """
        label_keys = [key for key in constraint.get("matchLabelKeys") or () if key in shape.labels]
        # Where two count as none, it matters whether the number is odd, and no more.
        repeats = min(shape.repeats, _MOST_REPEATS + shape.repeats % 2) if label_keys else 0
        about = SPREAD, id(constraint), repeats
        cluster_group = shape.cluster_groups.get(about)
        if cluster_group is None or cluster_group.running is not self._cluster.running:
            made = self._cluster.group(self._spread(shape, constraint, label_keys, repeats))
            cluster_group = shape.cluster_groups[about] = made
        return self._group(cluster_group)

    def _spread(self, shape: PodShape, constraint: Object, label_keys: Sequence[str], repeats: int) -> Constraint:
        selector = constraint.get("labelSelector")
        if label_keys:
            if selector is None:
                raise ValueError("matchLabelKeys without a labelSelector")
            added = [{"key": key, "operator": "In", "values": [shape.labels[key]]} for key in label_keys] * repeats
            selector = {**selector, "matchExpressions": [*(selector.get("matchExpressions") or ()), *added]}
        tolerations = shape.preferences.tolerations
        return Constraint(
            SPREAD,
            constraint["topologyKey"],
            frozenset((shape.namespace,)),
            selector,
            tolerations,
            max_skew=constraint.get("maxSkew") or 0,
            min_domains=constraint.get("minDomains"),
            node_filter=NodeFilter(
                self._alternatives(shape),
                constraint.get("nodeTaintsPolicy") or IGNORE,
                constraint.get("nodeAffinityPolicy") or HONOR,
                tolerations,
            ),
        )

    def _alternatives(self, shape: PodShape) -> Alternatives:
        alternatives, terms, before = shape.alternatives, shape.preferences.required_nodes, shape.before
        if alternatives is not None:
            return alternatives
        if before is not None and before.alternatives is not None:
            known_before, dropped = before.alternatives, len(before.preferences.required_nodes) - len(terms)
            alternatives = known_before.rest() if dropped else known_before
        else:
            base = self.algebra.from_labels(shape.node_selector)
            affinity = (spec_of(shape.pod).get("affinity") or {}).get("nodeAffinity") or {}
            if affinity.get("requiredDuringSchedulingIgnoredDuringExecution") is None:
                sets = [base]
            else:
                wanted = (self.algebra.from_node_selector(term.get("matchExpressions")) for term in terms)
                sets = [self.algebra.together(base, requirements.items) for requirements in wanted]
            alternatives = Alternatives(self.algebra, sets)
        shape.alternatives = alternatives
        return alternatives

    def affinity(self, shape: PodShape, kind: str, term: Object) -> TopologyGroup:
        """The group of an (anti-)affinity term. Raises TopologyError."""
        about = kind, id(term), 0
        cluster_group = shape.cluster_groups.get(about)
        if cluster_group is None or cluster_group.running is not self._cluster.running:
            namespaces = self._cluster.namespaces(shape.namespace, term)
            selector, tolerations = term.get("labelSelector"), shape.preferences.tolerations
            cluster_group = self._cluster.group(
                Constraint(kind, term["topologyKey"], namespaces, selector, tolerations)
            )
            if term.get("namespaceSelector") is None:
                shape.cluster_groups[about] = cluster_group
        return self._group(cluster_group)

    @property
    def looked_at(self) -> Sequence[ClusterGroup]:
        """The cluster's groups of which this simulation has copies, inverse ones apart."""
        return self._looked_at

    def _group(self, cluster_group: ClusterGroup) -> TopologyGroup:
        group = self._groups.get(cluster_group.identity)
        if group is None:
            self._looked_at.append(cluster_group)
            group = self._groups[cluster_group.identity] = cluster_group.without(self._excluded, self._leaving)
            self._by_label.add(group)
            self._begin(group)
        return group

    def _begin(self, group: TopologyGroup) -> None:
        self.generation += 1
        if group.by_hostname:
            self._by_hostname.append(group)

    def repelling(self, namespace: str, tolerations: Sequence[Object], term: Object) -> TopologyGroup:
        """The inverse group of a required anti-affinity term: the pods that it selects may not go where its pods are.

        Raises TopologyError.
        """
        constraint = self._cluster.inverse_constraint(namespace, tolerations, term)
        identity = self._cluster.identity_of(constraint)
        group = self._inverse.get(identity)
        if group is not None:
            return group
        running = self._running.by_identity.get(identity)
        group = self._copied(running) if running is not None else None
        if group is None:
            group = self._cluster.group(constraint).group.copy()
            self._repelling.add(group)
            self._begin(group)
        self._inverse[identity] = group
        return group

    def _copied(self, running: InverseGroup) -> TopologyGroup | None:
        """The simulation's copy of an inverse group of running pods; None where the simulation moves all of these."""
        if running in self._copies:
            return self._copies[running]
        group = self._copies[running] = running.without(self._moving)
        if group is not None and group.by_hostname:
            group.register_all(self._hosts.keys())
            self._by_hostname.append(group)
        return group

    # asking

    def register_hosts(self, hostnames: KeysView[str]) -> None:
        """Make nodes known to the hostname groups that exist."""
        self._hosts.update(dict.fromkeys(hostnames))
        for group in self._by_hostname:
            group.register_all(hostnames)

    def register_host(self, hostname: str) -> None:
        """Make a node known to the hostname groups that exist."""
        self._hosts[hostname] = None
        for group in self._by_hostname:
            group.register(hostname)

    def unregister_host(self, hostname: str) -> None:
        """Undoes :meth:`register_host` for a node that is not created after all."""
        self._hosts.pop(hostname, None)
        for group in self._by_hostname:
            group.unregister(hostname)

    def counted(self, shape: PodShape) -> tuple[Sequence[TopologyGroup], tuple[TopologyGroup, ...]]:
        """The groups, and the inverse groups, whose selector selects the pod."""
        entry = shape.counted
        if entry is None or entry[0] != self.generation:
            pod = shape.identity, shape.namespace, shape.labels
            copies = (self._copied(running) for running in self._running.selecting(*pod))
            running = [group for group in copies if group is not None]
            inverse = [*running, *self._repelling.selecting(*pod)]
            ordered = entry[2] if entry is not None and len(entry[2]) == len(inverse) else in_order(inverse)
            entry = shape.counted = (self.generation, self._by_label.selecting(*pod), ordered)
        return entry[1], entry[2]
