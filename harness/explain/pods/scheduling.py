"""Reasons why pods are where they are, or nowhere: the scheduler's own ledger, counted, with Karpenter's sentence
beside it.

The ledger is that of the very function that decides: the last simulation that saw the pod pending (the first, of a bound
pod) is run again with it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from harness.explain.advice.advisor import Advisor, nodeclass_of
from harness.explain.advice.changes import Advice, Change
from harness.explain.advice.places import asked_by_nodepool, asked_by_pod, place_lines
from harness.explain.pods.bound_to import binding_lines
from harness.explain.pods.remedies import volume_remedies
from harness.explain.pods.topology import no_zone
from harness.explain.pods.waiting import launch_failed, nominations, waiting_reasons
from harness.explain.pods.workloads import wish_of
from harness.explain.sizes.guesses import refused_by_guess
from harness.explain.sizes.pools import PoolExplanation, Verdicts, before_sizes
from harness.explain.sizes.shortages import Shortages
from harness.karpenter.cloudprovider import DroppedSize, InstanceType
from harness.karpenter.instancetypes.unavailable import UnavailableOfferings
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.karpenter.provisioning.listening import Listener
from harness.karpenter.scheduling import ClusterSnapshot, SchedulingResults, solve
from harness.karpenter.scheduling.reasons.ledger import Joined, Ledger, NodeTried, PoolFiltered, PoolTried
from harness.kube.api.fingerprint import fingerprint
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import name_of, namespace_of
from harness.kube.api.owners import workload_of
from harness.kube.scheduling.pods import is_provisionable
from harness.world import World

__all__ = ["Explainer", "PodExplanation", "PoolExplanation"]

Types = Mapping[str, Sequence[InstanceType]]


@dataclass(frozen=True, slots=True)
class PodExplanation:
    """One pod: `state` is bound, pending or ignored; `sentence` Karpenter's last word on it.

    `waiting` says what a pending pod waits for when Karpenter has nothing against it. `tried`: how many changes were tried, of which
    `kinds` where none works, `untried` how many were not because that would have taken too long, and `refused` Azure's errors in those
    trials that failed for them.
    `together` are the pods that wait for the same. `places`: of the sizes that are asked for by name those that are not to be had
    here. `short`: words that were meant and are not enough. `target`: the NodeClaim or Node that Karpenter last wanted the pod on.
    """

    pod: str
    state: str
    place: str
    sentence: str
    pools: tuple[PoolExplanation, ...] = ()
    nodes: tuple[tuple[str, str], ...] = ()
    changes: tuple[Change, ...] = ()
    tried: int = 0
    untried: int = 0
    kinds: tuple[str, ...] = ()
    short: tuple[Change, ...] = ()
    waiting: tuple[str, ...] = ()
    node: str = ""
    workload: str = ""
    together: int = 1
    refused: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    target: str = ""

    def unnamed(self, text: str) -> str:
        """A text about the pod without the name of its own machine: replicas that wait for the same have the same one."""
        return text.replace(self.target, "…") if self.target else text


class Explainer(Listener):
    """Listens to a world's simulations; ask it when the world has settled."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._advisor: Advisor | None = None
        self._advice_of: dict[Hashable, Advice] = {}
        self._first: dict[str, tuple[ClusterSnapshot, Types]] = {}
        self._last: dict[str, tuple[ClusterSnapshot, Types]] = {}
        self._marks: dict[int, UnavailableOfferings] = {}
        self._kept = UnavailableOfferings()
        self._ledgers: dict[int, tuple[ClusterSnapshot, Ledger, SchedulingResults]] = {}
        self._shortages: dict[int, Shortages] = {}
        self._alike: dict[Hashable, PodExplanation] = {}
        self._nominated: tuple[int, Mapping[tuple[str, str], str]] = (-1, {})
        self._waiting_pods: tuple[int, Mapping[Hashable, Sequence[Mapping[str, Any]]]] = (-1, {})
        self._wishes: tuple[int, Mapping[Hashable, Sequence[Mapping[str, Any]]]] = (-1, {})
        world.listeners.append(self)

    def solved(
        self, snapshot: ClusterSnapshot, types: Types, results: SchedulingResults, ledger: Ledger | None
    ) -> None:
        """Keep the simulation for each pod that waits."""
        unavailable = self._world.instance_types.unavailable
        if unavailable.sequence != self._kept.sequence:
            self._kept = unavailable.copy()
        self._marks[id(types)] = self._kept
        for pod in snapshot.pods:
            if not pod.get("spec", {}).get("nodeName"):
                self._last[_key(pod)] = (snapshot, types)
                self._first.setdefault(_key(pod), (snapshot, types))

    def pods(self, *, bound: bool = True) -> list[PodExplanation]:
        """Every pod of the world. Without `bound` those that have a Node come with its name alone, not with what was against others."""
        return [self.pod(pod, why_bound=bound) for pod in self._world.view.list("Pod")]

    def pod(self, pod: Mapping[str, Any], *, why_bound: bool = True) -> PodExplanation:
        """One pod of the world."""
        key = _key(pod)
        node = pod.get("spec", {}).get("nodeName") or ""
        together = [pod] if node else self._together(pod)
        named = PodExplanation(
            key,
            "bound" if node else "pending",
            self._place(node),
            "",
            node=node,
            workload=str(workload_of(pod)),
            together=len(together),
            target=self._target(pod).rpartition("/")[2].removeprefix("aks-"),
        )
        inputs = (self._first if node else self._last).get(key)  # of a bound pod, when its Node was chosen
        if inputs is None or (node and not why_bound):
            waits = () if node else self._waiting(pod)
            return replace(named, waiting=waits, **{"refused": (), **self._without_simulation(together, node)})
        snapshot, types = inputs
        ledger, results = self._replayed(snapshot, types)
        ignored = results.ignored.get(key, "") if is_provisionable(pod) else ""
        sentence = ignored or str(results.errors.get(key, ""))
        entries = ledger.of(key)
        waiting = () if node or sentence else self._waiting(pod)
        if ignored:
            waiting = tuple(volume_remedies(self._world, pod))
        if results.timed_out and not entries and not (node or sentence):
            waiting = (*waiting, "Karpenter's simulation timed out before it came to the pod")
        # Pods that differ in name only and fared alike are explained once.
        alike = (id(snapshot), _look(pod), sentence, tuple(map(type, entries)), waiting)
        if not node and alike in self._alike:
            return replace(self._alike[alike], pod=key, workload=named.workload, target=named.target)
        tried = {entry.nodepool: entry for entry in entries if isinstance(entry, PoolTried)}
        considered = sentence or tried  # else an existing Node or a NodeClaim in the making took it first
        filtered = ledger.filtered if considered and not ignored else ()
        looked_at = [*filtered, *tried.values()]
        refusals = {entry.node: entry.reason for entry in entries if isinstance(entry, NodeTried)}  # of the last step
        advice = Advice()
        if not node and (sentence or self._is_stuck(pod)):
            advised = self._advised(pod, snapshot, results, list(tried.values())) or together
            advice = self._advice(advised, snapshot, types, [*tried.values(), *filtered])
        explained = replace(
            named,
            state="bound" if node else "ignored" if ignored else "pending",
            place=named.place or _joined(entries),
            sentence=sentence,
            pools=tuple(self._pool(entry, types, pod) for entry in looked_at),
            nodes=tuple((name, str(reason)) for name, reason in refusals.items() if reason is not None),
            waiting=waiting,
            places=() if node else self._places(pod, {entry.nodepool for entry in looked_at}),
            **_told(advice),
        )
        self._alike[alike] = explained
        return explained

    def _is_stuck(self, pod: Mapping[str, Any]) -> bool:
        """Return whether Karpenter has nothing against a pod and made no machine for it, or got none."""
        target = self._target(pod)
        return launch_failed(self._world, pod, target) if target else is_provisionable(pod)

    def _advice(
        self, pods: Sequence[Mapping[str, Any]], snapshot: ClusterSnapshot, types: Types, looked_at: Sequence[Any]
    ) -> Advice:
        if self._advisor is None:
            self._advisor = Advisor(self._world)
        key = (id(snapshot), *sorted({_key(pod) for pod in pods}))
        if key not in self._advice_of:
            self._advice_of[key] = self._advisor.advice(pods, snapshot, types, looked_at)
        return self._advice_of[key]

    def _without_simulation(self, pods: Sequence[Mapping[str, Any]], node: str) -> dict[str, Any]:
        """Advice where Karpenter looks at pods and uses no NodePool, so that there was no simulation."""
        if node or not is_provisionable(pods[0]):
            return {}
        karpenter = self._world.karpenter
        return _told(self._advice(pods, karpenter.snapshot(), karpenter.instance_types(), []))

    def _together(self, pod: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """The pending pods of the same workload, or that differ in name only; the pod itself among them."""
        count = len(self._world.journal)
        if self._waiting_pods[0] != count:
            groups: dict[Hashable, list[Mapping[str, Any]]] = {}
            for waiting in self._world.view.list("Pod"):
                if not waiting.get("spec", {}).get("nodeName"):
                    groups.setdefault(_family(waiting), []).append(waiting)
            self._waiting_pods = (count, groups)
        return self._waiting_pods[1].get(_family(pod), [pod])

    def _advised(
        self, pod: Mapping[str, Any], snapshot: ClusterSnapshot, results: SchedulingResults, tried: Sequence[PoolTried]
    ) -> Sequence[Mapping[str, Any]]:
        """All pods that one change would help: they wish for the same and were refused for it before any size was looked at."""
        wish = wish_of(pod)
        if wish is None or not tried or not all(map(before_sizes, tried)):
            return ()
        if self._wishes[0] != id(results):
            groups: dict[Hashable, list[Mapping[str, Any]]] = {}
            for waiting in self._world.view.list("Pod"):
                error = results.errors.get(_key(waiting))
                if error is not None and not waiting.get("spec", {}).get("nodeName") and wish_of(waiting) is not None:
                    groups.setdefault((wish_of(waiting), str(error)), []).append(waiting)
            self._wishes = (id(results), groups)
        return self._wishes[1].get((wish, str(results.errors.get(_key(pod)))), ())

    def _waiting(self, pod: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the things that the pod waits for."""
        return tuple(waiting_reasons(self._world, pod, self._target(pod)))

    def _target(self, pod: Mapping[str, Any]) -> str:
        """Return the machine that Karpenter wanted for the pod; read off the events once."""
        count = len(self._world.events)
        if self._nominated[0] != count:
            self._nominated = (count, nominations(self._world))
        return self._nominated[1].get((namespace_of(pod), name_of(pod)), "")

    def _replayed(self, snapshot: ClusterSnapshot, types: Types) -> tuple[Ledger, SchedulingResults]:
        """The simulation with its ledger, run once per snapshot."""
        entry = self._ledgers.get(id(snapshot))
        if entry is None:
            ledger = Ledger()
            options = self._world.karpenter.scheduling
            release, indexes = self._world.release, self._world.caches.indexes
            results = solve(snapshot, types, release=release, options=options, indexes=indexes, ledger=ledger)
            entry = self._ledgers[id(snapshot)] = (snapshot, ledger, results)
        return entry[1:]

    def _pool(self, entry: PoolTried | PoolFiltered, types: Types, pod: Mapping[str, Any]) -> PoolExplanation:
        dropped = {dropped_size.name: dropped_size.filter for dropped_size in self._dropped(entry.nodepool)}
        verdicts = Verdicts(entry.types)
        looked = isinstance(entry, PoolFiltered) or not before_sizes(entry)
        guessed = refused_by_guess(self._world, tuple(verdicts)) if looked else {}
        marks = self._marks.get(id(types), self._kept)
        shortages = self._shortages.get(id(marks))
        if shortages is None:
            shortages = self._shortages[id(marks)] = Shortages(self._world, marks)
        if isinstance(entry, PoolFiltered):
            least = {key: entry.requirements.get(key).min_values or 0 for key in entry.unmet}
            unmet = {key: (least[key], present) for key, present in entry.unmet.items()}
            return PoolExplanation(entry.nodepool, "", verdicts, dropped, True, unmet, guessed, shortages.why)
        reason = "" if entry.reason is None else str(entry.reason)
        chosen = no_zone(pod, entry)
        return PoolExplanation(
            entry.nodepool,
            reason,
            verdicts,
            dropped,
            guessed=guessed,
            why=shortages.why,
            chosen=chosen,
            looked=looked,
        )

    def _places(self, pod: Mapping[str, Any], names: Set[str]) -> tuple[str, ...]:
        pools = [pool for pool in self._world.list("NodePool") if name_of(pool) in names]
        demands = [*asked_by_pod(pod), *(demand for pool in pools for demand in asked_by_nodepool(pool))]
        nodeclasses = {
            name_of(nodeclass): nodeclass
            for pool in pools
            if (nodeclass := nodeclass_of(self._world, pool)) is not None
        }
        return (*binding_lines(self._world, pod), *place_lines(self._world, demands, nodeclasses.values()))

    def _dropped(self, nodepool: str) -> Sequence[DroppedSize]:
        nodeclass = nodeclass_of(self._world, self._world.get("NodePool", nodepool) or {})
        return self._world.instance_types.list(nodeclass).dropped if nodeclass is not None else ()

    def _place(self, node: str) -> str:
        if not node:
            return ""
        labels = (self._world.get("Node", node) or {}).get("metadata", {}).get("labels") or {}
        keys = (INSTANCE_TYPE, ZONE, CAPACITY_TYPE)
        facts = [labels[key] for key in keys if key in labels]
        pool = labels.get(NODEPOOL)
        of_pool = f" of NodePool {pool}" if pool else ""
        return f"Node {node}{of_pool}" + (f" ({', '.join(facts)})" if facts else "")


def _told(advice: Advice) -> dict[str, Any]:
    names = ("changes", "tried", "refused", "untried", "short", "kinds")
    return {name: getattr(advice, name) for name in names}


def _joined(entries: Sequence[Any]) -> str:
    return next((f"a NodeClaim of NodePool {entry.nodepool}" for entry in entries if isinstance(entry, Joined)), "")


def _key(pod: Mapping[str, Any]) -> str:
    return f"{pod['metadata'].get('namespace') or 'default'}/{pod['metadata']['name']}"


def _look(pod: Mapping[str, Any]) -> Hashable:
    """Return the common part of pods that differ in name only."""
    return fingerprint([pod["metadata"].get("namespace"), pod["metadata"].get("labels"), pod.get("spec")])


def _family(pod: Mapping[str, Any]) -> Hashable:
    workload = workload_of(pod)
    return _look(pod) if workload.kind == "Pod" else workload
