"""Machines that Karpenter asked for on account of a pod that still waits."""

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
        """Return the tries of a story, with Azure's refusals in it (answers.refusals)."""
        claims: dict[str, list[str]] = {}
        for decision in story.facts("decision"):
            kind, _, name = decision.get("target", "").partition("/")
            if kind == "NodeClaim" and decision["result"] in ("nodeclaim", "existing"):
                for pod in decision["pods"]:
                    claims.setdefault(pod, []).append(name)
        refused: dict[str, list[Line]] = {}
        for refusal in refusals:
            refused.setdefault(refusal["claim"], []).append(refusal)
        states: dict[str, set[str]] = {}
        for fact in story.facts("claim"):
            states.setdefault(fact["claim"], set()).add(fact["state"])
        return cls(claims, refused, {name: frozenset(states_of_claim) for name, states_of_claim in states.items()})

    def text(self, pods: Sequence[str], target: str) -> str:
        """Return Karpenter's tries for these pods, in a sentence; "" where it is only on its way, or never tried."""
        names = list(dict.fromkeys(name for pod in pods for name in self.claims.get(pod, ())))
        refusals = [refusal for name in names for refusal in self.refused.get(name, ())]
        made = [name for name in names if not self.refused.get(name) and "launched" in self.states.get(name, ())]
        it = "it" if len(pods) == 1 else "them"
        sentences = []
        if refusals:
            often = "once; Azure refused it" if len(refusals) == 1 else f"{len(refusals)} times; Azure refused each"
            sentences.append(f"asked for a machine {often}: {_codes(refusals)}")
        ready = [name for name in made if "initialized" in self.states[name]]
        if len(ready) > 1:
            sentences.append(f"{len(ready)} machines were made for {it}, none fits")
        elif ready:
            sentences.append(f"a machine was made for {it}, and does not fit")
        elif len(made) > 1:
            sentences.append(f"{len(made)} machines were made for {it}, none is ready")
        last = target.removeprefix("NodeClaim/")
        if sentences and last in names and last not in made and not self.refused.get(last):
            sentences.append(f"it asks again with {target}")
        return "; ".join(sentences)


def _codes(refusals: Sequence[Mapping[str, Any]]) -> str:
    """Each error with the sizes that were asked for: `OperationNotAllowed (D4s_v5)`."""
    sizes: dict[str, dict[str, None]] = {}
    for refusal in refusals:
        names = sizes.setdefault(str(refusal["error"] or refusal["status"]), {})
        if refusal["size"]:
            names[refusal["size"].removeprefix("Standard_")] = None
    return ", ".join(f"{code} ({', '.join(names)})" if names else code for code, names in sizes.items())
