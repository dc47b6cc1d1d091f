"""Nodes to ask pods about: one of each agent pool, and one of each NodePool in their place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from harness.explain.upgrade.verdicts import refusals_by
from harness.karpenter.labels.azure import CSI_ZONE, GROUP, ZONE_KEYS
from harness.kube.api.labels import ARCH, BETA_OS, INSTANCE_TYPE, OS, ZONE
from harness.kube.api.objects import Object, labels_of, mapping_in, spec_of, with_metadata
from harness.kube.scheduling.node_affinity import required_matches
from harness.kube.scheduling.taints import untolerated
from harness.migrate.agent_pools import AgentPool
from harness.migrate.judging.label_changes import REQUIRED
from harness.migrate.judging.replacements import POOL_LABELS, PoolLabels
from harness.migrate.proposing.nodepools import API_VERSION
from harness.migrate.proposing.proposal import Proposal, ProposedPool
from harness.migrate.reading.nodes import pool_of
from harness.reading.manifests import Manifest
from harness.reality.comparing import Twins
from harness.world import World
from harness.world.agent_pools import PoolRefused

__all__ = ["PoolNodes", "admits"]


class PoolNodes:
    """The Nodes of a proposal's pools, made once each. `world` stays as it is."""

    def __init__(
        self, world: World, proposal: Proposal, objects: Iterable[Object], manifests: Sequence[Manifest]
    ) -> None:
        """`objects` are the dump's, `manifests` the proposed ones."""
        self._world, self._proposal = world, proposal
        self._twins = Twins(world, manifests)
        self._old: dict[str, Object | None] = {}
        for obj in objects:
            if obj["kind"] == "Node" and pool_of(obj):
                self._old.setdefault(pool_of(obj), obj)
        self._new = {pool.name: self._twins.of_pool(pool.name) for pool in proposal.pools}

    def old(self, pool: AgentPool) -> Object | None:
        """Return a Node of an agent pool: the dump's, else as AKS would make it; None where AKS would not."""
        if pool.name not in self._old:
            self._old[pool.name] = self._windows(pool) if pool.is_windows else self._made(pool)
        return self._old[pool.name]

    def new(self, pool: ProposedPool) -> Object | None:
        """Return a Node that a NodePool makes; None where it makes none."""
        twin = self._new[pool.name]
        return twin["Node"] if not isinstance(twin, str) else None

    def why_none(self, pool: ProposedPool) -> str:
        """Return why a NodePool makes no machine; empty where it does."""
        twin = self._new[pool.name]
        return twin if isinstance(twin, str) else ""

    def in_every_zone(self, pool: ProposedPool) -> list[Object]:
        """Return the Node of a NodePool as it would be in each zone of its requirements; nothing where it makes none."""
        node = self.new(pool)
        if node is None:
            return []
        requirements = spec_of(pool.nodepool)["template"]["spec"]["requirements"]
        zones = next((requirement["values"] for requirement in requirements if requirement["key"] == ZONE), None)
        if zones is None:
            zones = [f"{self._world.region}-{number}" for number in range(1, 4)]
        return [_in_zone(node, str(zone)) for zone in zones]

    def labels(self) -> PoolLabels:
        """Return the labels of the Nodes of all pools but those of Windows."""
        staying = [staying.pool for staying in self._proposal.staying]
        moving = [(agent, pool) for pool in self._proposal.pools for agent in pool.pools]
        agents = [*staying, *(agent for agent, _ in moving)]
        old = {agent.name: self._labels_of(agent) for agent in agents if agent.sizes and not agent.is_windows}
        new = {agent.name: labels_of(node) for agent, pool in moving if (node := self.new(pool)) is not None}
        successors = {agent.name: pool.nodepool_names for agent, pool in moving}
        return PoolLabels(old, new, successors, lru_cache(maxsize=1_000)(self._is_refused))

    def _labels_of(self, pool: AgentPool) -> Mapping[str, str]:
        node = self.old(pool)
        return labels_of(node) if node is not None else {**dict.fromkeys(POOL_LABELS, pool.name), **pool.labels}

    def _is_refused(self, key: str) -> bool:
        """Return whether the API server refuses a NodeClaim that names a label (the rules of its CRD, which name what is restricted)."""
        requirement = {"key": key, "operator": "DoesNotExist"}
        reference = {"group": GROUP, "kind": "AKSNodeClass", "name": "probe"}
        claim = {
            "apiVersion": API_VERSION,
            "kind": "NodeClaim",
            "metadata": {"name": "probe"},
            "spec": {"nodeClassRef": reference, "requirements": [requirement]},
        }
        return bool(refusals_by(claim, self._world.release, self._world.kubernetes))

    def _made(self, pool: AgentPool) -> Object | None:
        world = self._world.fresh()
        try:
            world.add_agent_pool(pool.name, {**pool.simulated, "count": 1})
        except PoolRefused:
            return None
        return next(iter(world.list("Node")), None)  # none where its kubelet refuses the pool's labels

    def _windows(self, pool: AgentPool) -> Object:
        """A Node with what a Windows pool says of its own, since no such machine is simulated."""
        zones = dict.fromkeys((ZONE, CSI_ZONE), f"{self._world.region}-{pool.zones[0]}") if pool.zones else {}
        labels = {**dict.fromkeys(POOL_LABELS, pool.name), **dict.fromkeys((OS, BETA_OS), "windows"), ARCH: "amd64"}
        labels |= {**zones, **pool.labels, **dict.fromkeys((INSTANCE_TYPE,), next(iter(pool.sizes), ""))}
        metadata = {"name": f"aks{pool.name}000000", "labels": labels}
        return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": pool.taints()}}


def admits(pod: Object, node: Object) -> bool:
    """Return whether kube-scheduler's rules about labels and taints let the pod onto the Node, in whichever zone."""
    taints = [taint for taint in spec_of(node).get("taints") or () if taint.get("effect") != "PreferNoSchedule"]
    if untolerated(taints, spec_of(pod).get("tolerations") or ()):
        return False
    zones = _asked_zones(pod)
    return any(required_matches(pod, _in_zone(node, zone)) for zone in zones) if zones else required_matches(pod, node)


def _in_zone(node: Object, zone: str) -> Object:
    labels = {key: zone if key in ZONE_KEYS else value for key, value in labels_of(node).items()}
    return with_metadata(node, labels=labels)


def _asked_zones(pod: Object) -> list[str]:
    """The zones that a pod names, so that no Node is refused for the zone that its twin happens to be in."""
    spec = spec_of(pod)
    named: list[Any] = [value for key, value in mapping_in(spec.get("nodeSelector")).items() if key in ZONE_KEYS]
    affinity = mapping_in(mapping_in(spec.get("affinity")).get("nodeAffinity"))
    terms: Iterable[Mapping[str, Any]] = mapping_in(affinity.get(REQUIRED)).get("nodeSelectorTerms") or ()
    for term in terms:
        for expression in term.get("matchExpressions") or ():
            if expression.get("key") in ZONE_KEYS:
                named += expression.get("values") or ()
    return list(dict.fromkeys(map(str, named)))
