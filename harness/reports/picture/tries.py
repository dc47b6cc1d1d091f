"""What became of the machines that Karpenter asked for on account of a pod that still waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.reports.picture.story import Line, Story

__all__ = ["Tries"]


@dataclass(frozen=True, slots=True)
class Tries:
    """By pod the NodeClaims that it was to run on; by NodeClaim what Azure refused, and how far it came."""

    claims: Mapping[str, Sequence[str]]
    refused: Mapping[str, Sequence[Line]]
    states: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, story: Story, refusals: Sequence[Line]) -> Tries:
        """Of a story and what Azure refused in it (answers.refusals)."""
        claims: dict[str, list[str]] = {}
        for decision in story.facts("decision"):
            kind, _, name = decision.get("target", "").partition("/")
            if kind == "NodeClaim" and decision["result"] in ("nodeclaim", "existing"):
                for pod in decision["pods"]:
                    claims.setdefault(pod, []).append(name)
        refused: dict[str, list[Line]] = {}
        for one in refusals:
            refused.setdefault(one["claim"], []).append(one)
        states: dict[str, set[str]] = {}
        for fact in story.facts("claim"):
            states.setdefault(fact["claim"], set()).add(fact["state"])
        return cls(claims, refused, {name: frozenset(found) for name, found in states.items()})

    def text(self, pods: Sequence[str], target: str) -> str:
        """What Karpenter tried for these pods, in a sentence; "" where it is only on its way, or never tried."""
        names = list(dict.fromkeys(name for pod in pods for name in self.claims.get(pod, ())))
        asked = [one for name in names for one in self.refused.get(name, ())]
        made = [name for name in names if not self.refused.get(name) and "launched" in self.states.get(name, ())]
        it = "it" if len(pods) == 1 else "them"
        told = []
        if asked:
            often = "once; Azure refused it" if len(asked) == 1 else f"{len(asked)} times; Azure refused each"
            told.append(f"asked for a machine {often}: {_codes(asked)}")
        ready = [name for name in made if "initialized" in self.states[name]]
        if len(ready) > 1:
            told.append(f"{len(ready)} machines were made for {it}, none fits")
        elif ready:
            told.append(f"a machine was made for {it}, and does not fit")
        elif len(made) > 1:
            told.append(f"{len(made)} machines were made for {it}, none is ready")
        last = target.removeprefix("NodeClaim/")
        if told and last in names and last not in made and not self.refused.get(last):
            told.append(f"it asks again with {target}")
        return "; ".join(told)


def _codes(asked: Sequence[Mapping[str, Any]]) -> str:
    """Each error with the sizes that were asked for: `OperationNotAllowed (D4s_v5)`."""
    sizes: dict[str, dict[str, None]] = {}
    for one in asked:
        found = sizes.setdefault(str(one["error"] or one["status"]), {})
        if one["size"]:
            found[one["size"].removeprefix("Standard_")] = None
    return ", ".join(f"{code} ({', '.join(found)})" if found else code for code, found in sizes.items())
