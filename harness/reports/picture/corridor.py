"""The corridor as lanes on the axis of time: pods under the NodeClaims that they wait for, and offerings that are left alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.kube.api.objects import shorter
from harness.reports.picture.left_alone import after_call, lane_name, left_alone, place_name
from harness.reports.picture.story import Line, Story

__all__ = ["blocked_lanes", "claim_lanes", "node_lanes", "pod_lanes"]

Lane = dict[str, Any]
"""`parts` are [what, from, to, text], `marks` [t, what, text]; a part without an end lasts until the story ends."""

_STAGES = {
    "created": "launching",
    "launched": "booting",
    "registered": "initializing",
    "initialized": "ready",
    "deleting": "leaving",
}
_POD_STAGES = {
    "created": "pending",
    "bound": "bound",
    "running": "running",
    "deleting": "leaving",
    "succeeded": "ended",
    "failed": "ended",
}

_ON_A_MACHINE = ("booting", "initializing", "ready", "bound", "running")


def pod_lanes(story: Story) -> list[Lane]:
    """A lane for each pod; pods of one owner to which the same happened at the same time share one."""
    decisions = _decisions(story)
    claims = {fact["node"]: fact["claim"] for fact in story.facts("claim") if fact.get("node")}
    places = story.places
    lost = _lost(story)
    alike: dict[Any, Lane] = {}
    for facts in _lives(story.facts("pod"), "pod"):
        lane = _pod_lane(facts, decisions.get(facts[0]["pod"], ()), story.end)
        owner = next((fact["owner"] for fact in facts if fact.get("owner")), "")
        name = facts[0]["pod"]
        node = next((fact["node"] for fact in reversed(facts) if fact.get("node")), "")
        _lose(lane["parts"], lost.get(node))
        place = places.get(owner or _reference("Pod", name))
        parts = tuple((stage, start, end) for stage, start, end, _ in lane["parts"])
        shown_lane = alike.setdefault((owner or name, node, parts), lane)
        if shown_lane is lane:
            lane |= {
                "kind": "pod",
                "name": name,
                "owner": owner,
                "node": node,
                "claim": claims.get(node, ""),
                "pods": [],
            }
            lane |= {"place": place} if place else {}
        shown_lane["pods"].append(name)
    return list(alike.values())


def _pod_lane(facts: Sequence[Line], decisions: Sequence[Line], end: float) -> Lane:
    parts: list[list[Any]] = []
    marks: list[list[Any]] = []
    closed = end
    for fact in facts:
        state = fact["state"]
        if state == "pending":
            marks.append([fact["t"], "waits", fact.get("why", "")])
        elif state == "deleted":
            closed = fact["t"]
        elif state in _POD_STAGES:
            parts.append([_POD_STAGES[state], fact["t"], None, fact.get("node", "")])
    _close(parts, closed)
    start = parts[0][1] if parts else facts[0]["t"]
    for fact in decisions:
        if start <= fact["t"] <= closed and fact["result"] in ("refused", "ignored"):
            marks.append([fact["t"], "unplaced", fact.get("why", "")])
    return {"parts": parts, "marks": marks}


def _decisions(story: Story) -> dict[str, list[Line]]:
    by_pod: dict[str, list[Line]] = {}
    for fact in story.facts("decision"):
        for pod in fact["pods"]:
            by_pod.setdefault(pod, []).append(fact)
    return by_pod


def claim_lanes(story: Story) -> list[Lane]:
    """A lane for each NodeClaim: launch, boot, registration, initialization, work, leave; refusals, power and disruption as marks."""
    disruptions = _disruptions(story, "claim")
    lost = _lost(story)
    lanes = []
    for facts in _lives(story.facts("claim"), "claim"):
        name = facts[0]["claim"]
        parts: list[list[Any]] = []
        chosen: dict[str, str] = {}
        closed = story.end
        for fact in facts:
            chosen |= {key: fact[key] for key in ("size", "zone", "capacity_type", "node", "vm") if fact.get(key)}
            if fact["state"] in _STAGES:
                parts.append([_STAGES[fact["state"]], fact["t"], None, ""])
            elif fact["state"] == "deleted":
                closed = fact["t"]
        _close(parts, closed)
        _lose(parts, lost.get(chosen.get("node", "")))
        marks = [*_refused(story, name), *_power(story, chosen.get("vm", "")), *disruptions.get(name, ())]
        marks += [
            [fact["t"], "node", f"Node {fact['node']} appears"]
            for fact in _nodes(story, chosen)
            if fact["state"] == "created"
        ]
        lanes.append(
            {
                "kind": "claim",
                "name": name,
                "nodepool": facts[0]["nodepool"],
                **chosen,
                "sizes": len(facts[0].get("sizes", ())),
                "parts": parts,
                "marks": sorted(marks, key=lambda mark: float(mark[0])),
            }
        )
    return lanes


def node_lanes(story: Story) -> list[Lane]:
    """A lane for each Node that no NodeClaim made."""
    ours = {fact["node"] for fact in story.facts("claim") if fact.get("node")}
    disruptions = _disruptions(story, "node")
    lanes = []
    for facts in _lives([fact for fact in story.facts("node") if fact["node"] not in ours], "node"):
        stages = {"created": "booting", "ready": "ready", "unready": "unready", "deleting": "leaving"}
        parts = [[stages[fact["state"]], fact["t"], None, ""] for fact in facts if fact["state"] in stages]
        gone = [fact["t"] for fact in facts if fact["state"] == "deleted"]
        _close(parts, gone[-1] if gone else story.end)
        first = facts[0]
        shown = {key: first.get(key, "") for key in ("nodepool", "size", "zone", "capacity_type", "node")}
        marks = disruptions.get(first["node"], [])
        lanes.append({"kind": "node", "name": first["node"], **shown, "parts": parts, "marks": marks})
    return lanes


def blocked_lanes(story: Story) -> list[Lane]:
    """Return the lanes that Karpenter leaves alone after a refusal: one for each size, family or capacity type, a part for each zone."""
    lanes: dict[str, Lane] = {}
    for fact in story.facts("blocked"):
        name = lane_name(fact)
        lane = lanes.setdefault(name, {"kind": "blocked", "name": name, "parts": [], "marks": []})
        place = place_name(fact["zone"]) if fact.get("size") or fact.get("family") else "everywhere"
        lane["parts"].append(["blocked", fact["t"], fact["until"], place, fact.get("reason", "")])
    return list(lanes.values())


def _lives(facts: Sequence[Line], key: str) -> Iterator[list[Line]]:
    """The facts of each thing from its creation to its end; a name that comes again is another thing."""
    lives: dict[str, list[Line]] = {}
    order: list[list[Line]] = []
    for fact in facts:
        if fact["state"] == "created" or fact[key] not in lives:
            lives[fact[key]] = []
            order.append(lives[fact[key]])
        lives[fact[key]].append(fact)
    yield from order


def _close(parts: list[list[Any]], end: float) -> None:
    """Let each part end where the next one begins, and the last one at the end."""
    for part, after in zip(parts, [*(part_after[1] for part_after in parts[1:]), end], strict=True):
        part[2] = after


def _lost(story: Story) -> dict[str, float]:
    """When Azure took the machine of a Node, by Node."""
    nodes = {
        fact["vm"]: fact["node"]
        for kind in ("claim", "node")
        for fact in story.facts(kind)
        if fact.get("vm") and fact.get("node")
    }
    return {nodes[boot["vm"]]: boot["t"] for boot in story.facts("boot") if boot.get("evicted") and boot["vm"] in nodes}


def _lose(parts: list[list[Any]], t: float | None) -> None:
    """From `t` on, when the machine is gone, nothing that was on it is as its state says."""
    if t is None:
        return
    before = list(parts)
    parts.clear()
    for stage, start, end, text in before:
        if stage not in _ON_A_MACHINE or end <= t:
            parts.append([stage, start, end, text])
            continue
        if start < t:
            parts.append([stage, start, t, text])
        parts.append(["lost", max(start, t), end, text])


def _refused(story: Story, claim: str) -> Iterator[list[Any]]:
    for call in story.facts("arm"):
        if call.get("claim") == claim and call["method"] == "PUT" and call["status"] >= 400:
            tried = " ".join(call[key] for key in ("size", "zone", "priority") if call.get(key))
            alone = "".join(
                f"; left alone {mark['time']}: {mark['what']}" for mark in left_alone(after_call(story, call))
            )
            yield [
                call["t"],
                "refused",
                f"{call.get('error') or call['status']} {tried}".strip() + f": {call.get('message', '')}{alone}",
            ]


def _power(story: Story, vm: str) -> Iterator[list[Any]]:
    words = {
        "on": "the machine has power",
        "off": "the machine loses power",
        "deleted": "the machine is deleted",
        "preempting": "Azure announces that it will take the machine",
        "failed": "the machine's creation failed",
    }
    signs = {"preempting": "notice", "failed": "broken"}
    for boot in story.facts("boot"):
        if vm and boot["vm"] == vm:
            text = "Azure takes the machine" if boot.get("evicted") else words[boot["state"]]
            error = f": {boot['error']} {boot.get('message', '')}" if boot.get("error") else ""
            sign = "taken" if boot.get("evicted") else signs.get(boot["state"], "power")
            yield [boot["t"], sign, text + error]


def _disruptions(story: Story, key: str) -> dict[str, list[list[Any]]]:
    marks: dict[str, list[list[Any]]] = {}
    for fact in story.facts("disruption"):
        text = f"{fact['decision']}: {fact['reason']}" + (f" ({fact['drift']})" if fact.get("drift") else "")
        problem = f"; stays: {fact['problem']}" if fact.get("problem") else ""
        for node in fact["nodes"]:
            marks.setdefault(node[key], []).append([fact["t"], "disrupted", text + problem])
    return marks


def _nodes(story: Story, chosen: Mapping[str, str]) -> list[Line]:
    name = chosen.get("node")
    return [fact for fact in story.facts("node") if fact["node"] == name] if name else []


def _reference(kind: str, name: str) -> str:
    """`Kind/name` of `namespace/name`."""
    return f"{kind}/{shorter(name)}"
