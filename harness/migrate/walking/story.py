"""The move as a scenario file: the agent pools and workloads of the cluster, then one step after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any, Protocol

from harness.capture.objects import kept
from harness.capture.pseudonyms import Pseudonyms
from harness.kube.api.objects import Object, name_of, namespace_of, spec_of
from harness.migrate.agent_pools import ManagedCluster
from harness.migrate.judging.judgement import Judged
from harness.migrate.proposing.proposal import Proposal
from harness.migrate.reading.nodes import pool_of
from harness.scenario.language.dumps import Dump
from harness.scenario.language.writing import scenario_text

__all__ = ["BEFORE", "Course", "story_text"]

BEFORE = 2
"""The step after which the cluster is as it was before the move; it only lets time pass, so that nothing else happens at its end."""
_WAVES = 3
_PAUSE, _AFTERWARDS = "15m", "2h"
_WORKLOADS = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet", "Job")
_LEFT_OUT = frozenset({"Node", "CSINode", "NodeClaim", "Namespace"})


class Course(Protocol):
    """Outcome of a move: the workloads of pods that were left behind, and the fewest healthy pods of each budget."""

    @property
    def unplaced(self) -> frozenset[str]: ...
    @property
    def healthy(self) -> Mapping[str, int]: ...


def story_text(
    cluster: ManagedCluster,
    proposal: Proposal,
    dump: Dump,
    judged: Sequence[Judged],
    inputs: Mapping[str, Any],
    course: Course | None = None,
) -> str:
    """Return the scenario of the move. `inputs` are those of its world, without the agent pools.

    It expects what came of the move (`course`), where that is known.
    """
    story = _Story(cluster, proposal, dump, judged)
    pools = list(story.agent_pools())
    header = {
        "scenario": "agent pools give way to NodePools",
        "given": {**inputs, "agentPools": pools},
        "when": [*story.steps({pool["name"]: int(pool["count"]) for pool in pools})],
        "then": [*story.expectations(course)] or [{"pods": {"bound": {"atLeast": 0}}}],
    }
    return scenario_text(header, [*proposal.manifests, *story.objects()])


class _Story:
    def __init__(self, cluster: ManagedCluster, proposal: Proposal, dump: Dump, judged: Sequence[Judged]) -> None:
        self._cluster, self._proposal, self._dump, self._judged = cluster, proposal, dump, judged
        everything = [manifest.object for manifest in (*dump.manifests, *dump.derived)]
        self._nodes = [obj for obj in everything if obj["kind"] == "Node"]
        self._moving = {pool.name for proposed in proposal.pools for pool in proposed.pools}

    def agent_pools(self) -> Iterator[dict[str, Any]]:
        """The pools with as many machines as the dump has Nodes of them, else as they count; Windows is not simulated."""
        for pool in self._cluster.pools:
            count = sum(pool_of(node) == pool.name for node in self._nodes) or pool.number("count")
            if pool.is_windows or pool.is_karpenters or not pool.sizes:
                continue
            yield {"name": pool.name, "count": count, **pool.simulated}

    def steps(self, counts: Mapping[str, int]) -> Iterator[Any]:
        """`settle`, then manifests, patches, and each pool in waves; at the end time passes, so that Karpenter consolidates."""
        yield "settle"
        yield {"advance": "1m"}
        yield {"apply": [f"{obj['kind']}/{name_of(obj)}" for obj in self._proposal.manifests]}
        for verdict in self._judged:
            if (patch := verdict.patch) is not None and verdict.running.workload.kind in _WORKLOADS:
                yield {"patch": {"of": _reference(verdict.running.object), "to": patch}}
        yield "settle"
        moving = [pool for pool in self._cluster.pools if pool.name in self._moving and counts.get(pool.name)]
        if moving:
            yield {"cordon": [f"Node/aks-{pool.name}-*" for pool in moving]}
        for pool in moving:
            for count in _waves(counts[pool.name]):
                yield {"agentPool": {"name": pool.name, "count": count}}
                yield {"advance": _PAUSE}
        yield {"advance": _AFTERWARDS}

    def expectations(self, course: Course | None) -> Iterator[dict[str, Any]]:
        """The workloads that have a place in the end, and of each budget how many of its pods are ready at any moment."""
        if course is None:
            return
        made = [verdict for verdict in self._judged if _is_made(verdict) and verdict.name not in course.unplaced]
        names = [_reference(verdict.running.object) for verdict in made if verdict.running.replicas]
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
        windows = {id(verdict.running.object) for verdict in self._judged if verdict.on_windows}
        taken = {(obj["kind"], name_of(obj)) for obj in self._proposal.manifests}
        for manifest in self._dump.manifests:
            obj = manifest.object
            if manifest.kind in _LEFT_OUT or id(obj) in windows or (manifest.kind, manifest.name) in taken:
                continue
            if (deciding := kept(obj, names)) is not None:
                yield _unbound(deciding) if manifest.kind == "Pod" else deciding


def _is_made(verdict: Judged) -> bool:
    return verdict.running.workload.kind in _WORKLOADS and not verdict.running.is_daemon


def _waves(count: int) -> Iterator[int]:
    """The counts that a pool comes down to, three waves at most."""
    step = ceil(count / _WAVES)
    left = count
    while left > 0:
        left = max(0, left - step)
        yield left


def _reference(obj: Object) -> str:
    namespace = namespace_of(obj)
    return (
        f"{obj['kind']}/{namespace}/{name_of(obj)}"
        if namespace not in ("", "default")
        else f"{obj['kind']}/{name_of(obj)}"
    )


def _unbound(pod: dict[str, Any]) -> dict[str, Any]:
    """A pod without controller, which whoever made it would make anew."""
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {**{key: value for key, value in pod.items() if key != "status"}, "spec": spec}
