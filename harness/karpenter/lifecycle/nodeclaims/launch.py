"""The launch step of a NodeClaim (core pkg/controllers/nodeclaim/lifecycle/launch.go)."""

from __future__ import annotations

from collections.abc import Generator

from harness.engine.clock import SECOND, Clock, nanoseconds
from harness.engine.ports import Sink, Writer
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.launch.failures.errors import FailureKind, LaunchError, LaunchPanic
from harness.karpenter.lifecycle.instance_provider import Instance, InstanceProvider
from harness.karpenter.lifecycle.nodeclaims.draft import Draft
from harness.karpenter.lifecycle.nodeclaims.launch_failures import LaunchFailures
from harness.karpenter.lifecycle.nodeclaims.pace import Pace
from harness.karpenter.validation.rejections import Rejection, RejectionLayer
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import Object, name_of, uid_of
from harness.kube.api.status import ignoring


class Launch:
    """Creates the instance once, then fills in what the provider resolved."""

    def __init__(
        self, provider: InstanceProvider, writer: Writer, sink: Sink, clock: Clock, failures: LaunchFailures
    ) -> None:
        self._provider = provider
        self._failures = failures
        self._writer = writer
        self._sink = sink
        self._clock = clock
        self._created: dict[str, Instance] = {}
        self._looked: set[str] = set()
        self._asking: dict[str, int] = {}
        self._running: dict[str, Generator[float, None, Instance]] = {}
        self._asked: dict[str, tuple[int, Instance | LaunchError | LaunchPanic]] = {}

    def under_way(self, claim: Object) -> bool:
        """Return whether the controller is in the middle of this NodeClaim's launch, which blocks everything else about
        it, even its deletion.
        """
        return uid_of(claim) in self._asking or uid_of(claim) in self._asked

    def waits(self, draft: Draft, pace: Pace) -> float:
        """Seconds that the launch still takes before `step`; 0 when its outcome is there, or there is nothing to launch."""
        uid, now = uid_of(draft.stored), self._clock.now
        if not draft.conditions.is_unknown("Launched") or uid in self._created:
            return 0.0
        if uid not in self._asked:
            first = uid not in self._looked
            self._looked.add(uid)
            due = self._asking.setdefault(uid, now + nanoseconds(pace.request if first else 0.0))
            if due > now:
                return (due - now) / SECOND
            outcome = self._go_on(draft)
            if isinstance(outcome, float):
                self._asking[uid] = now + nanoseconds(outcome)
                return outcome
            del self._asking[uid]
            self._asked[uid] = now + nanoseconds(pace.answer), outcome
        return max(0, self._asked[uid][0] - now) / SECOND

    def _go_on(self, draft: Draft) -> float | Instance | LaunchError | LaunchPanic:
        """Begin the launch, or resume it. Return its outcome, or the seconds to wait before it is resumed."""
        uid = uid_of(draft.stored)
        launch = self._running.pop(uid, None) or self._provider.create(draft.object)
        try:
            wait = next(launch)
        except StopIteration as ended:
            created: Instance = ended.value
            return created
        except (LaunchError, LaunchPanic) as error:
            return error
        self._running[uid] = launch
        return float(wait)

    def _create(self, draft: Draft) -> Instance:
        _, outcome = self._asked.pop(uid_of(draft.stored))
        if isinstance(outcome, Instance):
            return outcome
        raise outcome

    def step(self, draft: Draft) -> str | None:
        """Launches if need be, once `waits` is over. Returns the error to retry on, None when there is none. Raises LaunchPanic."""
        conditions = draft.conditions
        if not conditions.is_unknown("Launched"):
            conditions.refresh("Launched")
            self._created.pop(uid_of(draft.stored), None)
            return None
        created = self._created.get(uid_of(draft.stored))
        if created is None:
            try:
                created = self._create(draft)
            except LaunchPanic as panic:
                self._sink.rejected((_rejection(draft, LaunchError(str(panic), condition_reason="panic")),))
                raise
            except LaunchError as error:
                self._sink.rejected((_rejection(draft, error),))
                if error.kind in (FailureKind.CAPACITY, FailureKind.NODECLASS_NOT_READY):
                    self._give_up(draft, error)
                    return None
                if error.kind is FailureKind.CREATE:
                    conditions.set_unknown("Launched", error.condition_reason, error.condition_message)
                else:
                    conditions.set_unknown("Launched", "LaunchFailed", self._failures.shortened(str(error)))
                return f"launching nodeclaim, {error}"
            self._sink.log(
                "info",
                "nodeclaim.lifecycle",
                "launched nodeclaim",
                NodeClaim=name_of(draft.stored),
                **{
                    "provider-id": created.provider_id,
                    "instance-type": created.labels.get(INSTANCE_TYPE),
                    "zone": created.labels.get(ZONE),
                    "capacity-type": created.labels.get(CAPACITY_TYPE),
                },
            )
            self._created[uid_of(draft.stored)] = created
        populate(draft, created)
        conditions.set_true("Launched")
        return None

    def _give_up(self, draft: Draft, error: LaunchError) -> None:
        claim = draft.stored
        if error.kind is FailureKind.CAPACITY:
            self._failures.tell(claim, str(error))
        self._sink.log(
            "error", "nodeclaim.lifecycle", "failed launching nodeclaim", NodeClaim=name_of(claim), error=str(error)
        )
        with ignoring(404):
            self._writer.delete("NodeClaim", name_of(claim), uid=uid_of(claim))


def populate(draft: Draft, created: Instance) -> None:
    """PopulateNodeClaimDetails: the NodeClaim's own labels win over the provider's, the provider's annotations over its own."""
    draft.labels = {**created.labels, **draft.labels}
    draft.annotations = {**draft.annotations, **created.annotations}
    draft.status["providerID"] = created.provider_id
    if created.image_id:
        draft.status["imageID"] = created.image_id
    draft.status["capacity"] = dict(created.capacity)
    draft.status["allocatable"] = dict(created.allocatable)


def _rejection(draft: Draft, error: LaunchError) -> Rejection:
    return Rejection(
        layer=RejectionLayer.LAUNCH,
        object=f"NodeClaim/{name_of(draft.stored)}",
        path="",
        key=None,
        rule=error.condition_reason or str(error.kind),
        message=error.condition_message or error.text,
        text=error.text,
        pointer=(),
    )
