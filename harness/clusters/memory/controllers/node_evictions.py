"""The node lifecycle controller of kube-controller-manager, its slow half: the taints that drive pods out of Nodes that are not ready.

In each zone one Node is tainted every ten seconds. Where most Nodes of a zone are not ready, it is fewer or none; while no Node of the
cluster is ready, none is tainted. Upstream looks at its Nodes every five seconds, this controller as soon as one changes.

Source: kubernetes 1.36 pkg/controller/nodelifecycle/node_lifecycle_controller.go (processTaintBaseEviction, doNoExecuteTaintingPass,
handleDisruption, markNodeForTainting), pkg/controller/nodelifecycle/scheduler/rate_limited_queue.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import field
from math import inf

from harness.engine.clock import SECOND, Clock, nanoseconds
from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import Change, ChangeType, View, Writer
from harness.engine.rng import Rng
from harness.kube.api.objects import Object, condition, labels_of, name_of, spec_of
from harness.kube.scheduling.taints import NO_EXECUTE, TAINT_OF_READY
from harness.kube.zone_states import EXCLUDED, ZoneState, eviction_rate, zone_key, zone_state
from lazyrecords import dataclass

__all__ = ["NodeEvictions"]

_PASS = "pass"
_ZoneKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Health:
    """The readiness of a Node, by its condition: empty without it. `driving`: the keys of its taints that drive pods out."""

    zone: _ZoneKey
    ready: str
    excluded: bool
    driving: frozenset[str]


class _Limiter:
    """A token bucket that holds one token, by virtual time."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.free: float = -inf if rate else inf
        """From when on it accepts, in nanoseconds."""

    def accept(self, now: int) -> bool:
        """Take the token, if there is one."""
        if now < self.free:
            return False
        self.free = now + nanoseconds(1 / self.rate)
        return True

    def swapped(self, rate: float, now: int) -> _Limiter:
        """Return the one for another rate, which is empty if this one is."""
        if rate == self.rate:
            return self
        limiter = _Limiter(rate)
        if rate and not self.accept(now):
            limiter.accept(now)
        return limiter


@dataclass(slots=True)
class _Zone:
    """A zone, and its Nodes that wait for their taint."""

    state: ZoneState = ZoneState.INITIAL
    limiter: _Limiter = field(default_factory=lambda: _Limiter(eviction_rate(ZoneState.NORMAL, 0)))
    queue: dict[str, None] = field(default_factory=dict)
    ready: int = 0
    not_ready: int = 0

    @property
    def now_state(self) -> ZoneState:
        """Its state by the Nodes that it has now."""
        return zone_state(self.ready, self.not_ready)

    def limit(self, rate: float, now: int) -> None:
        self.limiter = self.limiter.swapped(rate, now)


class NodeEvictions:
    """Adds and removes the NoExecute taints of Nodes that are not ready. Its one key is a look at all that have changed."""

    name = "node-lifecycle.evictions"
    backoff = (0.05, 5.0)

    def __init__(self, view: View, writer: Writer, clock: Clock, rng: Rng) -> None:
        self._rng = rng
        self._view = view
        self._writer = writer
        self._clock = clock
        self._nodes: dict[str, _Health] = {}
        self._zones: dict[_ZoneKey, _Zone] = {}
        self._changed: dict[str, None] = {}
        self._begun = False

    def watches(self) -> Mapping[str, Router]:
        """Watch Nodes."""
        return {"Node": self._hear}

    def _hear(self, change: Change) -> Iterable[Hashable]:
        health = None if change.type is ChangeType.DELETED else _health(change.object)
        return (_PASS,) if self._note(name_of(change.object), health) else ()

    def _note(self, name: str, health: _Health | None) -> bool:
        """Count a Node in its zone, and return whether anything about it has changed."""
        before = self._nodes.get(name)
        if health == before:
            return False
        if before is not None:
            self._count(before, -1)
            del self._nodes[name]
        if health is not None:
            self._nodes[name] = health
            self._count(health, 1)
        self._changed[name] = None
        return True

    def _count(self, health: _Health, number: int) -> None:
        zone = self._zones.setdefault(health.zone, _Zone())
        if health.excluded:
            return
        if health.ready == "True":
            zone.ready += number
        else:
            zone.not_ready += number

    def reconcile(self, key: Hashable) -> Result:
        """Look at the Nodes that have changed, at the states of all zones, and taint those whose turn it is."""
        if not self._begun:  # objects that were there before the first write are not told of
            self._begun = True
            for node in self._view.list("Node"):
                self._note(name_of(node), _health(node))
        while self._changed:
            name = next(iter(self._changed))
            self._look(name)
            del self._changed[name]
        self._handle_disruption()
        due = [self._taint(key, zone) for key, zone in self._zones.items() if zone.queue]
        following = min(due, default=inf)
        return DONE if following == inf else Result((following - self._clock.now) / SECOND)

    def _look(self, name: str) -> None:
        """Take the taints from a Node that is ready, and queue one that is not."""
        health = self._nodes.get(name)
        if health is None:
            return
        queue = self._zones[health.zone].queue
        wanted = TAINT_OF_READY.get(health.ready)
        if health.ready == "True":
            queue.pop(name, None)
            if health.driving:
                self._swap(name, None)
        elif wanted is not None and health.driving:
            self._swap(name, wanted)
        elif wanted is not None:
            queue.setdefault(name)

    def _handle_disruption(self) -> None:
        """Give each zone the rate of its new state."""
        for key in [key for key, zone in self._zones.items() if not (zone.ready or zone.not_ready or zone.queue)]:
            if not any(health.zone == key for health in self._nodes.values()):
                del self._zones[key]
        zones = [zone for zone in self._zones.values() if zone.ready or zone.not_ready]
        now = self._clock.now
        none_is_ready = all(zone.now_state is ZoneState.FULL_DISRUPTION for zone in zones)
        none_was_ready = all(zone.state is ZoneState.FULL_DISRUPTION for zone in zones)
        if none_is_ready and none_was_ready:
            return
        if none_is_ready:
            for name in list(self._nodes):
                self._swap(name, None)
        for zone in zones:
            state = zone.now_state
            if none_is_ready:
                zone.limit(0.0, now)
            elif none_was_ready or state is not zone.state:
                zone.limit(eviction_rate(state, zone.ready + zone.not_ready), now)
            zone.state = state

    def _taint(self, key: _ZoneKey, zone: _Zone) -> float:
        """Taint the Nodes of a zone whose turn it is, and return when the next one's comes, in nanoseconds.

        Chance decides whose turn it is: every five seconds upstream queues all Nodes of a zone anew, from eight threads. Those
        that have left the zone keep their place before them.
        """
        while zone.queue and zone.limiter.accept(self._clock.now):
            left = [name for name in zone.queue if name not in self._nodes or self._nodes[name].zone != key]
            names = left[:1] or list(zone.queue)
            name = names[0] if len(names) == 1 else self._rng.choice(self.name, names)
            del zone.queue[name]
            health = self._nodes.get(name)
            if health is not None and (wanted := TAINT_OF_READY.get(health.ready)):
                self._swap(name, wanted)
        return zone.limiter.free if zone.queue else inf

    def _swap(self, name: str, wanted: str | None) -> None:
        """Let a Node have this taint of the controller alone, or none."""
        node = self._view.get("Node", name)
        if node is None:
            return
        taints = list(spec_of(node).get("taints") or ())
        left = [taint for taint in taints if not (_is_driving(taint) and taint["key"] != wanted)]
        if wanted is not None and not any(_is_driving(taint) for taint in left):
            left.append({"key": wanted, "effect": NO_EXECUTE, "timeAdded": self._clock.timestamp()})
        if left != taints:
            self._writer.patch("Node", name, {"spec": {"taints": left or None}})


def _health(node: Object) -> _Health:
    labels = labels_of(node)
    ready = condition(node, "Ready") or {}
    driving = frozenset(str(taint["key"]) for taint in spec_of(node).get("taints") or () if _is_driving(taint))
    return _Health(zone_key(labels), str(ready.get("status", "")), EXCLUDED in labels, driving)


def _is_driving(taint: Mapping[str, str]) -> bool:
    return taint.get("effect") == NO_EXECUTE and taint.get("key") in TAINT_OF_READY.values()
