"""What came of a world by its trace, in a form that two traces have in common: without names, dates and zones that chance draws."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.trace.facts import (
    ArmCall,
    ClaimState,
    Condition,
    Cost,
    Decision,
    Disruption,
    EventTold,
    Expectation,
    Funnel,
    LabelWrite,
    NodeState,
    PodState,
    Refused,
    Sizes,
    Usage,
)
from harness.trace.files import Trace
from harness.trace.prices import saving_text
from harness.world.facts import RETOLD
from harness.world.naming import renamed

__all__ = ["outcome_of"]

_UNSEEN = frozenset({"same", "withheld"})
_OF_LOOP = frozenset({"launch", "nodepool-filter", "nodeclaim-cel"})
"""Layers that refuse what Karpenter itself made: a real one tells of it by Events and its log."""
_RETRIED = frozenset({"Registered", "Initialized"})
_AWAITING = frozenset({"AwaitingReconciliation", "NodeClassReadinessUnknown"})
_POD = re.compile(r"[a-z0-9][a-z0-9.-]*/[a-z0-9][a-z0-9.-]*")
"""What may be the name of a pod in a sentence."""
_OF_MACHINES = frozenset({"virtualMachines", "networkInterfaces", "extensions", "machines", "disks"})


def outcome_of(trace: Trace, *, sources: bool = True) -> dict[str, Any]:
    """The outcome, the weightiest first.

    `sources`: what only the simulated loop tells: where inside its sender a label comes from, what was not sent, which sizes were left.
    """
    pods = {fact.pod: fact.owner for fact in trace.of(PodState) if fact.state == "created"}
    claims: dict[str, list[ClaimState]] = {}
    for fact in trace.of(ClaimState):
        claims.setdefault(fact.claim, []).append(fact)
    nodes = _nodes(trace, sources)
    events = _events(trace, pods)
    calls = _calls(trace)
    refused: dict[str, list[str]] = {}
    for each in trace.of(Refused):
        if each.layer in _OF_LOOP and not sources:
            continue
        refused.setdefault(each.object, []).append(f"{each.layer}: {each.text}")
    per_claim = {}
    for name, states in claims.items():
        own = [node for node in nodes if name in node or nodes[node]["claim"] == name]
        one = {
            **_claim(trace, states, pods),
            "Azure": calls.pop(name, []),
            "Nodes": [{key: value for key, value in nodes.pop(node).items() if key != "claim"} for node in own],
            "refused": refused.pop(f"NodeClaim/{name}", []),
            "Events": sorted({*events.pop(f"NodeClaim/{name}", ()), *_of_nodes(events, own)}),
        }
        per_claim[name] = _without_zone(one, states, trace.header.region)
    found: dict[str, Any] = {
        "expectations": {fact.text: fact.held or bool(fact.kept) for fact in trace.of(Expectation)},
        "pods": _pods(trace, pods),
        "refused": {name: sorted(texts) for name, texts in sorted(refused.items())},
        "price": next((fact.price for fact in reversed(trace.of(Cost))), 0.0),
        "decisions": _decisions(trace, pods, sources),
        "disruptions": [_disruption(fact, sources) for fact in trace.of(Disruption)],
        "NodeClaims": per_claim,
        "other Nodes": {name: {**node, "claim": ""} for name, node in nodes.items()},
        "other calls": calls.get("", []),
        "sizes": {fact.nodepool: {"offered": list(fact.offered)} for fact in trace.of(Sizes) if sources},
        "conditions": _conditions(trace, lambda name: name.partition("/")[0] in ("NodePool", "AKSNodeClass")),
        "Events": {name: sorted(texts) for name, texts in sorted(events.items())},
    }
    new = renamed(found, {name: states[0].nodepool or "?" for name, states in claims.items()})
    for each in (new, *new["NodeClaims"].values()):
        each["Events"] = _in_order(each["Events"])  # new names sort otherwise
    return {part: new[part] for part in found}  # in this order


def _in_order(told: Any) -> Any:
    """The texts of objects, or of one, sorted."""
    return {name: sorted(texts) for name, texts in told.items()} if isinstance(told, dict) else sorted(told)


def _pods(trace: Trace, owners: Mapping[str, str]) -> dict[str, Any]:
    """Which pods have a Node in the end, those of a workload together; and how many each Node has."""
    last: dict[str, bool] = {}
    for fact in trace.of(PodState):
        if fact.state == "deleted":
            last.pop(fact.pod, None)
        else:
            last[fact.pod] = bool(fact.node) or last.get(fact.pod, False)
    bound: dict[str, list[bool]] = {}
    for pod, has_node in last.items():
        bound.setdefault(_who(pod, owners), []).append(has_node)
    there: dict[str, int] = {fact.node: len(fact.pods) for fact in trace.of(Usage)}
    gone = {fact.node for fact in trace.of(NodeState) if fact.state == "deleted"}
    return {
        "bound": {name: sorted(each) for name, each in sorted(bound.items())},
        "per Node": sorted(count for node, count in there.items() if node not in gone),
    }


def _who(pod: str, owners: Mapping[str, str]) -> str:
    """A pod by its own name, or by its workload, which draws the names of its pods."""
    owner = owners.get(pod, "")
    return f"of {owner}" if owner else pod


def _claim(trace: Trace, states: Sequence[ClaimState], owners: Mapping[str, str]) -> dict[str, Any]:
    first, last = states[0], next((fact for fact in reversed(states) if fact.size), states[-1])
    made = [
        fact for fact in trace.of(Decision) if fact.target == f"NodeClaim/{first.claim}" and fact.result == "nodeclaim"
    ]
    return {
        "made for": sorted({_who(pod, owners) for fact in made for pod in fact.pods}),
        "sizes": sorted(first.sizes),
        "requests": dict(first.requests),
        "size": last.size,
        "zone": last.zone,
        "capacity type": last.capacity_type,
        "image": last.image,
        "course": list(dict.fromkeys(fact.state for fact in states)),
        "conditions": _conditions(trace, lambda name: name == f"NodeClaim/{first.claim}").get(
            f"NodeClaim/{first.claim}", {}
        ),
    }


def _conditions(trace: Trace, chosen: Callable[[str], bool]) -> dict[str, dict[str, list[str]]]:
    """Of objects, each condition's course; what one says on the way to True depends on who looks when."""
    found: dict[str, dict[str, list[str]]] = {}
    for fact in trace.of(Condition):
        if not chosen(fact.object) or fact.type == "Ready" or fact.reason in _AWAITING:
            continue
        reason = fact.reason if fact.reason != fact.type else ""
        said = " ".join(filter(None, (fact.status, reason, fact.message)))
        course = found.setdefault(fact.object, {}).setdefault(fact.type, [])
        if not course or course[-1] != said:
            if course and fact.type in _RETRIED and course[-1].startswith("Unknown"):
                course.pop()
            course.append(said)
    return found


def _nodes(trace: Trace, sources: bool) -> dict[str, dict[str, Any]]:
    """Every Node that there ever was, as it was last."""
    found: dict[str, dict[str, Any]] = {}
    for fact in trace.of(NodeState):
        if fact.state == "deleted":
            found[fact.node]["gone"] = True
            continue
        found[fact.node] = {
            "claim": fact.claim,
            "taints": sorted(fact.taints),
            "allocatable": dict(fact.allocatable),
            "price": fact.price,
            "labels": {},
            "writers": {},
            "gone": False,
        }
    for write in trace.of(LabelWrite):
        node = found.get(write.node)
        if node is None:
            continue
        if write.kind in ("set", "overwrote"):
            node["labels"][write.key] = write.value
        elif write.kind == "removed":
            node["labels"].pop(write.key, None)
        if sources or write.kind not in _UNSEEN:
            source = f" from {write.from_}" if sources and write.from_ else ""
            node["writers"].setdefault(write.key, []).append(f"{write.kind} by {write.by}{source}")
    return found


def _calls(trace: Trace) -> dict[str, list[str]]:
    """The writes to Azure, by NodeClaim."""
    found: dict[str, list[str]] = {}
    for call in trace.of(ArmCall):
        if call.method in ("GET", "HEAD", "POST") or call.operation not in _OF_MACHINES:
            continue
        text = " ".join(
            filter(
                None,
                (call.method, call.operation, call.size, call.zone, call.priority, str(call.status), call.error),
            )
        )
        found.setdefault(call.claim, []).append(text)
    return found


def _events(trace: Trace, owners: Mapping[str, str]) -> dict[str, set[str]]:
    """What Karpenter told of each object."""
    found: dict[str, set[str]] = {}
    for event in trace.of(EventTold):
        if event.source != "karpenter" or event.message.startswith(RETOLD):
            continue
        name = event.object
        kind, _, rest = name.partition("/")
        if kind == "Pod":
            pod = rest if "/" in rest else f"default/{rest}"
            name = f"Pod {_who(pod, owners)}"
        message = _POD.sub(
            lambda match: f"a pod {_who(match[0], owners)}" if owners.get(match[0]) else match[0], event.message
        )
        found.setdefault(name, set()).add(f"{event.type} {event.reason}: {message}")
    return found


def _of_nodes(events: dict[str, set[str]], nodes: Sequence[str]) -> Iterator[str]:
    for node in nodes:
        yield from events.pop(f"Node/{node}", ())


def _decisions(trace: Trace, owners: Mapping[str, str], sources: bool) -> dict[str, list[str]]:
    """Karpenter's sentences about pods that it found no place for, and how many sizes were left for those that it did."""
    left = {
        fact.number: [
            f"{step['filter']} {step['left']}" for step in fact.steps if step["removed"] or step is fact.steps[-1]
        ]
        for fact in trace.of(Funnel)
    }
    found: dict[str, dict[str, None]] = {}
    for fact in trace.of(Decision):
        for name in dict.fromkeys(_who(pod, owners) for pod in fact.pods):
            said = found.setdefault(name, {})
            if fact.why:
                said[f"{fact.result}: {fact.why}"] = None
            for one in fact.tried if sources else ():
                said[f"NodePool {one['nodepool']}: sizes left: {', '.join(left.get(one.get('funnel', 0), ()))}"] = None
    # of a workload's pods the first is the one whose drawn name comes first
    return {name: sorted(said) if name.startswith("of ") else list(said) for name, said in sorted(found.items())}


def _disruption(fact: Disruption, sources: bool) -> str:
    nodes = ", ".join(str(each["claim"] or each["node"]) for each in fact.nodes)
    replaced = f", replaced by {', '.join(fact.replacements)}" if fact.replacements else ""
    if not sources:
        return f"{fact.decision} {nodes}: {fact.reason}{replaced}"
    end = f", taken back: {fact.problem}" if fact.problem else ""
    drift = f" ({fact.drift})" if fact.drift else ""
    return f"{fact.decision} {nodes}: {fact.reason}{drift}{replaced}, {saving_text(fact.savings, fact.unpriced)}{end}"


def _without_zone(one: dict[str, Any], states: Sequence[ClaimState], region: str) -> dict[str, Any]:
    """The same without the zone where the NodeClaim left a choice: a launch draws among those that are as good."""
    if len(states[0].zones) == 1:
        return one
    text = re.sub(rf"\b{re.escape(region)}-\d+\b", "ZONE", json.dumps(one))
    found: dict[str, Any] = json.loads(text)
    return found
