"""The Deployment controller: one ReplicaSet for each template, and the move of pods from one to the next.

Source: kubernetes pkg/controller/deployment/{deployment_controller,rolling,recreate,sync,progress}.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.clusters.memory.controllers.tools import Tools
from harness.engine.engine import DONE, ReconcileError, Result, Wait
from harness.kube.api.objects import (
    Object,
    annotations_of,
    is_terminating,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.api.rollouts import min_ready_seconds
from harness.kube.api.status import ApiError
from harness.kube.scheduling.pods import is_terminal
from harness.kube.workloads.deployment_status import (
    found_new,
    is_complete,
    pause_condition,
    rollout_status,
    sum_of,
    until_deadline,
)
from harness.kube.workloads.deployments import (
    REVISION,
    Scaling,
    Strategy,
    changed_revision,
    deletable,
    find_new,
    is_saturated,
    is_scaled,
    max_revision,
    new_replica_set,
    newest,
    only_active,
    proportional,
    replicas_of,
    scaled_down,
    sizes_of,
    wanted_of_new,
)

__all__ = ["Deployments"]


class Deployments:
    """Rolls out Deployments."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def reconcile(self, deployment: Object) -> Result:
        """Take one Deployment a step further, and again when its progress deadline has passed."""
        rollout = _Rollout(self._tools, deployment)
        if rollout.is_ahead:
            return Result(0.0)
        return rollout.step()


class _Rollout:
    """One reconciliation of a Deployment. `old` and `new` are its ReplicaSets, brought up to date after each write."""

    def __init__(self, tools: Tools, deployment: Object) -> None:
        self._tools = tools
        self._deployment = deployment
        self._strategy = Strategy.from_spec(deployment)
        sets = tools.controlled(deployment, "ReplicaSet")
        self._new = find_new(deployment, sets)
        self._old = [replica_set for replica_set in sets if replica_set is not self._new]

    @property
    def is_ahead(self) -> bool:
        """Return whether a ReplicaSet's own controller, which works beside this one and is quicker, has yet to act or to count."""
        return any(self._is_behind(replica_set) for replica_set in self._all if not is_terminating(replica_set))

    def _is_behind(self, replica_set: Object) -> bool:
        status = status_of(replica_set)
        living, ready, _ = self._tools.counts.counts_of(uid_of(replica_set))
        counted = status.get("replicas", 0) == living and status.get("readyReplicas", 0) == ready
        return not counted or metadata_of(replica_set).get("generation", 1) > status.get("observedGeneration", 0)

    def step(self) -> Result:
        """Take the step that syncDeployment takes."""
        paused = pause_condition(self._deployment, self._strategy, self._now)
        if paused is not None:
            self._set_status(paused)
        self._tell_revision()
        if self._strategy.paused or is_scaled(self._strategy, self._all):
            self._scale_all()
            if self._strategy.paused:
                self._clean_up()
            return self._report(judged=False)
        if self._strategy.rolling:
            return self._roll()
        return self._recreate()

    @property
    def _now(self) -> str:
        return self._tools.clock.timestamp()

    @property
    def _all(self) -> list[Object]:
        return [*self._old, *(() if self._new is None else (self._new,))]

    def _roll(self) -> Result:
        if self._new is None:
            self._make_new()
            return self._report()  # its pods come before others go
        wanted = self._strategy.replicas
        if replicas_of([self._new]) < wanted:
            wanted = wanted_of_new(self._strategy, self._all, self._new)
        if self._scale(self._new, wanted) or self._scale_some(
            scaled_down(self._strategy, only_active(self._old), self._new)
        ):
            return self._report()
        return self._finish()

    def _recreate(self) -> Result:
        if self._scale_some([(replica_set, 0) for replica_set in only_active(self._old)]) or self._old_pods_run():
            return self._report()
        if self._new is None:
            self._make_new()
        if self._new is not None:
            self._scale(self._new, self._strategy.replicas)
        return self._finish()

    def _finish(self) -> Result:
        if is_complete(self._deployment, self._strategy, status_of(self._deployment)):
            self._clean_up()
        return self._report()

    def _old_pods_run(self) -> bool:
        """Return whether a pod of another template is there that has not ended, also one that is being deleted."""
        if sum_of(self._old, "replicas"):
            return True
        pods = (pod for replica_set in self._old for pod in self._tools.controlled(replica_set, "Pod"))
        return any(not is_terminal(pod) for pod in pods)

    def _tell_revision(self) -> None:
        """Bring the present new ReplicaSet's annotations and the Deployment's revision up to date."""
        if self._new is None:
            return
        changed = changed_revision(self._deployment, self._new, max_revision(self._old) + 1)
        seconds = min_ready_seconds(spec_of(self._deployment))
        if changed or min_ready_seconds(spec_of(self._new)) != seconds:
            patch = {"metadata": {"annotations": changed}, "spec": {"minReadySeconds": seconds or None}}
            self._new = self._patch(self._new, patch)
        self._tell_new(annotations_of(self._new).get(REVISION, ""), created=False)

    def _tell_new(self, revision: str, *, created: bool) -> None:
        if annotations_of(self._deployment).get(REVISION) != revision:
            self._deployment = self._patch(self._deployment, {"metadata": {"annotations": {REVISION: revision}}})
        assert self._new is not None
        status = found_new(self._deployment, self._strategy, self._new, self._now, created=created)
        if status is not None:
            self._set_status(status)

    def _make_new(self) -> None:
        replicas = wanted_of_new(self._strategy, self._old, None)
        revision = max_revision(self._old) + 1
        collisions = int(status_of(self._deployment).get("collisionCount") or 0)
        made = new_replica_set(self._deployment, self._strategy, replicas, revision, collisions)
        try:
            self._new = self._tools.writer.create(made)
        except ApiError as error:
            if error.reason == "AlreadyExists":
                self._set_status({"collisionCount": collisions + 1})
                raise ReconcileError(error.message) from None
            text = f'Failed to create new replica set "{name_of(made)}": {error.message}'
            self._tools.publish_event(self._deployment, "Warning", "ReplicaSetCreateError", text)
            raise ReconcileError(error.message, wait=Wait.POLL) from None
        if replicas:
            text = f"Scaled up replica set {name_of(self._new)} from 0 to {replicas}"
            self._tell_scaling(text)
        self._tell_new(str(revision), created=True)

    def _scale_all(self) -> None:
        """Scale after a change of size: one ReplicaSet takes all of it, several share it (sync.go, scale)."""
        active = only_active(self._all)
        if len(active) < 2:
            target = active[0] if active else self._new or newest(self._old)
            if target is not None:
                self._scale(target, self._strategy.replicas)
        elif is_saturated(self._strategy, self._new):
            self._scale_some([(replica_set, 0) for replica_set in only_active(self._old)])
        elif self._strategy.rolling:
            self._scale_some(proportional(self._deployment, self._strategy, active), always=True)

    def _scale_some(self, scalings: Sequence[Scaling], *, always: bool = False) -> bool:
        return bool([True for replica_set, size in scalings if self._scale(replica_set, size, always=always)])

    def _scale(self, replica_set: Object, size: int, *, always: bool = False) -> bool:
        """Scale a ReplicaSet, and return whether its size was another one.

        `always`: the ReplicaSet's annotations of the Deployment's size are brought up to date, too.
        """
        before = replicas_of([replica_set])
        if before == size and not always:
            return False
        annotations = sizes_of(self._strategy)
        if before == size and all(annotations_of(replica_set).get(key) == text for key, text in annotations.items()):
            return False
        changed = self._patch(replica_set, {"metadata": {"annotations": annotations}, "spec": {"replicas": size}})
        if replica_set is self._new:
            self._new = changed
        else:
            self._old = [changed if old is replica_set else old for old in self._old]
        if before != size:
            way = "up" if before < size else "down"
            self._tell_scaling(f"Scaled {way} replica set {name_of(replica_set)} from {before} to {size}")
        return before != size

    def _tell_scaling(self, text: str) -> None:
        self._tools.sink.event(
            self._deployment, "Normal", "ScalingReplicaSet", text, source="deployment-controller", dedupe_seconds=0
        )

    def _clean_up(self) -> None:
        for replica_set in deletable(self._strategy, self._old):
            self._tools.delete(replica_set)

    def _report(self, *, judged: bool = True) -> Result:
        status = rollout_status(self._deployment, self._strategy, self._old, self._new, self._now, judged=judged)
        before = self._deployment
        self._set_status(status)
        if self._deployment is not before or not judged:
            return DONE  # the change brings it here again
        wait = until_deadline(self._deployment, self._strategy, self._now)
        return DONE if wait is None else Result(wait, Wait.ALARM)

    def _set_status(self, status: dict[str, Any]) -> None:
        self._deployment = self._tools.set_status(self._deployment, status)

    def _patch(self, obj: Object, patch: dict[str, Any]) -> Object:
        return self._tools.writer.patch(obj["kind"], name_of(obj), patch, namespace=namespace_of(obj))
