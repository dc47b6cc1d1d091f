"""Launches that Azure has accepted and not finished: polled to their end, then completed or cleaned up.

The NodeClaim is Launched meanwhile. If the operation fails, the machine is cleaned up and the NodeClaim deleted.
Source: kaz pkg/cloudprovider/cloudprovider.go (handleInstancePromise), pkg/providers/instance/vminstance.go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import field
from typing import Any

from harness.engine.engine import DONE, Engine, Result, Router, Wait
from harness.engine.ports import Change, Sink, View, Writer
from harness.karpenter.launch.failures.errors import LaunchError
from harness.karpenter.provider.arm import ENDED, Answer, Arm
from harness.kube.api.objects import Object, condition, name_of, uid_of
from harness.kube.api.status import ignoring
from lazyrecords import dataclass

_MESSAGE_LIMIT = 500

Step = Callable[[], Answer]


@dataclass(slots=True)
class Promise:
    """One launch that Azure has accepted.

    `operation` is the URL to poll, None when there is nothing to wait for, `pause` the seconds before it is polled first. `steps` are
    the calls about extensions that follow, one after the other, each with its own long-running operation. `found` is the body of a
    machine that existed already, because the controller created it before a restart. `failed` turns the last answer of a failed
    operation into its error; `cleanup` returns the calls that remove the machine.
    """

    claim: Object
    operation: str | None
    failed: Callable[[Answer], LaunchError]
    cleanup: Callable[[], Iterable[Step]]
    steps: deque[Step] = field(default_factory=deque)
    error: LaunchError | None = None
    cleaning: bool = False
    extending: bool = False
    pause: float = 0.0
    found: Mapping[str, Any] | None = None


class Promises:
    """All launches that Azure has accepted and not finished; a key is a NodeClaim's name."""

    name = "instance.promise"
    backoff = (1.0, 60.0)

    def __init__(self, engine: Engine, view: View, writer: Writer, sink: Sink, arm: Arm) -> None:
        self._engine = engine
        self._view = view
        self._writer = writer
        self._sink = sink
        self._arm = arm
        self._open: dict[str, Promise] = {}

    def watches(self) -> Mapping[str, Router]:
        """NodeClaims whose operation has failed: the clean-up waits until their condition Launched is set."""
        return {"NodeClaim": self._keys}

    def _keys(self, change: Change) -> Iterable[Hashable]:
        promise = self._open.get(name_of(change.object))
        if promise is not None and promise.error is not None:
            yield name_of(change.object)

    def add(self, promise: Promise) -> None:
        """Follows a launch from now on."""
        name = name_of(promise.claim)
        self._open[name] = promise
        self._engine.enqueue(self, name)

    def reconcile(self, key: Hashable) -> Result:
        """Polls one launch, completes it, or cleans it up."""
        promise = self._open.get(str(key))
        if promise is None:
            return DONE
        if promise.error is None and (pause := self._advance(promise)):
            return Result(pause, Wait.POLL)
        if promise.error is not None:
            if not promise.cleaning and not self._begin_cleaning(promise):
                return DONE
            if pause := self._clean(promise):
                return Result(pause, Wait.POLL)
            self._delete_claim(promise.claim)
        del self._open[str(key)]
        return DONE

    def _advance(self, promise: Promise) -> float:
        """Continues a launch as far as possible now. Returns after how many seconds it has to be polled again, 0 for never."""
        while True:
            if pause := _first_pause(promise):
                return pause
            if promise.operation is not None:
                answer, status = self._arm.poll(promise.operation)
                if answer.ok and status not in ENDED:
                    return self._arm.polling.after(answer, of_extension=promise.extending)
                promise.operation = None
                if not answer.ok or status != "Succeeded":
                    promise.error = promise.failed(answer)
                    return 0.0
            if not promise.steps:
                return 0.0
            answer = promise.steps.popleft()()
            if not answer.ok:
                promise.error = promise.failed(answer)
                return 0.0
            promise.operation, promise.pause, promise.extending = answer.operation, answer.retry_after, True

    def _begin_cleaning(self, promise: Promise) -> bool:
        """Publishes the failure, once. Returns False while the NodeClaim's condition Launched is not set yet."""
        claim = promise.claim
        present = self._view.get("NodeClaim", name_of(claim))
        if present is not None and uid_of(present) == uid_of(claim):
            launched = condition(present, "Launched")
            if launched is None or launched["status"] == "Unknown":
                return False
        text = str(promise.error)
        shown = text if len(text) < _MESSAGE_LIMIT else text[:_MESSAGE_LIMIT] + "..."
        self._sink.event(claim, "Warning", "AsyncProvisioningError", f"Failed to register: {shown}")
        self._sink.log("error", self.name, "failed launching nodeclaim", NodeClaim=name_of(claim), error=text)
        promise.cleaning, promise.operation, promise.steps = True, None, deque(promise.cleanup())
        promise.pause, promise.extending = 0.0, False
        return True

    def _clean(self, promise: Promise) -> float:
        """Continues the clean-up as far as possible now. Returns after how many seconds it has to be polled again, 0 for never.

        Refused deletions are not retried.
        """
        while True:
            if pause := _first_pause(promise):
                return pause
            if promise.operation is not None:
                answer, status = self._arm.poll(promise.operation)
                if answer.ok and status not in ENDED:
                    return self._arm.polling.after(answer)
                promise.operation = None
            if not promise.steps:
                return 0.0
            answer = promise.steps.popleft()()
            promise.operation, promise.pause = (answer.operation, answer.retry_after) if answer.ok else (None, 0.0)

    def _delete_claim(self, claim: Object) -> None:
        present = self._view.get("NodeClaim", name_of(claim))
        if present is not None and uid_of(present) == uid_of(claim):
            with ignoring(404, 409):
                self._writer.delete("NodeClaim", name_of(claim), uid=uid_of(claim))


def _first_pause(promise: Promise) -> float:
    """Return the time that Azure asks to wait before the first look at its operation; told once."""
    pause, promise.pause = promise.pause if promise.operation is not None else 0.0, 0.0
    return pause
