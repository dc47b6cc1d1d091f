"""`disrupted` and `notDisrupted`: the decisions that nodes go, and Karpenter's words about those that stay."""

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from harness.engine.disruptions import Disruption
from harness.karpenter.disruption.events.texts import STAYS
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import labels_of, name_of, spec_of, status_of
from harness.scenario.expectations.failure import ITEMS, FailedExpectation
from harness.scenario.expectations.matching import Difference, as_written, count_differences, differences, show
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import Body, Model, Reference, Text, split_reference
from harness.scenario.language.models.matchers import CountMatch, NumberMatch, TextMatch
from harness.wording import duration_text, listed

if TYPE_CHECKING:
    from harness.scenario.running.run import Run

__all__ = ["Disrupted", "NotDisrupted", "ReplacementMatch", "check", "failure_lines"]


class ReplacementMatch(Model):
    """A replacement of the nodes that go."""

    nodepool: Text | None = Field(None, description="Its NodePool.")
    size: TextMatch | None = Field(None, description="Size that was launched.")
    zone: TextMatch | None = Field(None, description="Zone label of the launched machine.")
    capacity_type: Literal["on-demand", "spot"] | None = Field(None, description="Capacity type that was launched.")


class Disrupted(Body):
    """A decision of Karpenter that nodes go. What is not said may be anything."""

    node: Reference | None = Field(
        None,
        description="One of the nodes: Node/name, NodeClaim/name or NodePool/name; `*` stands for any text: Node/aks-default-*.",
    )
    reason: Literal["Empty", "Drifted", "Underutilized", "Expired", "Unhealthy"] | None = Field(
        None, description="Why. The last two ask no budget, and nothing comes in their place first."
    )
    drift: TextMatch | None = Field(
        None, description="Of which kind a drift is: NodePoolDrifted, RequirementsDrifted, NodeClassDrift, …"
    )
    decision: Literal["delete", "replace"] | None = Field(None, description="Whether replacements are made.")
    method: TextMatch | None = Field(
        None, description="Method: Emptiness, StaticDrift, Drift, MultiNodeConsolidation, SingleNodeConsolidation."
    )
    nodes: CountMatch | None = Field(None, description="How many nodes go by this one decision.")
    size: TextMatch | None = Field(None, description="Size of each node that goes.")
    replacement: ReplacementMatch | None = Field(None, description="One of the replacements.")
    savings: NumberMatch | None = Field(None, description="Karpenter's own figure, in USD per hour.")
    taken_back: TextMatch | None = Field(
        None, description="Why the nodes stay after all; without it only decisions count that were not taken back."
    )
    count: CountMatch | None = Field(None, description="How many such decisions; at least one when absent.")


class NotDisrupted(Body):
    """Nodes that are there, and that no decision is about."""

    node: Reference = Field(
        description="Pod/name: the Node it runs on; Node/name; NodeClaim/name; NodePool/name or a workload: all of its Nodes."
    )
    because: TextMatch | None = Field(
        None,
        description="What Karpenter said about each of them, in the message of an event on the Node, its NodeClaim or its NodePool.",
    )


_LOGGED_DECIMALS = 2
"""Decimals of the savings in a real controller's log."""


def check(body: Disrupted | NotDisrupted, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """One verdict."""
    if isinstance(body, NotDisrupted):
        yield _stays(body, entry, run)
        return
    made = [(disruption, _wrong(body, disruption, run)) for disruption in run.disruptions()]
    fitting = sum(not wrong for _, wrong in made)
    if body.count is not None:
        differing = count_differences(body.count, fitting)
        yield Verdict.compared(entry.label, entry.mark("count"), differing)
    elif fitting:
        yield Verdict(entry.label, entry.mark())
    elif made:
        nearest, wrong = min(made, key=lambda pair: len(pair[1]))
        note = f"the nearest of {len(made)}: {_told(nearest, run)}"
        differing = [
            Difference(difference.path, difference.expected, difference.actual, difference.note or note)
            for difference in wrong
        ]
        yield Verdict.compared(entry.label, entry.mark(), differing)
    else:
        yield Verdict.failed(entry.label, entry.mark(), "such a decision", "no node was disrupted")


def _wrong(body: Disrupted, disruption: Disruption, run: "Run") -> list[Difference]:
    """Return the differences of a decision from the expected one."""
    wrong: list[Difference] = []
    if body.node is not None and not any(_is(body.node, node) for node in disruption.nodes):
        wrong.append(Difference("node", body.node, ", ".join(node.node or node.nodeclaim for node in disruption.nodes)))
    if body.taken_back is None and disruption.problem:
        wrong.append(Difference("takenBack", "nothing", disruption.problem))
    for key, value in (
        ("reason", disruption.reason),
        ("decision", disruption.decision),
        ("drift", disruption.drift),
        ("taken_back", disruption.problem),
        ("nodes", len(disruption.nodes)),
    ):
        wanted = getattr(body, key)
        if wanted is not None:
            wrong += differences(wanted, value, key)
    wrong += _wrong_figures(body, disruption) if run.world.simulated else _wrong_in_log(body, disruption)
    if body.size is not None:
        for node in disruption.nodes:
            wrong += differences(body.size, node.labels.get(INSTANCE_TYPE, ""), "size")
    if body.replacement is not None:
        wanted = as_written(body.replacement)
        compared: list[list[Difference]] = [
            differences(wanted, _launched(name, run), "replacement") for name in disruption.replacements
        ]
        if compared:
            wrong += sorted(compared, key=len)[0]
        else:
            wrong.append(Difference("replacement", show(wanted), "none"))
    return wrong


def _wrong_figures(body: Disrupted, disruption: Disruption) -> Iterator[Difference]:
    if body.method is not None:
        yield from differences(body.method, disruption.method, "method")
    if body.savings is not None:
        yield from differences(body.savings, round(disruption.savings, 6), "savings")


def _wrong_in_log(body: Disrupted, disruption: Disruption) -> Iterator[Difference]:
    """Yield the differences from a real controller's log: it has no method, savings with two decimals, and none before core 1.10."""
    if body.savings is not None and disruption.savings:
        wanted = body.savings
        if isinstance(wanted, int | float):
            wanted = round(float(wanted), _LOGGED_DECIMALS)
        yield from differences(wanted, disruption.savings, "savings")


def _is(reference: str, gone: Any) -> bool:
    kind, _, name = split_reference(reference)
    names = {"Node": gone.node, "NodeClaim": gone.nodeclaim, "NodePool": gone.nodepool}
    return fnmatchcase(names.get(kind) or "", name)


def _launched(name: str, run: "Run") -> dict[str, str]:
    """A replacement NodeClaim, also one that is gone by now."""
    writes = (write.after for write in run.world.journal if write.key.kind == "NodeClaim" and write.key.name == name)
    labels: dict[str, str] = {}
    for after in writes:
        labels = {**labels, **labels_of(after or {})}
    return {
        "nodepool": labels.get(NODEPOOL, ""),
        "size": labels.get(INSTANCE_TYPE, ""),
        "zone": labels.get(ZONE, ""),
        "capacityType": labels.get(CAPACITY_TYPE, ""),
    }


def _told(disruption: Disruption, run: "Run") -> str:
    names = ", ".join(node.node or node.nodeclaim for node in disruption.nodes)
    drift = f" ({disruption.drift})" if disruption.drift else ""
    text = f"at {duration_text(disruption.at)} {disruption.reason}{drift}: {disruption.decision} {names}"
    if disruption.replacements:
        text += f" -> {show([_launched(name, run) for name in disruption.replacements])}"
    return f"{text}, taken back: {disruption.problem}" if disruption.problem else text


def _stays(body: NotDisrupted, entry: Entry, run: "Run") -> Verdict:
    nodes, missing = run.nodes_of(body.node)
    if not nodes:
        return Verdict.failed(entry.label, entry.mark("node"), f"a Node of {body.node}", missing)
    for node in nodes:
        for disruption in run.disruptions():
            if not disruption.problem and any(gone.node == name_of(node) for gone in disruption.nodes):
                failed = Verdict.failed(
                    entry.label, entry.mark("node"), f"{name_of(node)} stays", _told(disruption, run)
                )
                return replace(failed, about=(name_of(node),))
        if body.because is not None:
            words = _words(node, run)
            if not any(not differences(body.because, text) for text in words):
                actual = show(list(dict.fromkeys(words)), 900) if words else "Karpenter said nothing about it"
                failed = Verdict.failed(entry.label, entry.mark("because"), show(_plain(body.because)), actual)
                return replace(failed, about=(name_of(node),))
    return Verdict(entry.label, entry.mark())


def _plain(wanted: Any) -> Any:
    return wanted if isinstance(wanted, str) else as_written(wanted)


def _words(node: Any, run: "Run") -> list[str]:
    """Return the Events about a Node, its NodeClaim and its NodePool that give the reason why it stays, in order."""
    machine = spec_of(node).get("providerID")
    claims = [name_of(claim) for claim in run.world.list("NodeClaim") if status_of(claim).get("providerID") == machine]
    about = {
        ("Node", name_of(node)),
        ("NodePool", labels_of(node).get(NODEPOOL, "")),
        *(("NodeClaim", name) for name in claims),
    }
    return [
        event.message
        for event in run.events()
        if event.reason in STAYS and (event.object.kind, event.object.name) in about
    ]


_CONDITIONS = ("Drifted", "Consolidatable")


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return every decision, the last reason of each node that stays, and the time since which a NodeClaim could go.

    The nodes are those that the expectation names, and all where it names none or none of them exists.
    """
    own = _own(failure)
    decisions = listed(failure.why.departures(own), ITEMS, "decisions and reasons")
    whose = ["NodeClaim/"] if own is None else [f"NodeClaim/{claim}" for claim in own]
    marked = [line for name in whose for line in failure.why.conditions(name, _CONDITIONS)]
    claims = failure.why.claims() if own is None else failure.why.named_claims(own)
    if not claims:
        return [*decisions, "Karpenter made no NodeClaim, so there is no node that it could disrupt"]
    if decisions and (marked or failure.kind == "not_disrupted"):
        return [*decisions, *listed(marked, ITEMS // 2, "conditions")]
    of_them = "no NodeClaim" if own is None else f"no NodeClaim of {failure.body.node}"
    never = [] if marked else [f"{of_them} was ever Drifted or Consolidatable"]
    return [*decisions, *listed(marked, ITEMS // 2, "conditions"), *never, *listed(claims, ITEMS // 2, "NodeClaims")]


def _own(failure: FailedExpectation) -> list[str] | None:
    """Return the NodeClaims of the Nodes that the expectation is about; None for all."""
    if failure.body.node is None:
        return None
    nodes = failure.verdict.about or [name_of(node) for node in failure.run.nodes_of(failure.body.node)[0]]
    behind = [claim for name in nodes for claim in failure.why.claims_meant("Node", name)]
    kind, _, name = split_reference(failure.body.node)
    return list(dict.fromkeys(behind)) or failure.why.claims_meant(kind, name) or None
