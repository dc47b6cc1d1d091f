"""Why a Node is what it is: the machine behind it, and who wrote its labels, annotations, taints and amounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.explain.sizes.fit import asked_by
from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import labels_of, name_of, spec_of
from harness.scenario.language.models.base import WORKLOADS, split_reference
from harness.scenario.running.checks.requirement_match import render
from harness.scenario.running.reasons.asked import ITEMS, Asked
from harness.scenario.running.reasons.pods import named, waiting
from harness.scenario.running.reasons.sizes import amounts
from harness.wording import first_few

__all__ = ["tell"]

_OF_MACHINE = ("size", "zone", "capacityType", "")


def tell(asked: Asked) -> list[str]:
    """Of a Node that is there, who wrote what is asked about; of one that is not, why pods wait."""
    nodes, _ = asked.run.nodes_of(asked.body.of)
    if not nodes:
        return _missing(asked)
    nodes = [node for node in nodes if not asked.verdict.about or name_of(node) in asked.verdict.about]
    names = [name_of(node) for node in nodes]
    if len(names) > 1 or asked.part in _OF_MACHINE:
        return asked.why.nodes(names)
    field, _, rest = asked.part.partition(".")
    name = f"Node/{names[0]}"
    if field in ("labels", "absent"):
        return _label(asked, nodes[0], rest)
    if field == "ready":
        return [*asked.why.conditions(name, ("Ready",)), *asked.why.claims_of(names)]
    if field in ("capacity", "allocatable"):
        size = labels_of(nodes[0]).get(INSTANCE_TYPE, "")
        return [*amounts(asked, size, field, rest), *asked.why.fields(name, f"status.{field}.{rest}")]
    path = "spec.taints" if field == "taints" else f"metadata.annotations.{rest}"
    return asked.why.fields(name, path)


def _missing(asked: Asked) -> list[str]:
    reference = asked.body.of
    kind, _, name = split_reference(reference)
    if kind in ("Pod", *WORKLOADS):
        pods = named(asked, reference if kind in WORKLOADS else name)
        found = waiting(asked, pods)
        return found or [f"nobody applied or made {reference}"]
    own = asked.why.named_claims(asked.why.claims_meant(kind, name))
    there = [name_of(node) for node in asked.run.world.list("Node")]
    others = f"; the Nodes are {first_few(there, ITEMS)}" if there else "; there is no Node at all"
    return own or [f"Karpenter made no NodeClaim for {reference}{others}"]


def _label(asked: Asked, node: Mapping[str, Any], key: str) -> list[str]:
    """Every write of a label; where nobody wrote it, who could have; of a label of the machine, how it came to that machine."""
    release = asked.run.world.release
    written = asked.why.label(name_of(node), key)
    machine = {INSTANCE_TYPE, ZONE} | release.computed_keys | release.offering_keys
    lines = written or [f"nobody wrote {key}"]
    if not any(" set " in line or " overwrote " in line for line in written):
        lines += list(_sources(asked, node, key))
    return [*lines, *asked.why.nodes([name_of(node)])] if key in machine else lines


def _sources(asked: Asked, node: Mapping[str, Any], key: str) -> Iterator[str]:
    """Yield where a label could have come from: the NodePool, the release's own labels, the size."""
    run = asked.run
    release, pool = run.world.release, labels_of(node).get(NODEPOOL)
    found = run.world.get("NodePool", pool) if pool else None
    if found is not None:
        wanted = asked_by(found, release.vocabulary)
        said = f"requires {key} {render(wanted[key])}" if key in wanted else "neither sets nor requires it"
        if key in ((spec_of(found).get("template") or {}).get("metadata", {}).get("labels") or {}):
            said = "sets it as a label"
        yield f"NodePool/{pool} {said}"
    if key in release.base_keys:
        yield f"Karpenter {release.version} has it among the labels for kubelet"
    elif key in release.computed_keys | release.offering_keys:
        yield f"Karpenter {release.version} knows it as a requirement of every size, and writes it where it has one value"
    else:
        yield f"Karpenter {release.version} has no value of its own for it"
