"""NodePools as templates of NodeClaims: requirements, instance types, and what DaemonSets take from each of them.

Core ``pkg/controllers/provisioning/scheduling/{nodeclaimtemplate,scheduler}.go``, ``pkg/controllers/provisioning/provisioner.go``.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

from harness.karpenter.labels.core import INITIALIZED, NODEPOOL, REGISTERED
from harness.karpenter.releases.scheduling import ClaimsIn, SchedulingRules
from harness.karpenter.requirement import IN, Requirement
from harness.karpenter.scheduling.algebra import Algebra, RequirementSet
from harness.karpenter.scheduling.catalog import CatalogIndex
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.kube.api.objects import (
    Key,
    Object,
    controller_of,
    labels_of,
    name_of,
    namespace_of,
    owners_of,
    spec_of,
    uid_of,
)
from harness.kube.api.quantity import Quantity
from harness.kube.api.resources import ResourceList, parse_list
from harness.kube.scheduling.pods import HostPort, host_ports, requests_for_pods
from harness.kube.scheduling.taints import TOLERATE_PREFERENCES, Taint, known_tolerations, same_toleration, untolerated
from lazyrecords import dataclass

SIMULATION_KEYS = frozenset({REGISTERED, INITIALIZED})
"""Requirements that exist for the sake of DaemonSets in the simulation only."""


@dataclass(frozen=True, slots=True)
class DaemonGroup:
    """Instance types (``mask``) on which the same DaemonSet ``pods`` run, what these request, and the host ports they bind."""

    mask: int
    overhead: ResourceList
    amounts: tuple[tuple[str, int], ...]
    host_ports: tuple[HostPort, ...]
    pods: tuple[Object, ...] = ()

    def takes(self, resource: str) -> tuple[tuple[str, Quantity], ...]:
        """Return the requests of each DaemonSet for a resource, by its name, the largest first; zero requests are left out."""
        taken: dict[str, Quantity] = {}
        for pod in self.pods:
            amount = requests_for_pods((pod,)).get(resource)
            if amount is not None and not amount.is_zero():
                owner = controller_of(pod)
                name = str(owner["name"]) if owner is not None else name_of(pod)
                taken[Key("DaemonSet", namespace_of(pod), name).short] = amount
        return tuple(sorted(taken.items(), key=lambda entry: (-entry[1].nano, entry[0])))


class DaemonPod:
    """A DaemonSet's pod, ``made`` of its template when none runs.

    The search for a node selector term that fits consumes the terms before it, for good, as upstream.
    """

    def __init__(
        self, pod: Object, node_affinity: Object | None, ignored: bool, made: bool, *, comparing: bool = True
    ) -> None:
        self.pod, self.ignored, self.made = pod, ignored, made
        self.key = f"{namespace_of(pod)}/{name_of(pod)}"
        spec = spec_of(pod)
        self.node_selector: Mapping[str, str] = spec.get("nodeSelector") or {}
        self.tolerations = list(known_tolerations(spec.get("tolerations") or (), comparing=comparing))
        if node_affinity is None:
            present = (spec.get("affinity") or {}).get("nodeAffinity") or {}
            node_affinity = present.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
        self.terms: list[Object] = list(node_affinity.get("nodeSelectorTerms") or ())

    def tolerate_preferences(self) -> None:
        if not any(same_toleration(toleration, TOLERATE_PREFERENCES) for toleration in self.tolerations):
            self.tolerations.append(TOLERATE_PREFERENCES)

    def requirements(self, algebra: Algebra, term: int = 0) -> RequirementSet:
        """The node selector with one of the terms that are left."""
        base = algebra.from_labels(self.node_selector)
        if not self.terms:
            return base
        return algebra.together(base, algebra.from_node_selector(self.terms[term].get("matchExpressions")).items)


def newest_daemon_pods(pods: Iterable[Object]) -> dict[tuple[str, str], Object]:
    """The newest pod of each DaemonSet that has any, by namespace and uid of the owner."""
    newest: dict[tuple[str, str], Object] = {}
    owned = ((pod, owner) for pod in pods if owners_of(pod) and (owner := controller_of(pod)) is not None)
    daemons = [(pod, owner) for pod, owner in owned if owner.get("kind") == "DaemonSet"]
    for pod, owner in sorted(daemons, key=lambda entry: name_of(entry[0])):
        key = (namespace_of(pod), owner.get("uid") or "")
        newer = newest.get(key)
        if newer is None or _created(pod) > _created(newer):
            newest[key] = pod
    return newest


def daemon_pods(
    daemonsets: Iterable[Object],
    newest: Mapping[tuple[str, str], Object],
    refused_claims: ClaimsIn,
    rules: SchedulingRules,
) -> list[DaemonPod]:
    """One pod per DaemonSet, by namespace and name: the newest that exists, else one made of its template."""
    pods = []
    for daemonset in sorted(daemonsets, key=lambda item: (namespace_of(item), name_of(item))):
        template = spec_of(daemonset).get("template") or {}
        running = newest.get((namespace_of(daemonset), uid_of(daemonset) or "?"))
        pod = running or {
            "metadata": {"name": name_of(daemonset), "namespace": namespace_of(daemonset)},
            "spec": _with_limits_as_requests(spec_of(template), rules),
        }
        affinity = (spec_of(template).get("affinity") or {}).get("nodeAffinity") or {}
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
        comparing = rules.compares_tolerations
        pods.append(DaemonPod(pod, required, refused_claims.found(pod), running is None, comparing=comparing))
    return pods


def _created(pod: Object) -> str:
    return (pod.get("metadata") or {}).get("creationTimestamp") or ""


def _with_limits_as_requests(spec: Object, rules: SchedulingRules) -> dict[str, Any]:
    # The API server does this to pods, but not to pod templates.
    completed = {**spec, "resources": None} if rules.limits_as_requests else dict(spec)
    for field in ("containers", "initContainers"):
        completed[field] = [
            {
                **container,
                "resources": {
                    **(container.get("resources") or {}),
                    "requests": {
                        **((container.get("resources") or {}).get("limits") or {}),
                        **((container.get("resources") or {}).get("requests") or {}),
                    },
                },
            }
            for container in spec.get(field) or ()
        ]
    return completed


class Template:
    """A NodePool that can have new nodes: the requirements, taints and instance types (``mask``) of its NodeClaims."""

    def __init__(self, nodepool: Object, index: CatalogIndex, algebra: Algebra, rules: SchedulingRules) -> None:
        self.nodepool, self.index = nodepool, index
        self.name = name_of(nodepool)
        self._counts_admitted = rules.min_values_admitted
        template = spec_of(nodepool).get("template") or {}
        self.spec = spec_of(template)
        self.taints: tuple[Taint, ...] = tuple(self.spec.get("taints") or ())
        reference = self.spec.get("nodeClassRef") or {}
        self.labels: dict[str, str] = {
            **labels_of(template),
            NODEPOOL: self.name,
            f"{reference.get('group') or ''}/{(reference.get('kind') or '').lower()}": reference.get("name") or "",
        }
        requirements = algebra.together(
            algebra.from_node_selector(self.spec.get("requirements")), algebra.from_labels(self.labels).items
        )
        if rules.simulates_registration:
            requirements = algebra.together(
                requirements,
                {key: Requirement.of(key, IN, ("true",), vocabulary=algebra.vocabulary) for key in SIMULATION_KEYS},
            )
        self.requirements = requirements

        offered, _ = index.offered(requirements.items)
        self.mask = index.compatible_with_all(requirements.items) & offered & index.zero_fits
        self.shared_ports: list[HostPort] = []
        # All NodeClaims of a NodePool share their annotations upstream, so that the last one made speaks for all.
        self.min_values_relaxed = False
        self.groups: tuple[DaemonGroup, ...] = (DaemonGroup(index.full, {}, (), ()),)

    def fresh(self) -> "Template":
        """The same for another simulation."""
        made = copy(self)
        made.shared_ports = []
        return made

    @cached_property
    def everywhere(self) -> DaemonGroup:
        """The DaemonSets that run on all of its sizes: on one that its own requirements keep out they would run, too."""
        first, *others = self.groups
        pods = tuple(pod for pod in first.pods if all(any(pod is other for other in group.pods) for group in others))
        return DaemonGroup(self.index.full, requests_for_pods(pods) if pods else {}, (), (), pods)

    def common_overhead(self) -> ResourceList:
        """Return the requests of the DaemonSets where they are the same on all instance types."""
        return self.groups[0].overhead or requests_for_pods(())

    def unmet_min_values(self, requirements: RequirementSet, mask: int) -> dict[str, int]:
        """Keys whose ``minValues`` the types of ``mask`` miss, with the number of values that they have."""
        unmet: dict[str, int] = {}
        if requirements.has_min_values and mask:
            for key, requirement in requirements.items.items():
                if requirement.min_values is not None:
                    present = self.index.distinct_values(key, mask, requirement if self._counts_admitted else None)
                    if present < requirement.min_values:
                        unmet[key] = present
        return unmet

    def add_daemons(self, pods: Sequence[DaemonPod], algebra: Algebra, rules: SchedulingRules) -> None:
        """Groups the instance types by the DaemonSet pods that run on them."""
        compatible: dict[tuple[str, ...], tuple[int, list[DaemonPod]]] = {(): (self.mask, [])}
        for pod in pods:
            if pod.ignored:
                continue
            mask = self._types_for(pod, algebra, rules)
            split: dict[tuple[str, ...], tuple[int, list[DaemonPod]]] = {}
            for key, (types, members) in compatible.items():
                if types & ~mask:
                    split[key] = (types & ~mask, members)
                if types & mask:
                    split[(*key, pod.key)] = (types & mask, [*members, pod])
            compatible = split
        groups = []
        for key in sorted(compatible, key=lambda names: ",".join(sorted(names))):
            types, members = compatible[key]
            overhead = requests_for_pods([member.pod for member in members]) if members else {}
            ports: dict[str, tuple[HostPort, ...]] = {
                member.key if rules.daemons_named or not member.made else "": host_ports(member.pod)
                for member in members
            }
            groups.append(
                DaemonGroup(
                    types,
                    overhead,
                    tuple(sorted((name, quantity.nano) for name, quantity in overhead.items())),
                    tuple(port for numbers in ports.values() for port in numbers),
                    tuple(member.pod for member in members),
                )
            )
        self.groups = tuple(groups)

    def _types_for(self, pod: DaemonPod, algebra: Algebra, rules: SchedulingRules) -> int:
        pod.tolerate_preferences()
        if untolerated(self.taints, pod.tolerations):
            return 0
        fitting = [self._types_for_term(pod, position, algebra, rules) for position in range(max(1, len(pod.terms)))]
        if len(fitting) == 1:
            return fitting[0]
        result, used = 0, 0
        for index in range(len(self.index.types)):
            bit = 1 << index
            if not self.mask & bit:
                continue
            while not fitting[used] & bit and used + 1 < len(fitting):
                used += 1
            result |= fitting[used] & bit
        del pod.terms[:used]
        return result

    def _types_for_term(self, pod: DaemonPod, position: int, algebra: Algebra, rules: SchedulingRules) -> int:
        wanted = pod.requirements(algebra, position)
        if algebra.conflict(self.requirements.items, wanted.items) is not None:
            return 0
        if not rules.daemons_by_instance_type:
            return self.mask
        return self.mask & self.index.compatible_with_all(wanted.items)


def limits_left(nodes: Iterable[StateNode], nodepools: Sequence[Object]) -> dict[str, dict[str, Quantity]]:
    """Return the rest of each NodePool's limits beside its nodes; NodePools without limits are left out."""
    used: dict[str, list[ResourceList]] = {}
    if not any(spec_of(pool).get("limits") for pool in nodepools):
        return {}
    for node in nodes:
        used.setdefault(node.labels.get(NODEPOOL) or "", []).append(node.capacity())
    return {
        name: limits for pool in nodepools if (limits := remaining_limits(pool, used.get(name := name_of(pool), ())))
    }


def remaining_limits(nodepool: Object, used: Iterable[ResourceList]) -> dict[str, Quantity]:
    """The NodePool's limits minus the capacity of its nodes."""
    remaining = parse_list(spec_of(nodepool).get("limits"))
    for capacity in used:
        for name, quantity in remaining.items():
            if name in capacity:
                remaining[name] = quantity - capacity[name]
    return remaining
