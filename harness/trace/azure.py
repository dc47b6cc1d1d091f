"""Calls of Azure, the power of machines, and their costs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.engine.clock import SECOND
from harness.engine.names import zone_label
from harness.karpenter.labels.azure import capacity_type_of
from harness.kube.go.durations import parse_duration
from harness.trace.facts import ArmCall, Blocked, Boot, Cost, NodeState, PriceOf
from harness.world import World
from harness.world.costs.machine_price import MachinePrice
from harness.world.recorder import LogLine

__all__ = ["Power", "arm_calls", "blocked", "costs", "machine_moves"]

_STATES = {"PoweredOn": "on", "PoweredOff": "off", "Deleted": "deleted", "Preempting": "preempting"}
_FAILED = "CreationFailed"


def arm_calls(
    world: World, calls: Iterable[Any], claims: Iterable[str], seconds: Callable[[float], float]
) -> Iterator[ArmCall]:
    """Yield every call that reached the cloud.

    `seconds` turns seconds since 1970 into virtual ones, `claims` are all NodeClaims that ever existed.
    """
    all_claims = list(claims)
    claim_of: dict[str, str] = {}  # by path: a machine is asked about often
    for call in calls:
        path = call.path
        claim = claim_of.get(path)
        if claim is None:
            claim = claim_of[path] = next((claim for claim in all_claims if claim in path), "")
        summary = call.summary
        zones = summary.get("zones") or ()
        yield ArmCall(
            seconds(call.time),
            call.number,
            call.method,
            call.resource,
            call.name,
            call.status,
            call.code or "",
            call.message,
            str(summary.get("size") or ""),
            zone_label(world.region, zones[0]) if zones else "",
            str(summary.get("priority") or ""),
            claim,
            call.fault or "",
        )


class Power:
    """Listens to a cloud: the machines with power, and the price of each size at a time."""

    def __init__(self, world: World, seconds: Callable[[float], float]) -> None:
        self._world = world
        self._seconds = seconds
        self._prices: dict[tuple[str, str], list[PriceOf]] = {}
        self.boots: list[Boot] = []

    def hear(self, event: Any) -> None:
        """Take an event of the cloud."""
        event_name = type(event).__name__
        if event_name not in _STATES and event_name != _FAILED:
            return
        vm, t = event.vm, self._seconds(event.at)
        capacity_type = capacity_type_of(vm.priority)
        zone = f"{vm.location}-{vm.zone}" if vm.zone else ""
        self.price(t, vm.size, capacity_type)
        self.boots.append(
            Boot(
                t,
                vm.name,
                _STATES.get(event_name, "failed"),
                vm.size,
                zone,
                capacity_type,
                evicted=getattr(event, "evicted", False),
                error=getattr(event, "code", ""),
                message=getattr(event, "message", ""),
            )
        )

    @property
    def prices(self) -> list[PriceOf]:
        """Return every price that was requested, at its first request and after each change."""
        return [price for course in self._prices.values() for price in course]

    def reprice(self, t: float) -> None:
        """Note that Azure's prices may have changed."""
        for size, capacity_type in tuple(self._prices):
            price = self._world.price(size, capacity_type)
            if price.usd != self._prices[size, capacity_type][-1].price:
                self._prices[size, capacity_type].append(_price_of(t, size, capacity_type, price))

    def price(self, t: float, size: str, capacity_type: str) -> float | None:
        """The price of a size at a time."""
        course = self._prices.get((size, capacity_type))
        if course is None:
            now = self._world.price(size, capacity_type)
            course = self._prices[size, capacity_type] = [_price_of(t, size, capacity_type, now)]
        return next((past.price for past in reversed(course) if past.t <= t), course[0].price)


def _price_of(t: float, size: str, capacity_type: str, price: MachinePrice) -> PriceOf:
    return PriceOf(t, size, capacity_type, price.usd, price.as_on_demand, price.guess)


MachineMove = tuple[float, str, tuple[str, str] | None]
"""When, which machine (`Node/NAME`: a Node whose machine is not of this cloud), and its size and capacity type from then on, None without
power."""


def machine_moves(boots: Sequence[Boot], nodes: Sequence[NodeState]) -> list[MachineMove]:
    """Return which machines cost from when on, in order of time."""
    moves: list[MachineMove] = []
    for boot in boots:
        if boot.state != "preempting":
            moves.append((boot.t, boot.vm, (boot.size, boot.capacity_type) if boot.state == "on" else None))
    ours = {boot.vm.lower() for boot in boots}
    ours |= {node.node for node in nodes if node.vm.lower() in ours}
    for node in nodes:
        if node.state == "deleted":
            moves.append((node.t, f"Node/{node.node}", None))
        elif node.size and node.node not in ours:
            moves.append((node.t, f"Node/{node.node}", (node.size, node.capacity_type)))
    return sorted(moves, key=lambda move: move[0])


def costs(power: Power, nodes: Iterable[NodeState]) -> Iterator[Cost]:
    """Yield the cost of all machines together whenever it has changed: those with power, and Nodes whose machines are not of this cloud."""
    moves = machine_moves(power.boots, [*nodes])
    moves += [(price.t, "", None) for price in power.prices]
    there: dict[str, tuple[str, str]] = {}
    last: tuple[float, int, tuple[str, ...]] = (0.0, 0, ())
    moves.sort(key=lambda move: move[0])
    for position, (t, machine, kind) in enumerate(moves):
        if kind is not None:
            there[machine] = kind
        else:
            there.pop(machine, None)
        if position + 1 < len(moves) and moves[position + 1][0] == t:
            continue  # told once for each moment
        prices = {kind: power.price(t, *kind) for kind in set(there.values())}
        total = round(sum(prices[kind] or 0.0 for kind in there.values()), 6)
        cost = total, len(there), tuple(sorted({size for (size, _), price in prices.items() if price is None}))
        if cost != last:
            last = cost
            yield Cost(t, *last)


_SIZE, _FAMILY = "removing offering from offerings", "marking VM Family unavailable in zone"


def blocked(lines: Iterable[LogLine], calls: Sequence[ArmCall]) -> Iterator[Blocked]:
    """Yield the offerings that Karpenter leaves alone, by its log (kaz pkg/cache/unavailableofferings.go)."""
    refused = [call for call in calls if call.method in ("PUT", "POST") and call.status >= 400]
    looks = (call for call in calls if call.operation == "operations")
    answers = sorted({call.number for call in (*refused, *looks)})
    for line in lines:
        if line.message not in (_SIZE, _FAMILY):
            continue
        values = {name: str(value) for name, value in line.values.items() if value is not None}
        ttl = parse_duration(values["ttl"]) if "ttl" in values else 0
        family = values.get("family", "") if line.message == _FAMILY else ""
        yield Blocked(
            round(line.at, 6),
            values.get("zone", ""),
            values.get("capacity-type", ""),
            round(line.at + ttl / SECOND, 6),
            values.get("unavailable", ""),
            values.get("instance-type", ""),
            family,
            int(values.get("max-cpu") or 0),
            _cause(line, refused, answers),
        )


def _cause(line: LogLine, refused: Sequence[ArmCall], answers: Sequence[int]) -> int:
    """Return the number of the call whose answer a line is about: a refused request, or a look at a failed operation.

    The simulated loop logs it before it calls again, but for its clean-up; the real one names the NodeClaim. `answers`
    are the numbers of both kinds of calls, in order.
    """
    if line.call:
        before = bisect_right(answers, line.call)
        return answers[before - 1] if before else 0
    nodeclaim = line.values.get("NodeClaim")
    name = nodeclaim.get("name") if isinstance(nodeclaim, Mapping) else None
    return max((call.number for call in refused if call.claim == name and call.t <= line.at), default=0)
