"""`node`: the labels of a Node and their writers, its taints and its machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import name_of
from harness.reading.problems import did_you_mean
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.labels import LabelWrite, NodeLabelMap
from harness.scenario.language.models.matchers import TextConditions
from harness.scenario.language.models.observed import NodeExpectation
from harness.scenario.running.matching import ABSENT, Difference, as_written, differences, show
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["check", "label_differences", "render_writes"]

_CHANGING = ("set", "overwrote", "removed")


def check(body: NodeExpectation, entry: Entry, run: Run) -> Iterator[Verdict]:
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


def _of_node(body: NodeExpectation, node: Mapping[str, Any], entry: Entry, run: Run) -> Iterator[Verdict]:
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


def label_differences(
    wanted: str | TextConditions | NodeLabelMap, key: str, labels: Mapping[str, str], writes: Sequence[Any]
) -> list[Difference]:
    """Return the differences of a label and its history from the expected ones."""
    actual = labels.get(key, ABSENT)
    note = did_you_mean(key, labels, limit=0) if actual is ABSENT else ""
    if not isinstance(wanted, NodeLabelMap):
        return [
            Difference(difference.path, difference.expected, difference.actual, note)
            for difference in differences(wanted, actual)
        ]
    wrong: list[Difference] = []
    if wanted.value is not None:
        wrong += [
            Difference("value", difference.expected, difference.actual, note)
            for difference in differences(wanted.value, actual)
        ]
    if wanted.by is not None or wanted.from_ is not None:
        wrong += _writer(wanted, actual, writes)
    for kind in ("withheld", "refused"):
        who = getattr(wanted, kind)
        if who is not None and not any(str(write.kind) == kind and write.by == who for write in writes):
            wrong.append(Difference(kind, f"a write that {who} {_PASSIVE[kind]}", render_writes(writes)))
    if wanted.writes is not None:
        wrong += _sequence(wanted.writes, writes)
    return wrong


_PASSIVE = {"withheld": "withheld", "refused": "was refused"}


def _writer(wanted: NodeLabelMap, actual: Any, writes: Sequence[Any]) -> list[Difference]:
    changes = [write for write in writes if str(write.kind) in _CHANGING]
    last = changes[-1] if changes and actual is not ABSENT else None
    wrong: list[Difference] = []
    history = render_writes(writes)
    if wanted.by is not None and (last is None or last.by != wanted.by):
        wrong.append(Difference("by", wanted.by, last.by if last else "nobody", history))
    if wanted.from_ is not None and (last is None or last.from_ != wanted.from_):
        wrong.append(Difference("from", wanted.from_, str(last.from_) if last else "nowhere", history))
    return wrong


def _sequence(wanted: Sequence[LabelWrite], writes: Sequence[Any]) -> list[Difference]:
    kinds = {*_CHANGING, *(write_wanted.kind for write_wanted in wanted if write_wanted.kind is not None)}
    compared = [write for write in writes if str(write.kind) in kinds]
    history = render_writes(writes)
    if len(compared) != len(wanted):
        return [Difference("writes", f"{len(wanted)} writes", history)]
    wrong: list[Difference] = []
    for index, (wanted_write, write) in enumerate(zip(wanted, compared, strict=True)):
        actual = {"by": write.by, "from": write.from_, "value": write.value, "kind": str(write.kind)}
        expected = as_written(wanted_write)
        wrong += [
            Difference(difference.path, difference.expected, difference.actual, history)
            for difference in differences(expected, actual, f"writes[{index}]")
        ]
    return wrong


def render_writes(writes: Sequence[Any]) -> str:
    """The history of a label in one line: `kubelet (base) set regular, karpenter (vm) overwrote spot`."""
    parts = []
    for write in writes:
        source = f" ({write.from_})" if write.from_ else ""
        parts.append(f"{write.by}{source} {write.kind} {'' if write.value is None else write.value}".rstrip())
    return "written: " + (", ".join(parts) if parts else "by nobody")
