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
"""The kinds that Karpenter has to reconcile first: instance types, hashes."""
_FEW = 3


def explain_node(world: World, dump: Dump, inputs: Inputs, arguments: argparse.Namespace) -> int:
    """Print the answer, below its inputs; 0 when the node can go, 1 when something is in the way, 2 without such a
    node.

    Raises ScenarioError.
    """
    from harness.explain.pods.departures import departure_of
    from harness.reading.problems import ScenarioError, did_you_mean

    manifests = [*dump.manifests, *dump.derived, *dump.finished, *dump.registered]
    refused = [*_refused(world, manifests)]
    if refused:
        raise ScenarioError(refused)
    world.settle(allow_rejections=True)
    view = world.karpenter.disruption_view(_snapshot(world, [manifest.object for manifest in manifests], dump.time()))
    departure = departure_of(view, arguments.node)
    if departure is None:
        hint = did_you_mean(arguments.node, [node.name for node in view.nodes])
        return bad_input(
            printable(f"harness explain: there is no Node {arguments.node}" + (f"; {hint}" if hint else ""))
        )
    pool = next((labels_of(node).get(NODEPOOL) for node in _nodes(manifests, arguments.node)), None)
    every = warnings_of(dump.manifests, lambda: world, allowed_codes(arguments)) if pool else []
    warned = [warning for warning in every if warning.text.startswith(f"NodePool/{pool}: ")]
    if arguments.format == "json":
        print_json({"read": inputs.value(), **dump.value(), **asdict(departure), "warnings": warnings_value(warned)})
    else:
        for line in (*inputs.head(world), *dump.live, *_lines(departure)):
            show(line)
        show_warnings(warned)
    return int(not departure.command)


def _nodes(manifests: Sequence[Manifest], name: str) -> Iterator[Mapping[str, Any]]:
    return (manifest.object for manifest in manifests if manifest.kind == "Node" and manifest.name == name)


def _refused(world: World, manifests: Sequence[Manifest]) -> Iterator[Problem]:
    """Put the objects that Karpenter has to reconcile into the world; yield their refusals and those of NodeClaims, at their places."""
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
    from harness.karpenter.scheduling.snapshot import SPREADING
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
        workloads=[obj for kind in SPREADING for obj in of.get(kind, [])],
    )
    now = made.now if moment is None else moment
    claims = [
        claim
        if claim["metadata"].get("creationTimestamp")
        else with_metadata(claim, creationTimestamp=_made(claim, render(now)))
        for claim in made.nodeclaims
    ]
    return replace(made, now=now, nodeclaims=claims)


def _made(claim: Mapping[str, Any], otherwise: str) -> str:
    from harness.kube.api.objects import conditions_of

    times = [str(state["lastTransitionTime"]) for state in conditions_of(claim) if state.get("lastTransitionTime")]
    return min(times, default=otherwise)


def _lines(departure: Departure) -> Iterator[str]:
    from harness.trace.prices import price_text, saving_text

    facts = departure.facts
    machine = ", ".join(str(facts[key]) for key in ("size", "zone", "capacity_type") if facts.get(key))
    price = f", {facts['price']:g} USD/h" if facts.get("price") else ""
    if "reckoned" in facts:
        price = f", {price_text(facts['reckoned'], unpriced=True)}"
    pods = "1 pod" if facts["pods"] == 1 else f"{facts['pods']} pods"
    yield f"Node {departure.node} ({machine}{price}) of NodePool {facts['nodepool'] or '-'}, {pods}, at {facts['at']}"
    if departure.command:
        yield f"It can go: {departure.reason}, {departure.command}, {saving_text(departure.savings, departure.unpriced)}"
        if departure.sizes:
            yield f"In its place: {first_few(departure.sizes, _FEW)}"
        return
    first, *rest = departure.blocked
    yield f"It stays: {first}"
    for text in rest:
        yield f"  and: {text}"
    for text in departure.others:
        yield f"  besides, {text}"
