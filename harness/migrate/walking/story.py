"""The move as a scenario file: the agent pools and workloads of the cluster, then one step after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from harness.capture.objects import kept, unbound
from harness.capture.pseudonyms import Pseudonyms
from harness.kube.api.objects import name_of, namespace_of, spec_of
from harness.migrate.agent_pools import ManagedCluster
from harness.migrate.judging.judgement import Judged
from harness.migrate.proposing.proposal import Proposal
from harness.migrate.reading.nodes import pool_of
from harness.migrate.walking.ways import WORKLOADS, Moving, Way, nodepools_block, reference, steps, with_block
from harness.scenario.language.dumps import Dump
from harness.scenario.language.writing import scenario_text

__all__ = ["BEFORE", "Course", "Story", "story_text"]

BEFORE = 2
"""The step after which the cluster is as it was before the move; it only lets time pass, so that nothing else happens at its end."""
_LEFT_OUT = frozenset({"Node", "CSINode", "NodeClaim", "Namespace"})


class Refusal(Protocol):
    """A refusal on the way: a pattern of the refused object's name, and the layer."""

    @property
    def object(self) -> str: ...
    @property
    def layer(self) -> str: ...


class Course(Protocol):
    """Outcome of a move: the workloads of pods that were left behind, the fewest healthy pods of each budget, and what was refused."""

    @property
    def unplaced(self) -> frozenset[str]: ...
    @property
    def healthy(self) -> Mapping[str, int]: ...
    @property
    def refused(self) -> Sequence[Refusal]: ...


def story_text(story: Story, inputs: Mapping[str, Any], course: Course | None = None, *, way: Way = Way.WAVES) -> str:
    """Return the scenario of the move in one of its ways. `inputs` are those of its world, without the agent pools.

    It expects what came of the move (`course`), where that is known.
    """
    pools = list(story.agent_pools())
    header = {
        "scenario": f"agent pools give way to NodePools: {way}",
        "given": {**inputs, "agentPools": pools},
        "when": [*steps(way, story.moving({pool["name"]: int(pool["count"]) for pool in pools}))],
        "then": [*story.expectations(course)] or [{"pods": {"bound": {"atLeast": 0}}}],
    }
    manifests = story.manifests
    if way is Way.SIDE_BY_SIDE:
        manifests = [with_block(manifest, story.block) for manifest in manifests]
    return scenario_text(header, [*manifests, *story.objects()])


class Story:
    """The parts of the scenarios that tell a move: agent pools, manifests in their place, workloads with their verdicts."""

    def __init__(self, cluster: ManagedCluster, proposal: Proposal, dump: Dump, judged: Sequence[Judged]) -> None:
        self._cluster, self._dump, self.judged = cluster, dump, judged
        self.manifests: Sequence[Mapping[str, Any]] = proposal.manifests
        everything = [manifest.object for manifest in (*dump.manifests, *dump.derived)]
        self._nodes = [obj for obj in everything if obj["kind"] == "Node"]
        self.block = nodepools_block(everything)
        self._moving = {pool.name for proposed in proposal.pools for pool in proposed.pools}

    def agent_pools(self) -> Iterator[dict[str, Any]]:
        """The pools with as many machines as the dump has Nodes of them, else as they count; Windows is not simulated."""
        for pool in self._cluster.pools:
            count = sum(pool_of(node) == pool.name for node in self._nodes) or pool.number("count")
            if pool.is_windows or pool.is_karpenters or not pool.sizes:
                continue
            yield {"name": pool.name, "count": count, **pool.simulated}

    def scaled_pools(self) -> Iterator[dict[str, Any]]:
        """The pools as they are scaled, those that go by the cluster autoscaler within their bounds."""
        bounds = {pool.name: pool for pool in self._cluster.pools if pool.scales and pool.name in self._moving}
        for pool in self.agent_pools():
            if (scaled := bounds.get(pool["name"])) is None:
                yield pool
                continue
            least, most = scaled.number("minCount"), max(scaled.number("maxCount"), pool["count"])
            yield {**pool, "enableAutoScaling": True, "minCount": min(least, pool["count"]), "maxCount": most}

    def moving(self, counts: Mapping[str, int]) -> Moving:
        """Return the parts of the move; `counts` of each agent pool, by its name."""
        pools = [
            (pool, counts[pool.name])
            for pool in self._cluster.pools
            if pool.name in self._moving and counts.get(pool.name)
        ]
        return Moving(pools, self.manifests, self.judged, self.block)

    def expectations(self, course: Course | None) -> Iterator[dict[str, Any]]:
        """The workloads that have a place in the end, each budget's fewest ready pods at any moment, and the refusals on the way."""
        if course is None:
            return
        yield from ({"rejected": {"object": refusal.object, "layer": refusal.layer}} for refusal in course.refused)
        made = [verdict for verdict in self.judged if _is_made(verdict) and verdict.name not in course.unplaced]
        names = [reference(verdict.running.object) for verdict in made if verdict.running.replicas]
        if names:
            yield {"pods": {"bound": names}}
        for obj in self.objects():
            selector = spec_of(obj).get("selector") or {} if obj["kind"] == "PodDisruptionBudget" else {}
            least = course.healthy.get(f"{namespace_of(obj) or 'default'}/{name_of(obj)}", 0)
            if selector.get("matchLabels") and not selector.get("matchExpressions") and least:
                ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
                look = {"kind": "Pod", "labels": selector["matchLabels"], "match": ready, "count": {"atLeast": least}}
                yield {"always": {"from": {"step": BEFORE}, "objects": look}}

    def objects(self) -> Iterator[dict[str, Any]]:
        """Yield the deciding objects of the dump: without secrets, without Nodes of pools, without what runs on Windows."""
        names = Pseudonyms(anonymise=False)
        windows = {id(verdict.running.object) for verdict in self.judged if verdict.on_windows}
        taken = {(obj["kind"], name_of(obj)) for obj in self.manifests}
        for manifest in self._dump.manifests:
            obj = manifest.object
            if manifest.kind in _LEFT_OUT or id(obj) in windows or (manifest.kind, manifest.name) in taken:
                continue
            if (deciding := kept(obj, names)) is not None:
                anew = {key: value for key, value in deciding.items() if key != "status"}
                yield unbound(anew) if manifest.kind == "Pod" else deciding


def _is_made(verdict: Judged) -> bool:
    return verdict.running.workload.kind in WORKLOADS and not verdict.running.is_daemon
