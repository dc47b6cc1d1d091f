"""The places of the pods of given objects in a world: one placement for each pod or controller of pods."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.engine.runaway import Runaway
from harness.explain.labels.probes import default_objects
from harness.explain.pods.causes import pending_cause, refused_nodeclaims
from harness.explain.pods.events import last_sentence
from harness.karpenter.validation import RejectionLayer
from harness.kube.api.kinds import CREATED_FIRST, creation_rank
from harness.kube.api.labels import INSTANCE_TYPE
from harness.world import World

__all__ = ["Placement", "placements"]

Object = Mapping[str, Any]
Pointer = tuple[str | int, ...]

_SOURCES = ("Pod", "Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Job")
_LABEL = re.compile(r'label "([^"]+)"|incompatible requirements, key ([^,]+),')


@dataclass(frozen=True, slots=True)
class Placement:
    """The pods of one object: how many there are, how many run, on which sizes, and Karpenter's sentence about one that does not."""

    total: int
    bound: int
    sizes: tuple[tuple[str, int], ...]
    sentence: str
    ignored: bool
    runs_away: bool
    template: Object
    key: str | None = None
    """The label key that the sentence blames."""

    @property
    def sizes_text(self) -> str:
        """The sizes with how many pods each has."""
        return ", ".join(f"{size} ({count} pods)" if count > 1 else size for size, count in self.sizes) or "nothing"

    def place_of(self, key: str | None) -> Pointer:
        """Return the place where the pods' template asks for a label key by nodeSelector."""
        path: tuple[str, ...] = ("spec",) if self.template.get("kind") == "Pod" else ("spec", "template", "spec")
        value: Any = self.template
        for part in path:
            value = (value or {}).get(part)
        selector = (value or {}).get("nodeSelector") or {}
        return (*path, "nodeSelector", str(key)) if key in selector else ()


def placements(
    world: World, objects: Sequence[Object], upgrade: Callable[[World], None] | None = None
) -> dict[str, Placement]:
    """Stores NodePools and their like, does `upgrade`, then brings the pods. Returns placements by ``Kind/name``."""
    kinds = {obj.get("kind") for obj in objects}
    world.apply(*(obj for obj in default_objects() if obj["kind"] not in kinds))
    ordered = sorted(objects, key=lambda obj: creation_rank(str(obj.get("kind"))))
    own = [obj for obj in ordered if obj.get("kind") in CREATED_FIRST]
    world.apply(*own)
    world.settle(allow_rejections=True)
    if upgrade is not None:
        upgrade(world)
    ignored = {
        rejection.object.split("/")[-1]
        for obj in ordered
        if obj.get("kind") not in CREATED_FIRST
        for rejection in world.apply(obj)
        if rejection.layer == RejectionLayer.POD
    }
    runaway = world.settle(allow_rejections=True).runaway
    pods = world.view.list("Pod")
    by_name: dict[str, Placement] = {}
    for obj in ordered:
        if obj.get("kind") in _SOURCES:
            own_pods = [pod for pod in pods if _belongs(world, pod, obj)]
            name = str(obj["metadata"]["name"])
            by_name[f"{obj['kind']}/{name}"] = _placement(world, own_pods, runaway, obj, ignored=name in ignored)
    return by_name


def _placement(
    world: World, pods: Sequence[Object], runaway: Runaway | None, template: Object, *, ignored: bool
) -> Placement:
    sizes: Counter[str] = Counter()
    sentence, key, runs_away = "", None, False
    waiting: tuple[str, str] | None = None
    for pod in pods:
        node = world.get("Node", pod["spec"]["nodeName"]) if pod["spec"].get("nodeName") else None
        if node is not None:
            sizes[(node["metadata"].get("labels") or {}).get(INSTANCE_TYPE, "?")] += 1
        elif waiting is None:
            waiting = pod["metadata"]["name"], pod["metadata"].get("namespace") or "default"
            sentence = pending_cause(world, *waiting)
        runs_away = runs_away or (runaway is not None and pod["metadata"]["name"] in runaway.subject)
    if runs_away and runaway is not None:
        key = runaway.fault
        sentence = f"label {key} is at fault" if key else runaway.subject
    elif waiting is not None and not last_sentence(world, *waiting):
        blocked = next(iter(refused_nodeclaims(world)), None)
        key = blocked.key if blocked else None
    match = _LABEL.search(sentence)
    if key is None and match is not None:
        key = match[1] or match[2]
    placed = tuple(sorted(sizes.items()))
    return Placement(len(pods), sum(sizes.values()), placed, sentence, ignored, runs_away, template, key)


def _belongs(world: World, pod: Object, obj: Object) -> bool:
    """Return whether a pod is the object itself or has it among the owners of its owners."""
    metadata = pod["metadata"]
    if (metadata.get("namespace") or "default") != (obj["metadata"].get("namespace") or "default"):
        return False
    if obj["kind"] == "Pod":
        return bool(metadata["name"] == obj["metadata"]["name"])
    current: Object | None = pod
    while current is not None:
        owners = current["metadata"].get("ownerReferences") or ()
        owner = next((reference for reference in owners if reference.get("controller")), None)
        if owner is None:
            return False
        if owner["kind"] == obj["kind"] and owner["name"] == obj["metadata"]["name"]:
            return True
        current = world.get(owner["kind"], owner["name"], metadata.get("namespace"))
    return False
