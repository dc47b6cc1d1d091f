"""Origins of the cells of a label table: the writer of the key, and the command for its whole story."""

from __future__ import annotations

from harness.scenario.running.checks.nodes import render_writes
from harness.scenario.running.reasons.failed_expectation import FailedExpectation

__all__ = ["failure_lines"]


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the facts behind the cell, and the command that prints the story of the key."""
    key, _, cell = failure.part.rpartition(".")
    probe = failure.run.shared.probe(failure.run.case)
    row = failure.body.are.get(key or failure.part)
    if row is None:
        return []
    release = failure.run.world.release.version
    lines = (
        [] if not key else _cell(failure, key, cell, row.value or (probe.value_of(key) if cell != "written" else ""))
    )
    return [*lines, f"the story of the key: harness labels explain {key or failure.part} --release {release}"]


def _cell(failure: FailedExpectation, key: str, cell: str, value: str) -> list[str]:
    probe = failure.run.shared.probe(failure.run.case)
    pools = ", ".join(f"NodePool/{obj['metadata']['name']}" for obj in probe.objects if obj.get("kind") == "NodePool")
    if cell == "pod":
        return [f"tried with a pod that asks for {key}={value} beside {pools}: {probe.pod(key, value).source}"]
    if cell == "nodepool":
        return [f"tried with a NodePool that sets {key}={value}: {probe.nodepool(key, value).source}"]
    labels, writes = probe.node
    there = f"is {labels[key]}" if key in labels else "is not on it"
    history = render_writes(writes.get(key, ()))
    return [f"on the Node of a pod that asks for nothing beside {pools}, it {there}; {history}"]
