"""The second way of the how-to without its taints: the cluster autoscaler and Karpenter both make machines for the same pods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import Object, labels_of, name_of, spec_of, status_of
from harness.kube.api.quantity import Quantity, QuantityError
from harness.kube.scheduling.pods import pod_requests
from harness.migrate.agent_pools import POOLS_BLOCK
from harness.migrate.judging.judgement import Judged, Move
from harness.migrate.judging.pool_nodes import admits
from harness.migrate.walking.story import Story
from harness.migrate.walking.ways import reference
from harness.scenario.language.files import load_text
from harness.scenario.language.writing import scenario_text
from harness.scenario.running.runner import Runner
from harness.wording import counted
from harness.world.costs.prices import node_capacity_type
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.world import World

__all__ = ["Doubling", "Machines", "doubling_of"]

_SCALED = ("Deployment", "StatefulSet")
_FILLING = ("cpu", "memory")
_MOST = 500
"""The most pods that fill the Nodes: smaller ones would make a story that nobody waits for."""
_UNCHANGED = 3
"""The number of steps before anything asks for more machines."""
_LATER = "6m"
"""Long enough for machines of both to be there, too short for the autoscaler to take any back (scale-down-delay-after-add, 10m)."""


@dataclass(frozen=True, slots=True)
class Machines:
    """Machines at a moment: those of agent pools, Karpenter's, and USD per hour of both."""

    of_pools: int
    karpenters: int
    usd: float

    @property
    def count(self) -> int:
        """Return how many there are."""
        return self.of_pools + self.karpenters


@dataclass(frozen=True, slots=True)
class Doubling:
    """The same demand met by both, and by Karpenter alone. `workload` grows by `pods`; `story` is the scenario of both."""

    story: str
    workload: str
    pods: int
    before: Machines
    both: Machines
    alone: Machines

    @property
    def text(self) -> str:
        """Return the comparison as a sentence."""
        pods = f"{counted(self.pods, 'more pod')} of {self.workload}"
        by_pools, by_karpenter = (
            self.both.of_pools - self.before.of_pools,
            self.both.karpenters - self.before.karpenters,
        )
        return (
            f"if the taints are forgotten, {pods} than the nodes hold get {by_karpenter} of Karpenter's and {by_pools} of the "
            f"autoscaler's: {self.both.count} nodes at {self.both.usd:.2f} USD/h, with Karpenter alone {self.alone.count} at "
            f"{self.alone.usd:.2f} USD/h"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the same as a JSON object."""
        moments = {"before": self.before, "both": self.both, "karpenterAlone": self.alone}
        figures = {
            name: {
                "ofPools": machines.of_pools,
                "karpenters": machines.karpenters,
                "usd_per_hour": round(machines.usd, 6),
            }
            for name, machines in moments.items()
        }
        return {"workload": self.workload, "pods": self.pods, **figures}


def doubling_of(story: Story, inputs: Mapping[str, Any], *, file: str) -> Doubling | None:
    """Return what comes of more pods than the Nodes hold, where nothing keeps the two apart. Raises ScenarioError.

    None where no agent pool that goes is scaled, where no workload that moves as it is asks for so much that a story can fill the Nodes,
    or where the autoscaler makes no machine for these pods.
    """
    scaled = {**inputs, "agentPools": [_untainted(pool) for pool in story.scaled_pools()], "clusterAutoscaler": True}
    fixed = {**inputs, "agentPools": [_untainted(pool) for pool in story.agent_pools()]}
    candidates = sorted(filter(_may_grow, story.judged), key=_weight, reverse=True)
    if scaled["agentPools"] == fixed["agentPools"] or not candidates:
        return None
    steps = _steps(story, candidates[0], 0)
    world = _end(_text(story, fixed, steps[:_UNCHANGED]), file)
    rooms = ((verdict, _room(world, verdict.pod)) for verdict in candidates)
    growing, room = next(((verdict, room) for verdict, room in rooms if room <= _MOST), (None, 0))
    if growing is None:
        return None
    pods = growing.running.replicas
    steps = _steps(story, growing, pods + room + pods)
    alone, both = (_machines(_end(_text(story, world_inputs, steps), file)) for world_inputs in (fixed, scaled))
    before = _machines(world)
    if both.of_pools <= before.of_pools:
        return None
    return Doubling(_text(story, scaled, steps, both.count), growing.name, pods, before, both, alone)


def _untainted(pool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an agent pool without the how-to's taint, which it may have where the move has begun."""
    taints = [taint for taint in pool.get("nodeTaints") or () if re.split("[=:]", taint)[0] != POOLS_BLOCK]
    others = {name: value for name, value in pool.items() if name != "nodeTaints"}
    return {**others, **({"nodeTaints": taints} if taints else {})}


def _may_grow(verdict: Judged) -> bool:
    return (
        verdict.move is Move.AS_IS
        and verdict.running.workload.kind in _SCALED
        and verdict.running.replicas > 0
        and _weight(verdict) > 0
    )


def _weight(verdict: Judged) -> float:
    """Return the CPU that all pods of a workload ask for, or a thousandth of their GiB where they ask for none; 0 for what is no amount."""
    try:
        requests = pod_requests(verdict.pod)
    except QuantityError:
        return 0.0
    cpu, memory = (float(requests.get(name, Quantity.parse("0")).nano) for name in _FILLING)
    return verdict.running.replicas * (cpu or memory / (1 << 30) / 1000)


def _room(world: World, pod: Object) -> int:
    """Return how many more of a pod the Nodes that there are have room for."""
    requests = {name: quantity.nano for name, quantity in pod_requests(pod).items() if name in _FILLING}
    free = {name_of(node): dict(_allocatable(node)) for node in world.list("Node") if admits(pod, node)}
    for present in world.list("Pod"):
        left = free.get(str(spec_of(present).get("nodeName") or ""), {})
        for name, quantity in pod_requests(present).items():
            if name in left:
                left[name] -= quantity.nano
    return sum(
        max(0, int(min(left[name] // amount for name, amount in requests.items() if amount))) for left in free.values()
    )


def _allocatable(node: Object) -> Iterator[tuple[str, Any]]:
    amounts = status_of(node).get("allocatable") or {}
    yield from ((name, Quantity.parse(str(amounts.get(name, "0"))).nano) for name in _FILLING)


def _steps(story: Story, growing: Judged, replicas: int) -> list[Any]:
    """Return the steps: NodePools beside the agent pools, nothing that keeps them apart, and a workload that grows."""
    return [
        "settle",
        {"apply": [f"{manifest['kind']}/{name_of(manifest)}" for manifest in story.manifests]},
        {"advance": "1m"},
        {"scale": {"of": reference(growing.running.object), "replicas": replicas}},
        {"advance": _LATER},
    ]


def _text(story: Story, inputs: Mapping[str, Any], steps: Sequence[Any], nodes: int | None = None) -> str:
    expected = {"pods": {"bound": {"atLeast": 0}}} if nodes is None else {"objects": {"kind": "Node", "count": nodes}}
    header = {
        "scenario": "without the taints the cluster autoscaler and Karpenter both make machines for the same pods",
        "given": inputs,
        "when": [*steps],
        "then": [expected],
    }
    return scenario_text(header, [*story.manifests, *story.objects()])


def _end(text: str, file: str) -> World:
    (scenario,) = load_text(text, file=file)
    run, _ = Runner().examine(scenario.cases[0])
    return run.world


def _machines(world: World) -> Machines:
    nodes = world.list("Node")
    prices = (world.price(labels_of(node).get(INSTANCE_TYPE, ""), node_capacity_type(node)).usd for node in nodes)
    karpenters = sum(NODEPOOL in labels_of(node) for node in nodes)
    return Machines(len(nodes) - karpenters, karpenters, sum(usd or 0.0 for usd in prices))
