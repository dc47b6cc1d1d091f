"""Advice tried in a world: the same inputs, faults, quotas and objects once more, with the change made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from harness.explain.advice.candidates import Candidate, Target
from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.objects import copy_json, labels_of, name_of, namespace_of, spec_of, status_of
from harness.kube.api.owners import Workload, workload_of
from harness.kube.api.quantity import Quantity
from harness.kube.api.resources import ResourceList, merge, parse_list
from harness.world import World
from harness.world.costs.prices import machine_prices
from harness.world.startup import end_startup

__all__ = ["MANY", "Outcome", "Trials"]

MANY = 200  # pods from which on a trial has those alone that the advice is for
BUDGET = 100  # trials for all pods of a world; those in which Azure refuses a lot count more
_REFUSALS = 2  # requests that Azure refuses, as dear as a trial
_DEAREST = 19  # what the refusals of one trial count at most, so that one that never ends leaves room for others
_LOTS = 10_000_000
_TEMPLATES = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Job")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a trial: how many of the pods got Nodes, on which new ones, and what Azure refused meanwhile.

    `nodes` are the Nodes with their labels, `price` is USD per hour for all of them. `use`: what the Nodes of each NodePool have;
    `quota`: usage name → vCPUs in use. `rest`: what Karpenter says of a pod that got none. `lost`: how many pods of other workloads have
    a Node in the world and none here. `as_on_demand`: `price` is an upper bound, for no spot price is known of some.
    """

    bound: int
    wanted: int
    nodes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    price: float = 0.0
    refused: tuple[str, ...] = ()
    use: Mapping[str, ResourceList] = field(default_factory=dict)
    quota: Mapping[str, int] = field(default_factory=dict)
    rest: str = ""
    lost: Mapping[str, int] = field(default_factory=dict)
    as_on_demand: bool = False

    @property
    def complete(self) -> bool:
        """Return whether all pods got a Node, and no other lost its own."""
        return self.bound == self.wanted > 0 and not self.lost


class Trials:
    """Runs worlds like one that has settled.

    In a world of many pods only those that wait together come again, beside what the others use.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._left = BUDGET
        made = {status_of(claim).get("nodeName") for claim in world.list("NodeClaim")}
        self._objects = [
            applied for applied in world.applied if not (applied.get("kind") == "Node" and name_of(applied) in made)
        ]
        self._alone = len(world.view.list("Pod")) > MANY

    def run(
        self,
        pods: Sequence[Mapping[str, Any]],
        parts: Iterable[Candidate] = (),
        *,
        quota: Mapping[str, int] | None = None,
    ) -> Outcome | None:
        """Return the outcome for pending pods that wait together, after a change; None when so much was tried already."""
        if self._left <= 0:
            return None
        self._left -= 1
        parts = tuple(parts)
        limits: dict[str, int] = {**self._room(), **(quota or {})}
        for part in parts:
            limits |= (part.market or {}).get("quota", {})
        here = {f"{self._world.region}/{name}": limit for name, limit in limits.items()}
        region = next((part.market["region"] for part in parts if part.market and "region" in part.market), None)
        trial = self._world.fresh(*([{"quota": here}] if here else ()), region=region)
        wanted = Counter(map(workload_of, pods))
        # the others have their Nodes by now, unless they have them only because a word was misspelt
        own = [_is_own(applied, wanted) for applied in self._objects]
        first = (
            []
            if any(part.meant for part in parts)
            else [applied for applied, late in zip(self._objects, own, strict=True) if not late]
        )
        steps = [[self._edited(applied, wanted, ()) for applied in first]] if first and any(own) else []
        steps.append([self._edited(applied, wanted, parts) for applied in self._objects])
        there = {name_of(node) for node in self._world.list("Node")} if self._alone else set()
        for number, step in enumerate(steps):
            there |= {name_of(node) for node in trial.list("Node")} if number else set()
            before = {id(applied) for applied in steps[0]} if number else set()
            objects = [applied for applied in step if applied is not None and id(applied) not in before]
            refused = trial.apply(
                *(objects if region is None else (_moved(applied, self._world.region, region) for applied in objects))
            )
            if any(rejection for rejection in refused if parts):
                return Outcome(0, len(pods))
            if trial.settle(allow_rejections=True).quiescent:
                end_startup(trial)
        self._left -= min(sum(call.status >= 400 for call in trial.calls()) // _REFUSALS, _DEAREST)
        return self._outcome(trial, wanted, there)

    def sentence(self, pods: Sequence[Mapping[str, Any]]) -> str:
        """Karpenter's last sentence on one of the pods as they are."""
        return _said(self._world, pods)

    def has_spare(self) -> bool:
        """Return whether more may be tried than some advice needs: half of all trials are kept for pods that have none yet."""
        return self._left > BUDGET // 2

    def lifted(self, pods: Sequence[Mapping[str, Any]]) -> Mapping[str, int]:
        """The quotas that would have to be raised for the pods, and to what; empty when raising them does not help."""
        world = self._world
        limits = world.quotas()
        if not limits:
            return {}
        outcome = self.run(pods, quota=dict.fromkeys(limits, _LOTS))
        if outcome is None or not outcome.complete:
            return {}
        others = self._used() if self._alone else {}
        needed = {name: outcome.quota.get(name, 0) + others.get(name, 0) for name in limits}
        return {name: needed[name] for name, quota in limits.items() if needed[name] > quota.limit}

    def unlimited(self, pods: Sequence[Mapping[str, Any]], nodepool: str) -> ResourceList:
        """Return the capacity that the Nodes of a NodePool would have without its limits; empty when the pods get no Nodes even then."""

        def edit(pool: dict[str, Any]) -> None:
            pool["spec"].pop("limits", None)

        outcome = self.run(pods, [Candidate(0, "", edit, nodepool)])
        if outcome is None or not outcome.complete:
            return {}
        total = outcome.use.get(nodepool, {})
        return merge(total, _use(self._world).get(nodepool, {})) if self._alone else total

    def _room(self) -> dict[str, int]:
        """Return the quotas without the usage of other machines, where those are not made again."""
        if not self._alone:
            return {}
        return {name: max(0, quota.limit - quota.used) for name, quota in self._world.quotas().items()}

    def _used(self) -> dict[str, int]:
        return _quota_use(self._world)

    def _edited(
        self, obj: Mapping[str, Any], wanted: Mapping[Workload, int], parts: Sequence[Candidate]
    ) -> Mapping[str, Any] | None:
        """The object as the trial gets it; None when it stays away. `wanted`: what the pods belong to, with how many they are."""
        kind = str(obj.get("kind"))
        place = namespace_of(obj) or "default"
        target: Target = (kind, place, name_of(obj))
        own = _is_own(obj, wanted)
        if self._alone and not own and (kind in _TEMPLATES or (kind == "Pod" and not spec_of(obj).get("nodeName"))):
            return None
        edits = [part.edit for part in parts[::-1] if part.edit is not None and _is_for(part, target, own)]
        shrink = self._alone and own and "replicas" in spec_of(obj) and kind != "Pod"
        if not edits and not shrink:
            return obj
        changed: dict[str, Any] = copy_json(obj)
        if shrink:
            changed["spec"]["replicas"] = wanted[Workload(*target)]
        holder = changed["spec"]["template"] if own and kind in _TEMPLATES else changed
        for edit in edits:
            edit(holder)
        return changed

    def _outcome(self, trial: World, wanted: Mapping[Workload, int], there: Set[str]) -> Outcome:
        """Return the outcome of the trial; Nodes that were `there` before the pods cost nothing more."""
        pods, count = (
            [pod for pod in trial.view.list("Pod") if workload_of(pod) in wanted],
            sum(wanted.values()),
        )
        bound = [pod for pod in pods if spec_of(pod).get("nodeName")]
        waiting = len(pods) - len(bound)
        nodes = {
            name: labels_of(trial.get("Node", name) or {})
            for name in dict.fromkeys(str(pod["spec"]["nodeName"]) for pod in bound)
            if name not in there
        }
        priced = machine_prices(trial)
        refused = [c.code for c in trial.calls() if c.method == "PUT" and c.status >= 400 and c.code]
        return Outcome(
            max(0, count - waiting) if pods else 0,
            count,
            nodes,
            sum(priced[name].usd or 0.0 for name in nodes if name in priced),
            tuple(dict.fromkeys(refused)),
            _use(trial),
            _quota_use(trial),
            _said(trial, pods),
            {} if self._alone else self._lost(trial, wanted),
            any(priced[name].as_on_demand for name in nodes if name in priced),
        )

    def _lost(self, trial: World, wanted: Mapping[Workload, int]) -> dict[str, int]:
        bound = _bound(trial)
        return {
            str(workload): count - bound[workload]
            for workload, count in sorted(_bound(self._world).items())
            if workload not in wanted and workload.kind != "DaemonSet" and count > bound[workload]
        }


def _is_own(obj: Mapping[str, Any], wanted: Mapping[Workload, int]) -> bool:
    """Return whether it is one of the pods that wait together, or their owner."""
    if obj.get("kind") == "Pod":
        return workload_of(obj) in wanted and not spec_of(obj).get("nodeName")
    return Workload(str(obj.get("kind")), namespace_of(obj) or "default", name_of(obj)) in wanted


def _bound(world: World) -> Counter[Workload]:
    """Return how many pods of each workload have a Node."""
    return Counter(workload_of(pod) for pod in world.view.list("Pod") if spec_of(pod).get("nodeName"))


def _said(world: World, pods: Sequence[Mapping[str, Any]]) -> str:
    """Karpenter's last sentence on one of the pods that wait."""
    waiting = {name_of(pod) for pod in pods if not spec_of(pod).get("nodeName")}
    events = [event for event in world.events if event.source == "karpenter" and event.reason == "FailedScheduling"]
    messages = [event.message for event in events if event.object.kind == "Pod" and event.object.name in waiting]
    return messages[-1].removeprefix("Failed to schedule pod, ") if messages else ""


def _moved(value: Any, old: str, new: str) -> Any:
    """Objects whose zones are named after another region."""
    if isinstance(value, Mapping):
        return {key: _moved(part, old, new) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_moved(part, old, new) for part in value]
    if isinstance(value, str) and (value == old or (value.startswith(f"{old}-") and value[len(old) + 1 :].isdecimal())):
        return new + value[len(old) :]
    return value


def _is_for(part: Candidate, target: Target, own: bool) -> bool:
    if part.of_pod:
        return own
    kind, _, name = target
    if part.nodepool is not None:
        return kind == "NodePool" and name == part.nodepool
    if part.nodeclass is not None:
        return kind == "AKSNodeClass" and name == name_of(part.nodeclass.nodeclass)
    return part.other == target


def _use(world: World) -> dict[str, ResourceList]:
    """NodePool → what its Nodes have."""
    totals: dict[str, ResourceList] = {}
    for node in world.list("Node"):
        pool = labels_of(node).get(NODEPOOL)
        if pool:
            capacity = {**parse_list(status_of(node).get("capacity") or {}), "nodes": Quantity.parse(1)}
            totals[pool] = merge(totals.get(pool, {}), capacity)
    return totals


def _quota_use(world: World) -> dict[str, int]:
    """Usage name in small letters → what is in use, for the quotas that have a limit."""
    return {name: quota.used for name, quota in world.quotas().items()}
