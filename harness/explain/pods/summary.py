"""The first lines of an answer: how many pods are bound, where, and what of the Nodes wants a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.explain.pods.render import names_text
from harness.explain.pods.scheduling import PodExplanation
from harness.explain.pods.waiting import nominations
from harness.explain.sizes.believed import price_lines
from harness.explain.sizes.guesses import guess_lines, guesses_of, of_nodes
from harness.karpenter.labels.azure import REGIONAL_ZONE
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.karpenter.staticpools.decisions import is_static_nodepool
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import controller_of, labels_of, name_of, namespace_of, spec_of
from harness.wording import first_few
from harness.world import World

__all__ = ["bound_lines", "node_notes", "nodes_by_kind", "pods_line", "world_notes"]

_FEW = 5  # kinds of Nodes that are told of one workload or NodePool
_FEWER = 3  # the same, of a NodePool among others
_CONSOLIDATION = "consolidation may remove them later (harness simulate --until 1h)"
_MANY = 12  # workloads from which on bound ones are told by NodePool


def pods_line(explained: Sequence[PodExplanation]) -> str:
    """`1,000 pods: 940 bound, 60 pending for 2 reasons`."""
    states = Counter(explained_pod.state for explained_pod in explained)
    reasons = {
        (
            explained_pod.sentence.partition(", requirements=")[0],
            tuple(map(explained_pod.unnamed, explained_pod.waiting)),
        )
        for explained_pod in explained
        if explained_pod.state == "pending"
    }
    for_ = f" for {len(reasons)} {'reason' if len(reasons) == 1 else 'reasons'}" if reasons else ""
    ignored = f", {states['ignored']:,} ignored by Karpenter" if states["ignored"] else ""
    noun = "pod" if len(explained) == 1 else "pods"
    return f"{len(explained):,} {noun}: {states['bound']:,} bound, {states['pending']:,} pending{for_}{ignored}"


def bound_lines(world: World, explained: Sequence[PodExplanation]) -> Iterator[str]:
    """Yield the places of bound pods: a line for each workload while they are few, else for each NodePool."""
    workloads: dict[str, list[PodExplanation]] = {}
    for explained_pod in explained:
        workloads.setdefault(explained_pod.workload, []).append(explained_pod)
    nodes = {name_of(node): node for node in world.list("Node")}
    if len(workloads) <= _MANY:
        for same in workloads.values():
            yield f"{names_text(same)}: bound on {_on(nodes, [explained_pod.node for explained_pod in same])}"
        return
    pools: dict[str, list[PodExplanation]] = {}
    for explained_pod in explained:
        pools.setdefault(labels_of(nodes.get(explained_pod.node, {})).get(NODEPOOL, ""), []).append(explained_pod)
    for pool, same in sorted(pools.items()):
        whose = f"NodePool {pool}" if pool else "Nodes that are not Karpenter's"
        where = _on(nodes, [explained_pod.node for explained_pod in same], _FEWER)
        yield f"{whose}: {len(same):,} pods of {len({explained_pod.workload for explained_pod in same})} workloads on {where}"


def _on(nodes: Mapping[str, Mapping[str, Any]], names: Sequence[str], few: int = _FEW) -> str:
    """The Nodes by name where there is one, else counted by kind."""
    different = list(dict.fromkeys(names))
    present = [nodes[name] for name in different if name in nodes]
    if len(different) == 1 and present:
        labels = labels_of(present[0])
        facts = [labels[key] for key in (INSTANCE_TYPE, ZONE, CAPACITY_TYPE) if key in labels]
        of_pool = f" of NodePool {labels[NODEPOOL]}" if NODEPOOL in labels else ""
        return f"Node {different[0]}{of_pool}" + (f" ({', '.join(facts)})" if facts else "")
    missing = len(different) - len(present)
    if not present:
        return f"Node {different[0]}, which no file has" if missing == 1 else f"{missing} Nodes that no file has"
    beside = f", {missing} that no file has" if missing else ""
    return f"{len(different)} Nodes: {nodes_by_kind(present, few)}{beside}"


def nodes_by_kind(nodes: Sequence[Mapping[str, Any]], few: int = _FEW) -> str:
    """`3 Standard_D4as_v5 spot (eastus-1, eastus-2)`, the most frequent first."""
    kinds: dict[str, list[str]] = {}
    for node in nodes:
        labels = labels_of(node)
        kind = " ".join(labels[key] for key in (INSTANCE_TYPE, CAPACITY_TYPE) if key in labels) or "of unknown size"
        kinds.setdefault(kind, []).append(labels.get(ZONE, ""))
    kinds_text = [
        f"{len(zones)} {kind}" + (f" ({', '.join(sorted(set(filter(None, zones))))})" if any(zones) else "")
        for kind, zones in sorted(kinds.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    ]
    return first_few(kinds_text, few, "kind")


def world_notes(world: World) -> Iterator[str]:
    """Yield the guesses about the machines that are there, and the lines of `node_notes`."""
    guesses = guesses_of(world, of_nodes(world, {name_of(node) for node in world.list("Node")}))
    yield from guess_lines(guesses, world.region)
    yield from node_notes(world)


def node_notes(world: World) -> Iterator[str]:
    """Prices that Karpenter mistakes, what zone `0` is, where a Node has it, and why Nodes without pods of their own are there."""
    yield from price_lines(world)
    nodes = world.list("Node")
    if any(labels_of(node).get(ZONE) == REGIONAL_ZONE for node in nodes):
        yield (
            "zone 0: a machine in no availability zone (Karpenter calls that placement regional); pods that ask for a zone, and "
            "NodePools with placement-scope In [zonal], do not get it"
        )
    used = {
        str(spec_of(pod).get("nodeName"))
        for pod in world.view.list("Pod")
        if spec_of(pod).get("nodeName") and (controller_of(pod) or {}).get("kind") not in ("DaemonSet", "Node")
    }
    static = {name_of(pool) for pool in world.list("NodePool") if is_static_nodepool(pool)}
    static_nodes = [
        name_of(node) for node in nodes if name_of(node) not in used and labels_of(node).get(NODEPOOL) in static
    ]
    empty = [name_of(node) for node in nodes if name_of(node) not in {*used, *static_nodes}]
    if static_nodes:
        has = "has" if len(static_nodes) == 1 else "have"
        yield f"{_listed(static_nodes)} {has} no pods but those of DaemonSets: kept up by spec.replicas, never consolidated"
    if empty:
        yield f"{_listed(empty)} {'has' if len(empty) == 1 else 'have'} no pods but those of DaemonSets: {_why(world, empty)}"


def _listed(names: Sequence[str]) -> str:
    if len(names) > 3:
        return f"{len(names)} Nodes ({', '.join(names[:2])}, …)"
    return f"Node{'s' if len(names) > 1 else ''} {', '.join(names)}"


def _why(world: World, names: Sequence[str]) -> str:
    """Return the workloads that the Nodes were made for, and the present places of their pods."""
    claims = {str((claim.get("status") or {}).get("nodeName")): name_of(claim) for claim in world.list("NodeClaim")}
    places = {(namespace_of(pod), name_of(pod)): spec_of(pod).get("nodeName") for pod in world.view.list("Pod")}
    meant = nominations(world)
    made = [name for name in names if name in claims]
    targets = {f"nodeclaim/{claims[name]}": name for name in made} | {f"node/{name}": name for name in made}
    elsewhere = sum(1 for pod, target in meant.items() if target in targets and places.get(pod))
    if not made:
        return "they were there before"
    if elsewhere:
        return f"made for pods that kube-scheduler then put elsewhere; {_CONSOLIDATION}"
    return f"made for pods that have another Node by now, are gone or still wait; {_CONSOLIDATION}"
