"""Topology groups that are kept up as a cluster changes count what a count of all its Nodes and pods comes to."""

from __future__ import annotations

from collections.abc import Collection
from random import Random
from typing import Any

import pytest

from harness.karpenter.releases import PROVIDER_RELEASES
from harness.karpenter.releases.scheduling import rules_of
from harness.karpenter.scheduling.algebra import Algebra
from harness.karpenter.scheduling.nodes.cluster_state import ClusterState
from harness.karpenter.scheduling.nodes.fleet import StateNodes
from harness.karpenter.scheduling.pods.volumes import VolumeLookup
from harness.karpenter.scheduling.topology.cluster import ClusterTopology, Constraint
from harness.karpenter.scheduling.topology.cluster_group import ClusterGroup
from harness.karpenter.scheduling.topology.domains import Domains
from harness.karpenter.scheduling.topology.group import AFFINITY, SPREAD, TopologyError
from harness.karpenter.scheduling.topology.inverse import InverseGroups, repelling_pods
from harness.karpenter.scheduling.topology.node_filter import Alternatives, NodeFilter
from harness.kube.api.objects import labels_of, name_of, spec_of
from harness.kube.scheduling.pods import is_active
from tests.scheduling.test_fleet import Changing
from tests.scheduling.workload import HOST, ZONE

RELEASE = PROVIDER_RELEASES["1.14.0"]
ZONES = ("z1", "z2", "z3")
APPS = ("web", "api")


class Spreading(Changing):
    """Nodes in zones, some of them tainted; pods of two apps, some of which repel the other's."""

    def make(self, kind: str, name: str) -> dict:
        made = super().make(kind, name)
        random = self.random
        if kind == "nodes":
            made["metadata"]["labels"] |= {ZONE: random.choice(ZONES), HOST: name} if random.random() < 0.9 else {}
            made["spec"]["taints"] = random.choice([[], [{"key": "gpu", "effect": "NoSchedule"}]])
        if kind == "pods":
            made["metadata"]["labels"] = {"app": random.choice(APPS)}
            term = {"topologyKey": random.choice([ZONE, HOST]), "labelSelector": {"matchLabels": {"app": "web"}}}
            if random.random() < 0.3:
                made["spec"]["affinity"] = {
                    "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
                }
                made["spec"]["tolerations"] = random.choice([[], [{"key": "gpu", "operator": "Exists"}]])
        return made


def constraints(algebra: Algebra) -> list[Constraint]:
    default, web = frozenset({"default"}), {"matchLabels": {"app": "web"}}
    first = NodeFilter(Alternatives(algebra, [algebra.from_labels({ZONE: "z1"})]), "Ignore", "Honor")
    untainted = NodeFilter(None, "Honor", "Ignore")
    return [
        Constraint(AFFINITY, ZONE, default, web, ()),
        Constraint(AFFINITY, HOST, default, None, ()),
        Constraint(SPREAD, ZONE, default, web, (), max_skew=1, node_filter=first),
        Constraint(SPREAD, HOST, default, web, (), max_skew=1, node_filter=untainted),
    ]


def counted(
    group: ClusterGroup, state: ClusterState, pods: Collection[str], leaving: Collection[str]
) -> dict[str, int]:
    """The domains as core counts them for each scheduler."""
    made, algebra = group.group, group.group.algebra
    domains: dict[str, int] = dict(made.domains)

    def admits(node: Any) -> bool:
        taints = tuple(spec_of(node).get("taints") or ())
        return made.filter.admits(algebra, taints, algebra.from_labels(labels_of(node)).items)

    for each in state.active():
        domain = each.labels.get(made.key)
        if each.node is not None and each.provider_id not in leaving and domain is not None and admits(each.node):
            domains.setdefault(domain, 0)
    nodes = {name_of(node): node for node in state.snapshot.nodes}
    for pod in state.snapshot.pods:
        node = nodes.get(spec_of(pod).get("nodeName") or "")
        selected = made.raw_selector is None or made.selector.matches(labels_of(pod))
        if node is None or not is_active(pod) or f"default/{name_of(pod)}" in pods or not selected or not admits(node):
            continue
        domain = labels_of(node).get(made.key) or (name_of(node) if made.by_hostname else None)
        if domain is not None:
            domains[domain] = domains.get(domain, 0) + 1
    return domains


@pytest.mark.parametrize("seed", range(6))
def test_after_each_change_groups_count_what_a_new_count_comes_to(seed: int) -> None:
    random = Random(seed)
    cluster, known = Spreading(random), StateNodes()
    algebra, rules = Algebra(RELEASE.vocabulary), rules_of(RELEASE.core)
    topology = ClusterTopology(algebra, Domains(algebra, (), {}), rules)
    groups = constraints(algebra)
    compared = 0
    for step in range(150):
        for _ in range(random.choice([1, 1, 2, 5])):
            cluster.change()
        snapshot = cluster.snapshot()
        state = ClusterState(snapshot, VolumeLookup(snapshot), RELEASE.core, known)
        topology.look(state.fleet, snapshot.nodes, ())
        pods = {f"default/{name_of(pod)}" for pod in random.sample(list(snapshot.pods), len(snapshot.pods) // 3)}
        leaving = {state.provider_id for state in state.active() if random.random() < 0.2}
        inverse = topology.inverse_groups(repelling_pods(state.fleet))
        assert told(inverse, pods) == told(anew(algebra, topology, state), pods)
        for constraint in groups if step % 70 else groups[:1]:  # the others are behind by more revisions than are kept
            group = topology.group(constraint)
            made, expected = group.without(pods, leaving), counted(group, state, pods, leaving)
            assert made.domains == expected
            assert made.empty == {domain for domain, count in expected.items() if not count}
            compared += bool(expected)
    assert compared > 300


def anew(algebra: Algebra, known: ClusterTopology, state: ClusterState) -> InverseGroups:
    topology = ClusterTopology(algebra, known.domains, known.rules)
    fresh = ClusterState(state.snapshot, VolumeLookup(state.snapshot), RELEASE.core)
    return topology.inverse_groups(repelling_pods(fresh.fleet))


def told(inverse: InverseGroups, pods: Collection[str]) -> dict[object, dict[str, int] | None]:
    groups = {identity: group.without(pods) for identity, group in inverse.without(pods).by_identity.items()}
    return {identity: group.domains for identity, group in groups.items() if group is not None}


def test_a_term_that_cannot_be_read_stops_the_simulations_in_which_its_pod_stays() -> None:
    error = TopologyError("parsing selector")
    groups = InverseGroups((), [("default/a", error)])
    assert groups.without({"default/a"}) is groups
    with pytest.raises(TopologyError):
        groups.without({"default/b"})
