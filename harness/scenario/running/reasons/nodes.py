"""Origins of a Node: the machine behind it, and the writers of its labels, annotations, taints and amounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.explain.sizes.fit import asked_by
from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import labels_of, name_of, spec_of
from harness.scenario.language.models.base import WORKLOADS, split_reference
from harness.scenario.running.checks.requirement_match import render
from harness.scenario.running.reasons.failed_expectation import ITEMS, FailedExpectation
from harness.scenario.running.reasons.pods import named, waiting
from harness.scenario.running.reasons.sizes import amounts
from harness.wording import first_few

__all__ = ["failure_lines"]

_OF_MACHINE = ("size", "zone", "capacityType", "")


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the writers of an existing Node's field; for a missing Node, why pods wait."""
    nodes, _ = failure.run.nodes_of(failure.body.of)
    if not nodes:
        return _missing(failure)
    nodes = [node for node in nodes if not failure.verdict.about or name_of(node) in failure.verdict.about]
    names = [name_of(node) for node in nodes]
    if len(names) > 1 or failure.part in _OF_MACHINE:
        return failure.why.nodes(names)
    field, _, rest = failure.part.partition(".")
    name = f"Node/{names[0]}"
    if field in ("labels", "absent"):
        return _label(failure, nodes[0], rest)
    if field == "ready":
        return [*failure.why.conditions(name, ("Ready",)), *failure.why.claims_of(names)]
    if field in ("capacity", "allocatable"):
        size = labels_of(nodes[0]).get(INSTANCE_TYPE, "")
        return [*amounts(failure, size, field, rest), *failure.why.fields(name, f"status.{field}.{rest}")]
    path = "spec.taints" if field == "taints" else f"metadata.annotations.{rest}"
    return failure.why.fields(name, path)


def _missing(failure: FailedExpectation) -> list[str]:
    reference = failure.body.of
    kind, _, name = split_reference(reference)
    if kind in ("Pod", *WORKLOADS):
        pods = named(failure, reference if kind in WORKLOADS else name)
        reasons_to_wait = waiting(failure, pods)
        return reasons_to_wait or [f"nobody applied or made {reference}"]
    own = failure.why.named_claims(failure.why.claims_meant(kind, name))
    there = [name_of(node) for node in failure.run.world.list("Node")]
    others = f"; the Nodes are {first_few(there, ITEMS)}" if there else "; there is no Node at all"
    return own or [f"Karpenter made no NodeClaim for {reference}{others}"]


def _label(failure: FailedExpectation, node: Mapping[str, Any], key: str) -> list[str]:
    """Return every write of a label; without any, its possible writers; of a label of the machine, the reason for that machine."""
    release = failure.run.world.release
    written = failure.why.label(name_of(node), key)
    machine = {INSTANCE_TYPE, ZONE} | release.computed_keys | release.offering_keys
    lines = written or [f"nobody wrote {key}"]
    if not any(" set " in line or " overwrote " in line for line in written):
        lines += list(_sources(failure, node, key))
    return [*lines, *failure.why.nodes([name_of(node)])] if key in machine else lines


def _sources(failure: FailedExpectation, node: Mapping[str, Any], key: str) -> Iterator[str]:
    """Yield the possible sources of a label: the NodePool, the release's own labels, the size."""
    run = failure.run
    release, pool = run.world.release, labels_of(node).get(NODEPOOL)
    nodepool = run.world.get("NodePool", pool) if pool else None
    if nodepool is not None:
        wanted = asked_by(nodepool, release.vocabulary)
        predicate = f"requires {key} {render(wanted[key])}" if key in wanted else "neither sets nor requires it"
        if key in ((spec_of(nodepool).get("template") or {}).get("metadata", {}).get("labels") or {}):
            predicate = "sets it as a label"
        yield f"NodePool/{pool} {predicate}"
    if key in release.base_keys:
        yield f"Karpenter {release.version} has it among the labels for kubelet"
    elif key in release.computed_keys | release.offering_keys:
        yield f"Karpenter {release.version} knows it as a requirement of every size, and writes it where it has one value"
    else:
        yield f"Karpenter {release.version} has no value of its own for it"
