"""How the sizes that a region sells become the few that a pod gets: the funnel of each NodePool that was tried."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from harness.reports.picture.story import Line, Story
from harness.reports.picture.times import duration

__all__ = ["closed_texts", "funnels", "size_lists"]

_FUNNELS = 40
_PODS = 5


def size_lists(story: Story) -> dict[str, dict[str, Any]]:
    """The lists that funnels begin with, by number: `sold`, `dropped` by the provider's filters, `offered`."""
    return {
        str(fact["number"]): {key: fact[key] for key in ("nodepool", "sold", "dropped", "offered")}
        for fact in story.facts("sizes")
    }


def funnels(story: Story) -> list[dict[str, Any]]:
    """The funnels in the order in which they were needed, each with the pods that it was for and what came of it."""
    known = {fact["number"]: fact for fact in story.facts("funnel")}
    claims = {fact["claim"]: fact for fact in story.facts("claim") if fact["state"] == "created"}
    launched = {fact["claim"]: fact for fact in story.facts("claim") if fact["state"] == "launched"}
    opens = _opens(story, known)
    shown = _some(story, known, opens)
    found: dict[int, dict[str, Any]] = {}
    for decision in story.facts("decision"):
        kind, _, name = decision.get("target", "").partition("/")
        own = name if kind == "NodeClaim" and decision["result"] == "nodeclaim" else ""
        for tried in decision.get("tried", ()):
            number = tried.get("funnel")
            if number not in shown:
                continue
            one = found.setdefault(number, _funnel(known[number]))
            one["last"] = decision["t"]
            if tried.get("why"):
                one |= {"why": tried["why"], "said": decision["t"]}
            one["pods"] += [pod for pod in decision["pods"] if pod not in one["pods"]][
                : max(0, _PODS - len(one["pods"]))
            ]
            claim = claims.get(own)
            if claim is not None and claim["nodepool"] == one["nodepool"] and not one["claim"]:
                one |= {
                    "claim": own,
                    "ordered": list(claim.get("sizes", ())),
                    "launched": launched.get(own, {}).get("size", ""),
                }
    if opens in found:
        found[opens]["opens"] = True
    return list(found.values())


def _opens(story: Story, known: Container[int]) -> int | None:
    """The funnel that is shown first: of the last decision on a pod that still waits, else of the last decision."""
    waits = story.pending_pods()
    funnels = [
        ([one["funnel"] for one in decision.get("tried", ()) if one.get("funnel") in known], decision)
        for decision in story.facts("decision")
    ]
    of_all = [(numbers, decision) for numbers, decision in funnels if numbers]
    of_waiting = [one for one in of_all if any(pod in waits for pod in one[1]["pods"])]
    for numbers, decision in reversed(of_waiting or of_all):
        return int(numbers[-1 if decision["result"] == "nodeclaim" else 0])  # the one that it was made for comes last
    return None


def _some(story: Story, known: Container[int], opens: int | None) -> set[int]:
    """At most _FUNNELS of those that decisions name: the first and the last ones."""
    order = list(
        dict.fromkeys(
            one["funnel"]
            for decision in story.facts("decision")
            for one in decision.get("tried", ())
            if one.get("funnel") in known
        )
    )
    half = _FUNNELS // 2
    return {
        *(order if len(order) <= _FUNNELS else [*order[:half], *order[-half:]]),
        *([] if opens is None else [opens]),
    }


def _funnel(fact: Line) -> dict[str, Any]:
    shown = {key: fact[key] for key in ("t", "number", "nodepool", "sizes")}
    return {
        **shown,
        "steps": [_step(step) for step in fact["steps"]],
        "pods": [],
        "why": "",
        "said": fact["t"],
        "claim": "",
        "ordered": [],
        "launched": "",
        "opens": False,
    }


def _step(step: Line) -> dict[str, Any]:
    """A filter; of what cannot be had `closed` says why, by the positions of sizes."""
    return {**step, "closed": closed_texts(step)} if "closed" in step else dict(step)


def closed_texts(step: Line) -> dict[str, list[int]]:
    """Why sizes cannot be had, each reason with their positions in the list of sizes."""
    reasons: dict[int, dict[tuple[str, str], Line]] = {}
    for one in sorted(
        step["closed"], key=lambda one: -one.get("until", 0.0)
    ):  # the first mark that ends opens the size
        for position in _positions(one["removed"]):
            reasons.setdefault(position, {})[one["what"], one.get("name", "")] = one
    texts: dict[str, list[int]] = {}
    for position, found in sorted(reasons.items()):
        texts.setdefault("; ".join(sorted(map(_closed, found.values()))), []).append(position)
    return texts


def _closed(one: Line) -> str:
    name = one.get("name", "")
    if one["what"] == "mark":
        return f"Azure refused it, and Karpenter leaves it alone until {duration(one['until'])} (its word for that: {name})"
    if one["what"] == "quota":
        return f"Azure's quota {name} has {max(0, one.get('left', 0))} of {one.get('limit', 0)} vCPUs left"
    return {"price": "no price is known", "spot": "not sold as spot"}[one["what"]]


def _positions(text: str) -> Iterator[int]:
    """`0-14,17` as numbers."""
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        yield from range(int(low), int(high or low) + 1)
