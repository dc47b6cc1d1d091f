"""The verdict on each workload: it moves as it is, needs a line, stays with its agent pool, or has no place on the new Nodes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any

from harness.karpenter.labels.azure import CSI_ZONE
from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.labels import BETA_ZONE, ZONE
from harness.kube.api.objects import Object, labels_of, mapping_in, name_of, namespace_of, spec_of
from harness.kube.scheduling.node_affinity import required_matches
from harness.kube.scheduling.taints import untolerated
from harness.kube.workloads.templates import TEMPLATE_PATHS
from harness.migrate.agent_pools import AgentPool
from harness.migrate.judging.label_changes import Change, asked_labels, patched
from harness.migrate.judging.obstacles import closed_budgets, misplaced_volumes, requestless, unreadable_budgets
from harness.migrate.judging.workloads import Running, running_workloads
from harness.migrate.proposing.proposal import Proposal, ProposedPool
from harness.migrate.reading.nodes import pool_of
from harness.reading.manifests import Manifest
from harness.reality.comparing import Twins
from harness.scenario.language.dumps import Dump
from harness.wording import first_few
from harness.world import World
from harness.world.agent_pools import PoolRefused
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

    `pod` is the pod as it should be made, `pool` the NodePool whose Nodes would take it, empty where none would.
    """

    running: Running
    move: Move
    why: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    pod: Object = field(default_factory=dict)
    pool: str = ""

    @property
    def name(self) -> str:
        """Return the workload's name."""
        return self.running.name

    @property
    def patch(self) -> dict[str, Any] | None:
        """Return the merge patch that makes its pods so; None where nothing has to change."""
        if self.move is not Move.PATCHED or self.running.is_fixed:
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
    if before.get("affinity") != after.get("affinity"):
        spec["affinity"] = {"nodeAffinity": mapping_in(after.get("affinity")).get("nodeAffinity")}
    return spec


class Judging:
    """Asks each workload of a dump about the Nodes that it is on and those that it would get.

    `world` has the release, region and networks of the proposal; it stays as it is.
    """

    def __init__(self, world: World, proposal: Proposal, dump: Dump, manifests: Sequence[Manifest]) -> None:
        """`manifests` are the proposed objects."""
        self._world, self._proposal, self._dump = world, proposal, dump
        self._twins = Twins(world, manifests)
        everything = [manifest.object for manifest in (*dump.manifests, *dump.derived)]
        self._old: dict[str, Object] = {}
        for obj in everything:
            if obj["kind"] == "Node" and pool_of(obj):
                self._old.setdefault(pool_of(obj), obj)
        self._budgets = [obj for obj in everything if obj["kind"] == "PodDisruptionBudget"]
        self._claims = {
            (namespace_of(obj) or "default", name_of(obj)): obj
            for obj in everything
            if obj["kind"] == "PersistentVolumeClaim"
        }
        self._volumes = {name_of(obj): obj for obj in everything if obj["kind"] == "PersistentVolume"}
        self._new = {pool.name: node for pool in proposal.pools if (node := self._twin(pool)) is not None}

    def judged(self) -> list[Judged]:
        """Return every workload with its verdict."""
        return [self._judge(running) for running in running_workloads(self._dump)]

    def _judge(self, running: Running) -> Judged:
        staying = {staying_pool.pool.name for staying_pool in self._proposal.staying}
        if running.on_windows:
            return Judged(running, Move.STAYS, ("Windows: the provider makes Linux Nodes only",), pod=running.pod)
        if running.pools and running.pools <= staying and not running.is_daemon:
            names = first_few(sorted(running.pools), 3)
            return Judged(running, Move.STAYS, (f"all its pods are on {names}, which stays",), pod=running.pod)
        notes = tuple(self._notes(running))
        pools = self._pools_for(running)
        takers = [pool for pool in pools if self._takes(running.pod, pool)]
        if takers and not (running.is_daemon and len(takers) < len(self._moved_from(running, pools))):
            return self._with_obstacles(running, Move.AS_IS, takers, running.pod, notes)
        for pool in pools:
            changed = patched(running.pod, self._nodepool_of, self._new.get(pool.name))
            if changed is not None and (takers := [pool for pool in pools if self._takes(changed, pool)]):
                return self._with_obstacles(running, Move.PATCHED, takers, changed, notes)
        if not running.pools and (left := [pool.name for pool in self._staying() if self._stays_on(running.pod, pool)]):
            return Judged(
                running, Move.STAYS, (f"its pods ask for {first_few(sorted(left), 3)}, which stays",), pod=running.pod
            )
        return Judged(running, Move.BLOCKED, tuple(self._why_not(running, pools)), notes, running.pod)

    def _with_obstacles(
        self, running: Running, move: Move, takers: Sequence[ProposedPool], pod: Object, notes: tuple[str, ...]
    ) -> Judged:
        nodes = [node for pool in takers for node in self._in_every_zone(pool)]
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

    def _pools_for(self, running: Running) -> list[ProposedPool]:
        """The proposed pools, first those in the place of the pools that it runs on, or where it runs nowhere yet could run."""
        own = {pool.name for name in running.pools if (pool := self._proposal.of(name)) is not None}
        if not running.pools:
            own = {pool.name for pool in self._moved_from(running, self._proposal.pools)}
        return sorted(self._proposal.pools, key=lambda pool: pool.name not in own)

    def _moved_from(self, running: Running, pools: Sequence[ProposedPool]) -> list[ProposedPool]:
        """The proposed pools in whose agent pools' place a DaemonSet had a pod on each Node."""
        return [
            pool
            for pool in pools
            if any((old := self._old_node(agent)) is not None and _admits(running.pod, old) for agent in pool.pools)
        ]

    def _takes(self, pod: Object, pool: ProposedPool) -> bool:
        node = self._new.get(pool.name)
        return node is not None and _admits(pod, node)

    def _staying(self) -> list[AgentPool]:
        return [
            staying.pool for staying in self._proposal.staying if not staying.pool.is_windows and staying.pool.sizes
        ]

    def _stays_on(self, pod: Object, pool: AgentPool) -> bool:
        old = self._old_node(pool)
        return old is not None and _admits(pod, old)

    def _why_not(self, running: Running, pools: Sequence[ProposedPool]) -> Iterator[str]:
        """Yield the demands of the pod that no new Node meets: of the pool that it would go to by where it runs."""
        if not pools:
            yield "no agent pool becomes a NodePool"
            return
        pool = pools[0]
        node = self._new.get(pool.name)
        if node is None:
            yield f"NodePool {pool.name} makes no machine: {self._why_no_twin(pool)}"
            return
        old = self._old_node(pool.pools[0])
        labels = [
            label for label in asked_labels(running.pod, old, node) if label.where in ("nodeSelector", "nodeAffinity")
        ]
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
            node, old = self._new.get(pool.name), self._old_node(pool.pools[0])
            if node is not None:
                labels = [label for label in asked_labels(running.pod, old, node) if label.where in _SPREADING]
                yield from (label.text for label in labels if label.new is None)

    def _nodepool_of(self, agent_pool: str) -> str | None:
        proposed = self._proposal.of(agent_pool)
        return proposed.name if proposed is not None else None

    def _old_node(self, pool: AgentPool) -> Object | None:
        """A Node of an agent pool: the dump's, else as AKS would make it; None where AKS would not."""
        if pool.name not in self._old:
            world = self._world.fresh()
            try:
                world.add_agent_pool(pool.name, {**pool.simulated, "count": 1})
            except PoolRefused:
                return None
            nodes = world.list("Node")
            if not nodes:  # its kubelet refuses the pool's labels
                return None
            self._old[pool.name] = nodes[0]
        return self._old[pool.name]

    def _twin(self, pool: ProposedPool) -> Object | None:
        twin = self._twins.of({"metadata": {"labels": {NODEPOOL: pool.name}}})
        return twin["Node"] if not isinstance(twin, str) else None

    def _why_no_twin(self, pool: ProposedPool) -> str:
        twin = self._twins.of({"metadata": {"labels": {NODEPOOL: pool.name}}})
        return twin if isinstance(twin, str) else ""

    def _in_every_zone(self, pool: ProposedPool) -> list[Object]:
        """The Node of a NodePool as it would be in each zone of its requirements."""
        node = self._new[pool.name]
        requirements = spec_of(pool.nodepool)["template"]["spec"]["requirements"]
        zones = next((requirement["values"] for requirement in requirements if requirement["key"] == ZONE), None)
        if zones is None:
            zones = sorted({f"{self._world.region}-{number}" for number in range(1, 4)})
        return [_in_zone(node, str(zone)) for zone in zones]


def _in_zone(node: Object, zone: str) -> Object:
    labels = {key: zone if key in _ZONES else value for key, value in labels_of(node).items()}
    return {**node, "metadata": {**node["metadata"], "labels": labels}}


_ZONES = (ZONE, BETA_ZONE, CSI_ZONE)


def _admits(pod: Object, node: Object) -> bool:
    """Return whether kube-scheduler's rules about labels and taints let the pod onto the Node, in whichever zone."""
    taints = [taint for taint in spec_of(node).get("taints") or () if taint.get("effect") != "PreferNoSchedule"]
    if untolerated(taints, spec_of(pod).get("tolerations") or ()):
        return False
    zones = _asked_zones(pod)
    return any(required_matches(pod, _in_zone(node, zone)) for zone in zones) if zones else required_matches(pod, node)


def _asked_zones(pod: Object) -> list[str]:
    """The zones that a pod names, so that no Node is refused for the zone that its twin happens to be in."""
    spec = spec_of(pod)
    named: list[Any] = [value for key, value in mapping_in(spec.get("nodeSelector")).items() if key in _ZONES]
    terms: Iterable[Mapping[str, Any]] = (
        mapping_in(
            mapping_in(mapping_in(spec.get("affinity")).get("nodeAffinity")).get(
                "requiredDuringSchedulingIgnoredDuringExecution"
            )
        ).get("nodeSelectorTerms")
        or ()
    )
    for term in terms:
        for expression in term.get("matchExpressions") or ():
            if expression.get("key") in _ZONES:
                named += expression.get("values") or ()
    return list(dict.fromkeys(map(str, named)))
