"""A story: objects that are there in the beginning, and steps; after each of them the cluster comes to rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from lazyrecords import dataclass

__all__ = ["BESIDE", "NODES", "Step", "Story", "placed"]

NODES = ("a", "b", "c")
"""The nodes of a story without zones, by the end of their names: each story has its own."""
BESIDE = "x"
"""A node that no pod of the story goes to."""

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One key of what happens: apply (objects), patch and delete (kind, name), cordon, uncordon, taint, untaint and remove (a node), evict
    (how many pods), load (of workloads, and seconds), lose (the readiness of a node, or of several nodes), wait (seconds)."""

    verb: str
    value: Any

    @property
    def seconds(self) -> float:
        """Return how long the step takes before the story rests."""
        return float(
            self.value if self.verb == "wait" else self.value["seconds"] if self.verb in ("load", "lose") else 0
        )


@dataclass(frozen=True, slots=True)
class Story:
    """`kind` is the kind of workload that it is about; `name` is also that of its namespace.

    `zones`: the zone of each of its nodes, where they have zones, which are its own.
    """

    name: str
    kind: str
    steps: tuple[Step, ...]
    zones: Mapping[str, str] = field(default_factory=dict)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the nodes, by the end of their names."""
        return tuple(self.zones) or NODES

    def as_json(self) -> dict[str, Any]:
        """The story as data."""
        data = {"name": self.name, "kind": self.kind, "steps": [{step.verb: step.value} for step in self.steps]}
        return {**data, "zones": dict(self.zones)} if self.zones else data

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Story:
        """Reads what `as_json` wrote."""
        steps = tuple(Step(verb, value) for step in data["steps"] for verb, value in step.items())
        return Story(data["name"], data["kind"], steps, data.get("zones") or {})


def placed(obj: Object, story: Story) -> Object:
    """An object in the namespace of its story; pods go to its nodes only."""
    spec = dict(obj.get("spec") or {})
    for path in (("template",), ("jobTemplate", "spec", "template")):
        spec = _selected(spec, path, story.name)
    return {**obj, "metadata": {**obj["metadata"], "namespace": story.name}, "spec": spec}


def _selected(spec: Object, path: tuple[str, ...], name: str) -> Object:
    if path[0] not in spec:
        return spec
    inner = spec[path[0]]
    if len(path) > 1:
        return {**spec, path[0]: _selected(inner, path[1:], name)}
    pods = {**inner["spec"], "nodeSelector": {"story": name}, "terminationGracePeriodSeconds": 5}
    return {**spec, path[0]: {**inner, "spec": pods}}
