"""The verdict on each workload: it moves as it is, needs a line, stays with its agent pool, or has no place on the new Nodes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import Any

from harness.kube.api.objects import Object, labels_of, mapping_in, name_of, namespace_of, spec_of
from harness.kube.scheduling.node_affinity import required_matches
from harness.kube.scheduling.taints import untolerated
from harness.kube.workloads.templates import TEMPLATE_PATHS
from harness.migrate.agent_pools import AgentPool
from harness.migrate.judging.architectures import architectures_of, unproven_images
from harness.migrate.judging.label_changes import AFFINITY, PREFERENCE, SELECTOR, Change, asked_labels
from harness.migrate.judging.obstacles import closed_budgets, misplaced_volumes, requestless, unreadable_budgets
from harness.migrate.judging.pool_nodes import PoolNodes, admits
from harness.migrate.judging.replacements import excluding_expressions, patched
from harness.migrate.judging.workloads import Running, running_workloads
from harness.migrate.proposing.proposal import Proposal, ProposedPool
from harness.reading.manifests import Manifest
from harness.scenario.language.dumps import Dump
from harness.wording import first_few
from harness.world import World
from lazyrecords import dataclass

__all__ = ["Judged", "Judging", "Move"]


_SPREADING = ("podAffinity", "podAntiAffinity", "topologySpreadConstraints")
"""Places in which a label only has to be there: each Node has its own value."""


class Move(StrEnum):
    """Verdict on a workload."""

    AS_IS = "moves as it is"
    PATCHED = "needs a line"
    STAYS = "stays on its agent pool"
    BLOCKED = "has no place"


@dataclass(frozen=True, slots=True)
class Judged:
    """A workload with its verdict. `why`: what decides it; `notes`: what else is worth to be known.

    `pod` is the pod as it should be made, `pool` the NodePool whose Nodes would take it, empty where none would; `on_windows`: its pods
    need Windows Nodes, which are not simulated; `needs_patch`: those of its pods that have a place have it by the patch.
    """

    running: Running
    move: Move
    why: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    pod: Object = field(default_factory=dict)
    pool: str = ""
    on_windows: bool = False
    needs_patch: bool = False

    @property
    def name(self) -> str:
        """Return the workload's name."""
        return self.running.name

    @property
    def patch(self) -> dict[str, Any] | None:
        """Return the merge patch that makes its pods so; None where nothing has to change."""
        if not (self.needs_patch or self.move is Move.PATCHED) or self.running.is_fixed:
            return None
        patch = {"spec": _changed(self.running.pod, self.pod)}
        for field_name in reversed(TEMPLATE_PATHS[self.running.workload.kind]):
            patch = {field_name: patch}
        return patch


def _changed(running: Object, pod: Object) -> dict[str, Any]:
    """Return the merge patch of a pod's spec that makes it as it should be made."""
    before, after = spec_of(running), spec_of(pod)
    spec: dict[str, Any] = {}
    old, new = mapping_in(before.get("nodeSelector")), mapping_in(after.get("nodeSelector"))
    if old != new:
        spec["nodeSelector"] = {**dict.fromkeys(key for key in old if key not in new), **new}
    old_affinity, new_affinity = (
        mapping_in(mapping_in(part.get("affinity")).get("nodeAffinity")) for part in (before, after)
    )
    if old_affinity != new_affinity:
        gone = dict.fromkeys(key for key in old_affinity if key not in new_affinity)
        spec["affinity"] = {"nodeAffinity": {**gone, **new_affinity} if new_affinity else None}
    return spec


class Judging:
    """Asks each workload of a dump about the Nodes that it is on and those that it would get.

    `world` has the release, region and networks of the proposal; it stays as it is.
    """

    def __init__(self, world: World, proposal: Proposal, dump: Dump, manifests: Sequence[Manifest]) -> None:
        """`manifests` are the proposed objects."""
        self._proposal, self._dump = proposal, dump
        everything = [manifest.object for manifest in (*dump.manifests, *dump.derived)]
        self._nodes = PoolNodes(world, proposal, everything, manifests)
        self._budgets = [obj for obj in everything if obj["kind"] == "PodDisruptionBudget"]
        self._claims = {
            (namespace_of(obj) or "default", name_of(obj)): obj
            for obj in everything
            if obj["kind"] == "PersistentVolumeClaim"
        }
        self._volumes = {name_of(obj): obj for obj in everything if obj["kind"] == "PersistentVolume"}
        self._present = {name_of(obj): obj for obj in everything if obj["kind"] == "Node"}
        staying = [staying.pool for staying in proposal.staying]
        self._staying = {pool.name for pool in staying}
        self._windows = {pool.name for pool in staying if pool.is_windows}
        self._labels = self._nodes.labels()

    def judged(self) -> list[Judged]:
        """Return every workload with its verdict."""
        return [self._judge(running) for running in running_workloads(self._dump)]

    def _judge(self, running: Running) -> Judged:
        if running.asks_for_windows or (running.pools and running.pools <= self._windows):
            return _on_windows(running)
        pools = self._pools_for(running)
        hindering = tuple(self._hindering(running))
        notes = tuple(self._notes(running))
        if running.pools and running.pools <= self._staying and not running.is_daemon:
            names = first_few(sorted(running.pools), 3)
            return Judged(
                running, Move.STAYS, (f"all its pods are on {names}, which stays",), (*notes, *hindering), running.pod
            )
        takers = [pool for pool in pools if not hindering and self._takes(running.pod, pool)]
        if takers and not (running.is_daemon and len(takers) < len(self._moved_from(running, pools))):
            return self._with_obstacles(running, Move.AS_IS, takers, running.pod, notes)
        for pool in pools:
            changed = patched(running.pod, self._labels, labels_of(self._nodes.new(pool) or {}))
            if changed is not None and (takers := [pool for pool in pools if self._takes(changed, pool)]):
                verdict = self._with_obstacles(running, Move.PATCHED, takers, changed, notes)
                return replace(verdict, why=(*hindering, *verdict.why))
        return self._without_taker(running, pools, (*notes, *hindering))

    def _without_taker(self, running: Running, pools: Sequence[ProposedPool], notes: tuple[str, ...]) -> Judged:
        staying = [staying.pool for staying in self._proposal.staying if staying.pool.sizes]
        left = {pool.name for pool in staying if self._stays_on(running.pod, pool)} if not running.pools else set()
        if left and left <= self._windows:
            return _on_windows(running)
        if linux := left - self._windows:
            why = f"its pods ask for {first_few(sorted(linux), 3)}, which stays"
            return Judged(running, Move.STAYS, (why,), notes, running.pod)
        return Judged(running, Move.BLOCKED, tuple(self._why_not(running, pools)), notes, running.pod)

    def _hindering(self, running: Running) -> Iterator[str]:
        """Yield a sentence for each expression that keeps its pods off Nodes and means something else on the new ones."""
        for key, text in excluding_expressions(running.pod, self._labels):
            if self._labels.refuses(key):
                yield f"nodeAffinity {text}: no NodeClaim may name that label, so that no machine is made for its pods"
            else:
                yield f"nodeAffinity {text}: the new Nodes have no such label, so that it keeps nothing off them"

    def _with_obstacles(
        self, running: Running, move: Move, takers: Sequence[ProposedPool], pod: Object, notes: tuple[str, ...]
    ) -> Judged:
        notes = (*self._images(running, takers), *notes)
        nodes = [node for pool in takers for node in self._nodes.in_every_zone(pool)]
        why = [*misplaced_volumes(running, self._claims, self._volumes, nodes)]
        if not running.is_daemon:
            why += closed_budgets(running, self._budgets)
        if why:
            return Judged(running, Move.BLOCKED, tuple(why), notes, pod, takers[0].name)
        if move is Move.PATCHED and running.is_fixed:
            change = json.dumps({"spec": _changed(running.pod, pod)})
            text = f"nobody can change its pods: delete and create it anew, with {change} for its pods"
            return Judged(running, move, (text,), notes, pod, takers[0].name)
        return Judged(running, move, (), notes, pod, takers[0].name)

    def _images(self, running: Running, takers: Sequence[ProposedPool]) -> Iterator[str]:
        """Yield whether the workload's images may come to Nodes that they have not been seen to run on."""
        staying = [staying.pool for staying in self._proposal.staying if staying.pool.sizes]
        agents = [*staying, *(agent for pool in self._proposal.pools for agent in pool.pools)]
        before = architectures_of(self._nodes.old(agent) for agent in agents if self._stays_on(running.pod, agent))
        present = architectures_of(node for name, node in self._present.items() if name in running.nodes)
        yield from unproven_images(before, present, architectures_of(map(self._nodes.new, takers)))

    def _pools_for(self, running: Running) -> list[ProposedPool]:
        """The proposed pools, first those in the place of the pools that it runs on, or where it runs nowhere yet could run."""
        own = {pool.name for name in running.pools if (pool := self._proposal.of(name)) is not None}
        if not running.pools:
            own = {pool.name for pool in self._moved_from(running, self._proposal.pools)}
        return sorted(self._proposal.pools, key=lambda pool: pool.name not in own)

    def _moved_from(self, running: Running, pools: Sequence[ProposedPool]) -> list[ProposedPool]:
        """The proposed pools in whose agent pools' place a DaemonSet had a pod on each Node."""
        return [pool for pool in pools if any(self._stays_on(running.pod, agent) for agent in pool.pools)]

    def _takes(self, pod: Object, pool: ProposedPool) -> bool:
        node = self._nodes.new(pool)
        return node is not None and admits(pod, node)

    def _stays_on(self, pod: Object, pool: AgentPool) -> bool:
        old = self._nodes.old(pool)
        return old is not None and admits(pod, old)

    def _why_not(self, running: Running, pools: Sequence[ProposedPool]) -> Iterator[str]:
        """Yield the demands of the pod that no new Node meets: of the pool that it would go to by where it runs."""
        if not pools:
            yield "no agent pool becomes a NodePool"
            return
        pool = pools[0]
        node = self._nodes.new(pool)
        if node is None:
            yield f"NodePool {pool.name} makes no machine: {self._nodes.why_none(pool)}"
            return
        old = self._nodes.old(pool.pools[0])
        labels = [label for label in asked_labels(running.pod, old, node) if label.where in (SELECTOR, AFFINITY)]
        lost = [label.text for label in labels if label.change is not Change.SAME or label.new is None]
        yield from lost
        for taint in untolerated(spec_of(node).get("taints") or (), spec_of(running.pod).get("tolerations") or ()):
            yield f"taint {taint.get('key')} of NodePool {pool.name} is not tolerated"
        if not lost and not required_matches(running.pod, node):
            yield f"its node selection matches no Node of NodePool {pool.name}"

    def _notes(self, running: Running) -> Iterator[str]:
        yield from unreadable_budgets(running, self._budgets)
        if names := requestless(running.pod):
            yield f"{first_few(names, 3)} asks for no CPU or no memory: Karpenter packs nodes tighter than they were"
        for pool in self._pools_for(running)[:1]:
            node, old = self._nodes.new(pool), self._nodes.old(pool.pools[0])
            if node is not None:
                labels = [label for label in asked_labels(running.pod, old, node) if label.new is None]
                yield from (label.text for label in labels if label.where in _SPREADING)
                yield from (label.text for label in labels if label.where == PREFERENCE and label.old is not None)


def _on_windows(running: Running) -> Judged:
    why = "Windows: the provider makes Linux Nodes only"
    return Judged(running, Move.STAYS, (why,), pod=running.pod, on_windows=True)
