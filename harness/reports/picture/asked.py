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
"""Of one workload: the first and the last ones."""


def asked(story: Story) -> list[dict[str, Any]]:
    """Each pod or workload that Karpenter decided on: `name`, `count` of pods, `waits`, and its `tries` in order of time.

    Who waits comes first. A try is a NodePool's `funnel` by number (None where no size was looked at), from `t` until `last`, with
    Karpenter's `why` not, or the `claim` that came of it; `unlooked` where it refused the NodePool before any size.
    """
    owners = {fact["pod"]: fact["owner"] for fact in story.facts("pod") if fact.get("owner")}
    known = {fact["number"]: fact for fact in story.facts("funnel")}
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
            for key, tried in _tries(decision, known, pools):
                one = group["tries"].setdefault(key, {**tried, "t": decision["t"]})
                one |= {"last": decision["t"], **({"why": tried["why"]} if tried["why"] else {})}
    order: dict[str, int] = {}
    for fact in story.facts("pod"):
        order.setdefault(owners.get(fact["pod"]) or shorter(fact["pod"]), len(order))
    found = [{**group, "count": len(pods[name]), "tries": _some(group["tries"])} for name, group in groups.items()]
    return sorted(found, key=lambda one: (not one["waits"], order.get(one["name"], 0)))[:_GROUPS]


def _tries(decision: Line, known: Mapping[int, Line], pools: Mapping[str, str]) -> list[tuple[Any, dict[str, Any]]]:
    """What a decision tried, each with what tells it from others."""
    kind, _, name = decision.get("target", "").partition("/")
    own = name if kind == "NodeClaim" and decision["result"] == "nodeclaim" else ""
    found = []
    for tried in decision.get("tried", ()):
        funnel = tried["funnel"] if tried.get("funnel") in known else None
        claim = own if own and pools.get(own) == tried["nodepool"] else ""
        why = tried.get("why", "")
        key = (tried["nodepool"], funnel, claim, why if funnel is None else "")
        one = {"nodepool": tried["nodepool"], "funnel": funnel, "claim": claim, "why": why}
        found.append((key, one | ({"unlooked": True} if funnel is not None and _unlooked(known[funnel], why) else {})))
    if not found:
        why = decision.get("why", "") or f"placed on {decision.get('target', '')}"
        found.append((("", None, own, why), {"nodepool": "", "funnel": None, "claim": "", "why": why}))
    return found


def _unlooked(funnel: Line, why: str) -> bool:
    """Whether a NodePool was refused before its sizes were looked at: some pass each filter, and Karpenter says no.

    Taints, ports, requirements and topology come before the sizes; sentences about sizes and `minValues` come after them
    (kcore ``pkg/controllers/provisioning/scheduling/nodeclaim.go``).
    """
    steps = funnel["steps"]
    return bool(why and steps and steps[-1]["left"]) and "instance type" not in why and "minValues" not in why


def _some(tries: Mapping[Any, dict[str, Any]]) -> list[dict[str, Any]]:
    every = sorted(tries.values(), key=lambda one: (one["last"], one["t"]))
    return every if len(every) <= _TRIES else [*every[: _TRIES // 2], *every[-_TRIES // 2 :]]


def claims_of(story: Story, groups: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Of each NodeClaim that came of a try the sizes that it names, and the one that was launched."""
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
    every = [(one, [index, number]) for index, group in enumerate(groups) for number, one in enumerate(group["tries"])]
    own = [each for each in every if decision is not None and groups[each[1][0]]["name"] == name]
    own = [each for each in own if decision is not None and each[0]["last"] == decision["t"]] or own[-1:]
    looked = [each for each in every if each[0]["funnel"] is not None]
    last = max((one["last"] for one, _ in looked), default=0.0)
    found = own or [each for each in looked if each[0]["last"] == last]
    return min(found, key=lambda each: (not each[0]["claim"], each[0]["funnel"] is None), default=({}, [0, 0]))[1]
