"""One case in two worlds, of which one began where the other was upgraded to: everything that can be seen of them, compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from harness.clusters.memory.cluster import MemoryCluster
from harness.engine.ports import Identity
from harness.karpenter.releases import ALL_PROVIDER_RELEASES
from harness.kube.api.kinds import KINDS
from harness.kube.api.status import ApiError
from harness.world import Caches, World
from tests.upgrades.manifests import Case

__all__ = ["Difference", "Step", "differences", "differing", "objects_of", "steps"]

KUBERNETES = ("1.29.9", "1.30.0", "1.31.0", "1.32.4", "1.33.0", "1.34.0", "1.35.2", "1.36.0")
_READ_AGAIN = 16 * 60.0
"""Seconds in which Karpenter has read a new version of Kubernetes (kaz pkg/providers/kubernetesversion: 15 minutes)."""
_WATCHED = 90 * 60.0
"""Seconds in which nodes expire, are consolidated and drift."""


@dataclass(frozen=True, slots=True)
class Step:
    """An upgrade from a release's CRDs to the next one's, or from one Kubernetes to the next, under `release`."""

    what: str
    before: str
    after: str
    release: str

    def __str__(self) -> str:
        return f"{self.what} {self.before} → {self.after}"


class Difference(NamedTuple):
    """Where two worlds differ: the kind of answer, the place in it, and both answers."""

    area: str
    text: str


def steps() -> list[Step]:
    """All pairs of neighbours among the releases and the versions of Kubernetes."""
    names = ALL_PROVIDER_RELEASES
    crds = [Step("crds", before, after, after) for before, after in pairwise(names)]
    newest = names[-1]
    kubernetes = [Step("kubernetes", before, after, newest) for before, after in pairwise(KUBERNETES)]
    return [*crds, *kubernetes]


def differences(step: Step, case: Case, caches: Caches, seed: int = 0) -> Iterator[Difference]:
    """Where the upgraded world answers otherwise than the one that began there."""
    upgraded, began = (_answers(step, case, caches, seed, upgrade=upgrade) for upgrade in (True, False))
    for area, answer in began.items():
        for text in differing(answer, upgraded[area], (area,)):
            yield Difference(area, text)


def _answers(step: Step, case: Case, caches: Caches, seed: int, *, upgrade: bool) -> Mapping[str, Any]:
    first = step.before if upgrade else step.after
    inputs: dict[str, Any] = {"crds": first} if step.what == "crds" else {"kubernetes": first}
    world = World(karpenter=step.release, seed=seed, caches=caches, **inputs)
    world.settle()
    if upgrade:
        upgrade_world = world.update_crds if step.what == "crds" else world.upgrade_kubernetes
        upgrade_world(step.after)
    world.advance(_READ_AGAIN)
    admission = {str(number): _refusals(world.dry_run(obj)) for number, obj in enumerate(case.judged)}
    world.apply(*case.platform)
    runaway = [str(world.settle(allow_rejections=True).runaway)]
    restricted = _restricted(world, case.labels)
    scheduled = objects_of(world)
    world.apply(*case.changes)
    runaway.append(str(world.advance(_WATCHED).runaway))
    return {
        "admission": admission,
        "rejections": _refusals(world.rejections),
        "NodeRestriction": restricted,
        "scheduling": scheduled,
        "labels": {name: world.writes(name) for name in scheduled["Node"]},
        "disruption": [dataclasses.asdict(one) for one in world.disruptions],
        "events": [(one.reason, str(one.object), one.message) for one in world.events],
        "objects": objects_of(world),
        "runaway": runaway,
    }


def _refusals(rejections: Any) -> list[tuple[str, ...]]:
    return [(one.object, str(one.layer), str(one.rule), str(one.pointer), one.text) for one in rejections]


def _restricted(world: World, labels: Mapping[str, str]) -> dict[str, str]:
    """What NodeRestriction says when each kubelet wants labels on its own Node."""
    assert isinstance(world.cluster, MemoryCluster)
    answers = {}
    for node in world.list("Node"):
        name = node["metadata"]["name"]
        kubelet = world.cluster.writer(Identity(f"system:node:{name}", ("system:nodes",)))
        try:
            kubelet.patch("Node", name, {"metadata": {"labels": dict(labels)}}, dry_run=True)
            answers[name] = "taken"
        except ApiError as error:
            answers[name] = error.message
    return answers


def objects_of(world: World) -> dict[str, dict[str, Any]]:
    """Every object by kind and name."""
    return {
        kind: {
            f"{obj['metadata'].get('namespace', '')}/{obj['metadata']['name']}".removeprefix("/"): obj
            for obj in world.list(kind)
        }
        for kind in KINDS
    }


def differing(began: Any, upgraded: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Each place at which two values differ, with both."""
    if isinstance(began, Mapping) and isinstance(upgraded, Mapping):
        for key in dict.fromkeys([*began, *upgraded]):
            yield from differing(began.get(key), upgraded.get(key), (*path, str(key)))
    elif isinstance(began, list) and isinstance(upgraded, list) and len(began) == len(upgraded):
        for number, (one, other) in enumerate(zip(began, upgraded, strict=True)):
            yield from differing(one, other, (*path, str(number)))
    elif began != upgraded:
        yield f"{'.'.join(path)}: {upgraded!r} instead of {began!r}"
