"""The controller that keeps Consolidatable and Drifted on NodeClaims.

Core ``pkg/controllers/nodeclaim/disruption/controller.go``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from harness.engine.clock import SECOND, Clock, parse
from harness.engine.engine import DONE, Result, Router, Wait, back_off
from harness.engine.ports import Change, ChangeType, Sink, Writer
from harness.karpenter.disruption.conditions import YOUNG, CoreDrift, with_conditions
from harness.karpenter.disruption.observer import Observer
from harness.karpenter.lifecycle.names import claim_of, nodepool_of
from harness.karpenter.lifecycle.nodepools.status import nodeclass_name
from harness.karpenter.lifecycle.refusals import after_refusal
from harness.karpenter.provider.drift import ProviderDrift
from harness.karpenter.provider.instance_types import InstanceTypeProvider
from harness.karpenter.provider.instances import ArmInstances
from harness.karpenter.releases.disruption import DisruptionRules
from harness.karpenter.scheduling.nodes.consolidate_after import settles_in
from harness.kube.api.objects import Object, annotations_of, condition_is, labels_of, metadata_of, name_of, status_of
from harness.kube.api.status import ApiError

__all__ = ["NodeClaimConditions"]

_SWEEP = "sweep"
_EVERY = 300.0


class NodeClaimConditions:
    """Keeps the conditions Consolidatable and Drifted; a key is (NodeClaim's name,), or the sweep.

    Upstream reconciles every NodeClaim again after five minutes, since Azure sends no event when something changes. Here one sweep every
    five minutes reconciles all of them if Azure has changed, else those that have come to the age of an hour (InstanceTypeNotFound).
    """

    name = "nodeclaim.disruption"
    backoff = (0.005, 1000.0)

    def __init__(
        self,
        observer: Observer,
        writer: Writer,
        sink: Sink,
        clock: Clock,
        instance_types: InstanceTypeProvider,
        drift: ProviderDrift,
        instances: ArmInstances,
        rules: DisruptionRules,
    ) -> None:
        self._observer = observer
        self._view = observer.cluster
        self._writer = writer
        self._sink = sink
        self._clock = clock
        self._instance_types = instance_types
        self._drift = drift
        self._instances = instances
        self._rules = rules
        self._core_drift = CoreDrift(rules)
        self._swept: object = None
        self._swept_at = clock.now
        self._come_of_age: dict[str, int] = {}
        """When each NodeClaim, by name, is an hour old, if it was not before the last sweep."""
        self._failures: dict[str, int] = {}
        """The failures in a row of the provider to say whether a NodeClaim has drifted, by name."""
        self._started = False

    def watches(self) -> Mapping[str, Router]:
        """NodeClaims, their NodePools and AKSNodeClasses, and new Nodes."""
        return {
            "NodeClaim": self._own,
            "NodePool": self._of_pool,
            "AKSNodeClass": self._of_class,
            "Node": self._of_node,
        }

    def _own(self, change: Change) -> Iterable[Hashable]:
        if not self._started:
            self._started = True
            yield _SWEEP
        name = name_of(change.object)
        self._come_of_age.pop(name, None)
        if change.type is ChangeType.DELETED:
            self._core_drift.forget(name)
            self._failures.pop(name, None)
            return
        of_age = parse(metadata_of(change.object)["creationTimestamp"]) + YOUNG
        if of_age >= self._swept_at:
            self._come_of_age[name] = of_age
        if _matters(change):
            yield (name,)

    def _of_pool(self, change: Change) -> Iterable[Hashable]:
        if change.old is not None and _same(change, "spec") and _same_annotations(change):
            return
        for claim in self._view.list("NodeClaim"):
            if nodepool_of(claim) == name_of(change.object):
                yield (name_of(claim),)

    def _of_class(self, change: Change) -> Iterable[Hashable]:
        if change.old is not None and _same(change, "spec") and _same(change, "status") and _same_annotations(change):
            return
        using = {
            name_of(pool) for pool in self._view.list("NodePool") if nodeclass_name(pool) == name_of(change.object)
        }
        for claim in self._view.list("NodeClaim"):
            if nodepool_of(claim) in using:
                yield (name_of(claim),)

    def _of_node(self, change: Change) -> Iterable[Hashable]:
        """Only a new Node: it brings the kubelet's version, by which drift is judged. Upstream sees it at its next look."""
        if change.type is ChangeType.ADDED:
            claim = claim_of(self._view, change.object)
            if claim is not None:
                yield (name_of(claim),)

    def reconcile(self, key: Hashable) -> Result:
        """Bring one NodeClaim up to date, or sweeps."""
        if key == _SWEEP:
            return self._sweep()
        assert isinstance(key, tuple)
        claim = self._view.get("NodeClaim", key[0])
        if claim is None or not condition_is(claim, "Launched"):
            return DONE
        pool = self._view.get("NodePool", nodepool_of(claim))
        judged = with_conditions(
            claim,
            pool,
            self._observer.types(pool) if pool is not None else (),
            self._drift.reason,
            now=self._clock.now,
            release=self._instance_types.release,
            rules=self._rules,
            core=self._core_drift,
        )
        if judged.nodeclaim is not claim:
            try:
                self._write(judged.nodeclaim)
            except ApiError as error:
                return after_refusal(error)
        if judged.error:
            self._sink.log("error", self.name, "Reconciler error", NodeClaim=name_of(claim), error=judged.error)
            return self._failed(name_of(claim))
        self._failures.pop(name_of(claim), None)
        left = settles_in(pool, claim, self._clock.now) if pool is not None else 0
        return Result(left / SECOND, Wait.ALARM) if left else DONE

    def _failed(self, name: str) -> Result:
        """Retries with back-off, as an alarm: a world does not wait for it, since what can help triggers the next reconcile."""
        failures = self._failures.get(name, 0)
        self._failures[name] = failures + 1
        return Result(back_off(self.backoff, failures), Wait.ALARM)

    def _write(self, claim: Object) -> None:
        conditions = {"status": {"conditions": status_of(claim)["conditions"]}}
        self._writer.patch("NodeClaim", name_of(claim), conditions, subresource="status")

    def _sweep(self) -> Result:
        seen = self._instances.states(), self._instance_types.version()
        now = self._clock.now
        grown = {name for name, of_age in self._come_of_age.items() if of_age < now}
        if grown or seen != self._swept:
            for claim in self._view.list("NodeClaim"):
                if seen != self._swept or name_of(claim) in grown:
                    self._look(claim)
        for name in grown:
            self._come_of_age.pop(name, None)
        self._swept, self._swept_at = seen, now
        return Result(_EVERY, Wait.ALARM)

    def _look(self, claim: Object) -> None:
        self.reconcile((name_of(claim),))


def _matters(change: Change) -> bool:
    """Return whether anything changed that the conditions depend on."""
    new, old = change.object, change.old
    if old is None:
        return True
    mine, theirs = status_of(new), status_of(old)
    return (
        mine.get("lastPodEventTime") != theirs.get("lastPodEventTime")
        or mine.get("imageID") != theirs.get("imageID")
        or mine.get("conditions") != theirs.get("conditions")
        or annotations_of(new) != annotations_of(old)
        or labels_of(new) != labels_of(old)
    )


def _same(change: Change, part: str) -> bool:
    old = change.old or {}
    return bool(old.get(part) == change.object.get(part))


def _same_annotations(change: Change) -> bool:
    return bool(annotations_of(change.old or {}) == annotations_of(change.object))
