"""Why pods are where they are, or nowhere: the scheduler's own ledger, counted, with Karpenter's sentence beside it.

The ledger is that of the very function that decides: the last simulation that saw the pod pending (the first, of a bound
pod) is run again with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.explain.changes import Change, smallest_changes
from harness.explain.reasons import Cause, causes_of
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.scheduling import ClusterSnapshot, SchedulingResults, solve
from harness.karpenter.scheduling.ledger import Joined, Ledger, NodeTried, PoolTried, TypeVerdict
from harness.karpenter.scheduling.shapes import fingerprint
from harness.world import World

__all__ = ["Explainer", "PodExplanation", "PoolExplanation"]

Types = Mapping[str, Sequence[InstanceType]]


@dataclass(frozen=True, slots=True)
class PoolExplanation:
    """One NodePool and one pod. `sentence` is Karpenter's, empty when the NodePool took the pod.

    `deciding` counts the sizes by the first cause against each, `all_causes` by every cause; `kept` are the sizes that stay.
    `dropped` counts the sizes of the region that are no instance types, by filter.
    """

    nodepool: str
    sentence: str
    verdicts: tuple[TypeVerdict, ...]
    dropped: Mapping[str, int]

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
    """One pod: `state` is bound, pending or ignored; `sentence` Karpenter's last word on it."""

    pod: str
    state: str
    place: str
    sentence: str
    pools: tuple[PoolExplanation, ...] = ()
    nodes: tuple[tuple[str, str], ...] = ()
    changes: tuple[Change, ...] = field(default=())


class Explainer:
    """Listens to a world's simulations; ask it when the world has settled."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._first: dict[str, tuple[ClusterSnapshot, Types]] = {}
        self._last: dict[str, tuple[ClusterSnapshot, Types]] = {}
        self._ledgers: dict[int, tuple[ClusterSnapshot, Ledger, SchedulingResults]] = {}
        self._alike: dict[Hashable, PodExplanation] = {}
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
            text = "" if node else "Karpenter has not looked at it: no NodePool is ready, or it is not Unschedulable"
            return PodExplanation(key, state, self._place(node), text)
        snapshot, types = inputs
        ledger, results = self._replayed(snapshot, types)
        sentence = results.ignored.get(key, "") or str(results.errors.get(key, ""))
        entries = ledger.of(key)
        # Pods that differ in name only and fared alike are explained once.
        look = [pod["metadata"].get("namespace"), pod["metadata"].get("labels"), pod.get("spec")]
        alike = (id(snapshot), fingerprint(look), sentence, tuple(map(type, entries)))
        if not node and alike in self._alike:
            return replace(self._alike[alike], pod=key)
        tried = {entry.nodepool: entry for entry in entries if isinstance(entry, PoolTried)}
        pools = tuple(self._pool(entry) for entry in tried.values())
        nodes = tuple(
            (entry.node, str(entry.reason)) for entry in entries if isinstance(entry, NodeTried) and entry.reason
        )
        changes: tuple[Change, ...] = ()
        if not node and sentence and key not in results.ignored:
            changes = smallest_changes(pod, snapshot, types, list(tried.values()), self._decide)
        state = "bound" if node else "ignored" if key in results.ignored else "pending"
        place = self._place(node) or _joined(entries)
        self._alike[alike] = explained = PodExplanation(key, state, place, sentence, pools, nodes, changes)
        return explained

    def _replayed(self, snapshot: ClusterSnapshot, types: Types) -> tuple[Ledger, SchedulingResults]:
        """The simulation with its ledger, run once per snapshot."""
        known = self._ledgers.get(id(snapshot))
        if known is None:
            ledger = Ledger()
            known = self._ledgers[id(snapshot)] = (snapshot, ledger, self._solve(snapshot, types, ledger))
        return known[1:]

    def _solve(self, snapshot: ClusterSnapshot, types: Types, ledger: Ledger | None) -> SchedulingResults:
        options = self._world.karpenter.provisioner.options
        return solve(snapshot, types, release=self._world.release, options=options, ledger=ledger)

    def _decide(self, snapshot: ClusterSnapshot, types: Types) -> SchedulingResults:
        return self._solve(snapshot, types, None)

    def _pool(self, entry: PoolTried) -> PoolExplanation:
        dropped = Counter(one.filter for one in self._dropped(entry.nodepool))
        reason = "" if entry.reason is None else str(entry.reason)
        return PoolExplanation(entry.nodepool, reason, tuple(entry.types()), dropped)

    def _dropped(self, nodepool: str) -> Sequence[Any]:
        pool = self._world.get("NodePool", nodepool) or {}
        reference = pool.get("spec", {}).get("template", {}).get("spec", {}).get("nodeClassRef", {})
        nodeclass = self._world.get("AKSNodeClass", reference.get("name", ""))
        return self._world.offers.list(nodeclass).dropped if nodeclass is not None else ()

    def _place(self, node: str) -> str:
        if not node:
            return ""
        labels = (self._world.get("Node", node) or {}).get("metadata", {}).get("labels") or {}
        keys = ("node.kubernetes.io/instance-type", "topology.kubernetes.io/zone", "karpenter.sh/capacity-type")
        facts = [labels[key] for key in keys if key in labels]
        pool = labels.get("karpenter.sh/nodepool")
        of_pool = f" of NodePool {pool}" if pool else ""
        return f"Node {node}{of_pool}" + (f" ({', '.join(facts)})" if facts else "")


def _joined(entries: Sequence[Any]) -> str:
    return next((f"a NodeClaim of NodePool {entry.nodepool}" for entry in entries if isinstance(entry, Joined)), "")


def _key(pod: Mapping[str, Any]) -> str:
    return f"{pod['metadata'].get('namespace') or 'default'}/{pod['metadata']['name']}"
