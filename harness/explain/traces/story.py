"""A trace as a story: one line for each thing that a reader wants to know, with its time; pods that fare alike in one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.karpenter.scheduling.reasons.funnel import FILTERS
from harness.kube.api.objects import shorter
from harness.trace import Fact, Trace
from harness.trace.facts import (
    Applied,
    ArmCall,
    Blocked,
    Boot,
    ClaimState,
    Cost,
    Decision,
    Disruption,
    Expectation,
    Funnel,
    LabelWrite,
    LogTold,
    NodeState,
    PodState,
    Refused,
    Sizes,
    Step,
    Write,
)
from harness.wording import duration_text, first_few

__all__ = ["Happening", "pods_text", "story"]

_FEW = 3
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Happening:
    """One line: its time, which kind of fact it is, and whether it is bad news."""

    t: float
    kind: str
    text: str
    bad: bool = False


def story(trace: Trace) -> Iterator[Happening]:
    """The story, in order."""
    funnels = {fact.number: fact for fact in trace.facts_of(Funnel)}
    sizes = {fact.number: fact for fact in trace.facts_of(Sizes)}
    alike: list[PodState] = []
    seen: dict[str, str] = {}
    for fact in trace.facts:
        if isinstance(fact, NodeState):
            if seen.get(fact.node) == fact.state:
                continue  # only its taints are others
            seen[fact.node] = fact.state
        if isinstance(fact, PodState):
            if alike and (alike[-1].t, alike[-1].state, alike[-1].node, alike[-1].why) != (
                fact.t,
                fact.state,
                fact.node,
                fact.why,
            ):
                yield _pods(alike)
                alike = []
            alike.append(fact)
            continue
        if alike:
            yield _pods(alike)
            alike = []
        yield from _told(fact, funnels, sizes)
    if alike:
        yield _pods(alike)


def pods_text(pods: Sequence[str]) -> str:
    """`Pod/web-1, Pod/web-2 and 3 more`."""
    return first_few([f"Pod/{shorter(pod)}" for pod in pods], _FEW)


def _pods(alike: Sequence[PodState]) -> Happening:
    first = alike[0]
    state = {"bound": f"bound to Node {first.node}"}.get(first.state, first.state)
    why = f": {first.why}" if first.why else ""
    return _line(
        first.t, first.fact, f"{pods_text([fact.pod for fact in alike])} {state}{why}", first.state == "failed"
    )


def _line(t: float, kind: str, text: str, bad: bool = False) -> Happening:
    text = " ".join(text.split())
    return Happening(t, kind, text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…", bad)


def _told(fact: Fact, funnels: dict[int, Funnel], sizes: dict[int, Sizes]) -> Iterator[Happening]:
    match fact:
        case Step():
            yield _line(fact.t, "step", f"── {fact.text}")
        case Applied():
            place = f" ({fact.file}:{fact.line})" if fact.file else ""
            refused = f" refused: {'; '.join(fact.refused)}" if fact.refused else ""
            verb = "deleted" if fact.verb == "delete" else "applied"
            yield _line(fact.t, "object", f"{fact.object} {verb}{place}{refused}", bool(fact.refused))
        case Decision():
            yield from _decision(fact, funnels, sizes)
        case ArmCall() if fact.error and fact.method in ("PUT", "DELETE"):
            subject = " ".join(filter(None, (fact.size, "on spot" if fact.priority == "Spot" else "", fact.zone)))
            named = subject or f"{fact.operation}/{fact.name}"
            fault = f" (fault {fact.fault})" if fact.fault else ""
            yield _line(fact.t, "arm", f"Azure refused {named}: {fact.error}: {fact.message}{fault}", True)
        case Blocked():
            subject = fact.size or (f"family {fact.family}" if fact.family else "all of it")
            place = f" in {fact.zone}" if fact.zone else ""
            yield _line(
                fact.t,
                "blocked",
                f"Karpenter leaves {subject} {fact.capacity_type}{place} alone until {duration_text(fact.until)}",
            )
        case Boot() | ClaimState() | NodeState() | LogTold():
            yield from _machine(fact)
        case Cost():
            count = f"{fact.machines} machine{'' if fact.machines == 1 else 's'}"
            nothing = f" (no price is known of {', '.join(fact.unpriced)})" if fact.unpriced else ""
            yield _line(fact.t, "cost", f"{count}, {fact.price:.4f} USD per hour{nothing}")
        case Disruption():
            names = ", ".join(str(disrupted.get("node") or disrupted.get("claim")) for disrupted in fact.nodes)
            replaced = f", replaced by {', '.join(fact.replacements)}" if fact.replacements else ""
            problem = f"; taken back: {fact.problem}" if fact.problem else ""
            yield _line(
                fact.t, "disruption", f"Karpenter decided to {fact.decision} {names}: {fact.reason}{replaced}{problem}"
            )
        case LabelWrite() if fact.kind in ("overwrote", "refused", "withheld"):
            source = f" ({fact.from_})" if fact.from_ else ""
            text = f"{fact.by}{source} {fact.kind} label {fact.key}={fact.value or ''} of Node {fact.node}"
            yield _line(fact.t, "label", text, fact.kind == "refused")
        case Write() if fact.status and fact.status != 409 and fact.by != "user":
            yield _line(fact.t, "write", f"{fact.by} was refused to {fact.verb} {fact.object}: {fact.error}", True)
        case Refused():
            yield _line(fact.t, "rejection", f"{fact.object} refused by {fact.layer}: {fact.text}", True)
        case Expectation():
            differences = (
                ""
                if fact.held
                else "".join(
                    f": expected {difference['expected']}, found {difference['found']}"
                    for difference in fact.differences
                )
            )
            yield _line(
                fact.t,
                "expectation",
                f"{'holds' if fact.held else 'does not hold'}: {fact.text}{differences}",
                not fact.held,
            )


def _decision(fact: Decision, funnels: dict[int, Funnel], sizes: dict[int, Sizes]) -> Iterator[Happening]:
    who = pods_text(fact.pods)
    if fact.result in ("refused", "ignored"):
        yield _line(fact.t, "decision", f"Karpenter has no place for {who}: {fact.why}", True)
    else:
        new = "a new " if fact.result == "nodeclaim" else ""
        yield _line(fact.t, "decision", f"Karpenter wants {who} on {new}{fact.target or 'NodeClaim'}")
    for attempt in fact.tried:
        funnel = funnels.get(int(attempt.get("funnel") or 0))
        if funnel is None:
            continue
        offered = sizes.get(funnel.sizes)
        sold = f"{offered.sold} sizes sold, {len(offered.offered)} offered, " if offered is not None else ""
        steps = [step for step in funnel.steps if step["removed"]]
        left = [f"{step['left']} after {FILTERS.get(step['filter'], step['filter'])}" for step in steps]
        yield _line(fact.t, "funnel", f"  NodePool {attempt['nodepool']}: {sold}{', '.join(left) or 'all of them fit'}")


def _machine(fact: Boot | ClaimState | NodeState | LogTold) -> Iterator[Happening]:
    if isinstance(fact, LogTold):
        if fact.controller == "kubelet" and fact.level == "error":
            yield _line(fact.t, "boot", f"the kubelet of {fact.values.get('node')} ended: {fact.message}", True)
        return
    place = " ".join(filter(None, (fact.size, fact.capacity_type, fact.zone)))
    if isinstance(fact, Boot):
        states = {"on": "has power", "off": "has no power", "preempting": "will be taken by Azure soon"}
        state = states.get(fact.state, fact.state)
        error = f": {fact.error}: {fact.message}" if fact.error else ""
        evicted = ", taken by Azure" if fact.evicted else ""
        yield _line(
            fact.t, "boot", f"VM {fact.vm} {state}{evicted}{error} ({place})", fact.state == "failed" or fact.evicted
        )
    elif isinstance(fact, ClaimState):
        of = f" of NodePool {fact.nodepool}" if fact.state == "created" else ""
        many = f", one of {len(fact.sizes)} sizes" if fact.sizes else ""
        yield _line(fact.t, "claim", f"NodeClaim {fact.claim}{of} {fact.state}{many}{f' ({place})' if place else ''}")
    elif fact.state != "unready":
        price = f", {fact.price:.4f} USD per hour" if fact.price is not None and fact.state == "created" else ""
        yield _line(fact.t, "node", f"Node {fact.node} {fact.state}{f' ({place})' if place else ''}{price}")
