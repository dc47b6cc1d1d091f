"""A reader's first questions, answered in a line or two: why is a pod pending, what did Azure refuse, what does it
cost, who left and why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from harness.engine.runaway import Loop, Runaway
from harness.kube.api.objects import shorter
from harness.reports.picture.left_alone import after_boot, after_call, left_alone
from harness.reports.picture.sizes import closed_texts
from harness.reports.picture.story import Line, Story
from harness.reports.picture.tries import Tries
from harness.trace.prices import unpriced_text
from harness.wording import duration_text, first_few

__all__ = [
    "cost_steps",
    "departures",
    "gist",
    "pending",
    "refusals",
    "rejections",
    "runaways",
    "spent",
    "taken",
    "unpriced",
    "without_power",
]

_ALIKE = 20
_TOLD_ELSEWHERE = frozenset({"launch", "nodepool-filter"})
"""Layers whose refusals are told with what Azure refused, and with the pods that wait."""


def gist(world: Mapping[str, Any]) -> list[str]:
    """Return the main facts of a world (world_value) in a few words each: `1 pod waits`, `Azure refused 4 requests`, `2 nodes`."""
    waiting = sum(group["count"] for group in world["pending"])
    refused = len(
        {rejection["object"] for rejection in world["rejections"] if rejection["layer"] not in _TOLD_ELSEWHERE}
    )
    left = len(world["disruptions"])
    counts = (
        (waiting, "1 pod waits", f"{waiting} pods wait"),
        (refused, "1 object refused", f"{refused} objects refused"),
        (len(world["refusals"]), "Azure refused 1 request", f"Azure refused {len(world['refusals'])} requests"),
        (len(world["taken"]), "Azure took 1 machine", f"Azure took {len(world['taken'])} machines"),
        (len(world["runaways"]), "a runaway", f"{len(world['runaways'])} runaways"),
        (left, "1 decision to remove nodes", f"{left} decisions to remove nodes"),
    )
    return [singular if count == 1 else more for count, singular, more in counts if count]


def pending(story: Story, refused: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Pods that wait at the end, those with the same reasons together: Karpenter's `why`, the scheduler's, NodePools, `causes`, `advice`.

    `tries` says what became of the machines that Karpenter asked for on account of them; ``refused`` is what Azure refused (refusals).
    """
    decisions, places = story.last_decisions(), story.places
    advice = {pod: fact for fact in story.facts("advice") for pod in fact["pods"]}
    groups: dict[Any, dict[str, Any]] = {}
    members: dict[int, list[str]] = {}
    for name, facts in story.pending_pods().items():
        decision: Line = decisions.get(name, {})
        scheduler = next((fact["why"] for fact in reversed(facts) if fact.get("why")), "")
        owner = next((fact["owner"] for fact in facts if fact.get("owner")), "")
        why = decision.get("why", "")
        target = decision.get("target", "") if decision.get("result") in ("existing", "nodeclaim") else ""
        reference = owner or f"Pod/{shorter(name)}"
        group = groups.setdefault(
            (why, scheduler, owner or target),
            {
                "pods": [],
                "count": 0,
                "since": facts[0]["t"],
                "why": why,
                "scheduler": scheduler,
                "target": target,
                "tried": [
                    {"nodepool": attempt["nodepool"], "why": attempt.get("why", "")}
                    for attempt in decision.get("tried", ())
                ],
                "closed": _closed(story, decision),
                "causes": list(advice.get(name, {}).get("causes", ())),
                "advice": list(advice.get(name, {}).get("lines", ())),
                "place": places.get(reference),
            },
        )
        group["count"] += 1
        if len(group["pods"]) < _ALIKE:
            group["pods"].append(name)
        members.setdefault(id(group), []).append(name)
    tries = Tries.of(story, refused)
    return [{**group, "tries": tries.text(members[id(group)], group["target"])} for group in groups.values()]


def _closed(story: Story, decision: Line) -> list[str]:
    """Return a sentence for each NodePool whose last sizes cannot be had now: the sizes, and why not."""
    funnels = {fact["number"]: fact for fact in story.facts("funnel")}
    offered = {fact["number"]: fact["offered"] for fact in story.facts("sizes")}
    texts = []
    for tried in decision.get("tried", ()):
        funnel = funnels.get(tried.get("funnel"))
        last = funnel["steps"][-1] if funnel is not None and funnel["steps"] else {}
        if funnel is None or last.get("left") or not last.get("closed"):
            continue
        for why, positions in closed_texts(last).items():
            names = [offered[funnel["sizes"]][position].removeprefix("Standard_") for position in positions]
            texts.append(f"NodePool {tried['nodepool']} would take {first_few(names, _NAMED)}, not to be had: {why}")
    return texts[:_NAMED]


_NAMED = 4


def taken(story: Story) -> list[dict[str, Any]]:
    """Machines that Azure took while they ran, in order of time."""
    return [
        {key: boot.get(key, "") for key in ("t", "vm", "size", "zone", "capacity_type", "claim")}
        for boot in story.facts("boot")
        if boot.get("evicted")
    ]


def refusals(story: Story) -> list[dict[str, Any]]:
    """Every request for something new that Azure refused, and machines whose creation failed later, in order of time."""
    refused_calls = []
    for call in story.facts("arm"):
        if call["method"] in ("PUT", "POST") and call["status"] >= 400:
            shown = {
                key: call.get(key, "")
                for key in (
                    "t",
                    "status",
                    "error",
                    "message",
                    "operation",
                    "name",
                    "size",
                    "zone",
                    "priority",
                    "claim",
                    "fault",
                )
            }
            refused_calls.append({**shown, "blocked": left_alone(after_call(story, call))})
    for boot in story.facts("boot"):
        if boot["state"] == "failed":
            shown = {key: boot.get(key, "") for key in ("t", "error", "message", "size", "zone", "claim")}
            refused_calls.append(
                {
                    **shown,
                    "status": 0,
                    "operation": "virtualMachines",
                    "name": boot["vm"],
                    "priority": boot["capacity_type"],
                    "fault": "",
                    "blocked": left_alone(after_boot(story, boot)),
                }
            )
    return sorted(refused_calls, key=lambda refusal: refusal["t"])


def rejections(story: Story) -> list[dict[str, Any]]:
    """Return the refusals of admission layers and launches; equal ones are counted."""
    counts = Counter(
        (fact["object"], fact["layer"], fact.get("key", ""), fact["text"]) for fact in story.facts("rejection")
    )
    first = {
        (fact["object"], fact["layer"], fact.get("key", ""), fact["text"]): fact["t"]
        for fact in reversed(story.facts("rejection"))
    }
    return [
        {"t": first[key], "object": key[0], "layer": key[1], "key": key[2], "text": key[3], "count": count}
        for key, count in counts.items()
    ]


def runaways(story: Story) -> list[dict[str, Any]]:
    """Return the repetitions without end, the last of each subject: its `course`, its `loops` in words, the label at `fault`."""
    last = {fact["subject"]: fact for fact in story.facts("runaway")}
    return [
        {
            "subject": subject,
            "course": fact.get("course", ""),
            "loops": _told(subject, fact["loops"]),
            "count": len(fact["loops"]),
            "fault": fact.get("fault", ""),
        }
        for subject, fact in last.items()
    ]


def _told(subject: str, facts: Sequence[Line]) -> list[str]:
    loops = (Loop(None, fact["at"], tuple(fact["made"]), why=fact["why"]) for fact in facts)
    return Runaway(subject, tuple(loops)).told_loops()


def cost_steps(story: Story) -> list[list[float]]:
    """[t, USD per hour, machines] whenever it changed; a fourth member, true, where a machine counts as nothing for want of a price."""
    return [
        [
            fact["t"],
            fact["price"],
            fact.get("machines", fact.get("nodes", 0)),
            *([True] if fact.get("unpriced") else []),
        ]
        for fact in story.facts("cost")
    ]


def without_power(story: Story) -> int:
    """Return how many NodeClaims there are at the end whose machine has no power yet: it is not in the price."""
    last = {fact["claim"]: fact["state"] for fact in story.facts("claim")}
    powered = {boot.get("claim", "") for boot in story.facts("boot")}
    return sum(state in ("created", "launched") and claim not in powered for claim, state in last.items())


def unpriced(story: Story) -> list[str]:
    """Since when until when machines count as nothing in what all cost, for no price of their size is known."""
    lasting: dict[str, list[list[float]]] = {}
    steps = story.facts("cost")
    for step, after in zip(steps, [*(later["t"] for later in steps[1:]), story.end], strict=False):
        for size in step.get("unpriced", ()):
            spans = lasting.setdefault(size, [])
            if spans and spans[-1][1] == step["t"]:
                spans[-1][1] = after
            else:
                spans.append([step["t"], after])
    return [
        f"{_spans(spans, story.end)} {size} counts as nothing: no price of it is known"
        for size, spans in lasting.items()
    ]


def _spans(spans: Sequence[Sequence[float]], end: float) -> str:
    """`from 51s to 3m6s and from 10m on`."""
    return " and ".join(
        f"from {duration_text(start)} {'on' if stop >= end else f'to {duration_text(stop)}'}" for start, stop in spans
    )


def departures(story: Story) -> list[dict[str, Any]]:
    """Decisions that nodes go, by what and why: their `count`, the `savings` of those that are known, and in `notes` what else to know.

    What was taken back saves nothing.
    """
    groups: dict[tuple[str, str], list[Line]] = {}
    for fact in story.facts("disruption"):
        groups.setdefault((fact["decision"], fact["reason"]), []).append(fact)
    return [_departure(decision, reason, facts) for (decision, reason), facts in groups.items()]


def _departure(decision: str, reason: str, facts: Sequence[Line]) -> dict[str, Any]:
    taken_back = [fact for fact in facts if fact.get("problem")]
    gone = [fact for fact in facts if not fact.get("problem")]
    guessed = [fact for fact in gone if fact.get("unpriced")]
    savings = [fact["savings"] for fact in gone if not fact.get("unpriced")]
    notes = _which(facts)
    notes += [f"{_times(len(taken_back), len(facts), 'taken back')}: {taken_back[0]['problem']}"] if taken_back else []
    if guessed:
        sizes = {size: usd for fact in guessed for size, usd in fact["unpriced"].items()}
        notes.append(f"{_times(len(guessed), len(facts), 'what it saves is not known')}: {unpriced_text(sizes)}")
    return {
        "what": f"{decision} for {reason}",
        "count": len(facts),
        "savings": round(sum(savings), 6) if any(savings) else None,
        "notes": notes,
    }


def _which(facts: Sequence[Line]) -> list[str]:
    """The Nodes of some decisions, and when it was: `aks-a, aks-b, at 1m50s`."""
    names = list(dict.fromkeys(node["node"] for fact in facts for node in fact.get("nodes", ()) if node.get("node")))
    first, last = (duration_text(fact["t"]) for fact in (facts[0], facts[-1]))
    when = f"at {first}" if first == last else f"from {first} to {last}"
    return [f"{first_few(names, _NAMED)}, {when}"] if names else []


def _times(count: int, of: int, text: str) -> str:
    return text if count == of else f"{count} of them {text}"


def spent(story: Story) -> float:
    """USD in the whole story: price per hour times the hours it held."""
    steps = cost_steps(story)
    lasting = zip(steps, [*steps[1:], [story.end, 0.0, 0.0]], strict=False)
    return round(sum(step[1] * (after[0] - step[0]) / 3600 for step, after in lasting), 6)
