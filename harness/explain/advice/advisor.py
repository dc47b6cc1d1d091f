"""Advice for pods that wait: candidates from all sides, each tried in a world like this one before it is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from harness.engine.names import zone_label
from harness.explain.advice.alters import alterations
from harness.explain.advice.candidates import Candidate, Looked, NodeClassSeen, Rank, pod_candidates
from harness.explain.advice.changes import Advice, Types, meant_but_short, smallest_changes
from harness.explain.advice.elsewhere import other_regions, other_sizes, other_zones
from harness.explain.advice.places import regions_with
from harness.explain.advice.pool_candidates import nodeclass_candidates, pool_candidates
from harness.explain.advice.trials import Outcome, Trials
from harness.explain.advice.typos import Words, reference_candidates, word_candidates
from harness.explain.advice.widening import widening_candidates
from harness.explain.sizes.pools import before_sizes
from harness.karpenter.labels.azure import SKU_GPU_NAME
from harness.karpenter.scheduling import ClusterSnapshot, SchedulingResults, solve
from harness.karpenter.scheduling.reasons.ledger import PoolTried
from harness.kube.api.fingerprint import fingerprint
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import name_of, namespace_of, spec_of
from harness.world import World

__all__ = ["Advisor", "nodeclass_of"]


class Advisor:
    """Asks one world that has settled."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._trials = Trials(world)
        self._words: dict[int, tuple[ClusterSnapshot, Words]] = {}

    def advice(
        self,
        pods: Sequence[Mapping[str, Any]],
        snapshot: ClusterSnapshot,
        types: Types,
        looked_at: Sequence[Looked],
    ) -> Advice:
        """Return the changes that would help pods that wait together. `looked_at`: the NodePools with their reasons, in
        a simulation of this snapshot.
        """
        pod, world = pods[0], self._world
        candidates = list(self._candidates(pods, snapshot, types, looked_at))
        names = {entry.nodepool for entry in looked_at}
        able = {entry.nodepool for entry in looked_at if _is_for(entry)} or names
        pools = [pool for pool in snapshot.nodepools if name_of(pool) in able] or list(snapshot.nodepools)
        sizes = [size for name in names for size in types.get(name, ())]

        def confirm(parts: Sequence[Candidate]) -> Outcome | None:
            return self._trials.run(pods, parts)

        advice = smallest_changes(
            pod,
            snapshot,
            types,
            candidates,
            self._decide,
            confirm,
            lambda outcome: list(alterations(pod, pools, outcome, world.release.vocabulary, sizes)),
            self._trials.has_spare,
        )
        if any(change.meant for change in advice.changes) or not self._trials.has_spare():
            return advice
        return replace(advice, short=meant_but_short(candidates, confirm, self._trials.sentence(pods)))

    def _candidates(
        self, pods: Sequence[Mapping[str, Any]], snapshot: ClusterSnapshot, types: Types, looked_at: Sequence[Looked]
    ) -> Iterator[Candidate]:
        pod, world = pods[0], self._world
        pools = {name_of(pool): pool for pool in snapshot.nodepools}
        yield from word_candidates(pod, looked_at, self._known_words(snapshot, types))
        claims = {(namespace_of(claim), name_of(claim)): claim for claim in world.list("PersistentVolumeClaim")}
        stores = [name_of(storage_class) for storage_class in world.list("StorageClass")]
        classes = [name_of(nodeclass) for nodeclass in world.list("AKSNodeClass")]
        yield from reference_candidates(pod, world.list("NodePool"), classes, claims, stores)
        yield from self._quotas(pods)
        # of pods that request different amounts none is told to request less
        alike = len({fingerprint(other.get("spec")) for other in pods}) == 1
        yield from (candidate for candidate in pod_candidates(pod, looked_at) if alike or candidate.rank != Rank.SHRINK)
        needed = (lambda name: self._trials.unlimited(pods, name)) if len(pods) > 1 else None
        for entry in looked_at:
            if entry.nodepool in pools:
                yield from pool_candidates(pod, pools[entry.nodepool], entry, needed)
        yield from widening_candidates(pod, looked_at)
        own = [pools[entry.nodepool] for entry in looked_at if entry.nodepool in pools]
        zones = [zone_label(world.region, zone) for zone in world.caches.catalogue.region(world.region).zones]
        yield from other_zones(pod, own, zones)
        yield from other_sizes(pod, own, looked_at, world.release.skewer)
        yield from other_regions(world, pod, own)
        for seen in self._classes(snapshot, {entry.nodepool for entry in looked_at}):
            yield from nodeclass_candidates(seen, looked_at)

    def _quotas(self, pods: Sequence[Mapping[str, Any]]) -> Iterator[Candidate]:
        region, limits = self._world.region, self._world.quotas()
        raised = self._trials.lifted(pods)
        if not raised:
            return
        names = {name.lower(): name for name in self._world.usages()}
        raises = [
            f"{names.get(name, name)} in {region} from {limits[name].limit} to {to}" for name, to in raised.items()
        ]
        text = f"raise Azure's quota {' and '.join(raises)}"
        yield Candidate(Rank.RAISE, text, market={"quota": dict(raised)}, solver=False)

    def _known_words(self, snapshot: ClusterSnapshot, types: Types) -> Words:
        words_known = self._words.get(id(snapshot))
        if words_known is None:
            words = Words(
                self._world.list("NodePool"),
                snapshot.nodes,
                types,
                self._world.release.vocabulary,
                self._exists,
            )
            words_known = self._words[id(snapshot)] = (snapshot, words)
        return words_known[1]

    def _exists(self, key: str, value: str) -> bool:
        """Return whether a size or a GPU is sold anywhere, or a zone is one of the region's: no mistaken word."""
        if key == ZONE:
            region, _, zone = value.rpartition("-")
            return region == self._world.region and zone in self._world.caches.catalogue.region(region).zones
        return key in (INSTANCE_TYPE, SKU_GPU_NAME) and bool(regions_with(self._world, key, value))

    def _decide(self, snapshot: ClusterSnapshot, types: Types) -> SchedulingResults:
        options = self._world.karpenter.scheduling
        return solve(snapshot, types, release=self._world.release, options=options, indexes=self._world.caches.indexes)

    def _classes(self, snapshot: ClusterSnapshot, names: Set[str]) -> list[NodeClassSeen]:
        """The AKSNodeClasses of some NodePools, with what they would offer when changed."""
        world = self._world
        pools = [pool for pool in snapshot.nodepools if name_of(pool) in names]
        nodeclasses = {
            name_of(nodeclass_found): nodeclass_found
            for pool in pools
            if (nodeclass_found := nodeclass_of(world, pool)) is not None
        }
        return [
            NodeClassSeen(
                nodeclass,
                frozenset(name_of(pool) for pool in pools if nodeclass_of(world, pool) == nodeclass),
                frozenset(dropped.filter for dropped in world.instance_types.list(nodeclass).dropped),
                lambda changed: world.instance_types.list(changed).types,
            )
            for nodeclass in nodeclasses.values()
        ]


def _is_for(entry: Looked) -> bool:
    """Return whether pod and NodePool suit each other but for the sizes: its machines are what the pod asks for."""
    return isinstance(entry, PoolTried) and not before_sizes(entry)


def nodeclass_of(world: World, pool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The AKSNodeClass that a NodePool names; None when there is none of that name."""
    reference = spec_of(spec_of(pool).get("template") or {}).get("nodeClassRef") or {}
    return world.get("AKSNodeClass", reference.get("name", ""))
