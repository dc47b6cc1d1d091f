"""`harness explain --node`: why a node of a dump is not removed, or what Karpenter would do with it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness.cli.lint import allowed_codes, show_warnings, warnings_of, warnings_value
from harness.cli.output import bad_input, print_json, show
from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.objects import labels_of
from harness.wording import first_few
from plainlines import printable

if TYPE_CHECKING:
    from harness.cli.assumptions import Inputs
    from harness.explain.pods.departures import Departure
    from harness.karpenter.scheduling import ClusterSnapshot
    from harness.reading.manifests import Manifest
    from harness.reading.problems import Problem
    from harness.scenario.language.dumps import Dump
    from harness.world import World

__all__ = ["explain_node"]

_ON_WORLD = ("AKSNodeClass", "NodePool")
"""What Karpenter has to make something of first: instance types, hashes."""
_FEW = 3


def explain_node(world: World, given: Dump, inputs: Inputs, arguments: argparse.Namespace) -> int:
    """Prints the answer, below what it is based on; 0 when the node can go, 1 when something is in the way, 2 without such a node.

    Raises ScenarioError.
    """
    from harness.explain.pods.departures import departure_of
    from harness.reading.problems import ScenarioError, did_you_mean

    manifests = [*given.manifests, *given.derived, *given.finished, *given.registered]
    refused = [*_refused(world, manifests)]
    if refused:
        raise ScenarioError(refused)
    world.settle(allow_rejections=True)
    view = world.karpenter.disruption_view(_snapshot(world, [one.object for one in manifests], given.time()))
    found = departure_of(view, arguments.node)
    if found is None:
        hint = did_you_mean(arguments.node, [node.name for node in view.nodes])
        return bad_input(
            printable(f"harness explain: there is no Node {arguments.node}" + (f"; {hint}" if hint else ""))
        )
    pool = next((labels_of(node).get(NODEPOOL) for node in _nodes(manifests, arguments.node)), None)
    every = warnings_of(given.manifests, lambda: world, allowed_codes(arguments)) if pool else []
    warned = [one for one in every if one.text.startswith(f"NodePool/{pool}: ")]
    if arguments.format == "json":
        print_json({"read": inputs.value(), **given.value(), **asdict(found), "warnings": warnings_value(warned)})
    else:
        for line in (*inputs.head(world), *given.live, *_lines(found)):
            show(line)
        show_warnings(warned)
    return int(not found.command)


def _nodes(manifests: Sequence[Manifest], name: str) -> Iterator[Mapping[str, Any]]:
    return (one.object for one in manifests if one.kind == "Node" and one.name == name)


def _refused(world: World, manifests: Sequence[Manifest]) -> Iterator[Problem]:
    """Puts what Karpenter has to make something of into the world; what of it and of the NodeClaims is refused, at its place."""
    from harness.reading.problems import Problem
    from harness.scenario.language.dumps import as_new

    for kind in (*_ON_WORLD, "NodeClaim"):
        for manifest in manifests:
            if manifest.kind != kind:
                continue
            obj = as_new(manifest.object)
            for rejection in world.dry_run(obj) if kind == "NodeClaim" else world.apply(obj):
                place = manifest.document.position(rejection.pointer)
                yield Problem(place, str(rejection.layer), f"{rejection.object}: {rejection.text}")


def _snapshot(world: World, objects: Sequence[Mapping[str, Any]], moment: int | None) -> ClusterSnapshot:
    """The objects of the files as they are, bound pods and status included, at `moment`, else now.

    A NodeClaim that does not say when it was made was when its first condition changed.
    """
    from dataclasses import replace

    from harness.engine.clock import render
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
        services=of.get("Service", []),
        workloads=[*of.get("ReplicaSet", []), *of.get("StatefulSet", [])],
    )
    now = made.now if moment is None else moment
    claims = [
        one
        if one["metadata"].get("creationTimestamp")
        else with_metadata(one, creationTimestamp=_made(one, render(now)))
        for one in made.nodeclaims
    ]
    return replace(made, now=now, nodeclaims=claims)


def _made(claim: Mapping[str, Any], otherwise: str) -> str:
    from harness.kube.api.objects import conditions_of

    told = [str(one["lastTransitionTime"]) for one in conditions_of(claim) if one.get("lastTransitionTime")]
    return min(told, default=otherwise)


def _lines(found: Departure) -> Iterator[str]:
    from harness.trace.prices import price_text, saving_text

    facts = found.facts
    what = ", ".join(str(facts[key]) for key in ("size", "zone", "capacity_type") if facts.get(key))
    price = f", {facts['price']:g} USD/h" if facts.get("price") else ""
    if "reckoned" in facts:
        price = f", {price_text(facts['reckoned'], unpriced=True)}"
    pods = "1 pod" if facts["pods"] == 1 else f"{facts['pods']} pods"
    yield f"Node {found.node} ({what}{price}) of NodePool {facts['nodepool'] or '-'}, {pods}, at {facts['at']}"
    if found.command:
        yield f"It can go: {found.reason}, {found.command}, {saving_text(found.savings, found.unpriced)}"
        if found.sizes:
            yield f"In its place: {first_few(found.sizes, _FEW)}"
        return
    first, *rest = found.blocked
    yield f"It stays: {first}"
    for text in rest:
        yield f"  and: {text}"
    for text in found.others:
        yield f"  besides, {text}"
