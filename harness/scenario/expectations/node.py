"""`node`: the labels of a Node and their writers, its taints and its machine."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import labels_of, name_of, spec_of
from harness.scenario.expectations.failure import ITEMS, FailedExpectation
from harness.scenario.expectations.label_writes import NodeLabel, label_differences
from harness.scenario.expectations.matching import ABSENT, Difference, differences, show
from harness.scenario.expectations.pods import lines_of_waiting, pods_named
from harness.scenario.expectations.requirement_match import render
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import (
    WORKLOADS,
    Body,
    Flag,
    Reference,
    Text,
    no_entries,
    no_items,
    split_reference,
)
from harness.scenario.language.models.matchers import Partial, QuantityMatch, TextMatch
from harness.wording import first_few

if TYPE_CHECKING:
    from harness.scenario.running.run import Run

__all__ = ["NodeExpectation", "check", "failure_lines"]


class NodeExpectation(Body):
    """A Node: its labels with their writers, its taints, size, zone."""

    of: Reference = Field(
        description="Pod/name: the Node it runs on; Node/name; NodeClaim/name; "
        "NodePool/name, or a workload such as Deployment/name, when it has one Node. `*` stands for any text: Node/aks-spot-*."
    )
    every: Flag = Field(False, description="`of` may lead to several Nodes: this holds of each of them.")
    labels: dict[Text, NodeLabel] = Field(
        default_factory=no_entries, description="Labels: value, or value with its writers."
    )
    absent: list[Text] = Field(default_factory=no_items, description="Label keys that the Node does not have.")
    annotations: dict[Text, TextMatch] = Field(default_factory=no_entries, description="Annotations.")
    taints: list[Partial] | None = Field(None, description="Taints it has; [] for none at all.")
    size: TextMatch | None = Field(None, description="VM size.")
    zone: TextMatch | None = Field(None, description="Zone label.")
    capacity_type: Literal["on-demand", "spot"] | None = Field(None, description="Capacity type.")
    ready: Flag | None = Field(None, description="Whether it is Ready.")
    capacity: dict[Text, QuantityMatch] = Field(default_factory=no_entries, description="status.capacity by resource.")
    allocatable: dict[Text, QuantityMatch] = Field(
        default_factory=no_entries, description="status.allocatable by resource."
    )

    def workloads(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield the workload on whose Node it is."""
        if self.of.startswith(tuple(f"{kind}/" for kind in WORKLOADS)):
            yield ("of",), self.of


def check(body: NodeExpectation, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict for each label, key, taint list and fact of the Node; with `every`, of each Node."""
    nodes, missing = run.nodes_of(body.of)
    if not nodes:
        yield Verdict.failed(entry.label, entry.mark("of"), f"a Node of {body.of}", missing)
        return
    if body.every:
        by_node = [list(_of_node(body, node, entry, run)) for node in nodes]
        for verdicts in zip(*by_node, strict=True):
            yield _of_all(nodes, verdicts)
    elif len(nodes) > 1:
        names = ", ".join(name_of(node) for node in nodes)
        hint = "`every: true` says it of each of them"
        yield Verdict.failed(entry.label, entry.mark("of"), "one Node", f"{len(nodes)}: {names}", hint)
    else:
        yield from _of_node(body, nodes[0], entry, run)


def _of_all(nodes: Sequence[Mapping[str, Any]], verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict about one fact of several Nodes: that of the first one that differs, with their count."""
    differing = [(node, verdict) for node, verdict in zip(nodes, verdicts, strict=True) if not verdict.holds]
    if not differing:
        return verdicts[0]
    node, verdict = differing[0]
    note = f"on {name_of(node)}; {len(differing)} of {len(nodes)} Nodes differ"
    return replace(
        verdict,
        about=tuple(name_of(node) for node, _ in differing),
        differences=tuple(
            replace(difference, note=f"{note}; {difference.note}" if difference.note else note)
            for difference in verdict.differences
        ),
    )


def _of_node(body: NodeExpectation, node: Mapping[str, Any], entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield the verdicts about one Node."""
    labels = node["metadata"].get("labels") or {}
    writes = run.world.writes(node["metadata"]["name"]) if body.labels else {}
    for key, wanted in body.labels.items():
        wrong = label_differences(wanted, key, labels, writes.get(key, ()))
        yield Verdict.compared(f"{entry.label}.labels.{key}", entry.mark("labels", key), wrong)
    for index, key in enumerate(body.absent):
        wrong = [] if key not in labels else [Difference("", f"no label {key}", show(labels[key]))]
        yield Verdict.compared(f"{entry.label}.absent.{key}", entry.mark("absent", index), wrong)
    facts = _facts(node)
    for name in ("size", "zone", "capacity_type", "ready"):
        wanted_fact = getattr(body, name)
        if wanted_fact is not None:
            key = "capacityType" if name == "capacity_type" else name
            yield Verdict.compared(f"{entry.label}.{key}", entry.mark(key), differences(wanted_fact, facts[key]))
    for key, wanted_text in body.annotations.items():
        actual = (node["metadata"].get("annotations") or {}).get(key, ABSENT)
        yield Verdict.compared(
            f"{entry.label}.annotations.{key}", entry.mark("annotations", key), differences(wanted_text, actual)
        )
    if body.taints is not None:
        actual = node.get("spec", {}).get("taints") or []
        yield Verdict.compared(f"{entry.label}.taints", entry.mark("taints"), differences(body.taints, actual))
    for name in ("capacity", "allocatable"):
        for resource, quantity in getattr(body, name).items():
            actual = (node.get("status", {}).get(name) or {}).get(resource, ABSENT)
            wrong = differences(quantity, actual, quantities=True)
            yield Verdict.compared(f"{entry.label}.{name}.{resource}", entry.mark(name, resource), wrong)
    if body.model_fields_set <= {"of", "every", "source", "only"}:
        yield Verdict(entry.label, entry.mark("of"))  # the existence of such a Node is all that is expected


def _facts(node: Mapping[str, Any]) -> dict[str, Any]:
    labels = node["metadata"].get("labels") or {}
    conditions = {
        condition["type"]: condition["status"] for condition in node.get("status", {}).get("conditions") or ()
    }
    return {
        "size": labels.get(INSTANCE_TYPE, ABSENT),
        "zone": labels.get(ZONE, ABSENT),
        "capacityType": labels.get(CAPACITY_TYPE, ABSENT),
        "ready": conditions.get("Ready") == "True",
    }


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
        from harness.scenario.expectations.computed_sizes import amounts

        size = labels_of(nodes[0]).get(INSTANCE_TYPE, "")
        return [*amounts(failure, size, field, rest), *failure.why.fields(name, f"status.{field}.{rest}")]
    path = "spec.taints" if field == "taints" else f"metadata.annotations.{rest}"
    return failure.why.fields(name, path)


def _missing(failure: FailedExpectation) -> list[str]:
    reference = failure.body.of
    kind, _, name = split_reference(reference)
    if kind in ("Pod", *WORKLOADS):
        pods = pods_named(failure, reference if kind in WORKLOADS else name)
        reasons_to_wait = lines_of_waiting(failure, pods)
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
        from harness.explain.sizes.fit import asked_by

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
