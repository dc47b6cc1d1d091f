"""Nodes and machines over time: what each is, what it holds, what it costs, and why it is as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.karpenter.disruption.events.texts import STAYS
from harness.kube.api.objects import shorter
from harness.reports.picture.story import Line, Story
from harness.wording import duration_text, first_few

__all__ = ["machines", "moments"]

_WHAT = ("claim", "nodepool", "size", "zone", "capacity_type")


def machines(story: Story) -> list[dict[str, Any]]:
    """A card for each Node and for each machine that has power before it is a Node.

    `power` are [t, on], `states` [t, state], `prices` [t, USD per hour], `usage` [t, pods, requests, allocatable],
    `notes` [t, kind, text]; all in order of time. `initialized` and `registered` are when it was, None where nobody says so.
    A price has a third member, true, where a spot machine is priced as on demand, for no spot price is known.
    """
    cards: dict[str, dict[str, Any]] = {}
    of_vm: dict[str, str] = {}
    initialized, registered = {}, {}
    pools, made = {}, {}
    for fact in story.facts("claim"):
        if fact.get("vm") and fact.get("node"):
            of_vm[fact["vm"]] = fact["node"]
        if fact["state"] == "initialized":
            initialized[fact.get("node")] = fact["t"]
        if fact["state"] == "registered":
            registered[fact.get("node")] = fact["t"]
        pools[fact["claim"]] = fact["nodepool"]
        if fact.get("vm"):
            made[fact["vm"]] = fact["claim"]
    for fact in story.facts("node"):
        if fact.get("vm"):
            of_vm[fact["vm"]] = fact["node"]
    for boot in story.facts("boot"):
        card = _card(cards, str(of_vm.get(boot["vm"], boot["vm"])), boot)
        if boot["state"] in ("on", "off", "deleted", "failed"):
            card["power"].append([boot["t"], boot["state"] == "on"])
        if boot.get("evicted") or boot["state"] in ("preempting", "failed"):
            text = boot.get("error") or ("taken by Azure" if boot.get("evicted") else "Azure announces to take it")
            card["notes"].append([boot["t"], "taken", text])
    for fact in story.facts("node"):
        card = _card(cards, fact["node"], fact)
        card["claim"] = card["claim"] or made.get(fact.get("vm"), "")
        card["states"].append([fact["t"], fact["state"]])
    for fact in story.facts("usage"):
        card = _card(cards, fact["node"], fact)
        card["usage"].append([fact["t"], fact["pods"], fact["requests"], _shown(fact["allocatable"])])
    for card in cards.values():
        card["initialized"] = initialized.get(card["name"])
        card["registered"] = registered.get(card["name"])
        card["nodepool"] = card["nodepool"] or pools.get(card["claim"], "")
    _price(story, cards.values())
    _notes(story, cards)
    return list(cards.values())


def _card(cards: dict[str, dict[str, Any]], name: str, fact: Line) -> dict[str, Any]:
    card = cards.get(name)
    if card is None:
        lists = ("power", "states", "prices", "usage", "notes")
        card = cards[name] = {"name": name, **dict.fromkeys(_WHAT, ""), **{key: [] for key in lists}}
    card.update({key: fact[key] for key in _WHAT if fact.get(key)})
    return card


def _shown(amounts: Line) -> dict[str, float]:
    """Without what no card shows."""
    return {name: amount for name, amount in amounts.items() if amount and not name.startswith("hugepages-")}


def _price(story: Story, cards: Iterable[dict[str, Any]]) -> None:
    prices: dict[tuple[str, str], list[list[Any]]] = {}
    for fact in story.facts("price"):
        prices.setdefault((fact["size"], fact["capacity_type"]), []).append(
            [fact["t"], fact["price"], *([True] if fact.get("as_on_demand") else [])]
        )
    for card in cards:
        card["prices"] = prices.get((card["size"], card["capacity_type"]), [])


def _notes(story: Story, cards: dict[str, dict[str, Any]]) -> None:
    """Decisions to disrupt, and why something is not disrupted, on the cards of their nodes."""
    for fact in story.facts("disruption"):
        text = f"{fact['decision']}: {fact['reason']}" + (f" ({fact['drift']})" if fact.get("drift") else "")
        for node in fact["nodes"]:
            if node["node"] in cards:
                cards[node["node"]]["notes"].append([fact["t"], "disrupted", text])
    for fact in story.facts("event"):
        kind, _, name = fact["object"].partition("/")
        if kind == "Node" and name in cards and fact["reason"] in STAYS:
            text = _nominated(story, cards[name], fact["t"]) if fact["message"] == _NOMINATED else fact["message"]
            cards[name]["notes"].append([fact["t"], "blocked", text])
    _failed(story, cards.values())
    for card in cards.values():
        card["notes"].sort(key=lambda note: note[0])


def _failed(story: Story, cards: Iterable[dict[str, Any]]) -> None:
    """An error that ends a search for what to disrupt keeps every Node of that time; one that comes again and again is told once."""
    errors: dict[str, list[float]] = {}
    for fact in story.facts("log"):
        error = str(fact.get("values", {}).get("error", ""))
        if fact["controller"] == "disruption" and fact["level"] == "error" and _SEARCH in error:
            errors.setdefault(error, []).append(fact["t"])
    for error, times in errors.items():
        often = f" ({len(times)} times until {duration_text(times[-1])})" if len(times) > 1 else ""
        for card in cards:
            states = [state for t, state in card["states"] if t <= times[-1]]
            if states and states[-1] != "deleted":
                since = max(times[0], card["states"][0][0])
                card["notes"].append([since, "blocked", f"Karpenter cannot decide what to disrupt{often}: {error}"])


_SEARCH = "computing disruption decision"
"""In errors of a whole turn of the controller (core pkg/controllers/disruption/controller.go)."""


_NOMINATED = "Node is nominated for a pending pod"


def _nominated(story: Story, card: Mapping[str, Any], t: float) -> str:
    """Karpenter's sentence with the pods that it means: those for which it last wanted the Node, or its NodeClaim."""
    targets = (f"Node/{card['name']}", f"NodeClaim/{card['claim']}")
    wanted = [fact for fact in story.facts("decision") if fact["t"] <= t and fact.get("target") in targets]
    if not wanted:
        return _NOMINATED
    pods = list(dict.fromkeys(pod for fact in wanted if fact["t"] == wanted[-1]["t"] for pod in fact["pods"]))
    went: dict[str, str] = {}
    for fact in story.facts("pod"):
        if fact["state"] == "bound" and wanted[-1]["t"] <= fact["t"] and fact.get("node") and fact["pod"] in pods:
            where = "here" if fact["node"] == card["name"] else f"on {fact['node']}"
            went.setdefault(fact["pod"], f" (runs {where} since {duration_text(fact['t'])})")
    shown = first_few([shorter(pod) + went.get(pod, "") for pod in pods], _NAMED)
    return f"{_NOMINATED}, since {duration_text(wanted[-1]['t'])}: {shown}"


def moments(story: Story) -> list[dict[str, Any]]:
    """The times at which something becomes another picture: {t, kind, text}, and the file's place of a step."""
    in_order = sorted(_moments(story), key=lambda moment: moment["t"])
    joined: list[dict[str, Any]] = []
    for first_of_moment in in_order:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last["kind"] == first_of_moment["kind"]
            and last["t"] == first_of_moment["t"]
            and first_of_moment["kind"] != "step"
        ):
            if first_of_moment["text"] in last["told"]:
                continue  # a Node that loses a taint is told as ready once more
            last["text"] = (
                f"{last['text']}, {first_of_moment['text']}"
                if last["count"] < _NAMED
                else f"{last['text'].split(' … ')[0]} … {last['count'] + 1} in all"
            )
            last["count"] += 1
            last["told"].add(first_of_moment["text"])
        else:
            joined.append({**first_of_moment, "count": 1, "told": {first_of_moment["text"]}})
    return [{key: value for key, value in moment.items() if key != "told"} for moment in joined]


_NAMED = 3


def _moments(story: Story) -> Iterator[dict[str, Any]]:
    for fact in story.facts("step"):
        place = {"place": {"file": fact["file"], "line": fact["line"]}} if fact.get("file") else {}
        yield {"t": fact["t"], "kind": "step", "text": fact["text"], **place}
    for fact in story.facts("claim"):
        if fact["state"] in ("launched", "deleting"):
            word = "launched" if fact["state"] == "launched" else "leaving"
            yield {"t": fact["t"], "kind": word, "text": f"{word}: {fact['claim']}"}
    for fact in story.facts("node"):
        if fact["state"] in ("ready", "unready", "deleted"):
            word = "gone" if fact["state"] == "deleted" else fact["state"]
            yield {"t": fact["t"], "kind": word, "text": f"{word}: {fact['node']}"}
    for fact in story.facts("disruption"):
        names = ", ".join(node["node"] for node in fact["nodes"])
        yield {"t": fact["t"], "kind": "disrupted", "text": f"{fact['decision']} for {fact['reason']}: {names}"}
    for fact in story.facts("boot"):
        if fact["state"] in ("preempting", "failed") or fact.get("evicted"):
            words = {"preempting": "Azure announces to take", "failed": "its creation failed"}
            word = "Azure takes" if fact.get("evicted") else words[fact["state"]]
            yield {"t": fact["t"], "kind": "taken", "text": f"{word}: {fact['vm']}"}
