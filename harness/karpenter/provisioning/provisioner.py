"""The provisioner: gathers pending pods, simulates, and creates NodeClaims.

Sources: core pkg/controllers/provisioning/{controller,provisioner}.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from harness.engine.access import Access
from harness.engine.clock import SECOND
from harness.engine.engine import DONE, Result, Router, Wait
from harness.engine.names import NodeClaimName, ProviderId
from harness.engine.ports import Change, ChangeType
from harness.karpenter.cloudprovider import InstanceType, UnevaluatedNodePool
from harness.karpenter.instancetypes import NoInstanceTypes
from harness.karpenter.lifecycle.marks import Marks
from harness.karpenter.lifecycle.names import claim_of
from harness.karpenter.lifecycle.nodeclaims.creation import NodeClaimRefused, create_nodeclaim
from harness.karpenter.lifecycle.nodepools.status import nodeclass_name
from harness.karpenter.lifecycle.nodes.disrupted import is_disrupted
from harness.karpenter.lifecycle.nominations import NOMINATED, nomination
from harness.karpenter.provider.instance_types import InstanceTypeProvider
from harness.karpenter.provisioning.batcher import Batcher
from harness.karpenter.provisioning.comings_and_goings import ComingsAndGoings
from harness.karpenter.provisioning.listening import Listener, ledger_for
from harness.karpenter.provisioning.podtimes import PodTimes
from harness.karpenter.provisioning.relevance import KINDS, matters
from harness.karpenter.provisioning.runaway import PodRunaways
from harness.karpenter.releases.scheduling import rules_of
from harness.karpenter.requirement import EmptyRange
from harness.karpenter.scheduling import (
    CatalogIndexes,
    ClusterSnapshot,
    PlannedNodeClaim,
    SchedulingOptions,
    SchedulingResults,
    is_deferred,
    pod_key,
    solve,
)
from harness.karpenter.scheduling.nodes.memory import ClusterMemory
from harness.karpenter.scheduling.pods.daemons import DaemonPods
from harness.karpenter.scheduling.pods.pending import usable_nodepools
from harness.karpenter.scheduling.snapshot import SPREADING, observed
from harness.karpenter.validation.rejections import Rejection, RejectionLayer
from harness.kube.api.objects import Object, name_of, namespace_of, spec_of, status_of, uid_of
from harness.kube.go.durations import print_duration
from harness.kube.scheduling.pods import is_provisionable

RETRIGGER_SECONDS = 10.0
_AGAIN = Result(RETRIGGER_SECONDS, Wait.POLL)
_LUCKY_RETRIES = 64
"""The number of times that a world waits for another draw of a tie before it counts as settled; of four domains one is
missed once in 10**8 cases.
"""
_WINDOW, _RESULTS = "window", "results"
_OPTED_OUT = "configured to not run on a Karpenter provisioned node"

_State = tuple[int, int, object, int]
"""The inputs of a simulation: the changes of objects, those of marks for deletion, the edition of the instance types, the moment."""


class Provisioner:
    """Keys: (kind, namespace, name) of what triggers, the window itself, and the end of a simulation that takes its time."""

    name = "provisioner"
    backoff = (0.005, 1000.0)

    def __init__(
        self,
        access: Access,
        instance_types: InstanceTypeProvider,
        *,
        failures: Mapping[str, str],
        options: SchedulingOptions,
        batcher: Batcher,
        indexes: CatalogIndexes,
        memory: ClusterMemory,
        marks: Marks,
        listeners: Sequence[Listener] = (),
    ) -> None:
        """`failures` are the launch failures by NodeClaim; `listeners` are called for every simulation."""
        self._engine, self._view, self._writer, self._sink = access.engine, access.view, access.writer, access.sink
        self._instance_types = instance_types
        self.options = options
        self._indexes, self._memory = indexes, memory
        self._batcher = batcher
        self._marks = marks
        self.daemons = DaemonPods(access.engine.clock)
        """The pods by which Karpenter knows DaemonSets."""
        self._runaways = PodRunaways(self._view, instance_types.release, failures)
        self._machines = ComingsAndGoings()
        self._changes = 0
        self._solved: _State | None = None
        self._results = SchedulingResults()
        self._new = False
        self._passes = self._retries = 0
        self._listeners = listeners
        self.times = PodTimes()
        """When Karpenter first saw each pod, decided about it, and had a place for it."""

    def watches(self) -> Mapping[str, Router]:
        """All kinds of objects that a simulation reads; pods and nodes also trigger one."""
        selecting = ("Service", *SPREADING) if self.options.default_spread else ()
        return dict.fromkeys((*KINDS, *selecting), self._route)

    def _route(self, change: Change) -> Iterable[Hashable]:
        if matters(change):
            self._changes += 1
        obj = change.object
        kind = obj["kind"]
        self._machines.hear(change)
        if kind in ("Pod", "DaemonSet"):
            self.daemons.hear(change)
        if change.type is ChangeType.DELETED:
            if kind == "Pod":
                self._marks.no_longer_expect((pod_key(obj),))
            return ()
        if (kind == "Pod" and is_provisionable(obj)) or (kind == "Node" and is_disrupted(obj)):
            return ((kind, namespace_of(obj), name_of(obj)),)
        return ()

    def reconcile(self, key: Hashable) -> Result:
        """Count a trigger, or ends the window or a simulation."""
        if key == _RESULTS:
            self._finish()
            return DONE
        if key == _WINDOW:
            left = self._batcher.left()
            if left:
                return Result(left / SECOND)
            self._batcher.close()
            self._provision()
            return DONE
        assert isinstance(key, tuple)
        kind, namespace, name = key
        obj = self._view.get(kind, name, namespace)
        if obj is None or not (is_provisionable(obj) if kind == "Pod" else is_disrupted(obj)):
            return DONE
        if kind == "Pod":
            self.times.seen(obj, self._engine.clock.now)
        if self._batcher.trigger(uid_of(obj)):
            self._engine.enqueue(self, _WINDOW, after=self._batcher.left() / SECOND)
        return _AGAIN

    def snapshot(self) -> ClusterSnapshot:
        """The snapshot that a simulation would use now."""
        return observed(self._view, self._engine.clock.now, self._marks.deleting, self.daemons.known())

    def _moment(self) -> int:
        """The time, while something is being deleted, since do-not-disrupt of its pods may end; else 0, since time does not matter."""
        return self._engine.clock.now if self._marks.deleting or self._machines.going else 0

    def instance_types(self) -> dict[str, Sequence[InstanceType]]:
        """By name, the instance types of each NodePool that Karpenter provisions for, in order of weight; NodePools without any are left
        out."""
        types: dict[str, Sequence[InstanceType]] = {}
        rules = rules_of(self._instance_types.release.core)
        for pool in usable_nodepools(self._view.list("NodePool"), self.options.node_class, rules):
            name = nodeclass_name(pool)
            nodeclass = self._view.get("AKSNodeClass", name) if name else None
            if nodeclass is None:
                continue
            try:
                types[name_of(pool)] = self._instance_types.for_nodepool(name_of(pool), nodeclass)
            except UnevaluatedNodePool:
                self._sink.log("debug", self.name, "skipping, awaiting nodeoverlay evaluation", NodePool=name_of(pool))
            except NoInstanceTypes as error:
                self._sink.log(
                    "error",
                    self.name,
                    "skipping, unable to resolve instance types",
                    NodePool=name_of(pool),
                    error=str(error),
                )
        return types

    @property
    def waiting(self) -> tuple[int, int]:
        """The number of pods that the last simulation could not schedule, and of those that Karpenter ignores."""
        errors = self._results.errors.values()
        return sum(not is_deferred(reason) for reason in errors), len(self._results.ignored)

    def _provision(self) -> None:
        if self._machines.coming:
            return
        changes = self._changes + self.daemons.edition()
        state = (changes, self._marks.changes, self._instance_types.version(), self._moment())
        changed = state != self._solved
        self._retries = 0 if changed else self._retries + 1
        self._new = changed or self._results.unlucky
        if self._new:
            self._solve(state)
        if self._results.unlucky and self._retries < _LUCKY_RETRIES:
            self._engine.touch()  # the next look at the pods may bring something about
        if self._results.seconds:
            self._batcher.pause(self._results.seconds)
            self._engine.enqueue(self, _RESULTS, after=self._results.seconds)
        else:
            self._finish()

    def _solve(self, state: _State) -> None:
        self._passes += 1
        types, before = self.instance_types(), self._solved
        if before is not None and before[:-1] == state[:-1] and not self._results.momentary and not self._listeners:
            # only time has passed: the results are the same, and nobody looks at the simulation itself
            self._solved = state
            return
        snapshot = replace(self.snapshot(), number=self._passes)
        ledger, release, indexes = ledger_for(self._listeners), self._instance_types.release, self._indexes
        results = solve(
            snapshot, types, release=release, options=self.options, indexes=indexes, ledger=ledger, memory=self._memory
        )
        if results.ignored:  # GetPendingPods: of pods that it would not provision for it judges none
            ignored = {key: text for key, text in results.ignored.items() if self._is_judged(key)}
            results = replace(results, ignored=ignored)
        self._solved, self._results = state, results
        for listener in self._listeners:
            listener.solved(snapshot, types, results, ledger)

    def _finish(self) -> None:
        if self._new:
            self.times.decided(self._results, self._pod, self._engine.clock.now)
        self._publish(self._results)
        for planned in self._results.nodeclaims if self._new else ():
            try:
                self._create(planned)
            except EmptyRange as panic:
                # In a goroutine that nobody recovers: the process dies, and after its restart the pods are still pending.
                self._sink.log("error", self.name, f"panic: {panic}", NodePool=planned.nodepool)
                self._sink.rejected((_crash(planned, str(panic)),))
                return

    def _publish(self, results: SchedulingResults) -> None:
        for text_key, text in results.ignored.items():
            pod = self._pod(text_key)
            if pod is not None and not text.startswith(_OPTED_OUT):
                self._failed(pod, text)
        if results.no_nodepools and not results.errors:
            self._sink.log("info", self.name, "no dynamic nodepools found")
        for event in results.events:
            obj = self._view.get(event.kind, event.object.rpartition("/")[2], event.object.rpartition("/")[0])
            if obj is not None:
                self._sink.event(obj, event.type, event.reason, event.message, dedupe_seconds=event.dedupe_seconds)
                if event.reason == "NoCompatibleInstanceTypes":
                    self._sink.rejected((_filtered(obj, event.message),))
        if results.timed_out:
            text = print_duration(int(results.seconds) * SECOND)
            self._sink.log("debug", self.name, "scheduling simulation timed out", duration=text)
        deferred = [key for key, reason in results.errors.items() if is_deferred(reason)]
        if deferred:
            message = (
                "deferring scheduling decision for provisionable pod(s) to future simulation "
                "due to limited reserved offering capacity"
            )
            self._sink.log("info", self.name, message, Pods=", ".join(deferred))
        self._marks.no_longer_expect((*results.ignored, *results.errors))
        for text_key, reason in results.errors.items():
            pod = self._pod(text_key)
            if pod is not None and text_key not in deferred:
                self._sink.log("error", self.name, "could not schedule pod", Pod=text_key, error=str(reason))
                self._failed(pod, str(reason))
        for name, pods in results.existing.items():
            self._nominate(name, pods)

    def _nominate(self, name: str, pods: Sequence[Object]) -> None:
        """Note that pods should schedule on a Node, or on the Node of a NodeClaim, which is then not disrupted for a while."""
        node = self._view.get("Node", name)
        claim = self._view.get("NodeClaim", name) if node is None else claim_of(self._view, node)
        machine = spec_of(node).get("providerID") if node is not None else status_of(claim or {}).get("providerID")
        if machine:
            self._marks.nominate(ProviderId(str(machine)))
        text = nomination(name_of(claim) if claim is not None else None, name if node is not None else None)
        self._marks.expect(NodeClaimName(name), map(pod_key, pods))
        for pod in pods:
            self._sink.event(pod, "Normal", NOMINATED, text)

    def _failed(self, pod: Object, text: str) -> None:
        self._sink.event(pod, "Warning", "FailedScheduling", f"Failed to schedule pod, {text}", dedupe_seconds=300)

    def _pod(self, key: str) -> Object | None:
        namespace, _, name = key.partition("/")
        return self._view.get("Pod", name, namespace)

    def _is_judged(self, key: str) -> bool:
        pod = self._pod(key)
        return pod is not None and is_provisionable(pod)

    def create(self, planned: PlannedNodeClaim) -> Object:
        """Create a NodeClaim. Raises NodeClaimRefused, EmptyRange."""
        claim = create_nodeclaim(
            self._view,
            self._writer,
            self._sink,
            planned.nodepool,
            planned.to_nodeclaim,
            controller=self.name,
            core=self._instance_types.release.core,
            deleting=self._marks.deleting,
        )
        self._marks.expect(NodeClaimName(name_of(claim)), map(pod_key, planned.pods))
        return claim

    def _create(self, planned: PlannedNodeClaim) -> None:
        try:
            claim = self.create(planned)
        except NodeClaimRefused as error:
            self._sink.log("error", self.name, f"creating node claim, {error}", NodePool=planned.nodepool)
            self._sink.rejected(error.rejections)
            return
        for listener in self._listeners:
            listener.created(planned, name_of(claim))
        for pod in planned.pods:
            self._sink.event(pod, "Normal", NOMINATED, nomination(name_of(claim), None))
        runaway = self._runaways.created(planned.pods, claim, str(planned.requirements), self._engine.clock.seconds)
        if runaway is not None:
            self._engine.report_runaway(runaway)


def _crash(planned: PlannedNodeClaim, panic: str) -> Rejection:
    text = f"Karpenter crashes: panic: {panic}, drawing a label from {planned.requirements}"
    return Rejection(RejectionLayer.NODEPOOL_RUNTIME, f"NodePool/{planned.nodepool}", "", None, "crash", text, text, ())


def _filtered(nodepool: Object, message: str) -> Rejection:
    return Rejection(
        layer=RejectionLayer.NODEPOOL_FILTER,
        object=f"NodePool/{name_of(nodepool)}",
        path="",
        key=None,
        rule="no-compatible-instance-types",
        message=message,
        text=message,
        pointer=(),
    )
