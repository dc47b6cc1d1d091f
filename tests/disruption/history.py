"""What happened in a world, looked at write by write: no budget was broken at any moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.clusters.memory.journal import Entry
from harness.engine.clock import nanoseconds
from harness.engine.disruptions import Disruption
from harness.engine.ports import KARPENTER
from harness.kube.api.objects import Key, Object, condition_is, is_terminating, labels_of
from harness.kube.api.selectors import Selector
from harness.world import World

__all__ = ["Costs", "check_budgets_of_nodes", "check_budgets_of_pods", "check_savings"]


class Costs:
    """While nobody changes anything and nothing but consolidation disrupts nodes, machines never cost more than before.

    Compared are moments at which nothing is under way: `look` after each step, `changed` when somebody did something.
    """

    def __init__(self) -> None:
        self._before: tuple[float, float] | None = None
        self.fell = 0
        """How often the cost was lower than at the moment before."""

    def changed(self) -> None:
        """What follows may cost more."""
        self._before = None

    def look(self, world: World) -> None:
        """Compares this moment with the last one at which nothing was under way."""
        since = self._before[0] if self._before is not None else 0.0
        if any(one.at > since and one.reason not in ("Empty", "Underutilized") for one in world.disruptions):
            self._before = None
        claims = world.list("NodeClaim")
        if any(is_terminating(claim) or not condition_is(claim, "Initialized") for claim in claims):
            return
        if any(one.ended is None for one in world.disruptions) or not all(
            pod["spec"].get("nodeName") for pod in world.list("Pod")
        ):
            return
        cost = sum(price_of(world, labels_of(claim)) for claim in claims)
        if self._before is not None:
            assert cost <= self._before[1] + 1e-9, (self._before, world.clock.seconds, cost)
            self.fell += cost < self._before[1] - 1e-9
        self._before = world.clock.seconds, cost


def price_of(world: World, labels: Mapping[str, str]) -> float:
    """USD per hour of a machine by the labels of its NodeClaim."""
    price = world.price(labels["node.kubernetes.io/instance-type"], labels["karpenter.sh/capacity-type"]).usd
    assert price is not None
    return price


def check_savings(world: World) -> int:
    """What was launched for a consolidation costs less than what went for it; how many such replacements there were.

    By what Azure asks for the machines that came and went, not by what the decision said.
    """
    labels: dict[str, Mapping[str, str]] = {}
    for entry in world.journal:
        if (
            entry.key.kind == "NodeClaim"
            and entry.after
            and "node.kubernetes.io/instance-type" in labels_of(entry.after)
        ):
            labels[entry.key.name] = labels_of(entry.after)
    replaced = 0
    for one in world.disruptions:
        if one.reason == "Underutilized" and not one.problem and one.replacements:
            before = sum(price_of(world, labels[each.nodeclaim]) for each in one.nodes)
            after = sum(price_of(world, labels[name]) for name in one.replacements if name in labels)
            assert after < before, one
            replaced += 1
    return replaced


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
