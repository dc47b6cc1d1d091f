"""Node termination: taint, drain, wait for volumes, terminate the instance, remove the finalizer.

Source: core pkg/controllers/node/termination/controller.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from harness.engine.clock import SECOND, Clock, parse
from harness.engine.engine import DONE, Engine, ReconcileError, Result, Router, Wait
from harness.engine.names import ProviderId
from harness.engine.ports import Change, ChangeType, Sink, View, Writer, of_types
from harness.karpenter.labels.core import TERMINATION_FINALIZER, TERMINATION_TIMESTAMP
from harness.karpenter.lifecycle.conditions import NODECLAIM, Conditions
from harness.karpenter.lifecycle.instance_provider import (
    CloudProviderError,
    InstanceNotFound,
    InstanceProvider,
)
from harness.karpenter.lifecycle.names import claim_of, nodepool_of
from harness.karpenter.lifecycle.nodes.disrupted import is_disrupted, with_disrupted
from harness.karpenter.lifecycle.nodes.drain import Drain, Evictions, is_drainable
from harness.karpenter.lifecycle.refusals import after_refusal
from harness.karpenter.releases import CoreRelease
from harness.kube.api.labels import EXCLUDE_BALANCERS
from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition_is,
    finalizers_of,
    finalizers_without,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    uid_of,
)
from harness.kube.api.status import ApiError
from harness.wording import pretty_slice
from lazyrecords import dataclass

_POLL = Result(1.0, Wait.POLL)
_NAMED = 5
"""So many VolumeAttachments are named (core pkg/controllers/node/termination/terminator/events/events.go)."""

_Told = tuple[str, str, str]
"""Type, reason and message of an event."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The result of a look at a Node that waits; the next look comes to the same while nothing has changed, and only tells it again."""

    revision: int
    left: int
    """The number of pods that had left the eviction queue."""
    node: Object
    told: _Told | None


class NodeTermination:
    """Terminates Nodes that are being deleted; a key is a Node's name."""

    name = "node.termination"
    backoff = (0.1, 10.0)

    def __init__(
        self,
        engine: Engine,
        view: View,
        writer: Writer,
        sink: Sink,
        clock: Clock,
        provider: InstanceProvider,
        evictions: Evictions,
        core: CoreRelease,
    ) -> None:
        self._engine = engine
        self._view = view
        self._writer = writer
        self._sink = sink
        self._clock = clock
        self._provider = provider
        self._core = core
        self._evictions = evictions
        self._drain = Drain(view, writer, sink, clock, evictions, core)
        self._waiting: dict[Hashable, _Waiting] = {}

    def watches(self) -> Mapping[str, Router]:
        """Nodes that are being deleted, and pods that were deleted on them."""
        return {"Node": self._own, "Pod": self._of_pod}

    @of_types(ChangeType.ADDED, ChangeType.MODIFIED)
    def _own(self, change: Change) -> Iterable[Hashable]:
        if is_terminating(change.object):
            yield name_of(change.object)

    @of_types(ChangeType.DELETED)
    def _of_pod(self, change: Change) -> Iterable[Hashable]:
        node = spec_of(change.object).get("nodeName")
        if node:
            current = self._view.get("Node", node)
            if current is not None and is_terminating(current):
                yield node

    def reconcile(self, key: Hashable) -> Result:
        """The next step of one termination."""
        same = self._waiting.pop(key, None)
        if same is not None and same.revision == self._engine.revision and same.left == self._evictions.left:
            self._waiting[key] = same
            if same.told is not None:
                self._sink.event(same.node, *same.told)
            return _POLL
        node = self._view.get("Node", str(key))
        if node is None or not is_terminating(node) or TERMINATION_FINALIZER not in finalizers_of(node):
            return DONE
        if not nodepool_of(node):
            return DONE
        try:
            return self._finalize(node)
        except ApiError as error:
            self._waiting.pop(key, None)  # what was refused is written again
            return after_refusal(error)
        except CloudProviderError as error:
            raise ReconcileError(str(error)) from error

    def _finalize(self, node: Object) -> Result:
        claim = claim_of(self._view, node)
        if claim is not None and not is_terminating(claim):
            self._writer.delete("NodeClaim", name_of(claim), uid=uid_of(claim))
            claim = self._view.get("NodeClaim", name_of(claim))
        if self._core.terminates_in_steps and self._instance_gone(node):
            self._release(node)
            return DONE
        deadline = self._deadline(claim, node)
        node = self._taint(node)
        conditions = Conditions(claim, NODECLAIM, self._clock.timestamp()) if claim is not None else None
        result = self._steps(node, claim, conditions, deadline)
        if claim is not None and conditions is not None and conditions.changed:
            self._writer.patch(
                "NodeClaim", name_of(claim), {"status": {"conditions": conditions.items}}, subresource="status"
            )
        if result is not None:
            return result
        self._release(node)
        return DONE

    def _steps(
        self, node: Object, claim: Object | None, conditions: Conditions | None, deadline: int | None
    ) -> Result | None:
        """Drain, volumes, instance. Returns what to wait for, None when everything is done."""
        in_steps = self._core.terminates_in_steps
        steps = conditions if in_steps else None
        least = self._core.min_drain_seconds
        if steps is not None and least and steps.get("Drained") is None:
            steps.set_unknown("Drained", "Draining", "Draining")
        problem = self._drain.step(node, deadline)
        if problem is not None:
            failed: _Told = ("Warning", "FailedDraining", f"Failed to drain node, {problem}")
            self._sink.event(node, *failed)
            if not in_steps and self._instance_gone(node):
                return None
            if steps is not None and not least:
                steps.set_unknown("Drained", "Draining", "Draining")
            return self._look_again(node, deadline, failed)
        if steps is not None and not steps.is_true("Drained"):
            if least and (self._clock.now - parse(steps.since("Drained"))) / SECOND < least:
                return Result(1.0)
            steps.set_true("Drained")
        waiting = self._volumes(node)
        if waiting and (deadline is None or self._clock.now < deadline or (in_steps and self._clock.now == deadline)):
            awaiting: _Told | None = None
            if in_steps:
                names = pretty_slice([name_of(pod) for pod in waiting], _NAMED)
                awaiting = (
                    "Normal",
                    "AwaitingVolumeDetachment",
                    f"Awaiting deletion of bound volumeattachments ({names})",
                )
                self._sink.event(node, *awaiting)
            if steps is not None:
                steps.set_unknown("VolumesDetached", "AwaitingVolumeDetachment", "AwaitingVolumeDetachment")
            return self._look_again(node, deadline, awaiting)
        if steps is not None:
            if waiting:
                reason = "TerminationGracePeriodElapsed"
                steps.set_false("VolumesDetached", reason, reason)
            else:
                steps.set_true("VolumesDetached")
        if claim is None or conditions is None:
            return None
        gone = False
        try:
            self._provider.delete(claim)
        except InstanceNotFound:
            gone = True
        conditions.set_true("InstanceTerminating")
        return None if gone else Result(5.0)

    def _look_again(self, node: Object, deadline: int | None, published: _Told | None) -> Result:
        """Looks again after a second: as a poll, unless a deadline will end the waiting. Azure is asked about a Node that is not ready."""
        if deadline is not None and self._clock.now <= deadline:
            return Result(1.0)
        if deadline is None and condition_is(node, "Ready") and self._drain.is_timeless(node):
            self._waiting[name_of(node)] = _Waiting(self._engine.revision, self._evictions.left, node, published)
        return _POLL

    def _instance_gone(self, node: Object) -> bool:
        """Return whether the cloud does not have the machine of a Node whose kubelet does not say that it is ready."""
        if condition_is(node, "Ready"):
            return False
        try:
            self._provider.get(ProviderId(str(spec_of(node).get("providerID") or "")))
        except InstanceNotFound:
            return True
        return False

    def _deadline(self, claim: Object | None, node: Object) -> int | None:
        text = annotations_of(claim).get(TERMINATION_TIMESTAMP) if claim is not None else None
        if text is None:
            return None
        self._sink.event(node, "Warning", "TerminationGracePeriodExpiring", f"All pods will be deleted by {text}")
        return parse(text)

    def _taint(self, node: Object) -> Object:
        if is_disrupted(node) and labels_of(node).get(EXCLUDE_BALANCERS) == "karpenter":
            return node
        labels = {EXCLUDE_BALANCERS: "karpenter"}
        metadata = {"labels": labels, "resourceVersion": metadata_of(node)["resourceVersion"]}
        spec = {"taints": with_disrupted(node)}
        return self._writer.patch("Node", name_of(node), {"metadata": metadata, "spec": spec})

    def _volumes(self, node: Object) -> list[Object]:
        """VolumeAttachments of the node, without those of pods that a drain leaves alone."""
        attachments = [
            attachment
            for attachment in self._view.list("VolumeAttachment")
            if spec_of(attachment).get("nodeName") == name_of(node)
        ]
        if not attachments:
            return []
        staying: set[str] = set()
        for pod in self._view.indexed("pods-by-node", name_of(node)):
            if is_drainable(pod, self._clock.now):
                continue
            for volume in spec_of(pod).get("volumes") or ():
                name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
                claim = self._view.get("PersistentVolumeClaim", name, namespace_of(pod)) if name else None
                if claim is not None:
                    staying.add(str(spec_of(claim).get("volumeName")))
        return [
            attachment
            for attachment in attachments
            if (name := (spec_of(attachment).get("source") or {}).get("persistentVolumeName")) and name not in staying
        ]

    def _release(self, node: Object) -> None:
        current = self._view.get("Node", name_of(node))
        if current is None:
            return
        finalizers = finalizers_without(current, TERMINATION_FINALIZER)
        self._writer.patch("Node", name_of(node), {"metadata": {"finalizers": finalizers}})
        self._sink.log("info", self.name, "deleted node", Node=name_of(node))
