"""The scenario of a move, run and measured: Nodes and their price, and how many pods of each workload were ready, moment by moment."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from harness.engine.clock import SECOND
from harness.explain.pods.events import last_sentence
from harness.explain.pods.waiting import nominations, waiting_reasons
from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.labels import INSTANCE_TYPE, UNSCHEDULABLE
from harness.kube.api.objects import (
    Object,
    condition_is,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
)
from harness.kube.api.owners import workload_of
from harness.kube.api.selectors import Selector
from harness.kube.scheduling.taints import NO_SCHEDULE, taint_text, untolerated
from harness.migrate.reading.nodes import pool_of
from harness.migrate.walking.story import BEFORE
from harness.scenario.language.files import load_text
from harness.scenario.running.runner import UNEXPECTED_REJECTION, Runner
from harness.world.costs.prices import node_capacity_type
from harness.world.refused import is_mistake
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.scenario.running.run import Run
    from harness.world import World

__all__ = ["Fleet", "LeftBehind", "Ready", "Refused", "Walk", "walked"]

_HOUR = 3600.0
_OVERHEAD = re.compile(r", daemonset overhead=\{[^{}]*\}")
"""The part of Karpenter's sentence that repeats what the DaemonSets ask for."""
_CORDONED = {"key": UNSCHEDULABLE, "effect": NO_SCHEDULE}


@dataclass(frozen=True, slots=True)
class Fleet:
    """The Nodes at a moment: how many, their sizes with counts, and USD per hour; `unpriced` sizes count as nothing."""

    nodes: int
    usd: float
    sizes: Mapping[str, int]
    unpriced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ready:
    """The pods of a workload that were ready: before the move, at the least moment of it (`at`, in seconds), and after it."""

    workload: str
    before: int
    least: int
    after: int
    at: float


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """A pod that is not on one of Karpenter's Nodes or a pool that stays, and why."""

    pod: str
    workload: str
    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """An object that was refused on the way: its name as a pattern, the layer that refused it, and the words."""

    object: str
    layer: str
    text: str


@dataclass(frozen=True, slots=True)
class Walk:
    """Outcome of a move. `most` is the fleet when it cost most, `seconds` how long the steps took, `usd` what all cost meanwhile.

    `undercut`: PodDisruptionBudgets that had fewer healthy pods than they want at some moment.
    """

    before: Fleet
    most: Fleet
    after: Fleet
    seconds: float
    usd: float
    ready: tuple[Ready, ...]
    undercut: tuple[str, ...]
    left: tuple[LeftBehind, ...]
    passed: bool
    problem: str = ""
    waited_before: int = 0
    """Pods that had no Node before the move began."""
    healthy: Mapping[str, int] = field(default_factory=dict)
    """PodDisruptionBudget (`namespace/name`) → the fewest healthy pods that it counted from the beginning of the move on."""
    stayed: frozenset[str] = frozenset()
    """Workloads all of whose pods are on agent pools that stay, in the end."""
    refused: tuple[Refused, ...] = ()
    """The refusals on the way: NodeClaims for pods that still ask for what no NodeClaim may name."""
    short: tuple[str, ...] = ()
    """PodDisruptionBudgets that had fewer healthy pods than they want before the move began."""

    @property
    def unplaced(self) -> frozenset[str]:
        """Return the workloads of pods that were left behind."""
        return frozenset(pod.workload for pod in self.left)


def walked(text: str, moving: frozenset[str], *, file: str) -> Walk:
    """Run the scenario of a move and return what came of it. `moving` names the agent pools that go. Raises ScenarioError."""
    (scenario,) = load_text(text, file=file)
    run, verdicts = Runner().examine(scenario.cases[0])
    unmet = [verdict for verdict in verdicts if not verdict.holds]
    failed = [verdict for verdict in unmet if not verdict.label.startswith(UNEXPECTED_REJECTION)]
    problem = str(failed[0].differences[0]) if failed and failed[0].differences else ""
    measured = _Measured(run)
    return Walk(
        before=measured.before,
        most=measured.most,
        after=measured.fleet(),
        seconds=run.world.clock.seconds - run.taken[BEFORE - 1],
        usd=measured.usd,
        ready=measured.ready(),
        undercut=tuple(sorted(measured.undercut)),
        left=tuple(_left_behind(run.world, moving)),
        passed=not failed,
        problem=problem,
        waited_before=measured.waited,
        healthy=measured.healthy,
        stayed=_stayed(run.world),
        refused=tuple(_refusals(run)),
        short=measured.short,
    )


def _refusals(run: Run) -> list[Refused]:
    """Return each kind of refusal once: NodeClaims of a NodePool differ in their endings only."""
    refused: dict[tuple[str, str], Refused] = {}
    for refusal in run.refusals:
        rejection = refusal.rejection
        if is_mistake(rejection):
            name, layer = rejection.object, str(rejection.layer)
            pattern = f"{name.rpartition('-')[0]}-*" if name.startswith("NodeClaim/") else name
            refused.setdefault((pattern, layer), Refused(pattern, layer, rejection.text))
    return list(refused.values())


class _Measured:
    """Goes through every write to the cluster, in order, and keeps up what there is."""

    def __init__(self, run: Run) -> None:
        self._world = run.world
        self._begins = round(run.taken[BEFORE - 1] * SECOND)
        self._start = run.world.clock.start
        self._nodes: dict[str, tuple[str, float | None]] = {}
        self._price = 0.0
        """The nodes' USD per hour."""
        self._usd = lru_cache(maxsize=1_000)(lambda size, capacity_type: self._world.price(size, capacity_type).usd)
        self._ready: dict[tuple[str, str], str] = {}
        self._counts: Counter[str] = Counter()
        self._first: Counter[str] | None = None
        self._least: dict[str, tuple[int, float]] = {}
        self._unbound: set[tuple[str, str]] = set()
        self._lacking: dict[str, int] = {}
        """The healthy pods that each budget lacked before the move."""
        self.before = self.most = Fleet(0, 0.0, {})
        self.usd = 0.0
        self.undercut: set[str] = set()
        self.healthy: dict[str, int] = {}
        self.waited = 0
        last = self._begins
        for entry in run.world.journal.entries:
            if entry.error is not None:
                continue
            now = entry.at - self._start
            if now >= self._begins:
                self._begin()
                self.usd += self._price * (now - last) / SECOND / _HOUR
                last = now
            self._take(entry.key.kind, entry.key.namespace, entry.key.name, entry.after, now)
        self._begin()
        self.usd += self._price * (self._world.clock.now - self._start - last) / SECOND / _HOUR

    def _begin(self) -> None:
        if self._first is None:
            self._first = Counter(self._counts)
            self.before = self.most = self.fleet()
            self._least = {name: (count, 0.0) for name, count in self._counts.items()}
            self.waited = len(self._unbound)

    def fleet(self) -> Fleet:
        """Return the Nodes that there are."""
        sizes = Counter(size for size, _ in self._nodes.values())
        unpriced = sorted({size for size, price in self._nodes.values() if price is None})
        return Fleet(len(self._nodes), self._price, dict(sizes), tuple(unpriced))

    def _take(self, kind: str, namespace: str, name: str, after: Object | None, now: int) -> None:
        if kind == "Node":
            self._take_node(name, after)
        elif kind == "Pod":
            self._take_pod((namespace, name), after, (now - self._begins) / SECOND)
        elif kind == "PodDisruptionBudget" and after is not None:
            self._take_budget(f"{namespace}/{name}", status_of(after))

    def _take_node(self, name: str, node: Object | None) -> None:
        before = self._nodes.get(name)
        if node is None:
            self._nodes.pop(name, None)
        elif size := labels_of(node).get(INSTANCE_TYPE, ""):
            self._nodes[name] = size, self._usd(size, node_capacity_type(node))
        if self._nodes.get(name) == before:
            return
        self._price = sum(price or 0.0 for _, price in self._nodes.values())
        if self._first is not None and self._price > self.most.usd:
            self.most = self.fleet()

    def _take_budget(self, budget: str, status: Mapping[str, Any]) -> None:
        """A budget that wanted more than there was before the move is undercut when there is less still."""
        healthy = int(status.get("currentHealthy", 0))
        lacking = int(status.get("desiredHealthy", 0)) - healthy
        self.healthy[budget] = healthy if self._first is None else min(healthy, self.healthy.get(budget, healthy))
        if self._first is None:
            self._lacking[budget] = lacking
        elif lacking > max(0, self._lacking.get(budget, 0)):
            self.undercut.add(budget)

    @property
    def short(self) -> tuple[str, ...]:
        """Return the budgets that lacked healthy pods before the move."""
        return tuple(sorted(budget for budget, lacking in self._lacking.items() if lacking > 0))

    def _take_pod(self, key: tuple[str, str], pod: Object | None, seconds: float) -> None:
        owner = str(workload_of(pod)) if pod is not None else ""
        is_ready = pod is not None and condition_is(pod, "Ready") and not is_terminating(pod)
        if pod is not None and not spec_of(pod).get("nodeName"):
            self._unbound.add(key)
        else:
            self._unbound.discard(key)
        if is_ready and key not in self._ready:
            self._ready[key] = owner
            self._counts[owner] += 1
        elif not is_ready and key in self._ready:
            owner = self._ready.pop(key)
            self._counts[owner] -= 1
            if self._first is not None and self._counts[owner] < self._least.get(owner, (0, 0.0))[0]:
                self._least[owner] = self._counts[owner], seconds

    def ready(self) -> tuple[Ready, ...]:
        """Return each workload that had ready pods before the move."""
        first = self._first or Counter()
        return tuple(
            Ready(name, first[name], self._least[name][0], self._counts[name], self._least[name][1])
            for name in sorted(first)
            if first[name]
        )


def _stayed(world: World) -> frozenset[str]:
    """The workloads whose pods are all on Nodes of agent pools."""
    nodes = {name_of(node): NODEPOOL in labels_of(node) for node in world.list("Node")}
    places: dict[str, set[bool]] = {}
    for pod in world.list("Pod"):
        places.setdefault(str(workload_of(pod)), set()).add(nodes.get(str(spec_of(pod).get("nodeName") or ""), True))
    return frozenset(name for name, karpenters in places.items() if karpenters == {False})


def _left_behind(world: World, moving: frozenset[str]) -> Sequence[LeftBehind]:
    """Pods without a Node, with Karpenter's reason, and pods on Nodes of pools that were to go."""
    nodes = {name_of(node): node for node in world.list("Node")}
    targets = nominations(world)
    left = []
    for pod in world.list("Pod"):
        name, owner = f"{namespace_of(pod)}/{name_of(pod)}", str(workload_of(pod))
        node = nodes.get(str(spec_of(pod).get("nodeName") or ""))
        if node is None:
            left.append(
                LeftBehind(name, owner, _why_pending(world, pod, targets.get((namespace_of(pod), name_of(pod)), "")))
            )
        elif NODEPOOL not in labels_of(node) and pool_of(node) in moving and workload_of(pod).kind != "DaemonSet":
            left.append(LeftBehind(name, owner, f"is still on {name_of(node)}: {_why_still_there(world, pod)}"))
    return left


def _why_still_there(world: World, pod: Object) -> str:
    """Return what keeps a pod on a Node of a pool that goes: a PodDisruptionBudget that allows no eviction, or its tolerations.

    A pod that tolerates the taint of cordoned Nodes is scheduled to them again (kubernetes plugins/nodeunschedulable).
    """
    for budget in world.list("PodDisruptionBudget"):
        selector, status = Selector.parse(spec_of(budget).get("selector")), status_of(budget)
        blocks = namespace_of(budget) == namespace_of(pod) and not status.get("disruptionsAllowed")
        if blocks and selector.matches(labels_of(pod)):
            counts = f"{status.get('currentHealthy', 0)} are healthy and {status.get('desiredHealthy', 0)} have to be"
            return f"PodDisruptionBudget/{name_of(budget)} lets none of its pods go, of which {counts}"
    if not untolerated([_CORDONED], spec_of(pod).get("tolerations") or ()):
        return f"it tolerates {taint_text(_CORDONED)}, so that such pods come back to cordoned Nodes"
    return "nothing has evicted it"


def _why_pending(world: World, pod: Object, target: str) -> str:
    """Return Karpenter's sentence on a pod, or what it waits for where Karpenter has nothing against it (`target`: where it wanted it)."""
    sentence = "" if target else last_sentence(world, name_of(pod), namespace_of(pod))
    if sentence:
        return _OVERHEAD.sub("", sentence).partition(", requirements=")[0]
    *_, nearest = ("no Node takes it", *waiting_reasons(world, pod, target))
    return nearest
