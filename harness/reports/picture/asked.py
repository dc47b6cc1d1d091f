"""For whom sizes were looked at: every pod or workload that waited, with what Karpenter tried for it and what came of that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.kube.api.objects import shorter
from harness.reports.picture.story import Line, Story

__all__ = ["asked", "claims_of", "opens"]

_GROUPS = 80
"""Workloads that a page lists; those that wait come first."""

_TRIES = 20
"""The number of attempts that are shown of one workload: the first and the last ones."""


def asked(story: Story) -> list[dict[str, Any]]:
    """Each pod or workload that Karpenter decided on: `name`, `count` of pods, `waits`, and its `tries` in order of time.

    Who waits comes first. A try is a NodePool's `funnel` by number (None where no size was looked at), from `t` until `last`, with
    Karpenter's `why` not, or the `claim` that came of it; `unlooked` where it refused the NodePool before any size.
    """
    owners = {fact["pod"]: fact["owner"] for fact in story.facts("pod") if fact.get("owner")}
    funnels = {fact["number"]: fact for fact in story.facts("funnel")}
    pools = {fact["claim"]: fact["nodepool"] for fact in story.facts("claim")}
    waiting = story.pending_pods()
    groups: dict[str, dict[str, Any]] = {}
    pods: dict[str, set[str]] = {}
    for decision in story.facts("decision"):
        for pod in decision["pods"]:
            name = owners.get(pod) or shorter(pod)
            group = groups.setdefault(name, {"name": name, "count": 0, "waits": False, "tries": {}})
            pods.setdefault(name, set()).add(pod)
            group["waits"] = group["waits"] or pod in waiting
            for key, tried in _tries(decision, funnels, pools):
                attempt = group["tries"].setdefault(key, {**tried, "t": decision["t"]})
                attempt |= {"last": decision["t"], **({"why": tried["why"]} if tried["why"] else {})}
    order: dict[str, int] = {}
    for fact in story.facts("pod"):
        order.setdefault(owners.get(fact["pod"]) or shorter(fact["pod"]), len(order))
    shown = [{**group, "count": len(pods[name]), "tries": _some(group["tries"])} for name, group in groups.items()]
    return sorted(shown, key=lambda group: (not group["waits"], order.get(group["name"], 0)))[:_GROUPS]


def _tries(decision: Line, funnels: Mapping[int, Line], pools: Mapping[str, str]) -> list[tuple[Any, dict[str, Any]]]:
    """Return the attempts of a decision, each with a key that tells it from others."""
    kind, _, name = decision.get("target", "").partition("/")
    own = name if kind == "NodeClaim" and decision["result"] == "nodeclaim" else ""
    tries = []
    for tried in decision.get("tried", ()):
        funnel = tried["funnel"] if tried.get("funnel") in funnels else None
        claim = own if own and pools.get(own) == tried["nodepool"] else ""
        why = tried.get("why", "")
        key = (tried["nodepool"], funnel, claim, why if funnel is None else "")
        attempt = {"nodepool": tried["nodepool"], "funnel": funnel, "claim": claim, "why": why}
        tries.append(
            (key, attempt | ({"unlooked": True} if funnel is not None and _unlooked(funnels[funnel], why) else {}))
        )
    if not tries:
        why = decision.get("why", "") or f"placed on {decision.get('target', '')}"
        tries.append((("", None, own, why), {"nodepool": "", "funnel": None, "claim": "", "why": why}))
    return tries


def _unlooked(funnel: Line, why: str) -> bool:
    """Return whether a NodePool was refused before its sizes were looked at: some pass each filter, and Karpenter says
    no.

    Taints, ports, requirements and topology come before the sizes; sentences about sizes and `minValues` come after them
    (kcore ``pkg/controllers/provisioning/scheduling/nodeclaim.go``).
    """
    steps = funnel["steps"]
    return bool(why and steps and steps[-1]["left"]) and "instance type" not in why and "minValues" not in why


def _some(tries: Mapping[Any, dict[str, Any]]) -> list[dict[str, Any]]:
    every = sorted(tries.values(), key=lambda attempt: (attempt["last"], attempt["t"]))
    return every if len(every) <= _TRIES else [*every[: _TRIES // 2], *every[-_TRIES // 2 :]]


def claims_of(story: Story, groups: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the sizes that each NodeClaim of an attempt names, and the launched one, by NodeClaim."""
    wanted = {tried["claim"] for group in groups for tried in group["tries"]} - {""}
    launched = {fact["claim"]: fact.get("size", "") for fact in story.facts("claim") if fact["state"] == "launched"}
    return {
        fact["claim"]: {"ordered": list(fact.get("sizes", ())), "launched": launched.get(fact["claim"], "")}
        for fact in story.facts("claim")
        if fact["state"] == "created" and fact["claim"] in wanted
    }


def opens(story: Story, groups: list[dict[str, Any]], first: str) -> list[int]:
    """The group and the try that are shown first: of the last decision on the pod `first`, else of the last that looked at sizes."""
    owner = next((fact["owner"] for fact in story.facts("pod") if fact["pod"] == first and fact.get("owner")), "")
    name = owner or shorter(first)
    decision = story.last_decisions().get(first)
    every = [
        (attempt, [index, number])
        for index, group in enumerate(groups)
        for number, attempt in enumerate(group["tries"])
    ]
    own = [entry for entry in every if decision is not None and groups[entry[1][0]]["name"] == name]
    own = [entry for entry in own if decision is not None and entry[0]["last"] == decision["t"]] or own[-1:]
    looked = [entry for entry in every if entry[0]["funnel"] is not None]
    last = max((attempt["last"] for attempt, _ in looked), default=0.0)
    choices = own or [entry for entry in looked if entry[0]["last"] == last]
    return min(choices, key=lambda entry: (not entry[0]["claim"], entry[0]["funnel"] is None), default=({}, [0, 0]))[1]
