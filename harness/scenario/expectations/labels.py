"""`labels`: a table of label keys, each cell found out by trying it in a world like the scenario's."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from harness import garbage
from harness.scenario.expectations.failure import FailedExpectation
from harness.scenario.expectations.label_writes import NodeLabelMap, label_differences, render_writes
from harness.scenario.expectations.matching import Difference, differences
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Case, Entry
from harness.scenario.language.models.base import Body, Model, RejectionLayer, Text
from harness.scenario.language.models.matchers import TextMatch

if TYPE_CHECKING:
    from harness.explain.labels.probes import LabelProbe, PodFact, PoolFact
    from harness.scenario.running.run import Run
    from harness.scenario.running.shared import Shared
    from harness.world import World

__all__ = ["LabelRow", "LabelTable", "PodCell", "PoolCell", "answer_elsewhere", "check", "failure_lines"]


def _cell(value: Any) -> str:
    return "map" if isinstance(value, dict) else "value"


YesNo = Annotated[Literal["yes", "no"], WithJsonSchema({"enum": ["yes", "no", True, False]})]


def _yes_no(value: Any) -> Any:
    if isinstance(value, str) and value not in ("yes", "no"):
        raise PydanticCustomError("yes_no", "'yes', 'no' or a map is expected, not '{text}'", {"text": value})
    return value


class PodCell(Model):
    """The outcome of a pod that asks for a label."""

    outcome: Literal["bound", "no-known-values", "ignored", "runaway", "stuck", "incompatible"] = Field(
        description="`bound`; `no-known-values` or `incompatible`: it stays pending for that; `ignored`: pod validation refuses it; "
        "`runaway`: Nodes are made for it again and again; `stuck`: a Node is made, and kube-scheduler does not put it there."
    )
    message: TextMatch | None = Field(None, description="Karpenter's sentence.")


class PoolCell(Model):
    """The outcome of a NodePool that sets a label."""

    settable: Annotated[YesNo, BeforeValidator(_yes_no)] = Field(description="Whether it is taken.")
    layer: RejectionLayer | None = Field(None, description="Who refuses it.")
    message: TextMatch | None = Field(None, description="With which message.")


class LabelRow(Model):
    """One label key: who may ask for it, who may set it, who writes it."""

    pod: (
        Annotated[
            Annotated[YesNo, BeforeValidator(_yes_no), Tag("value")] | Annotated[PodCell, Tag("map")],
            Discriminator(_cell),
        ]
        | None
    ) = Field(None, description="May a pod ask for it (exists) when the NodePool does not set it?")
    nodepool: (
        Annotated[
            Annotated[YesNo, BeforeValidator(_yes_no), Tag("value")] | Annotated[PoolCell, Tag("map")],
            Discriminator(_cell),
        ]
        | None
    ) = Field(None, description="May a NodePool set it as a label?")
    written: (
        Annotated[
            Annotated[YesNo, BeforeValidator(_yes_no), Tag("value")] | Annotated[NodeLabelMap, Tag("map")],
            Discriminator(_cell),
        ]
        | None
    ) = Field(None, description="Is it on a Node, when nobody asked for it; by whom, with which value?")
    value: Text | None = Field(None, description="The value to ask for and to set; a known or plain one when absent.")
    source: Text | None = Field(None, description="Where this row comes from, when it differs from the table's.")

    @model_validator(mode="after")
    def _given(self) -> Self:
        if self.pod is None and self.nodepool is None and self.written is None:
            raise PydanticCustomError("no_condition", "at least one of pod, nodepool, written is expected")
        return self


class LabelTable(Body):
    """Label keys in a table: key → {pod, nodepool, written}. Each cell is found out by trying, on a world like the scenario's."""

    are: dict[Text, LabelRow] = Field(min_length=1, description="Row by label key.")


def check(body: LabelTable, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict for each cell that the file fills in."""
    probe = run.shared.probe(run.case)
    for key, row in body.are.items():
        yield from _row(key, row, probe, entry)
        garbage.after_world()


def answer_elsewhere(case: Case, shared: "Shared", new_world: "Callable[[], World]") -> None:
    """Let a cluster elsewhere answer the cells of a case's tables about Nodes and NodePools."""
    for entry in case.then:
        if isinstance(table := entry.expectation.body, LabelTable):
            _answer_elsewhere(table, shared.probe(case), new_world)


def _answer_elsewhere(body: LabelTable, probe: "LabelProbe", new_world: "Callable[[], World]") -> None:
    """Answer with one Node for all rows."""
    settable: list[tuple[str, str]] = []
    for key, row in body.are.items():
        if row.nodepool is not None:
            with suppress(LookupError):  # reported by `check`
                settable.append((key, row.value or probe.value_of(key)))
    probe.look(new_world, settable, node=any(row.written is not None for row in body.are.values()))


def _row(key: str, row: LabelRow, probe: "LabelProbe", entry: Entry) -> Iterator[Verdict]:
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


def _pod(wanted: str | PodCell, fact: "PodFact") -> list[Difference]:
    if isinstance(wanted, str):
        from harness.explain.labels.probes import PodOutcome

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


def _nodepool(wanted: str | PoolCell, fact: "PoolFact") -> list[Difference]:
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


def _written(wanted: str | NodeLabelMap, key: str, probe: "LabelProbe") -> list[Difference]:
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


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the facts behind the cell, and the command that prints the story of the key."""
    key, _, cell = failure.part.rpartition(".")
    probe = failure.run.shared.probe(failure.run.case)
    row = failure.body.are.get(key or failure.part)
    if row is None:
        return []
    release = failure.run.world.release.version
    lines = (
        []
        if not key
        else _cell_lines(failure, key, cell, row.value or (probe.value_of(key) if cell != "written" else ""))
    )
    return [*lines, f"the story of the key: harness labels explain {key or failure.part} --release {release}"]


def _cell_lines(failure: FailedExpectation, key: str, cell: str, value: str) -> list[str]:
    probe = failure.run.shared.probe(failure.run.case)
    pools = ", ".join(f"NodePool/{obj['metadata']['name']}" for obj in probe.objects if obj.get("kind") == "NodePool")
    if cell == "pod":
        return [f"tried with a pod that asks for {key}={value} beside {pools}: {probe.pod(key, value).source}"]
    if cell == "nodepool":
        return [f"tried with a NodePool that sets {key}={value}: {probe.nodepool(key, value).source}"]
    labels, writes = probe.node
    there = f"is {labels[key]}" if key in labels else "is not on it"
    history = render_writes(writes.get(key, ()))
    return [f"on the Node of a pod that asks for nothing beside {pools}, it {there}; {history}"]
