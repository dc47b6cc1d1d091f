"""How the cells of a label table came to what they say: who wrote the key, and where all of it is told."""

from __future__ import annotations

from harness.scenario.running.checks.nodes import render_writes
from harness.scenario.running.reasons.asked import Asked

__all__ = ["tell"]


def tell(asked: Asked) -> list[str]:
    """What the cell rests on, and the command that tells the story of the key."""
    key, _, cell = asked.part.rpartition(".")
    probe = asked.run.shared.probe(asked.run.case)
    row = asked.body.are.get(key or asked.part)
    if row is None:
        return []
    release = asked.run.world.release.version
    lines = [] if not key else _cell(asked, key, cell, row.value or (probe.value_of(key) if cell != "written" else ""))
    return [*lines, f"the story of the key: harness labels explain {key or asked.part} --release {release}"]


def _cell(asked: Asked, key: str, cell: str, value: str) -> list[str]:
    probe = asked.run.shared.probe(asked.run.case)
    pools = ", ".join(f"NodePool/{obj['metadata']['name']}" for obj in probe.objects if obj.get("kind") == "NodePool")
    if cell == "pod":
        return [f"tried with a pod that asks for {key}={value} beside {pools}: {probe.pod(key, value).source}"]
    if cell == "nodepool":
        return [f"tried with a NodePool that sets {key}={value}: {probe.nodepool(key, value).source}"]
    labels, writes = probe.node
    there = f"is {labels[key]}" if key in labels else "is not on it"
    told = render_writes(writes.get(key, ()))
    return [f"on the Node of a pod that asks for nothing beside {pools}, it {there}; {told}"]
