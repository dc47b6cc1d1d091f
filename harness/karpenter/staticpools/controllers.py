"""Keeps up the number of nodes of static NodePools: one controller makes what is missing, the other takes what is too much.

Core ``pkg/controllers/static/{provisioning,deprovisioning}/controller.go``. They run behind the gate StaticCapacity.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from harness.engine.clock import Clock
from harness.engine.engine import DONE, ReconcileError, Result, Router, Wait, back_off
from harness.engine.ports import Change, ChangeType, Sink, Writer
from harness.engine.ports import View as ClusterView
from harness.engine.runaway import Loop, Runaway, RunawayDetector
from harness.karpenter.disruption.situation import View
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.lifecycle.conditions import nodepool_is_ready
from harness.karpenter.lifecycle.nodeclaims.creation import NodeClaimRefused
from harness.karpenter.requirement import EmptyRange
from harness.karpenter.scheduling import PlannedNodeClaim, SchedulingEvent
from harness.karpenter.staticpools.decisions import LIMITED, Growth, growth, is_static_nodepool, surplus
from harness.kube.api.objects import Object, condition_is, is_terminating, labels_of, name_of, spec_of
from harness.kube.api.status import ApiError, ignoring

__all__ = ["BOUND", "GATE", "StaticDeprovisioning", "StaticProvisioning"]

GATE = "StaticCapacity"

BOUND = 8
"""So many batches of NodeClaims in a row, none of which became a node, are a runaway."""

Look = Callable[[], View]
Create = Callable[[PlannedNodeClaim], Object]
"""Creates a NodeClaim. Raises NodeClaimRefused, EmptyRange."""


class StaticProvisioning:
    """Creates the NodeClaims that static NodePools lack; a key is a NodePool's name. `failures` are launch failures by NodeClaim."""

    name = "static.provisioning"
    backoff = (0.005, 1000.0)

    def __init__(
        self,
        view: ClusterView,
        sink: Sink,
        clock: Clock,
        look: Look,
        create: Create,
        failures: Mapping[str, str],
        report: Callable[[Runaway], None],
    ) -> None:
        self._view, self._sink, self._clock = view, sink, clock
        self._look, self._create, self._report = look, create, report
        self._synced = False
        self._failures: dict[str, int] = {}
        self._runaways = _PoolRunaways(failures)
        self.held = False
        """While it is set, no NodeClaims are created."""

    def watches(self) -> Mapping[str, Router]:
        """NodePools whose `replicas` change or that become ready, and their NodeClaims that are deleted."""
        return {"NodePool": self._of_nodepool, "NodeClaim": self._of_nodeclaim}

    def _of_nodepool(self, change: Change) -> Iterable[Hashable]:
        pool, old = change.object, change.old
        if change.type is ChangeType.DELETED or not is_static_nodepool(pool):
            return ()
        changed = old is None or _replicas(old) != _replicas(pool)
        ready = nodepool_is_ready(pool) and old is not None and not nodepool_is_ready(old)
        return (name_of(pool),) if changed or ready else ()

    def _of_nodeclaim(self, change: Change) -> Iterable[Hashable]:
        self._runaways.seen(change.object)
        goes = change.old is not None and not is_terminating(change.old) and is_terminating(change.object)
        return _static_pool(self._view, change.object) if goes or change.type is ChangeType.DELETED else ()

    def reconcile(self, key: Hashable) -> Result:
        """Create all NodeClaims that one NodePool lacks."""
        pool = self._view.get("NodePool", str(key))
        if pool is None or not is_static_nodepool(pool) or self.held:
            return DONE
        view = self._look()
        self._synced = self._synced or view.synced
        made = growth(view.simulations, pool, synced=self._synced)
        if made.count and (problem := self._provision(view, pool, made)):
            return self._failed(name_of(pool), problem)
        self._failures.pop(name_of(pool), None)
        if made.again == LIMITED:
            self._sink.log("info", self.name, "nodepool node limit reached", NodePool=name_of(pool))
        return DONE if made.again is None else Result(made.again, Wait.POLL)

    def _failed(self, pool: str, problem: str) -> Result:
        """Logs the error and retries with back-off, as an alarm: a world does not wait for it, since a change triggers the next
        reconcile."""
        self._sink.log("error", self.name, "Reconciler error", NodePool=pool, error=problem)
        failures = self._failures.get(pool, 0)
        self._failures[pool] = failures + 1
        return Result(back_off(self.backoff, failures), Wait.ALARM)

    def _provision(self, view: View, pool: Object, made: Growth) -> str:
        """Create NodeClaims. Return the error, empty when all were created."""
        assert made.counts is not None
        fields = {"current": made.counts.running, "desired": _replicas(pool), "provision-count": made.count}
        text = "provisioning nodeclaims to satisfy replica count"
        self._sink.log("info", self.name, text, NodePool=name_of(pool), **fields)
        problems, created = [], []
        for _ in range(made.count):
            try:
                created.append(self._create(view.simulations.static_nodeclaim(pool)))
            except (NodeClaimRefused, EmptyRange) as error:
                if isinstance(error, NodeClaimRefused):
                    self._sink.rejected(error.rejections)
                problems.append(f"creating node claim, {error}")
        runaway = self._runaways.created(pool, created, self._clock.seconds)
        if runaway is not None:
            self._report(runaway)
        return f"creating nodeclaims, {'; '.join(problems)}" if problems else ""


class StaticDeprovisioning:
    """Deletes the NodeClaims that static NodePools have too many; a key is a NodePool's name."""

    name = "static.deprovisioning"
    backoff = (0.005, 1000.0)

    def __init__(self, view: ClusterView, writer: Writer, sink: Sink, look: Look) -> None:
        self._view, self._writer, self._sink, self._look = view, writer, sink, look
        self.held = False
        """While it is set, no NodeClaims are deleted."""

    def watches(self) -> Mapping[str, Router]:
        """NodePools whose `replicas` change, and new NodeClaims."""
        return {"NodePool": self._of_nodepool, "NodeClaim": self._of_nodeclaim}

    def _of_nodepool(self, change: Change) -> Iterable[Hashable]:
        pool, old = change.object, change.old
        if change.type is ChangeType.DELETED or not is_static_nodepool(pool):
            return ()
        return (name_of(pool),) if old is None or _replicas(old) != _replicas(pool) else ()

    def _of_nodeclaim(self, change: Change) -> Iterable[Hashable]:
        return _static_pool(self._view, change.object) if change.type is ChangeType.ADDED else ()

    def reconcile(self, key: Hashable) -> Result:
        """Delete all NodeClaims that one NodePool has too many."""
        pool = self._view.get("NodePool", str(key))
        if pool is None or not is_static_nodepool(pool) or self.held:
            return DONE
        claims, made = surplus(self._look().simulations, pool, say=self._say)
        if claims:
            assert made.counts is not None
            fields = {"current": made.counts.running, "desired": _replicas(pool), "deprovision-count": len(claims)}
            text = "deprovisioning nodeclaims to satisfy replica count"
            self._sink.log("info", self.name, text, NodePool=name_of(pool), **fields)
        problems = []
        for claim in claims:
            try:
                with ignoring(404):
                    self._writer.delete("NodeClaim", name_of(claim))
            except ApiError as error:
                problems.append(error.message)
        if problems:
            raise ReconcileError(f"failed to deprovision nodeclaims, {'; '.join(problems)}")
        return DONE if made.again is None else Result(made.again, Wait.POLL)

    def _say(self, event: SchedulingEvent) -> None:
        namespace, _, name = event.object.rpartition("/")
        pod = self._view.get(event.kind, name, namespace)
        if pod is not None:
            self._sink.event(pod, event.type, event.reason, event.message, dedupe_seconds=event.dedupe_seconds)


class _PoolRunaways:
    """Detects NodePools whose NodeClaims are deleted before they register, and are created again at once (kaz #1854)."""

    def __init__(self, failures: Mapping[str, str]) -> None:
        self._failures = failures
        self._detector = RunawayDetector(BOUND, "a NodeClaim goes before it becomes a Node, and the next one is made")
        self._last: dict[str, str] = {}  # the NodeClaim that was created last, by NodePool
        self._registered: set[str] = set()

    def seen(self, claim: Object) -> None:
        """Note NodeClaims that have registered."""
        if condition_is(claim, "Registered"):
            self._registered.add(name_of(claim))

    def created(self, pool: Object, claims: Iterable[Object], at: float) -> Runaway | None:
        """The runaway that these NodeClaims complete, if any."""
        names = [name_of(claim) for claim in claims]
        if not names:
            return None
        subject, before = f"NodePool/{name_of(pool)}", self._last.get(name_of(pool))
        self._last[name_of(pool)] = names[-1]
        if before in self._registered:
            self._detector.forget(subject)
        why = f"NodeClaim/{before} is gone: {self._failures.get(before) or 'deleted'}" if before else ""
        made = tuple(f"NodeClaim/{name}" for name in names)
        return self._detector.record(subject, Loop((subject, len(names)), at, made, None, why))


def _replicas(pool: Object) -> int:
    return int(spec_of(pool).get("replicas") or 0)


def _static_pool(view: ClusterView, claim: Object) -> tuple[Hashable, ...]:
    name = labels_of(claim).get(NODEPOOL)
    pool = view.get("NodePool", name) if name else None
    return (name_of(pool),) if pool is not None and is_static_nodepool(pool) else ()
