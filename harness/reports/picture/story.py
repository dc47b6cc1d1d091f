"""A trace as its lines say it, by kind of fact: what the pictures are made of, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Line", "Story"]

Line = Mapping[str, Any]
"""A fact as JSON has it (harness.trace)."""


@dataclass(frozen=True, slots=True)
class Story:
    """Header and facts of one trace, in order of time."""

    header: Line
    kinds: Mapping[str, tuple[Line, ...]]

    @classmethod
    def of(cls, lines: Iterable[Line]) -> Story:
        """The story of a trace's lines, the header first."""
        header, *facts = lines
        kinds: dict[str, list[Line]] = {}
        for fact in facts:
            kinds.setdefault(fact["fact"], []).append(fact)
        return cls(header, {kind: tuple(facts) for kind, facts in kinds.items()})

    def facts(self, kind: str) -> tuple[Line, ...]:
        """All facts of one kind."""
        return self.kinds.get(kind, ())

    @property
    def end(self) -> float:
        """When the last thing happened, in virtual seconds."""
        return max((facts[-1]["t"] for facts in self.kinds.values()), default=0.0)

    @property
    def places(self) -> dict[str, dict[str, Any]]:
        """Return the place of an object's manifest, by `Kind/name`."""
        return {
            fact["object"]: {"file": fact["file"], "line": fact["line"]}
            for fact in self.facts("object")
            if fact.get("file")
        }

    def alive_pods(self) -> dict[str, list[Line]]:
        """The facts of each pod that is there at the end, from its creation on."""
        pods: dict[str, list[Line]] = {}
        for fact in self.facts("pod"):
            if fact["state"] == "created":
                pods[fact["pod"]] = []
            pods.setdefault(fact["pod"], []).append(fact)
            if fact["state"] == "deleted":
                del pods[fact["pod"]]
        return pods

    def pending_pods(self) -> dict[str, list[Line]]:
        """Return the pods that no node has taken, and that have not ended."""
        ended = {"bound", "succeeded", "failed", "running"}
        return {
            name: facts
            for name, facts in self.alive_pods().items()
            if not any(fact["state"] in ended for fact in facts)
        }

    def last_decisions(self) -> dict[str, Line]:
        """Return the decision of the last simulation that looked at a pod, by pod."""
        return {pod: fact for fact in self.facts("decision") for pod in fact["pods"]}
