"""The HorizontalPodAutoscaler controller, for workloads whose load is given.

Source: kubernetes 1.36 pkg/controller/podautoscaler/horizontal.go (reconcileAutoscaler, validateAndParseSelector).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, cast

from harness.clusters.memory.controllers.tools import Tools
from harness.clusters.memory.loads import Loads
from harness.engine.clock import SECOND
from harness.engine.engine import DONE, Result, Router, Wait
from harness.engine.ports import Change, ChangeType
from harness.kube.api.autoscalers import SCALED, target_of
from harness.kube.api.kinds import KINDS
from harness.kube.api.objects import Key, Object, labels_of, name_of, namespace_of, spec_of, status_of
from harness.kube.api.selectors import Selector, SelectorError
from harness.kube.api.status import ApiError, not_found
from harness.kube.workloads.autoscaler_limits import Condition, History, limited
from harness.kube.workloads.autoscaler_metrics import recommendation, tolerances_of
from harness.kube.workloads.autoscaler_replicas import Proposal, ResourceMetric, proposal

__all__ = ["Autoscalers"]

_SYNC_SECONDS = 15
"""--horizontal-pod-autoscaler-sync-period."""
_SOURCE = "horizontal-pod-autoscaler"


class Autoscalers:
    """Scales workloads to what their pods have to do, each 15 s; a key is (namespace, name) of a HorizontalPodAutoscaler."""

    name = "autoscalers"
    backoff = (15.0, 15.0)

    def __init__(self, tools: Tools, loads: Loads) -> None:
        self._tools = tools
        self._loads = loads
        self._begun: dict[Hashable, int] = {}
        """When the controller first heard of each, in nanoseconds: it looks at it a sync period later, and then each."""
        self._synced: dict[Hashable, int] = {}
        self._histories: dict[Hashable, History] = {}
        self._selectors: dict[Hashable, Selector] = {}

    def watches(self) -> Mapping[str, Router]:
        """Watch HorizontalPodAutoscalers, and workloads for the sake of their first size."""
        return {"HorizontalPodAutoscaler": self._own, **dict.fromkeys(SCALED, self._of_workload)}

    def _own(self, change: Change) -> Iterable[Hashable]:
        key = (namespace_of(change.object), name_of(change.object))
        if change.type is ChangeType.DELETED:
            for table in (self._begun, self._synced, self._histories, self._selectors):
                table.pop(key, None)
            return
        self._begun.setdefault(key, self._tools.clock.now)
        yield key

    def _of_workload(self, change: Change) -> Iterable[Hashable]:
        self._loads.hear(change)
        return ()

    def keys_of(self, workload: Key) -> Iterable[Hashable]:
        """Yield the keys of those that scale a workload."""
        for autoscaler in self._tools.view.list("HorizontalPodAutoscaler", namespace=workload.namespace):
            if target_of(autoscaler) == workload:
                yield (namespace_of(autoscaler), name_of(autoscaler))

    def reconcile(self, key: Hashable) -> Result:
        """Look at one of them when its sync is due. One whose workload has no load does nothing."""
        namespace, name = cast("tuple[str, str]", key)
        autoscaler = self._tools.view.get("HorizontalPodAutoscaler", name, namespace)
        target = None if autoscaler is None else target_of(autoscaler)
        if autoscaler is None or target is None or not self._loads.knows(target):
            return DONE
        now, period = self._tools.clock.now, _SYNC_SECONDS * SECOND
        begun = self._begun.setdefault(key, now)
        past = (now - begun) // period
        wait = (begun + (past + 1) * period - now) / SECOND
        if not self._loads.begun(target):
            return Result(wait, Wait.POLL)
        if past < 1 or self._synced.get(key) == past:
            return Result(wait)
        self._synced[key] = past
        moving = self._sync(key, autoscaler, target)
        return Result(wait, Wait.PROGRESS if moving else Wait.POLL)

    def _sync(self, key: Hashable, autoscaler: Object, target: Key) -> bool:
        """Look once, and return whether another look will see more, though nothing else changes."""
        sync = _Sync(self._tools, autoscaler)
        try:
            workload = self._scalable(autoscaler, target)
        except ApiError as error:
            sync.publish("Warning", "FailedGetScale", error.message)
            why = f"the HPA controller was unable to get the target's current scale: {error.message}"
            sync.condition(Condition("AbleToScale", "False", "FailedGetScale", why))
            sync.write({})
            return False
        sync.condition(
            Condition(
                *("AbleToScale", "True", "SucceededGetScale"),
                "the HPA controller was able to get the target's current scale",
            )
        )
        current = int(spec_of(workload).get("replicas", 1))
        history = self._histories.get(key)
        if history is None:
            history = self._histories[key] = History(current, self._tools.clock.now)
        least = spec_of(autoscaler).get("minReplicas")
        bounds = (1 if least is None else int(least), int(spec_of(autoscaler)["maxReplicas"]))
        if not current:
            why = "scaling is disabled since the replica count of the target is zero"
            sync.condition(Condition("ScalingActive", "False", "ScalingDisabled", why))
            sync.write({"currentReplicas": 0, "desiredReplicas": 0, "currentMetrics": None})
            return False
        if current > bounds[1]:
            return self._rescale(
                sync, history, target, current, bounds[1], "Current number of replicas above Spec.MaxReplicas"
            )
        if current < bounds[0]:
            return self._rescale(
                sync, history, target, current, bounds[0], "Current number of replicas below Spec.MinReplicas"
            )
        return self._by_metrics(key, sync, history, workload, target, bounds)

    def _scalable(self, autoscaler: Object, target: Key) -> Object:
        """Return the workload. Raises ApiError in the words of the API server."""
        group = str(spec_of(autoscaler)["scaleTargetRef"].get("apiVersion") or "").rpartition("/")[0]
        kind = KINDS.get(target.kind)
        if kind is None or kind.group != group or target.kind not in SCALED:
            raise ApiError(404, "NotFound", f'no matches for kind "{target.kind}" in group "{group}"')
        workload = self._tools.view.get(target.kind, target.name, target.namespace)
        if workload is None:
            raise not_found(kind, target.name)
        return workload

    def _by_metrics(
        self, key: Hashable, sync: _Sync, history: History, workload: Object, target: Key, bounds: tuple[int, int]
    ) -> bool:
        autoscaler, current, now = sync.autoscaler, int(spec_of(workload).get("replicas", 1)), self._tools.clock.now
        pods = self._pods(key, sync, workload)
        if pods is None:
            sync.write({"currentReplicas": current, "currentMetrics": None})
            return False
        line = self._tools.version().line
        usages = self._loads.usages(target, pods, line)
        tolerances = tolerances_of(autoscaler, line)

        def propose(metric: ResourceMetric) -> Proposal:
            return proposal(metric, pods, usages, current, tolerances, self._tools.clock.datetime(), line)

        wanted = recommendation(autoscaler, current, propose)
        for reason, message in wanted.events:
            sync.publish("Warning", reason, message)
        sync.condition(wanted.active)
        metrics = {"currentReplicas": current, "currentMetrics": list(wanted.statuses)}
        if wanted.replicas is None:
            sync.write(metrics)
            sync.publish("Warning", "FailedComputeMetricsReplicas", wanted.error)
            return wanted.settling
        limits = limited(spec_of(autoscaler).get("behavior"), history, bounds, current, wanted.replicas, now)
        for condition in limits.conditions:
            sync.condition(condition)
        if limits.replicas == current:
            sync.write({**metrics, "desiredReplicas": current})
            return limits.later or wanted.settling
        reason = f"{wanted.metric} above target" if limits.replicas > current else "All metrics below target"
        return self._rescale(sync, history, target, current, limits.replicas, reason, metrics)

    def _pods(self, key: Hashable, sync: _Sync, workload: Object) -> Sequence[Object] | None:
        """Return the pods that the workload selects; None where another autoscaler scales them, too."""
        stated = spec_of(workload).get("selector") or {}
        by_labels = workload["kind"] == "ReplicationController"
        try:
            selector = Selector.parse({"matchLabels": stated} if by_labels else stated)
        except SelectorError:  # the API server refuses such a workload
            return None
        namespace = namespace_of(workload)
        self._selectors[key] = selector
        pods = [pod for pod in self._tools.view.list("Pod", namespace=namespace) if selector.matches(labels_of(pod))]
        others = [
            f"{namespace}/{other[1]}"
            for other, chosen in cast("dict[tuple[str, str], Selector]", self._selectors).items()
            if other[0] == namespace and any(chosen.matches(labels_of(pod)) for pod in pods)
        ]
        if len(others) < 2:
            return pods
        text = f"pods by selector {selector} are controlled by multiple HPAs: [{' '.join(others)}]"
        sync.publish("Warning", "AmbiguousSelector", text)
        sync.condition(Condition("ScalingActive", "False", "AmbiguousSelector", text))
        sync.publish("Warning", "FailedComputeMetricsReplicas", text)
        return None

    def _rescale(
        self,
        sync: _Sync,
        history: History,
        target: Key,
        current: int,
        desired: int,
        reason: str,
        metrics: Mapping[str, Any] | None = None,
    ) -> bool:
        tools = self._tools
        status = metrics or {"currentReplicas": current, "currentMetrics": None}
        try:
            tools.writer.scale(target.kind, target.name, target.namespace, desired)
        except ApiError as error:
            sync.publish("Warning", "FailedRescale", f"New size: {desired}; reason: {reason}; error: {error.message}")
            why = f"the HPA controller was unable to update the target scale: {error.message}"
            sync.condition(Condition("AbleToScale", "False", "FailedUpdateScale", why))
            sync.write(status)
            return False
        done = f"the HPA controller was able to update the target scale to {desired}"
        sync.condition(Condition("AbleToScale", "True", "SucceededRescale", done))
        sync.publish("Normal", "SuccessfulRescale", f"New size: {desired}; reason: {reason}")
        history.rescaled(spec_of(sync.autoscaler).get("behavior"), current, desired, tools.clock.now)
        sync.write({**status, "desiredReplicas": desired, "lastScaleTime": tools.clock.timestamp()})
        return True


class _Sync:
    """One look at a HorizontalPodAutoscaler: its conditions as they become, and what is told about it."""

    def __init__(self, tools: Tools, autoscaler: Object) -> None:
        self._tools = tools
        self.autoscaler = autoscaler
        self._conditions = [dict(condition) for condition in status_of(autoscaler).get("conditions") or ()]

    def condition(self, condition: Condition) -> None:
        """Set a condition, whose time is that of the last change of its status (setCondition)."""
        present = next((stated for stated in self._conditions if stated["type"] == condition.type), None)
        if present is None:
            present = {"type": condition.type, "status": ""}
            self._conditions.append(present)
        if present["status"] != condition.status:
            present["lastTransitionTime"] = self._tools.clock.timestamp()
        present |= {"status": condition.status, "reason": condition.reason, "message": condition.message}

    def publish(self, type: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """Publish an event about it; each change of a size is one of its own."""
        seconds = 0 if type == "Normal" else 120
        self._tools.sink.event(self.autoscaler, type, reason, message, source=_SOURCE, dedupe_seconds=seconds)

    def write(self, status: Mapping[str, Any]) -> None:
        """Write the changed fields of its status, with the conditions."""
        self._tools.set_fields(self.autoscaler, {**status, "conditions": self._conditions})
