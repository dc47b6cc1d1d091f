"""A topology group with what the cluster's own pods count in it, kept from one look to the next.

Core ``pkg/controllers/provisioning/scheduling/topology.go`` (countDomains) lists all pods for each scheduler. Here a group is counted once;
later only the Nodes that have changed are, and a simulation copies the group without the pods that it moves.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from harness.karpenter.scheduling.topology.group import TopologyGroup
from harness.karpenter.scheduling.topology.running_pods import RunningPods
from harness.kube.api.objects import Object, labels_of, spec_of
from harness.kube.api.selectors import EVERYTHING
from harness.kube.scheduling.taints import Taint

__all__ = ["ClusterGroup"]


class ClusterGroup:
    """A topology group with the pods of the whole cluster; ``group`` has the domains of NodePools alone."""

    __slots__ = (
        "_content",
        "_domain_of_node",
        "_domain_of_pod",
        "_domains",
        "_empty",
        "_nodes_in",
        "_on_node",
        "_pods_in",
        "_revision",
        "_universe",
        "group",
        "identity",
        "running",
    )

    def __init__(self, running: RunningPods, identity: object, group: TopologyGroup) -> None:
        self.running, self.identity, self.group = running, identity, group
        self._universe = frozenset(group.domains)
        self._begin()

    def _begin(self) -> None:
        self._revision = -1
        self._content: int | None = None
        self._domain_of_node: dict[str, str] = {}
        """Provider id → domain."""
        self._nodes_in: dict[str, int] = {}
        self._on_node: dict[str, tuple[str, Sequence[str]]] = {}
        """Name of a Node → its domain, and the pods on it that count."""
        self._domain_of_pod: dict[str, str] = {}
        self._pods_in: dict[str, int] = {}
        self._domains: dict[str, int] = dict.fromkeys(self._universe, 0)
        self._empty = set(self._universe)

    def without(self, pods: Collection[str], nodes: Iterable[str]) -> TopologyGroup:
        """A copy for one simulation, without these pods (``namespace/name``) and these nodes (provider ids)."""
        difference = self.difference(pods, nodes)
        domains, empty = self._domains.copy(), self._empty.copy()
        for domain, count in difference.items():
            if count is None:
                del domains[domain]
                empty.discard(domain)
            else:
                domains[domain] = count
                if not count:
                    empty.add(domain)
        return self.group.copy(domains, empty)

    def difference(self, pods: Collection[str], nodes: Iterable[str]) -> Mapping[str, int | None]:
        """The domains that count something else without these pods and nodes: how many pods, None where there is no such domain."""
        self._catch_up()
        left: dict[str, int | None] = {}
        domain_of = self._domain_of_pod
        if domain_of:
            for pod in pods if len(pods) <= len(domain_of) else domain_of.keys() & pods:
                domain = domain_of.get(pod)
                if domain is not None:
                    count = left.get(domain)
                    count = left[domain] = (self._domains[domain] if count is None else count) - 1
        remaining: dict[str, int] = {}
        for node in nodes:
            domain = self._domain_of_node.get(node)
            if domain is not None:
                remaining[domain] = remaining.get(domain, self._nodes_in[domain]) - 1
        for domain in [*left, *(domain for domain in remaining if domain not in left)]:
            count = left.get(domain, self._domains[domain])
            if not count and domain not in self._universe and not remaining.get(domain, self._nodes_in.get(domain, 0)):
                left[domain] = None
        return left

    @property
    def content(self) -> int:
        """A number for what the domains count now, equal for equal counts."""
        self._catch_up()
        if self._content is None:
            self._content = self.group.algebra.number_of(frozenset(self._domains.items()))
        return self._content

    def _catch_up(self) -> None:
        running = self.running
        if self._revision == running.revision:
            return
        changes = running.changes_since(self._revision) if self._revision >= 0 else None
        if changes is None:
            self._begin()
            changes = running.bound.keys(), running.active.keys()
        self._revision = running.revision
        touched: set[str] = set()
        for name in changes[0]:  # all before any is counted: a pod of this name may run on another Node now
            self._forget_pods(name, touched)
        for name in changes[0]:
            self._count_pods(name, touched)
        for provider in changes[1]:
            self._register_node(provider, touched)
        if touched:
            self._content = None
        for domain in touched:
            count = self._pods_in.get(domain, 0)
            if count:
                self._domains[domain] = count
                self._empty.discard(domain)
            elif domain in self._universe or domain in self._nodes_in:
                self._domains[domain] = 0
                self._empty.add(domain)
            else:
                self._domains.pop(domain, None)
                self._empty.discard(domain)

    def _forget_pods(self, name: str, touched: set[str]) -> None:
        """Take away what the pods on a Node count."""
        before = self._on_node.pop(name, None)
        if before is not None:
            domain, counted = before
            for pod in counted:
                self._domain_of_pod.pop(pod, None)
            self._change(self._pods_in, domain, -len(counted))
            touched.add(domain)

    def _count_pods(self, name: str, touched: set[str]) -> None:
        """Count the pods on a Node."""
        bound = self.running.bound.get(name)
        if bound is None:
            return
        group = self.group
        selector = EVERYTHING if group.raw_selector is None else group.selector
        if selector.nothing:
            return
        namespaces, matches = group.namespaces, selector.matches
        pods = [key for namespace, labels, key in bound.pods if namespace in namespaces and matches(labels)]
        if not pods:
            return
        domain = labels_of(bound.node).get(group.key)
        if domain is None and group.by_hostname:
            domain = name
        if domain is None or not self._admits(bound.node, bound.taints):
            return
        self._on_node[name] = domain, pods
        self._domain_of_pod.update(dict.fromkeys(pods, domain))
        self._change(self._pods_in, domain, len(pods))
        touched.add(domain)

    def _register_node(self, provider: str, touched: set[str]) -> None:
        """Registers the domain of a node anew."""
        before = self._domain_of_node.pop(provider, None)
        if before is not None:
            self._change(self._nodes_in, before, -1)
            touched.add(before)
        state = self.running.active.get(provider)
        if state is None or state.node is None:
            return
        domain = state.labels.get(self.group.key)
        if domain is None or not self._admits(state.node, tuple(spec_of(state.node).get("taints") or ())):
            return
        self._domain_of_node[provider] = domain
        self._change(self._nodes_in, domain, 1)
        touched.add(domain)

    def _admits(self, node: Object, taints: tuple[Taint, ...]) -> bool:
        group = self.group
        if group.admits_all:
            return True
        labels = group.algebra.from_labels(labels_of(node))
        return group.filter.admits(group.algebra, taints, labels.items, labels.id)

    @staticmethod
    def _change(counts: dict[str, int], domain: str, difference: int) -> None:
        count = counts.get(domain, 0) + difference
        if count:
            counts[domain] = count
        else:
            counts.pop(domain, None)
