"""Differences of traces, grouped: the same difference of many objects and cases is told once, and what follows from another one apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.explain.sizes.amounts import amount_text
from harness.explain.traces.sides import WHOLE, value_text, what_differs
from harness.kube.api.quantity import NANO, Quantity
from harness.trace.comparing import Comparison, Difference, Missing
from harness.trace.prices import hourly

__all__ = ["Change", "Fact", "Group", "Place", "grouped", "place_of"]

Change = str
"""`new` is only in B, `gone` only in A, `changed` in both."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a fact: `about` an area, of an object (`kind` and `name`, both empty for the whole world); `what` it is."""

    about: str
    kind: str
    name: str
    what: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A difference with its case and its place."""

    case: str
    place: Place
    difference: Difference


@dataclass(slots=True)
class Group:
    """One difference: `objects` of `there` have it, in `cases`; `follows` names the difference that it follows from.

    `values` are both sides in words, with how many facts say so; short ones are together, long ones have groups of their own.
    """

    change: Change
    about: str
    what: str
    kind: str
    follows: str = ""
    there: int = 0
    values: dict[tuple[str, str], int] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)

    @property
    def objects(self) -> list[tuple[str, str]]:
        """Case and name of each object that has it."""
        return list(dict.fromkeys((fact.case, fact.place.name) for fact in self.facts if fact.place.name))

    @property
    def cases(self) -> list[str]:
        """The cases in which it is."""
        return list(dict.fromkeys(fact.case for fact in self.facts))

    @property
    def shared(self) -> bool:
        """Return whether both sides have a list, of which `values` holds only the items of one side."""
        sides = [side for fact in self.facts for side in (fact.difference.left, fact.difference.right)]
        return all(isinstance(side, list) and len(side) > 0 for side in sides)

    def add(self, fact: Fact, left: str, right: str) -> None:
        """Add one fact more."""
        self.values[left, right] = self.values.get((left, right), 0) + 1
        self.facts.append(fact)


_AREAS = (
    "expectations", "pods", "refused", "NodeClaims", "sizes", "labels", "taints", "prices", "disruptions", "Azure",
    "conditions", "Events", "decisions", "other",
)  # fmt: skip
"""The areas of differences, the weightiest first."""

_NODE: Mapping[str, tuple[str, str]] = {
    "labels": ("labels", "label {}"),
    "writers": ("labels", "who writes label {}"),
    "taints": ("taints", "taints"),
    "allocatable": ("NodeClaims", "allocatable {}"),
    "price": ("prices", "price"),
    "gone": ("NodeClaims", "gone at the end"),
}
_CLAIM: Mapping[str, tuple[str, str]] = {
    "sizes": ("sizes", "sizes that it may become"),
    "Azure": ("Azure", "calls of Azure"),
    "refused": ("refused", "refused"),
    "Events": ("Events", "Events"),
    "conditions": ("conditions", "condition {}"),
    "requests": ("NodeClaims", "requests of {}"),
}
_OF_PODS = "Pod of "
_SOLD = "sizes offered, before its requirements"
_OF_SIZE = re.compile(
    r"label (karpenter\.azure\.com/sku-\S+|(beta\.)?kubernetes\.io/arch|(node\.kubernetes\.io|beta\.kubernetes\.io)/instance-type"
    r"|karpenter\.sh/instance-\S+|node\.kubernetes\.io/\S*)|allocatable \S+|price|calls of Azure|image"
)
_AMOUNT = re.compile(r"(?:requests of|allocatable) (\S+)")
_OF_IMAGE = re.compile(r"label kubernetes\.azure\.com/node-image-version")


def place_of(fact: str) -> Place:
    """The place of a difference by its path (`NodeClaims[default 1][Nodes][0][labels][a]`)."""
    part, *keys = [fact.partition("[")[0], *re.findall(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]", fact)]
    if part == "NodeClaims" and keys:
        return _of_claim(keys[0], keys[1:])
    if part == "other Nodes" and len(keys) > 1:
        return _of_parts(_NODE, "Node", keys[0], keys[1:])
    if part == "sizes" and keys:
        return Place("sizes", "NodePool", keys[0], _SOLD)
    if part == "conditions" and keys:
        kind, _, name = keys[0].partition("/")
        return Place("conditions", kind, name, f"condition {' '.join(keys[1:])}".strip())
    if part in ("pods", "price", "disruptions", "other calls", "expectations"):
        areas = {"price": "prices", "other calls": "Azure"}
        words = {
            "price": "USD per hour at the end",
            "disruptions": "decisions to remove nodes",
            "other calls": "calls of Azure",
        }
        if part == "pods" and len(keys) > 1:
            kind, name = _pods_of(f"Pod {keys[1]}")
            return Place("pods", kind, name, "has a Node")
        if part == "expectations":
            return Place(part, "", "", f"expectation {fact.partition('[')[2].removesuffix(']')}")
        return Place(areas.get(part, part), "", "", words.get(part, "pods per Node" if part == "pods" else part))
    parts_named = {
        "decisions": "what Karpenter decides",
        "refused": "refused",
        "Events": "Events",
        "other Nodes": "Node",
    }
    kind, name = "", " ".join(keys[:1])
    if name.startswith(_OF_PODS):
        kind, name = _pods_of(name)
    elif part == "decisions" and name.startswith("of "):
        kind, name = _pods_of(f"Pod {name}")
    elif part == "Events":
        kind, _, name = name.rpartition("/")
    return Place(part if part in _AREAS else "other", kind or "object", name, parts_named.get(part, part))


def _pods_of(subject: str) -> tuple[str, str]:
    """Return kind and name of the subject of `Pod of Deployment/shop/cart` or `Pod shop/cart-1`: the workload, else the pod."""
    name = subject.removeprefix("Pod ")
    return ("workload", name.removeprefix("of ")) if name.startswith("of ") else ("Pod", name)


def _of_claim(name: str, keys: Sequence[str]) -> Place:
    if not keys:
        return Place("NodeClaims", "NodeClaim", name, "NodeClaim")
    if keys[0] == "Nodes" and len(keys) > 2:
        return _of_parts(_NODE, "Node", name, keys[2:])
    if keys[0] == "Nodes":
        return Place("NodeClaims", "NodeClaim", name, "Node")
    return _of_parts(_CLAIM, "NodeClaim", name, keys)


def _of_parts(table: Mapping[str, tuple[str, str]], kind: str, name: str, keys: Sequence[str]) -> Place:
    about, text = table.get(keys[0], ("NodeClaims", keys[0]))
    return Place(about, kind, name, text.format(*(keys[1:] or ("",))).strip())


def grouped(comparisons: Sequence[tuple[str, Comparison]]) -> list[Group]:
    """The groups of what really differs, what comes first by weight; those that follow from others last."""
    by_key: dict[Any, Group] = {}
    counts: dict[str, int] = {}
    for case, comparison in comparisons:
        for kind, count in comparison.objects.items():
            counts[kind] = counts.get(kind, 0) + count
        facts = [Fact(case, place_of(difference.fact), difference) for difference in comparison.real]
        reasons = _Reasons(facts, comparison.missing)
        for fact in facts:
            place, follows = fact.place, reasons.of(fact)
            left, right = sides = _sides(fact)
            change = _change(left, right)
            texts = _side_texts(left, right, place)
            long = max(map(len, texts)) > _SHORT
            key = (change, place.about, place.what, place.kind, follows, *(map(repr, sides) if long else ()))
            group = by_key.get(key)
            if group is None:
                group = by_key[key] = Group(change, place.about, place.what, place.kind, follows)
            group.add(fact, *texts)
    for group in by_key.values():
        group.there = counts.get(group.kind, 0)
    return sorted(
        by_key.values(),
        key=lambda group: (bool(group.follows), _AREAS.index(group.about), group.change, -len(group.facts)),
    )


_SHORT = 60


def _sides(fact: Fact) -> tuple[Any, Any]:
    """Both sides, of lists and of long sentences what only one has, without the object's own name, so that objects alike say the same."""
    left, right = what_differs(fact.difference)
    name = fact.place.name
    left, right = _anonymous(_alone(left), name), _anonymous(_alone(right), name)
    if isinstance(left, str) and isinstance(right, str) and min(len(left), len(right)) > 2 * _SHORT:
        parts = left.split(", "), right.split(", ")
        left, right = (_own_parts(part, other) for part, other in (parts, parts[::-1]))
    return left, right


def _own_parts(mine: Sequence[str], theirs: Sequence[str]) -> str:
    """A sentence without the parts that the other one has, too; empty where nothing is left."""
    parts_shown = [part if part not in theirs else "…" for part in mine]
    shown = [part for place, part in enumerate(parts_shown) if part != "…" or parts_shown[place - 1 : place] != ["…"]]
    return ", ".join(shown) if shown != ["…"] else ""


def _alone(value: Any) -> Any:
    return value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str) else value


class _Reasons:
    """The reasons of differences that follow from others, in one case."""

    def __init__(self, facts: Sequence[Fact], missing: Sequence[Missing]) -> None:
        self._filters = ", ".join(
            dict.fromkeys(f"filter {size.filter}" if size.filter else "not sold" for size in missing)
        )
        self._there = {(fact.place.kind, fact.place.name, fact.place.what) for fact in facts}
        self._sizes = any(fact.place.what == _SOLD for fact in facts)
        self._bound = any(fact.place.what == "has a Node" for fact in facts)
        self._decided = any(fact.place.about == "decisions" for fact in facts)

    def of(self, fact: Fact) -> str:
        """The difference that a fact follows from; empty where it stands for itself."""
        place = fact.place
        if place.what.startswith("who writes "):
            itself = self._has(place.kind, place.name, place.what.removeprefix("who writes "))
            return "the label itself" if itself else "the same value comes from elsewhere"
        if place.about == "expectations" and _change(fact.difference.left, fact.difference.right) != "changed":
            return "an expectation is told in parts where its object is there"
        if place.what == "pods per Node" and self._bound:
            return "pods have a Node"
        if (
            place.about in ("NodeClaims", "conditions", "Events")
            and place.what not in ("Node", "size")
            and (self._has("NodeClaim", place.name, "Node"))
        ):
            return "there is a Node"
        if place.about == "Events" and self._decided and "Failed to schedule pod" in str(what_differs(fact.difference)):
            return "what Karpenter decides"
        subject = place.what.removeprefix("who writes ")
        if place.kind in ("Node", "NodeClaim"):
            if _OF_SIZE.fullmatch(subject) and self._has("NodeClaim", place.name, "size"):
                return "another size"
            if _OF_IMAGE.fullmatch(subject) and self._has("NodeClaim", place.name, "image"):
                return "another image"
        if self._sizes and (place.what == "sizes that it may become" or _counts_sizes(fact)):
            return f"other sizes are offered ({self._filters})" if self._filters else "other sizes are offered"
        return ""

    def _has(self, kind: str, name: str, part: str) -> bool:
        return (kind, name, part) in self._there


def _counts_sizes(fact: Fact) -> bool:
    """Return whether a decision differs in how many sizes were left alone."""
    if fact.place.about != "decisions":
        return False
    sides = what_differs(fact.difference)
    lines = [line for side in sides if isinstance(side, list) for line in side]
    return bool(lines) and all(": sizes left: " in str(line) for line in lines)


_NOTHING: tuple[Any, ...] = ("(nothing)", None, "", [], {})


def _change(left: Any, right: Any) -> Change:
    if left in _NOTHING:
        return "new"
    return "gone" if right in _NOTHING else "changed"


def _side_texts(left: Any, right: Any, place: Place) -> tuple[str, str]:
    """Return both sides in a line each; prices that differ in no printed decimal have all of theirs."""
    texts = _text(left, place), _text(right, place)
    if texts[0] == texts[1] and left != right and isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return f"{left:,.12g}", f"{right:,.12g}"
    return texts


def _text(value: Any, place: Place) -> str:
    """One side in a line; empty for nothing."""
    if value in _NOTHING:
        return ""
    if place.about == "expectations" and isinstance(value, bool):
        return "holds" if value else "does not hold"
    if place.about == "prices" and isinstance(value, (int, float)):
        return hourly(value)
    if place.what == "has a Node" and isinstance(value, list):
        return f"{sum(value)} of {len(value)} have a Node" if len(value) > 1 else ("yes" if value[0] else "no")
    if place.what == "NodeClaim" and isinstance(value, Mapping):
        texts = (value.get(key) for key in ("size", "capacity type", "zone"))
        return " ".join(str(text) for text in texts if text) or "never launched"
    if place.what == "Node" and isinstance(value, list):
        return str(len(value))
    if (amount := _AMOUNT.fullmatch(place.what)) and isinstance(value, (int, float)):
        return amount_text(amount[1], Quantity(round(value * NANO), "BinarySI" if value >= 1024 else "DecimalSI"))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and place.about == "sizes":
        value = [str(item).removeprefix("Standard_") for item in value]
    return value_text(value, WHOLE)


def _anonymous(value: Any, name: str) -> Any:
    """A value in which an object's name is another word for `itself`, in all its texts; numbers and truth are no names."""
    if not name:
        return value
    own = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")

    def told(part: Any) -> Any:
        if isinstance(part, str):
            return own.sub("ITSELF", part)
        return [told(item) for item in part] if isinstance(part, list) else part

    return told(value)
