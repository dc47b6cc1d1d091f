"""The NodeClaim lifecycle controller: launch, registration, initialization, liveness, and the way out.

Source: core pkg/controllers/nodeclaim/lifecycle/controller.go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from harness.engine.clock import SECOND, Clock, nanoseconds, parse, render
from harness.engine.engine import DONE, ReconcileError, Result, Router, Wait
from harness.engine.names import NodeClaimName
from harness.engine.ports import Change, Sink, View, Writer, key_by_name
from harness.karpenter.labels.core import TERMINATION_FINALIZER, TERMINATION_TIMESTAMP
from harness.karpenter.launch.failures.errors import LaunchPanic
from harness.karpenter.lifecycle.conditions import NODECLAIM, Conditions, are_true
from harness.karpenter.lifecycle.instance_provider import (
    CloudProviderError,
    InstanceNotFound,
    InstanceProvider,
)
from harness.karpenter.lifecycle.names import is_managed, nodes_of
from harness.karpenter.lifecycle.nodeclaims.draft import Draft
from harness.karpenter.lifecycle.nodeclaims.initialization import Initialization, obstacle_of
from harness.karpenter.lifecycle.nodeclaims.launch import Launch
from harness.karpenter.lifecycle.nodeclaims.launch_failures import LaunchFailures
from harness.karpenter.lifecycle.nodeclaims.liveness import Liveness
from harness.karpenter.lifecycle.nodeclaims.pace import Pace
from harness.karpenter.lifecycle.nodeclaims.registration import Registration
from harness.karpenter.lifecycle.nodepools.health import RegistrationHealth
from harness.karpenter.lifecycle.refusals import after_refusal
from harness.karpenter.releases import CoreRelease
from harness.kube.api.objects import (
    Object,
    annotations_of,
    finalizers_of,
    finalizers_without,
    is_terminating,
    metadata_of,
    name_of,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.api.status import ApiError
from harness.kube.go.durations import parse_duration

_AFTER_WRITE = 1.0  # seconds: the controller sleeps after it has patched, so that it reads its own write


class NodeClaimLifecycle:
    """Reconciles NodeClaims; a key is a NodeClaim's name."""

    name = "nodeclaim.lifecycle"
    backoff = (1.0, 60.0)

    def __init__(
        self,
        view: View,
        writer: Writer,
        sink: Sink,
        clock: Clock,
        provider: InstanceProvider,
        core: CoreRelease,
        pace: Pace | None = None,
        expected_on: Callable[[NodeClaimName], Iterable[str]] = lambda nodeclaim: (),
    ) -> None:
        """`expected_on` returns the pods (``namespace/name``) that a simulation placed on a NodeClaim's machine."""
        self._view = view
        self._writer = writer
        self._sink = sink
        self._clock = clock
        self._provider = provider
        self._core = core
        self.health = RegistrationHealth(view, writer, clock, core)
        self.pace = pace or Pace()
        failures = LaunchFailures(view, sink, core, expected_on)
        self._launch = Launch(provider, writer, sink, clock, failures)
        self._noticed: dict[tuple[str, str], int] = {}
        self._registration = Registration(view, writer, sink, core)
        self._initialization = Initialization(view, writer, sink, core)
        self._liveness = Liveness(clock, writer, sink, self.health, core)

    def watches(self) -> Mapping[str, Router]:
        """NodeClaims, and Nodes by their provider id."""
        return {"NodeClaim": key_by_name, "Node": self._of_node}

    def _of_node(self, change: Change) -> Iterable[Hashable]:
        provider_id = spec_of(change.object).get("providerID")
        if provider_id:
            for claim in self._view.indexed("nodeclaims-by-provider-id", provider_id):
                yield name_of(claim)

    def reconcile(self, key: Hashable) -> Result:
        """One pass over one NodeClaim."""
        claim = self._view.get("NodeClaim", str(key))
        if claim is None or not is_managed(claim):
            return DONE
        try:
            if is_terminating(claim) and not self._launch.under_way(claim):
                return self._finalize(claim)
            return self._rest(claim) if self._is_complete(claim) else self._live(claim)
        except ApiError as error:
            return after_refusal(error)

    def _is_complete(self, claim: Object) -> bool:
        """Return whether every step was taken for the present generation, so that a pass would change nothing, whatever time it is."""
        return (
            are_true(claim, NODECLAIM) and not is_terminating(claim) and TERMINATION_FINALIZER in finalizers_of(claim)
        )

    def _rest(self, claim: Object) -> Result:
        if self._noticed:
            self._noticed.pop((uid_of(claim), "initialization"), None)
        return DONE

    def _live(self, claim: Object) -> Result:
        if TERMINATION_FINALIZER not in finalizers_of(claim):
            claim = self._writer.patch(
                "NodeClaim",
                name_of(claim),
                {"metadata": {"finalizers": [*finalizers_of(claim), TERMINATION_FINALIZER]}},
            )
        draft = Draft(claim, self._clock.timestamp())
        wait = self._launch.waits(draft, self.pace) or self._unnoticed(draft)
        if wait:
            return Result(wait, busy=wait, under_way=True)
        try:
            error = self._launch.step(draft)
        except LaunchPanic as panic:
            self._sink.log("error", self.name, "Reconciler error", NodeClaim=name_of(claim), error=str(panic))
            raise ReconcileError(str(panic)) from panic
        registered = self._registration.step(draft)
        self._initialization.step(draft)
        after = self._liveness.step(draft)
        wrote = draft.write(self._writer)
        if registered:
            self.health.succeeded(claim)
        busy = _AFTER_WRITE if wrote else 0.0
        if error is not None:
            self._sink.log("error", self.name, "Reconciler error", NodeClaim=name_of(claim), error=error)
            raise ReconcileError(error, busy=busy)
        return Result(after, Wait.ALARM, busy=busy)

    def _unnoticed(self, draft: Draft) -> float:
        """Seconds until the controller notices that the Node can be registered or initialized (see Pace)."""
        conditions = draft.conditions
        if not conditions.is_true("Launched"):
            return 0.0
        step, delay = ("registration", self.pace.registration)
        if conditions.is_true("Registered"):
            step, delay = ("initialization", self.pace.initialization)
        if not delay or conditions.is_true("Initialized"):
            self._noticed.pop((uid_of(draft.stored), step), None)
            return 0.0
        claim = draft.object
        nodes = nodes_of(self._view, claim)
        if len(nodes) != 1 or (step == "initialization" and obstacle_of(claim, nodes[0], self._core) is not None):
            self._noticed.pop((uid_of(claim), step), None)
            return 0.0
        since = self._noticed.setdefault((uid_of(claim), step), self._clock.now)
        left = since + nanoseconds(delay) - self._clock.now
        return max(0, left) / SECOND

    def _finalize(self, claim: Object) -> Result:
        if TERMINATION_FINALIZER not in finalizers_of(claim):
            return DONE
        claim = self._stamp_deadline(claim)
        conditions = Conditions(claim, NODECLAIM, self._clock.timestamp())
        if conditions.is_true("Registered"):
            nodes = nodes_of(self._view, claim)
            for node in nodes:
                if not is_terminating(node):
                    self._writer.delete("Node", name_of(node), uid=uid_of(node))
            if nodes:
                return DONE
        if status_of(claim).get("providerID"):
            gone = False
            try:
                self._provider.delete(claim)
            except InstanceNotFound:
                gone = True
            except CloudProviderError as error:
                raise ReconcileError(str(error)) from error
            conditions = Conditions(claim, NODECLAIM, self._clock.timestamp())
            if conditions.set_true("InstanceTerminating"):
                claim = self._writer.patch(
                    "NodeClaim",
                    name_of(claim),
                    {"status": {"conditions": conditions.items}},
                    subresource="status",
                )
            if not gone:
                return Result(5.0)
        finalizers = finalizers_without(claim, TERMINATION_FINALIZER)
        self._writer.patch("NodeClaim", name_of(claim), {"metadata": {"finalizers": finalizers}})
        self._sink.log("info", self.name, "deleted nodeclaim", NodeClaim=name_of(claim))
        return DONE

    def _stamp_deadline(self, claim: Object) -> Object:
        grace = spec_of(claim).get("terminationGracePeriod")
        if grace is None or TERMINATION_TIMESTAMP in annotations_of(claim):
            return claim
        deadline = render(parse(metadata_of(claim)["deletionTimestamp"]) + parse_duration(grace))
        stamped = self._writer.patch(
            "NodeClaim", name_of(claim), {"metadata": {"annotations": {TERMINATION_TIMESTAMP: deadline}}}
        )
        self._sink.event(claim, "Warning", "TerminationGracePeriodExpiring", f"All pods will be deleted by {deadline}")
        return stamped
