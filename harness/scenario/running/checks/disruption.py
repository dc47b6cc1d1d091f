"""`disrupted` and `notDisrupted`: the decisions that nodes go, and Karpenter's words about those that stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from harness.engine.disruptions import Disruption
from harness.karpenter.disruption.events.texts import STAYS
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import labels_of, name_of, spec_of, status_of
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import split_reference
from harness.scenario.language.models.disruption import Disrupted, NotDisrupted
from harness.scenario.running.checks.counts import count_differences
from harness.scenario.running.matching import Difference, as_written, differences, show
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict
from harness.wording import duration_text

__all__ = ["check"]

_LOGGED_DECIMALS = 2
"""Decimals of the savings in a real controller's log."""


def check(body: Disrupted | NotDisrupted, entry: Entry, run: Run) -> Iterator[Verdict]:
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


def _wrong(body: Disrupted, disruption: Disruption, run: Run) -> list[Difference]:
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


def _launched(name: str, run: Run) -> dict[str, str]:
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


def _told(disruption: Disruption, run: Run) -> str:
    names = ", ".join(node.node or node.nodeclaim for node in disruption.nodes)
    drift = f" ({disruption.drift})" if disruption.drift else ""
    text = f"at {duration_text(disruption.at)} {disruption.reason}{drift}: {disruption.decision} {names}"
    if disruption.replacements:
        text += f" -> {show([_launched(name, run) for name in disruption.replacements])}"
    return f"{text}, taken back: {disruption.problem}" if disruption.problem else text


def _stays(body: NotDisrupted, entry: Entry, run: Run) -> Verdict:
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


def _words(node: Any, run: Run) -> list[str]:
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
