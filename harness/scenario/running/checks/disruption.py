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
from harness.scenario.running.matching import Difference, differences, said, show
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
        found = count_differences(body.count, fitting)
        yield Verdict.of(entry.label, entry.mark("count"), found)
    elif fitting:
        yield Verdict(entry.label, entry.mark())
    elif made:
        nearest, wrong = min(made, key=lambda each: len(each[1]))
        note = f"the nearest of {len(made)}: {_told(nearest, run)}"
        found = [Difference(each.path, each.expected, each.actual, each.note or note) for each in wrong]
        yield Verdict.of(entry.label, entry.mark(), found)
    else:
        yield Verdict.failed(entry.label, entry.mark(), "such a decision", "no node was disrupted")


def _wrong(body: Disrupted, one: Disruption, run: Run) -> list[Difference]:
    """How a decision differs from the expected one."""
    found: list[Difference] = []
    if body.node is not None and not any(_is(body.node, node) for node in one.nodes):
        found.append(Difference("node", body.node, ", ".join(node.node or node.nodeclaim for node in one.nodes)))
    if body.taken_back is None and one.problem:
        found.append(Difference("takenBack", "nothing", one.problem))
    for key, value in (
        ("reason", one.reason),
        ("decision", one.decision),
        ("drift", one.drift),
        ("taken_back", one.problem),
        ("nodes", len(one.nodes)),
    ):
        wanted = getattr(body, key)
        if wanted is not None:
            found += differences(wanted, value, key)
    found += _wrong_figures(body, one) if run.world.simulated else _wrong_in_log(body, one)
    if body.size is not None:
        for node in one.nodes:
            found += differences(body.size, node.labels.get(INSTANCE_TYPE, ""), "size")
    if body.replacement is not None:
        wanted = said(body.replacement)
        compared: list[list[Difference]] = [
            differences(wanted, _launched(name, run), "replacement") for name in one.replacements
        ]
        if compared:
            found += sorted(compared, key=len)[0]
        else:
            found.append(Difference("replacement", show(wanted), "none"))
    return found


def _wrong_figures(body: Disrupted, one: Disruption) -> Iterator[Difference]:
    if body.method is not None:
        yield from differences(body.method, one.method, "method")
    if body.savings is not None:
        yield from differences(body.savings, round(one.savings, 6), "savings")


def _wrong_in_log(body: Disrupted, one: Disruption) -> Iterator[Difference]:
    """A real controller's log has no method, savings with two decimals, and none before core 1.10."""
    if body.savings is not None and one.savings:
        wanted = body.savings
        if isinstance(wanted, int | float):
            wanted = round(float(wanted), _LOGGED_DECIMALS)
        yield from differences(wanted, one.savings, "savings")


def _is(reference: str, gone: Any) -> bool:
    kind, _, name = split_reference(reference)
    known = {"Node": gone.node, "NodeClaim": gone.nodeclaim, "NodePool": gone.nodepool}
    return fnmatchcase(known.get(kind) or "", name)


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


def _told(one: Disruption, run: Run) -> str:
    names = ", ".join(node.node or node.nodeclaim for node in one.nodes)
    drift = f" ({one.drift})" if one.drift else ""
    text = f"at {duration_text(one.at)} {one.reason}{drift}: {one.decision} {names}"
    if one.replacements:
        text += f" -> {show([_launched(name, run) for name in one.replacements])}"
    return f"{text}, taken back: {one.problem}" if one.problem else text


def _stays(body: NotDisrupted, entry: Entry, run: Run) -> Verdict:
    nodes, missing = run.nodes_of(body.node)
    if not nodes:
        return Verdict.failed(entry.label, entry.mark("node"), f"a Node of {body.node}", missing)
    for node in nodes:
        for disruption in run.disruptions():
            if not disruption.problem and any(each.node == name_of(node) for each in disruption.nodes):
                failed = Verdict.failed(
                    entry.label, entry.mark("node"), f"{name_of(node)} stays", _told(disruption, run)
                )
                return replace(failed, about=(name_of(node),))
        if body.because is not None:
            told = _words(node, run)
            if not any(not differences(body.because, text) for text in told):
                found = show(list(dict.fromkeys(told)), 900) if told else "Karpenter said nothing about it"
                failed = Verdict.failed(entry.label, entry.mark("because"), show(_plain(body.because)), found)
                return replace(failed, about=(name_of(node),))
    return Verdict(entry.label, entry.mark())


def _plain(wanted: Any) -> Any:
    return wanted if isinstance(wanted, str) else said(wanted)


def _words(node: Any, run: Run) -> list[str]:
    """The events about a Node, its NodeClaim and its NodePool that say why it is kept, in order."""
    machine = spec_of(node).get("providerID")
    claims = [name_of(each) for each in run.world.list("NodeClaim") if status_of(each).get("providerID") == machine]
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
