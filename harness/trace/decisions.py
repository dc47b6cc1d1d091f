"""Decisions of simulations about pods, with the NodePools and the sizes that they considered."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields
from typing import Any

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.instancetypes.offerings import Closed
from harness.karpenter.lifecycle.nominations import NOMINATED, nominated_node
from harness.karpenter.provider.market_snapshot import MarketSnapshot
from harness.karpenter.provisioning.listening import Listener
from harness.karpenter.scheduling import ClusterSnapshot, PlannedNodeClaim, SchedulingResults, pod_key
from harness.karpenter.scheduling.masks import bits
from harness.karpenter.scheduling.reasons.funnel import Funnel as Filters
from harness.karpenter.scheduling.reasons.ledger import Ledger, NodeTried, PoolFiltered, PoolTried
from harness.trace.facts import Decision, EventTold, Funnel, Sizes
from harness.trace.header import Fact
from harness.trace.nested_facts import Filtered, SaidNo, Tried
from harness.world import World

__all__ = ["Decisions", "decisions_of_events"]

_FILTERED = "no instance type met its requirements"
_FAILED = "Failed to schedule pod, "
_MANY = 50  # Nodes whose reasons are kept of one pod


class Decisions(Listener):
    """Keeps every simulation; its facts are computed when they are first read."""

    wants_ledger = True

    def __init__(self, world: World) -> None:
        self._world = world
        self._passes: list[tuple[float, SchedulingResults, Ledger, MarketSnapshot, Set[str]]] = []
        self._names: dict[int, tuple[PlannedNodeClaim, str]] = {}

    def solved(
        self,
        snapshot: ClusterSnapshot,
        types: Mapping[str, Sequence[InstanceType]],
        results: SchedulingResults,
        ledger: Ledger | None,
    ) -> None:
        """Keep the results of a simulation."""
        if ledger is not None:
            market = self._world.instance_types.market_snapshot()
            there = frozenset(name for name in results.existing if self._world.view.get("Node", name) is not None)
            self._passes.append((round(self._world.clock.seconds, 6), results, ledger, market, there))

    def created(self, planned: PlannedNodeClaim, nodeclaim: str) -> None:
        """Keep the name of a NodeClaim."""
        self._names[id(planned)] = (planned, nodeclaim)

    def facts(self) -> Iterator[Fact]:
        """All decisions in order, without those that repeat the last one about the same pods."""
        sizes = _SizeLists(self._world)
        last: dict[str, Hashable] = {}
        for number, (t, results, ledger, market, there) in enumerate(self._passes, 1):
            sizes.market = market
            for decision in self._of_pass(t, number, results, ledger, there, sizes):
                same = (
                    decision.result,
                    decision.target,
                    decision.why,
                    *((entry["nodepool"], entry.get("funnel")) for entry in decision.tried),
                )
                if all(last.get(pod) == same for pod in decision.pods):
                    continue
                last.update(dict.fromkeys(decision.pods, same))
                yield from sizes.new()
                yield decision

    def _of_pass(
        self,
        t: float,
        number: int,
        results: SchedulingResults,
        ledger: Ledger,
        there: Set[str],
        sizes: _SizeLists,
    ) -> Iterator[Decision]:
        """Yield the decisions of one simulation; `there` are the names that were Nodes then, the others are NodeClaims on their way."""
        filtered = tuple(sizes.tried(t, entry) for entry in ledger.filtered)
        for planned in results.nodeclaims:
            pods = tuple(pod_key(pod) for pod in planned.pods)
            _, name = self._names.get(id(planned), (None, ""))
            tried, nodes = self._looked(t, ledger, pods[0], sizes) if pods else ((), ())
            target = f"NodeClaim/{name}" if name else ""
            yield Decision(t, pods, "nodeclaim", number, target, "", (*filtered, *tried), nodes)
        for name, placed in results.existing.items():
            kind = "Node" if name in there else "NodeClaim"
            yield Decision(t, tuple(map(pod_key, placed)), "existing", number, f"{kind}/{name}")
        groups: dict[Hashable, tuple[list[str], Decision]] = {}
        for result, reasons in (("refused", results.errors), ("ignored", results.ignored)):
            for pod, reason in reasons.items():
                tried, nodes = self._looked(t, ledger, pod, sizes)
                decision = Decision(t, (pod,), result, number, "", str(reason), (*filtered, *tried), nodes)
                key = (result, decision.why, *((entry["nodepool"], entry.get("funnel")) for entry in tried), len(nodes))
                groups.setdefault(key, ([], decision))[0].append(pod)
        for pods_alike, first in groups.values():
            yield Decision(t, tuple(pods_alike), first.result, number, "", first.why, first.tried, first.nodes)

    def _looked(
        self, t: float, ledger: Ledger, pod: str, sizes: _SizeLists
    ) -> tuple[tuple[Tried, ...], tuple[SaidNo, ...]]:
        """The NodePools that were tried with a pod, and the Nodes that did not take it; of its last attempt."""
        entries = ledger.of(pod)
        pools = {entry.nodepool: entry for entry in entries if isinstance(entry, PoolTried)}
        nodes = {entry.node: entry.reason for entry in entries if isinstance(entry, NodeTried)}
        tried = tuple(sizes.tried(t, entry) for entry in pools.values())
        refusals: list[SaidNo] = [
            {"node": name, "why": str(reason)} for name, reason in nodes.items() if reason is not None
        ]
        return tried, tuple(refusals[:_MANY])


def decisions_of_events(trace_events: Iterable[EventTold]) -> Iterator[Decision]:
    """The decisions of a Karpenter in another process, from its Events about pods."""
    groups: dict[tuple[float, str, str, str], list[str]] = {}
    for event in trace_events:
        kind, _, rest = event.object.partition("/")
        if kind != "Pod" or event.source != "karpenter":
            continue
        pod = rest if "/" in rest else f"default/{rest}"
        if event.reason == NOMINATED:
            where, name = nominated_node(event.message)
            target, result = (f"Node/{name}", "existing") if where == "node" else (f"NodeClaim/{name}", "nodeclaim")
            groups.setdefault((event.t, result, target, ""), []).append(pod)
        elif event.reason == "FailedScheduling":
            why = event.message.removeprefix(_FAILED)
            groups.setdefault((event.t, "refused", "", why), []).append(pod)
    for (t, result, target, why), pods in groups.items():
        yield Decision(t, tuple(pods), result, 0, target, why)


class _SizeLists:
    """Numbers lists of sizes and funnels, so that each is written once. `market`: the provider's inputs."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.market = world.instance_types.market_snapshot()
        self._sizes: dict[Hashable, int] = {}
        self._lists: dict[tuple[str, int], tuple[int, Any]] = {}
        self._funnels: dict[Hashable, int] = {}
        self._new: list[Fact] = []

    def new(self) -> Iterator[Fact]:
        """Yield the facts about lists that have not been written yet."""
        new, self._new = self._new, []
        yield from new

    def tried(self, t: float, entry: PoolTried | PoolFiltered) -> Tried:
        """Return a NodePool that was considered: its name, its reason if it has one, the number of its funnel."""
        if isinstance(entry, PoolFiltered):
            why = _FILTERED
        else:
            why = "" if entry.reason is None else str(entry.reason)
        tried: Tried = {"nodepool": entry.nodepool, "funnel": self._funnel(t, entry.nodepool, entry.funnel())}
        return {**tried, "why": why} if why else tried

    def _funnel(self, t: float, nodepool: str, filters: Filters) -> int:
        list_number = self._list(t, nodepool, filters)
        closed = self._closed(filters)
        key = (nodepool, list_number, filters.left, *((why, mask) for why, mask in closed.items()))
        number = self._funnels.get(key)
        if number is None:
            number = self._funnels[key] = len(self._funnels) + 1
            steps: list[Filtered] = []
            before = (1 << len(filters.instance_types)) - 1
            for name, mask in filters.left:
                steps.append({"filter": name, "left": mask.bit_count(), "removed": _ranges(before & ~mask)})
                before = mask
            if closed:
                steps[-1]["closed"] = [{**_told(why), "removed": _ranges(mask)} for why, mask in closed.items()]
            self._new.append(Funnel(t, number, nodepool, list_number, tuple(steps)))
        return number

    def _closed(self, filters: Filters) -> dict[Closed, int]:
        """Return the reasons why the sizes that the last filter takes away cannot be had, each with its sizes; a size
        can have several reasons."""
        last, before = filters.left[-1], filters.left[-2][1]
        reasons: dict[Closed, int] = {}
        for position in bits(before & ~last[1]):
            instance_type = filters.instance_types[position]
            for offering in instance_type.compatible_offerings(filters.wanted):
                why = self.market.closed(instance_type.name, offering.zone, offering.capacity_type)
                if why is not None:
                    reasons[why] = reasons.get(why, 0) | 1 << position
        return reasons

    def _list(self, t: float, nodepool: str, filters: Filters) -> int:
        key = nodepool, id(filters.instance_types)
        number, _ = self._lists.get(key, (0, None))
        if not number:
            number = self._list_of(t, nodepool, filters.types)
            self._lists[key] = number, filters.instance_types  # kept, so that its id stays its own
        return number

    def _list_of(self, t: float, nodepool: str, types: tuple[str, ...]) -> int:
        number = self._sizes.get((nodepool, types))
        if number is not None:
            return number
        number = self._sizes[nodepool, types] = len(self._sizes) + 1
        dropped: dict[str, list[str]] = {}
        for dropped_size in self._dropped(nodepool):
            dropped.setdefault(dropped_size.filter, []).append(dropped_size.name)
        sold = len(types) + sum(map(len, dropped.values()))
        self._new.append(Sizes(t, number, nodepool, sold, dropped, types))
        return number

    def _dropped(self, nodepool: str) -> Sequence[Any]:
        from harness.karpenter.lifecycle.nodepools.status import nodeclass_name

        pool = self._world.view.get("NodePool", nodepool)
        name = nodeclass_name(pool) if pool is not None else None
        nodeclass = self._world.view.get("AKSNodeClass", name) if name else None
        return self._world.instance_types.list(nodeclass).dropped if nodeclass is not None else ()


def _told(why: Closed) -> dict[str, Any]:
    """Return the reason as JSON has it: fields with their defaults are left out."""
    return {field.name: value for field in fields(why) if (value := getattr(why, field.name)) != field.default}


def _ranges(mask: int) -> str:
    """Return the positions of a mask, as `0-14,17`."""
    ranges: list[list[int]] = []
    for position in bits(mask):
        if ranges and ranges[-1][1] == position - 1:
            ranges[-1][1] = position
        else:
            ranges.append([position, position])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)
