"""`labels`: a table of label keys, each cell found out by trying it in a world like the scenario's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from harness import garbage
from harness.explain.labels.probes import LabelProbe, PodFact, PodOutcome, PoolFact
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.labels import LabelRow, LabelTable, NodeLabelMap, PodCell, PoolCell
from harness.scenario.running.checks.nodes import label_differences, render_writes
from harness.scenario.running.matching import Difference, differences
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

if TYPE_CHECKING:
    from harness.world import World

__all__ = ["check", "look"]


def check(body: LabelTable, entry: Entry, run: Run) -> Iterator[Verdict]:
    """Yield one verdict for each cell that the file fills in."""
    probe = run.shared.probe(run.case)
    for key, row in body.are.items():
        yield from _row(key, row, probe, entry)
        garbage.after_world()


def look(body: LabelTable, probe: LabelProbe, new_world: Callable[[], World]) -> None:
    """Let a cluster elsewhere answer, with one Node for all rows, the cells about Nodes and NodePools."""
    settable: list[tuple[str, str]] = []
    for key, row in body.are.items():
        if row.nodepool is not None:
            with suppress(LookupError):  # reported by `check`
                settable.append((key, row.value or probe.value_of(key)))
    probe.look(new_world, settable, node=any(row.written is not None for row in body.are.values()))


def _row(key: str, row: LabelRow, probe: LabelProbe, entry: Entry) -> Iterator[Verdict]:
    try:
        needs_value = row.pod is not None or row.nodepool is not None
        value = row.value or (probe.value_of(key) if needs_value else "")
    except LookupError as error:
        yield Verdict.failed(f"{entry.label}.{key}", entry.mark("are", key), "a Node to look at", str(error))
        return
    if row.pod is not None:
        wrong = _pod(row.pod, probe.pod(key, value))
        yield Verdict.compared(f"{entry.label}.{key}.pod", entry.mark("are", key, "pod"), wrong)
    if row.nodepool is not None:
        wrong = _nodepool(row.nodepool, probe.nodepool(key, value))
        yield Verdict.compared(f"{entry.label}.{key}.nodepool", entry.mark("are", key, "nodepool"), wrong)
    if row.written is not None:
        yield Verdict.compared(
            f"{entry.label}.{key}.written", entry.mark("are", key, "written"), _written(row.written, key, probe)
        )


def _pod(wanted: str | PodCell, fact: PodFact) -> list[Difference]:
    if isinstance(wanted, str):
        bound = fact.outcome is PodOutcome.BOUND
        if bound == (wanted == "yes"):
            return []
        expected = "a pod that asks for it is bound" if wanted == "yes" else "a pod that asks for it is not bound"
        return [Difference("", expected, f"{fact.outcome} with value {fact.value}", fact.message)]
    wrong = differences(wanted.outcome, str(fact.outcome), "outcome")
    if wanted.message is not None:
        wrong += differences(wanted.message, fact.message, "message")
    return [
        Difference(
            difference.path,
            difference.expected,
            difference.actual,
            fact.message if difference.path == "outcome" else "",
        )
        for difference in wrong
    ]


def _nodepool(wanted: str | PoolCell, fact: PoolFact) -> list[Difference]:
    settable = "yes" if fact.settable else "no"
    expected = wanted if isinstance(wanted, str) else wanted.settable
    if expected != settable:
        return [Difference("settable", expected, settable, fact.source)]
    if isinstance(wanted, str) or fact.settable:
        return []
    nearest: list[Difference] = []
    for rejection in fact.rejections:
        wrong = differences(wanted.layer, str(rejection.layer), "layer") if wanted.layer is not None else []
        wrong += differences(wanted.message, rejection.message, "message") if wanted.message is not None else []
        if not wrong:
            return []
        nearest = nearest or wrong
    return nearest


def _written(wanted: str | NodeLabelMap, key: str, probe: LabelProbe) -> list[Difference]:
    labels, writes = probe.node
    if isinstance(wanted, NodeLabelMap):
        return label_differences(wanted, key, labels, writes.get(key, ()))
    if (key in labels) == (wanted == "yes"):
        return []
    state = f"on the Node: {labels[key]}" if key in labels else "not on the Node"
    return [
        Difference(
            "", "on the Node" if wanted == "yes" else "not on the Node", state, render_writes(writes.get(key, ()))
        )
    ]
