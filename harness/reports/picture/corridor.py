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
    for told in _lives(story.facts("pod"), "pod"):
        lane = _pod_lane(told, decisions.get(told[0]["pod"], ()), story.end)
        owner = next((one["owner"] for one in told if one.get("owner")), "")
        name = told[0]["pod"]
        node = next((one["node"] for one in reversed(told) if one.get("node")), "")
        _lose(lane["parts"], lost.get(node))
        place = places.get(owner or _reference("Pod", name))
        parts = tuple((what, start, end) for what, start, end, _ in lane["parts"])
        found = alike.setdefault((owner or name, node, parts), lane)
        if found is lane:
            lane |= {
                "kind": "pod",
                "name": name,
                "owner": owner,
                "node": node,
                "claim": claims.get(node, ""),
                "pods": [],
            }
            lane |= {"place": place} if place else {}
        found["pods"].append(name)
    return list(alike.values())


def _pod_lane(told: Sequence[Line], decisions: Sequence[Line], end: float) -> Lane:
    parts: list[list[Any]] = []
    marks: list[list[Any]] = []
    closed = end
    for one in told:
        state = one["state"]
        if state == "pending":
            marks.append([one["t"], "waits", one.get("why", "")])
        elif state == "deleted":
            closed = one["t"]
        elif state in _POD_STAGES:
            parts.append([_POD_STAGES[state], one["t"], None, one.get("node", "")])
    _close(parts, closed)
    start = parts[0][1] if parts else told[0]["t"]
    for one in decisions:
        if start <= one["t"] <= closed and one["result"] in ("refused", "ignored"):
            marks.append([one["t"], "unplaced", one.get("why", "")])
    return {"parts": parts, "marks": marks}


def _decisions(story: Story) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    for fact in story.facts("decision"):
        for pod in fact["pods"]:
            found.setdefault(pod, []).append(fact)
    return found


def claim_lanes(story: Story) -> list[Lane]:
    """A lane for each NodeClaim: launch, boot, registration, initialization, work, leave; refusals, power and disruption as marks."""
    disruptions = _disruptions(story, "claim")
    lost = _lost(story)
    lanes = []
    for told in _lives(story.facts("claim"), "claim"):
        name = told[0]["claim"]
        parts: list[list[Any]] = []
        chosen: dict[str, str] = {}
        closed = story.end
        for one in told:
            chosen |= {key: one[key] for key in ("size", "zone", "capacity_type", "node", "vm") if one.get(key)}
            if one["state"] in _STAGES:
                parts.append([_STAGES[one["state"]], one["t"], None, ""])
            elif one["state"] == "deleted":
                closed = one["t"]
        _close(parts, closed)
        _lose(parts, lost.get(chosen.get("node", "")))
        marks = [*_refused(story, name), *_power(story, chosen.get("vm", "")), *disruptions.get(name, ())]
        marks += [
            [one["t"], "node", f"Node {one['node']} appears"]
            for one in _nodes(story, chosen)
            if one["state"] == "created"
        ]
        lanes.append(
            {
                "kind": "claim",
                "name": name,
                "nodepool": told[0]["nodepool"],
                **chosen,
                "sizes": len(told[0].get("sizes", ())),
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
    for told in _lives([fact for fact in story.facts("node") if fact["node"] not in ours], "node"):
        stages = {"created": "booting", "ready": "ready", "unready": "unready", "deleting": "leaving"}
        parts = [[stages[one["state"]], one["t"], None, ""] for one in told if one["state"] in stages]
        gone = [one["t"] for one in told if one["state"] == "deleted"]
        _close(parts, gone[-1] if gone else story.end)
        first = told[0]
        shown = {key: first.get(key, "") for key in ("nodepool", "size", "zone", "capacity_type", "node")}
        marks = disruptions.get(first["node"], [])
        lanes.append({"kind": "node", "name": first["node"], **shown, "parts": parts, "marks": marks})
    return lanes


def blocked_lanes(story: Story) -> list[Lane]:
    """What Karpenter leaves alone after a refusal: a lane for each size, family or capacity type, a part for each zone."""
    lanes: dict[str, Lane] = {}
    for fact in story.facts("blocked"):
        what = lane_name(fact)
        lane = lanes.setdefault(what, {"kind": "blocked", "name": what, "parts": [], "marks": []})
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
    """Lets each part end where the next one begins, and the last one at the end."""
    for part, after in zip(parts, [*(one[1] for one in parts[1:]), end], strict=True):
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
    told = list(parts)
    parts.clear()
    for what, start, end, text in told:
        if what not in _ON_A_MACHINE or end <= t:
            parts.append([what, start, end, text])
            continue
        if start < t:
            parts.append([what, start, t, text])
        parts.append(["lost", max(start, t), end, text])


def _refused(story: Story, claim: str) -> Iterator[list[Any]]:
    for call in story.facts("arm"):
        if call.get("claim") == claim and call["method"] == "PUT" and call["status"] >= 400:
            tried = " ".join(call[key] for key in ("size", "zone", "priority") if call.get(key))
            alone = "".join(f"; left alone {one['time']}: {one['what']}" for one in left_alone(after_call(story, call)))
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
    found: dict[str, list[list[Any]]] = {}
    for fact in story.facts("disruption"):
        text = f"{fact['decision']}: {fact['reason']}" + (f" ({fact['drift']})" if fact.get("drift") else "")
        problem = f"; stays: {fact['problem']}" if fact.get("problem") else ""
        for node in fact["nodes"]:
            found.setdefault(node[key], []).append([fact["t"], "disrupted", text + problem])
    return found


def _nodes(story: Story, chosen: Mapping[str, str]) -> list[Line]:
    name = chosen.get("node")
    return [fact for fact in story.facts("node") if fact["node"] == name] if name else []


def _reference(kind: str, name: str) -> str:
    """`Kind/name` of `namespace/name`."""
    return f"{kind}/{shorter(name)}"
