"""The outcome of a world by its trace, in a form that two traces have in common: without names, dates and zones that chance draws."""

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
"""Layers that refuse objects of Karpenter itself: a real one reports it by Events and its log."""
_RETRIED = frozenset({"Registered", "Initialized"})
_AWAITING = frozenset({"AwaitingReconciliation", "NodeClassReadinessUnknown"})
_POD = re.compile(r"[a-z0-9][a-z0-9.-]*/[a-z0-9][a-z0-9.-]*")
"""A text that may be the name of a pod in a sentence."""
_OF_MACHINES = frozenset({"virtualMachines", "networkInterfaces", "extensions", "machines", "disks"})


def outcome_of(trace: Trace, *, sources: bool = True) -> dict[str, Any]:
    """Return the outcome, the weightiest first.

    `sources`: with facts that only the simulated loop writes: the source of a label inside its sender, withheld labels,
    the sizes that were left.
    """
    pods = {fact.pod: fact.owner for fact in trace.facts_of(PodState) if fact.state == "created"}
    claims: dict[str, list[ClaimState]] = {}
    for fact in trace.facts_of(ClaimState):
        claims.setdefault(fact.claim, []).append(fact)
    nodes = _nodes(trace, sources)
    events = _events(trace, pods)
    calls = _calls(trace)
    refused: dict[str, list[str]] = {}
    for refusal in trace.facts_of(Refused):
        if refusal.layer in _OF_LOOP and not sources:
            continue
        refused.setdefault(refusal.object, []).append(f"{refusal.layer}: {refusal.text}")
    per_claim = {}
    for name, states in claims.items():
        own = [node for node in nodes if name in node or nodes[node]["claim"] == name]
        claim = {
            **_claim(trace, states, pods),
            "Azure": calls.pop(name, []),
            "Nodes": [{key: value for key, value in nodes.pop(node).items() if key != "claim"} for node in own],
            "refused": refused.pop(f"NodeClaim/{name}", []),
            "Events": sorted({*events.pop(f"NodeClaim/{name}", ()), *_of_nodes(events, own)}),
        }
        per_claim[name] = _without_zone(claim, states, trace.header.region)
    outcome: dict[str, Any] = {
        "expectations": {fact.text: fact.held or bool(fact.kept) for fact in trace.facts_of(Expectation)},
        "pods": _pods(trace, pods),
        "refused": {name: sorted(texts) for name, texts in sorted(refused.items())},
        "price": next((fact.price for fact in reversed(trace.facts_of(Cost))), 0.0),
        "decisions": _decisions(trace, pods, sources),
        "disruptions": [_disruption(fact, sources) for fact in trace.facts_of(Disruption)],
        "NodeClaims": per_claim,
        "other Nodes": {name: {**node, "claim": ""} for name, node in nodes.items()},
        "other calls": calls.get("", []),
        "sizes": {fact.nodepool: {"offered": list(fact.offered)} for fact in trace.facts_of(Sizes) if sources},
        "conditions": _conditions(trace, lambda name: name.partition("/")[0] in ("NodePool", "AKSNodeClass")),
        "Events": {name: sorted(texts) for name, texts in sorted(events.items())},
    }
    new = renamed(outcome, {name: states[0].nodepool or "?" for name, states in claims.items()})
    for part_with_events in (new, *new["NodeClaims"].values()):
        part_with_events["Events"] = _in_order(part_with_events["Events"])  # new names sort otherwise
    return {part: new[part] for part in outcome}  # in this order


def _in_order(texts_of: Any) -> Any:
    """Return the texts of objects, or of one, sorted."""
    return {name: sorted(texts) for name, texts in texts_of.items()} if isinstance(texts_of, dict) else sorted(texts_of)


def _pods(trace: Trace, owners: Mapping[str, str]) -> dict[str, Any]:
    """Return the pods that have a Node in the end, those of a workload together; and the number of pods on each Node."""
    last: dict[str, bool] = {}
    for fact in trace.facts_of(PodState):
        if fact.state == "deleted":
            last.pop(fact.pod, None)
        else:
            last[fact.pod] = bool(fact.node) or last.get(fact.pod, False)
    bound: dict[str, list[bool]] = {}
    for pod, has_node in last.items():
        bound.setdefault(_who(pod, owners), []).append(has_node)
    there: dict[str, int] = {fact.node: len(fact.pods) for fact in trace.facts_of(Usage)}
    gone = {fact.node for fact in trace.facts_of(NodeState) if fact.state == "deleted"}
    return {
        "bound": {name: sorted(pods_of_workload) for name, pods_of_workload in sorted(bound.items())},
        "per Node": sorted(count for node, count in there.items() if node not in gone),
    }


def _who(pod: str, owners: Mapping[str, str]) -> str:
    """Return a pod's own name, or its workload, which draws the names of its pods."""
    owner = owners.get(pod, "")
    return f"of {owner}" if owner else pod


def _claim(trace: Trace, states: Sequence[ClaimState], owners: Mapping[str, str]) -> dict[str, Any]:
    first, last = states[0], next((fact for fact in reversed(states) if fact.size), states[-1])
    made = [
        fact
        for fact in trace.facts_of(Decision)
        if fact.target == f"NodeClaim/{first.claim}" and fact.result == "nodeclaim"
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
    """Return, for each object, each condition's course; its values on the way to True depend on the time of each look."""
    courses: dict[str, dict[str, list[str]]] = {}
    for fact in trace.facts_of(Condition):
        if not chosen(fact.object) or fact.type == "Ready" or fact.reason in _AWAITING:
            continue
        reason = fact.reason if fact.reason != fact.type else ""
        state = " ".join(filter(None, (fact.status, reason, fact.message)))
        course = courses.setdefault(fact.object, {}).setdefault(fact.type, [])
        if not course or course[-1] != state:
            if course and fact.type in _RETRIED and course[-1].startswith("Unknown"):
                course.pop()
            course.append(state)
    return courses


def _nodes(trace: Trace, sources: bool) -> dict[str, dict[str, Any]]:
    """Return every Node that ever existed, in its last state."""
    nodes: dict[str, dict[str, Any]] = {}
    for fact in trace.facts_of(NodeState):
        if fact.state == "deleted":
            nodes[fact.node]["gone"] = True
            continue
        nodes[fact.node] = {
            "claim": fact.claim,
            "taints": sorted(fact.taints),
            "allocatable": dict(fact.allocatable),
            "price": fact.price,
            "labels": {},
            "writers": {},
            "gone": False,
        }
    for write in trace.facts_of(LabelWrite):
        node = nodes.get(write.node)
        if node is None:
            continue
        if write.kind in ("set", "overwrote"):
            node["labels"][write.key] = write.value
        elif write.kind == "removed":
            node["labels"].pop(write.key, None)
        if sources or write.kind not in _UNSEEN:
            source = f" from {write.from_}" if sources and write.from_ else ""
            node["writers"].setdefault(write.key, []).append(f"{write.kind} by {write.by}{source}")
    return nodes


def _calls(trace: Trace) -> dict[str, list[str]]:
    """Return the writes to Azure, by NodeClaim."""
    calls: dict[str, list[str]] = {}
    for call in trace.facts_of(ArmCall):
        if call.method in ("GET", "HEAD", "POST") or call.operation not in _OF_MACHINES:
            continue
        text = " ".join(
            filter(
                None,
                (call.method, call.operation, call.size, call.zone, call.priority, str(call.status), call.error),
            )
        )
        calls.setdefault(call.claim, []).append(text)
    return calls


def _events(trace: Trace, owners: Mapping[str, str]) -> dict[str, set[str]]:
    """Return Karpenter's Events about each object."""
    texts: dict[str, set[str]] = {}
    for event in trace.facts_of(EventTold):
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
        texts.setdefault(name, set()).add(f"{event.type} {event.reason}: {message}")
    return texts


def _of_nodes(events: dict[str, set[str]], nodes: Sequence[str]) -> Iterator[str]:
    for node in nodes:
        yield from events.pop(f"Node/{node}", ())


def _decisions(trace: Trace, owners: Mapping[str, str], sources: bool) -> dict[str, list[str]]:
    """Return Karpenter's sentences about pods without a place, and the number of sizes that were left for the others."""
    left = {
        fact.number: [
            f"{step['filter']} {step['left']}" for step in fact.steps if step["removed"] or step is fact.steps[-1]
        ]
        for fact in trace.facts_of(Funnel)
    }
    sentences: dict[str, dict[str, None]] = {}
    for fact in trace.facts_of(Decision):
        for name in dict.fromkeys(_who(pod, owners) for pod in fact.pods):
            of_name = sentences.setdefault(name, {})
            if fact.why:
                of_name[f"{fact.result}: {fact.why}"] = None
            for pool in fact.tried if sources else ():
                of_name[
                    f"NodePool {pool['nodepool']}: sizes left: {', '.join(left.get(pool.get('funnel', 0), ()))}"
                ] = None
    # of a workload's pods the first is the one whose drawn name comes first
    return {
        name: sorted(of_name) if name.startswith("of ") else list(of_name)
        for name, of_name in sorted(sentences.items())
    }


def _disruption(fact: Disruption, sources: bool) -> str:
    nodes = ", ".join(str(node["claim"] or node["node"]) for node in fact.nodes)
    replaced = f", replaced by {', '.join(fact.replacements)}" if fact.replacements else ""
    if not sources:
        return f"{fact.decision} {nodes}: {fact.reason}{replaced}"
    end = f", taken back: {fact.problem}" if fact.problem else ""
    drift = f" ({fact.drift})" if fact.drift else ""
    return f"{fact.decision} {nodes}: {fact.reason}{drift}{replaced}, {saving_text(fact.savings, fact.unpriced)}{end}"


def _without_zone(claim: dict[str, Any], states: Sequence[ClaimState], region: str) -> dict[str, Any]:
    """Return the claim without the zone where the NodeClaim left a choice: a launch draws among equally good ones."""
    if len(states[0].zones) == 1:
        return claim
    text = re.sub(rf"\b{re.escape(region)}-\d+\b", "any zone", json.dumps(claim))
    changed: dict[str, Any] = json.loads(text)
    return changed
