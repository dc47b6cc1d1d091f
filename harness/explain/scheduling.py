"""Why pods are where they are, or nowhere: the scheduler's own ledger, counted, with Karpenter's sentence beside it.

The ledger is that of the very function that decides: the last simulation that saw the pod pending (the first, of a bound
pod) is run again with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from harness.explain.candidates import NodeClassSeen
from harness.explain.changes import Change, smallest_changes
from harness.explain.guesses import counted_guesses
from harness.explain.reasons import Cause, causes_of
from harness.explain.waiting import nominations, waiting_reasons
from harness.karpenter.cloudprovider import DroppedSize, InstanceType
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.karpenter.scheduling import ClusterSnapshot, SchedulingResults, solve
from harness.karpenter.scheduling.ledger import Joined, Ledger, NodeTried, PoolFiltered, PoolTried, TypeVerdict
from harness.kube.api.fingerprint import fingerprint
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import name_of, namespace_of
from harness.world import World

__all__ = ["Explainer", "PodExplanation", "PoolExplanation"]

Types = Mapping[str, Sequence[InstanceType]]


@dataclass(frozen=True, slots=True)
class PoolExplanation:
    """One NodePool and one pod. `sentence` is Karpenter's, empty when the NodePool took the pod.

    `deciding` counts the sizes by the first cause against each, `all_causes` by every cause; `kept` are the sizes that stay.
    `dropped_sizes` are the sizes of the region that are no instance types, with the filter that drops each; `dropped` counts them.
    `filtered`: the NodePool suits no size, so that no pod was tried with it; `unmet` are then the keys whose `minValues` it
    misses: how many values are asked for, how many there are. `guessed` counts the sizes about which the catalogue has guesses,
    and those of them whose zones are.
    """

    nodepool: str
    sentence: str
    verdicts: tuple[TypeVerdict, ...]
    dropped_sizes: Mapping[str, str]
    filtered: bool = False
    unmet: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    guessed: tuple[int, int] = (0, 0)

    @property
    def dropped(self) -> Mapping[str, int]:
        """Filter → sizes that it drops."""
        return Counter(self.dropped_sizes.values())

    @property
    def kept(self) -> tuple[str, ...]:
        """Sizes that nothing speaks against."""
        return tuple(one.instance_type.name for one in self.verdicts if one.kept)

    @property
    def deciding(self) -> Mapping[Cause, int]:
        """Cause → sizes that it is the first against."""
        return Counter(causes[0] for one in self.verdicts if (causes := causes_of(one)))

    @property
    def all_causes(self) -> Mapping[Cause, int]:
        """Cause → sizes that it is against."""
        return Counter(cause for one in self.verdicts for cause in causes_of(one))


@dataclass(frozen=True, slots=True)
class PodExplanation:
    """One pod: `state` is bound, pending or ignored; `sentence` Karpenter's last word on it.

    `waiting` says what a pending pod waits for when Karpenter has nothing against it. `tried`: how many changes were tried.
    """

    pod: str
    state: str
    place: str
    sentence: str
    pools: tuple[PoolExplanation, ...] = ()
    nodes: tuple[tuple[str, str], ...] = ()
    changes: tuple[Change, ...] = ()
    tried: int = 0
    waiting: tuple[str, ...] = ()
    node: str = ""


class Explainer:
    """Listens to a world's simulations; ask it when the world has settled."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._first: dict[str, tuple[ClusterSnapshot, Types]] = {}
        self._last: dict[str, tuple[ClusterSnapshot, Types]] = {}
        self._ledgers: dict[int, tuple[ClusterSnapshot, Ledger, SchedulingResults]] = {}
        self._alike: dict[Hashable, PodExplanation] = {}
        self._nominated: tuple[int, Mapping[tuple[str, str], str]] = (-1, {})
        world.karpenter.provisioner.on_solve = self._note

    def _note(self, snapshot: ClusterSnapshot, types: Types) -> None:
        for pod in snapshot.pods:
            if not pod.get("spec", {}).get("nodeName"):
                self._last[_key(pod)] = (snapshot, types)
                self._first.setdefault(_key(pod), (snapshot, types))

    def pods(self) -> list[PodExplanation]:
        """Every pod of the world."""
        return [self.pod(pod) for pod in self._world.list("Pod")]

    def pod(self, pod: Mapping[str, Any]) -> PodExplanation:
        """One pod of the world."""
        key = _key(pod)
        node = pod.get("spec", {}).get("nodeName") or ""
        inputs = (self._first if node else self._last).get(key)  # of a bound pod, when its Node was chosen
        if inputs is None:
            state = "bound" if node else "pending"
            waits = () if node else self._waiting(pod)
            return PodExplanation(key, state, self._place(node), "", waiting=waits, node=node)
        snapshot, types = inputs
        ledger, results = self._replayed(snapshot, types)
        sentence = results.ignored.get(key, "") or str(results.errors.get(key, ""))
        entries = ledger.of(key)
        waiting = () if node or sentence else self._waiting(pod)
        if results.timed_out and not entries and not (node or sentence):
            waiting = (*waiting, "Karpenter's simulation timed out before it came to the pod")
        # Pods that differ in name only and fared alike are explained once.
        look = [pod["metadata"].get("namespace"), pod["metadata"].get("labels"), pod.get("spec")]
        alike = (id(snapshot), fingerprint(look), sentence, tuple(map(type, entries)), waiting)
        if not node and alike in self._alike:
            return replace(self._alike[alike], pod=key)
        tried = {entry.nodepool: entry for entry in entries if isinstance(entry, PoolTried)}
        considered = sentence or tried  # else an existing Node or a NodeClaim in the making took it first
        filtered = ledger.filtered if considered and key not in results.ignored else ()
        pools = tuple(map(self._pool, [*filtered, *tried.values()]))
        asked = {entry.node: entry.reason for entry in entries if isinstance(entry, NodeTried)}  # of the last step
        nodes = tuple((name, str(reason)) for name, reason in asked.items() if reason is not None)
        changes: tuple[Change, ...] = ()
        count = 0
        if not node and sentence and key not in results.ignored:
            looked_at = [*tried.values(), *filtered]
            classes = self._classes(snapshot, {one.nodepool for one in looked_at})
            changes, count = smallest_changes(pod, snapshot, types, looked_at, classes, self._decide)
        state = "bound" if node else "ignored" if key in results.ignored else "pending"
        place = self._place(node) or _joined(entries)
        explained = PodExplanation(key, state, place, sentence, pools, nodes, changes, count, waiting, node)
        self._alike[alike] = explained
        return explained

    def _waiting(self, pod: Mapping[str, Any]) -> tuple[str, ...]:
        """What the pod waits for; where pods were wanted is read off the events once."""
        count = len(self._world.events)
        if self._nominated[0] != count:
            self._nominated = (count, nominations(self._world))
        target = self._nominated[1].get((namespace_of(pod), name_of(pod)), "")
        return tuple(waiting_reasons(self._world, pod, target))

    def _replayed(self, snapshot: ClusterSnapshot, types: Types) -> tuple[Ledger, SchedulingResults]:
        """The simulation with its ledger, run once per snapshot."""
        known = self._ledgers.get(id(snapshot))
        if known is None:
            ledger = Ledger()
            known = self._ledgers[id(snapshot)] = (snapshot, ledger, self._solve(snapshot, types, ledger))
        return known[1:]

    def _solve(self, snapshot: ClusterSnapshot, types: Types, ledger: Ledger | None) -> SchedulingResults:
        options = self._world.karpenter.provisioner.options
        release, indexes = self._world.release, self._world.caches.indexes
        return solve(snapshot, types, release=release, options=options, indexes=indexes, ledger=ledger)

    def _decide(self, snapshot: ClusterSnapshot, types: Types) -> SchedulingResults:
        return self._solve(snapshot, types, None)

    def _pool(self, entry: PoolTried | PoolFiltered) -> PoolExplanation:
        dropped = {one.name: one.filter for one in self._dropped(entry.nodepool)}
        verdicts = tuple(entry.types())
        guessed = counted_guesses(self._world, (one.instance_type.name for one in verdicts))
        if isinstance(entry, PoolFiltered):
            asked = {key: entry.requirements.get(key).min_values or 0 for key in entry.unmet}
            unmet = {key: (asked[key], present) for key, present in entry.unmet.items()}
            return PoolExplanation(entry.nodepool, "", verdicts, dropped, True, unmet, guessed)
        reason = "" if entry.reason is None else str(entry.reason)
        return PoolExplanation(entry.nodepool, reason, verdicts, dropped, guessed=guessed)

    def _dropped(self, nodepool: str) -> Sequence[DroppedSize]:
        nodeclass = self._nodeclass(self._world.get("NodePool", nodepool) or {})
        return self._world.offers.list(nodeclass).dropped if nodeclass is not None else ()

    def _nodeclass(self, pool: Mapping[str, Any]) -> Mapping[str, Any] | None:
        reference = pool.get("spec", {}).get("template", {}).get("spec", {}).get("nodeClassRef", {})
        return self._world.get("AKSNodeClass", reference.get("name", ""))

    def _classes(self, snapshot: ClusterSnapshot, names: Set[str]) -> list[NodeClassSeen]:
        """The AKSNodeClasses of some NodePools, with what they would offer when changed."""
        pools = [pool for pool in snapshot.nodepools if name_of(pool) in names]
        found = {name_of(one): one for pool in pools if (one := self._nodeclass(pool)) is not None}
        return [
            NodeClassSeen(
                nodeclass,
                frozenset(name_of(pool) for pool in pools if self._nodeclass(pool) == nodeclass),
                frozenset(one.filter for one in self._world.offers.list(nodeclass).dropped),
                lambda changed: self._world.offers.list(changed).types,
            )
            for nodeclass in found.values()
        ]

    def _place(self, node: str) -> str:
        if not node:
            return ""
        labels = (self._world.get("Node", node) or {}).get("metadata", {}).get("labels") or {}
        keys = (INSTANCE_TYPE, ZONE, CAPACITY_TYPE)
        facts = [labels[key] for key in keys if key in labels]
        pool = labels.get(NODEPOOL)
        of_pool = f" of NodePool {pool}" if pool else ""
        return f"Node {node}{of_pool}" + (f" ({', '.join(facts)})" if facts else "")


def _joined(entries: Sequence[Any]) -> str:
    return next((f"a NodeClaim of NodePool {entry.nodepool}" for entry in entries if isinstance(entry, Joined)), "")


def _key(pod: Mapping[str, Any]) -> str:
    return f"{pod['metadata'].get('namespace') or 'default'}/{pod['metadata']['name']}"
