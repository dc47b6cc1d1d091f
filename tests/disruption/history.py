"""What happened in a world, looked at write by write: no budget was broken at any moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.clusters.memory.journal import Entry
from harness.engine.clock import nanoseconds
from harness.engine.disruptions import Disruption
from harness.engine.ports import KARPENTER
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import Key, Object, condition_is, is_terminating, labels_of, name_of
from harness.kube.api.selectors import Selector
from harness.world import World

__all__ = ["Costs", "check_budgets_of_nodes", "check_budgets_of_pods"]


MOST = 300
"""More decisions than any of these worlds has in a week."""


class Costs:
    """Consolidation never makes machines dearer: not by a command, and not in what comes of it.

    By what Azure asks for the machines that came and went, not by what the decisions say. What comes of commands is compared between
    moments at which nothing is under way, while nobody changes anything and nothing but consolidation disrupts nodes.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._labels: dict[str, Mapping[str, str]] = {}
        self._written = self._decided = 0
        self._before: tuple[float, float] | None = None
        self.replaced = self.compared = 0
        """How many replacements were judged, and how many pairs of moments."""

    def changed(self) -> None:
        """Somebody has changed something: what follows may cost more."""
        self._before = None

    def look(self) -> None:
        """Judges what has happened since the last look."""
        for entry in self._world.journal.entries[self._written :]:
            if entry.key.kind == "NodeClaim" and entry.after and INSTANCE_TYPE in labels_of(entry.after):
                self._labels[entry.key.name] = labels_of(entry.after)
        self._written = len(self._world.journal)
        decided = self._world.disruptions
        assert len(decided) < MOST, "nodes come and go without end"
        while self._decided < len(decided) and decided[self._decided].ended is not None:
            self._judge(decided[self._decided])
            self._decided += 1
        if self._decided == len(decided) and self._is_quiet():
            self._compare(sum(self._price(name_of(claim)) for claim in self._world.list("NodeClaim")))

    def _judge(self, one: Disruption) -> None:
        if one.reason not in ("Empty", "Underutilized"):
            self._before = None
        elif one.replacements and not one.problem:
            before = sum(self._price(each.nodeclaim) for each in one.nodes)
            after = sum(self._price(name) for name in one.replacements)
            assert after < before, (one, before, after)
            self.replaced += 1

    def _is_quiet(self) -> bool:
        ready = (
            not is_terminating(claim) and condition_is(claim, "Initialized") for claim in self._world.list("NodeClaim")
        )
        return all(ready) and all(pod["spec"].get("nodeName") for pod in self._world.list("Pod"))

    def _compare(self, cost: float) -> None:
        if self._before is not None:
            assert cost <= self._before[1] + 1e-9, (self._before, self._world.clock.seconds, cost)
            self.compared += 1
        self._before = self._world.clock.seconds, cost

    def _price(self, nodeclaim: str) -> float:
        labels = self._labels[nodeclaim]
        price = self._world.price(labels[INSTANCE_TYPE], labels[CAPACITY_TYPE]).usd
        assert price is not None
        return price


def check_budgets_of_nodes(world: World) -> int:
    """Every decision that could wait kept to the NodePool's budgets, with all nodes that were going then; how many there were.

    Nodes whose machines are being deleted do not count any more (core pkg/controllers/disruption/helpers.go BuildDisruptionBudgetMapping).
    """
    decisions = sorted((each for each in world.disruptions if each.method), key=lambda each: each.at)
    entries = iter(world.journal)
    entry, nodes, pool, ending = next(entries, None), {}, {}, set()
    for decision in decisions:
        moment = world.clock.start + nanoseconds(decision.at)
        while entry is not None and entry.at < moment:
            if entry.key.kind == "Node":
                _keep(nodes, entry)
            elif entry.key == Key("NodePool", "", "default") and entry.after is not None:
                pool = entry.after
            elif entry.key.kind == "NodeClaim" and entry.after and condition_is(entry.after, "InstanceTerminating"):
                ending.add(entry.after["status"].get("nodeName"))
            entry = next(entries, None)
        _check_decision(decision, {name: node for name, node in nodes.items() if name not in ending}, pool)
    return len(decisions)


def _check_decision(decision: Disruption, nodes: Mapping[str, Object], pool: Object) -> None:
    there = {name: node for name, node in nodes.items() if "karpenter.sh/initialized" in labels_of(node)}
    own = {each.node for each in decision.nodes}
    going = own | {name for name, node in there.items() if is_terminating(node) or _is_disrupted(node)}
    for budget in pool["spec"]["disruption"].get("budgets") or [{"nodes": "10%"}]:
        if decision.reason in (budget.get("reasons") or [decision.reason]):
            share = str(budget["nodes"])
            most = -(-int(share[:-1]) * len(there) // 100) if share.endswith("%") else int(share)
            assert len(going) <= most, (decision, budget, sorted(going))


def _is_disrupted(node: Object) -> bool:
    return any(taint["key"] == "karpenter.sh/disrupted" for taint in node["spec"].get("taints") or ())


def check_budgets_of_pods(world: World) -> int:
    """Each ready pod that Karpenter had evicted left as many as the budgets of its labels want; how many such pods there were."""
    found: dict[str, dict[str, Object]] = {"Pod": {}, "PodDisruptionBudget": {}, "Deployment": {}}
    evicted = 0
    for entry in world.journal:
        if entry.key.kind not in found or entry.error is not None:
            continue
        before = found[entry.key.kind].get(entry.key.name)
        _keep(found[entry.key.kind], entry)
        if entry.key.kind != "Pod" or entry.verb != "delete" or entry.identity != KARPENTER or before is None:
            continue
        if condition_is(before, "Ready") and not is_terminating(before):
            evicted += 1
            _check_pods(before, found)
    return evicted


def _check_pods(gone: Object, found: Mapping[str, Mapping[str, Object]]) -> None:
    for budget in found["PodDisruptionBudget"].values():
        selector = Selector.parse(budget["spec"]["selector"])
        if not selector.matches(labels_of(gone)):
            continue
        left = [pod for pod in found["Pod"].values() if selector.matches(labels_of(pod)) and not is_terminating(pod)]
        healthy = sum(condition_is(pod, "Ready") for pod in left)
        wanted = found["Deployment"][labels_of(gone)["app"]]["spec"]["replicas"]
        assert healthy >= _stay(budget["spec"], wanted), (budget["metadata"]["name"], healthy, wanted)


def _stay(spec: Mapping[str, Any], wanted: int) -> int:
    if "maxUnavailable" in spec:
        return wanted - int(spec["maxUnavailable"])
    share = str(spec["minAvailable"])
    return -(-int(share[:-1]) * wanted // 100) if share.endswith("%") else int(share)


def _keep(objects: dict[str, Object], entry: Entry) -> None:
    if entry.after is None:
        objects.pop(entry.key.name, None)
    else:
        objects[entry.key.name] = entry.after
