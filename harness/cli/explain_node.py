"""`harness explain --node`: why a node of a dump is not removed, or what Karpenter would do with it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness.cli.output import bad_input, print_json, show

if TYPE_CHECKING:
    from harness.explain.departures import Departure
    from harness.karpenter.scheduling import ClusterSnapshot
    from harness.scenario.language.dumps import Dump
    from harness.world import World

__all__ = ["explain_node"]

_ON_WORLD = ("AKSNodeClass", "NodePool")
"""What Karpenter has to make something of first: instance types, hashes."""
_FEW = 3


def explain_node(world: World, given: Dump, arguments: argparse.Namespace) -> int:
    """Prints the answer; 0 when the node can go, 1 when something is in the way, 2 when there is no such node."""
    from harness.explain.departures import departure_of
    from harness.reading.problems import did_you_mean
    from harness.scenario.language.dumps import as_new

    objects = [one.object for one in (*given.manifests, *given.derived, *given.finished, *given.registered)]
    refused = world.apply(*(as_new(obj) for kind in _ON_WORLD for obj in objects if obj["kind"] == kind))
    if refused:
        return bad_input("\n".join(f"harness explain: {one.object}: {one.text}" for one in refused))
    world.settle(allow_rejections=True)
    if not world.karpenter.disrupts:
        return bad_input(f"harness explain: how provider {world.release.version} disrupts nodes is not simulated")
    view = world.karpenter.disruption_view(_snapshot(world, objects))
    found = departure_of(view, arguments.node)
    if found is None:
        hint = did_you_mean(arguments.node, [node.name for node in view.nodes])
        return bad_input(f"harness explain: there is no Node {arguments.node}" + (f"; {hint}" if hint else ""))
    if arguments.format == "json":
        print_json(asdict(found))
    else:
        for line in _lines(found):
            show(line)
    return int(not found.command)


def _snapshot(world: World, objects: Sequence[Mapping[str, Any]]) -> ClusterSnapshot:
    """The objects of the files as they are, bound pods and status included, at the latest moment that they know of."""
    from dataclasses import replace

    from harness.explain.departures import latest_moment
    from harness.karpenter.scheduling import ClusterSnapshot
    from harness.kube.api.kinds import KINDS
    from harness.kube.api.objects import namespace_of, with_metadata

    of: dict[str, list[Mapping[str, Any]]] = {}
    for obj in objects:
        kind = KINDS.get(obj["kind"])
        if kind is not None and kind.namespaced and not namespace_of(obj):
            obj = with_metadata(obj, namespace="default")
        of.setdefault(obj["kind"], []).append(obj)
    made = ClusterSnapshot(
        nodepools=world.list("NodePool"),
        pods=of.get("Pod", []),
        nodes=of.get("Node", []),
        nodeclaims=of.get("NodeClaim", []),
        daemonsets=of.get("DaemonSet", []),
        namespaces=of.get("Namespace", []),
        pvcs=of.get("PersistentVolumeClaim", []),
        pvs=of.get("PersistentVolume", []),
        storageclasses=of.get("StorageClass", []),
        csinodes=of.get("CSINode", []),
        pdbs=of.get("PodDisruptionBudget", []),
    )
    return replace(made, now=latest_moment(made))


def _lines(found: Departure) -> Iterator[str]:
    facts = found.facts
    what = ", ".join(str(facts[key]) for key in ("size", "zone", "capacity_type") if facts.get(key))
    price = f", {facts['price']:g} USD/h" if facts.get("price") else ""
    pods = "1 pod" if facts["pods"] == 1 else f"{facts['pods']} pods"
    yield f"Node {found.node} ({what}{price}) of NodePool {facts['nodepool'] or '-'}, {pods}, at {facts['at']}"
    if found.command:
        saved = f"saves {found.savings:g} USD/h" if found.savings >= 0 else f"costs {-found.savings:g} USD/h more"
        yield f"It can go: {found.reason}, {found.command}, {saved}"
        if found.sizes:
            more = f" and {len(found.sizes) - _FEW} more" if len(found.sizes) > _FEW else ""
            yield f"In its place: {', '.join(found.sizes[:_FEW])}{more}"
        return
    first, *rest = found.blocked
    yield f"It stays: {first}"
    for text in rest:
        yield f"  and: {text}"
    for text in found.others:
        yield f"  besides, {text}"
