"""Long-running operations: accepted with 201 or 202, polled by URL, over after (virtual) time, perhaps with an error.

A status of `Failed` travels with HTTP 200; a `Location` poll is 202 while it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import quote

from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.messages import Document, Response
from fakeazure.arm.texts import failure
from fakeazure.guids import guid_of
from fakeazure.timers import Timers, timestamp
from lazyrecords import dataclass

KEPT = 50_000
"""So many operations can be asked for; the oldest that have ended are forgotten."""
_OF_DISKS = (" disks", " snapshots")
Finish: TypeAlias = Callable[[], Failure | None]
"""The effect of an operation at its end, which returns the error that it ended in: a function of a module, or `partial`
of one with its arguments. Then a snapshot can hold it (`fakeazure/snapshots/actions.py`); it cannot hold a function
made in another.
"""
Failed: TypeAlias = Callable[[Failure], None]
"""Makes the effect of an operation that a fault ends, as `Finish` does of others."""
SUCCEEDED, FAILED, RUNNING, CANCELED = "Succeeded", "Failed", "InProgress", "Canceled"


@dataclass(slots=True)
class Operation:
    """One operation. `status` is what a poll of its URL returns; times are seconds since the epoch."""

    id: str
    kind: str
    subscription: str
    namespace: str
    location: str
    started: float
    status: str = RUNNING
    ended: float | None = None
    failure: Failure | None = None
    result: Document | None = None
    """The output of the operation at its end, if it has any."""
    resource: str = ""
    """Key of the resource that it is about, empty where it is about none."""

    def document(self) -> dict[str, Any]:
        """The body of `GET .../operations/{id}`."""
        body: dict[str, Any] = {"name": self.id, "status": self.status, "startTime": timestamp(self.started)}
        if self.ended is not None:
            body["endTime"] = timestamp(self.ended)
        if self.failure is not None:
            body["error"] = self.failure.document()
        elif self.result is not None and self.ended is not None:
            body["properties"] = {"output": self.result}
        return body

    def url(self, base_url: str, version: str, *, results: bool = False) -> str:
        """The absolute URL to poll; with `results` the one for the `Location` header."""
        leaf, query = "operationResults" if results else "operations", ""
        if self.namespace == "Microsoft.Compute":
            # Both polls are under one URL, told apart by `monitor`; `p` is the part of Compute that does the work (as recorded,
            # azure-mgmt-compute 23.1.0, tests/recordings, 2021-10-12), taken as one for each subscription and region.
            # Those of disks and snapshots are under DiskOperations (Microsoft.Compute/locations/diskOperations/read is its action).
            leaf = "DiskOperations" if self.kind.endswith(_OF_DISKS) else "operations"
            query = f"p={guid_of(f'compute/{self.subscription}/{self.location}')}&"
            query += "monitor=true&" if results else ""
        tail = f"locations/{self.location}/{leaf}/{self.id}?{query}api-version={quote(version)}"
        return f"{base_url}/subscriptions/{self.subscription}/providers/{self.namespace}/{tail}"


class Operations:
    """All operations of one world."""

    def __init__(self, timers: Timers, guids: Callable[[], str], base_url: str) -> None:
        """Start empty. `base_url` is the scheme and host that polling URLs begin with."""
        self._timers = timers
        self._guids = guids
        self.base_url = base_url
        self.retry_after: int | None = None
        """Seconds for `Retry-After`, None to leave the header out."""
        self._by_id: dict[str, Operation] = {}

    def start(
        self,
        kind: str,
        *,
        subscription: str,
        namespace: str,
        location: str,
        seconds: float | None,
        finish: Finish,
        resource: str = "",
    ) -> Operation:
        """Begin an operation that ends after `seconds` (never, if None).

        `finish` then makes the effect and returns the error it ended in, or None; ArmError is that error too. Whatever else
        it raises goes on, and the operation has failed as Azure's do: none is left running. With zero seconds it is over at once.
        """
        operation = Operation(self._guids(), kind, subscription, namespace, location, self._timers.now())
        operation.resource = resource
        self._keep(operation)
        if seconds is not None:
            self._timers.after(seconds, partial(end_with, self, operation, finish))
        return operation

    def end(self, operation: Operation, failed: Failure | None) -> None:
        """End a running operation, with its failure or None for success; one that has ended stays as it is."""
        if operation.status != RUNNING:
            return
        operation.failure = failed
        operation.status = SUCCEEDED if failed is None else FAILED
        operation.ended = self._timers.now()

    def _keep(self, operation: Operation) -> None:
        """Remember an operation, and forget the oldest that have ended where there are too many: Azure forgets them too."""
        self._by_id[operation.id] = operation
        if len(self._by_id) > KEPT:
            ended = [operation.id for operation in self._by_id.values() if operation.status != RUNNING][: KEPT // 10]
            for id_ in ended:
                del self._by_id[id_]

    def cancel(self, operation: Operation) -> None:
        """End a running operation as Canceled: a newer one took its place. Its effect never happens."""
        if operation.status == RUNNING:
            operation.status = CANCELED
            operation.ended = self._timers.now()

    def running(self) -> list[Operation]:
        """The operations that have not ended yet."""
        return [operation for operation in self._by_id.values() if operation.status == RUNNING]

    def get(self, id_: str) -> Operation | None:
        """An operation by its id."""
        return self._by_id.get(id_.lower())

    def accepted(self, status: int, operation: Operation, version: str, body: Document | None = None) -> Response:
        """The first answer.

        A PUT that is over at once shows its final state and carries no header, so that clients do not poll. A DELETE (202) is always
        polled, as Azure's clients expect; its first poll can find it done.
        """
        if operation.status == SUCCEEDED and status != 202:
            return Response(status, body=body)
        headers = {"Azure-AsyncOperation": operation.url(self.base_url, version)}
        if operation.namespace == "Microsoft.Compute":
            headers["Azure-AsyncNotification"] = "Enabled"  # azure-mgmt-compute 23.1.0, tests/recordings, 2021-10-12
        if status == 202:
            headers["Location"] = operation.url(self.base_url, version, results=True)
        if self.retry_after is not None:
            headers["Retry-After"] = str(self.retry_after)
        return Response(status, headers, body)

    def poll(self, operation: Operation, *, as_location: bool, version: str) -> Response:
        """The answer to a poll; `as_location` for the URL of the `Location` header."""
        headers: dict[str, str] = {}
        if self.retry_after is not None and operation.status == RUNNING:
            headers["Retry-After"] = str(self.retry_after)
        if not as_location:
            return Response(200, headers, operation.document())
        if operation.status == RUNNING:
            headers["Location"] = operation.url(self.base_url, version, results=True)
            return Response(202, headers)
        if operation.failure is not None:
            return operation.failure.response()
        if operation.result is not None:
            return Response(200, body=operation.result)
        # An action ends in 200, which is all that SDKs take beside 201 and 202; a deletion in 204 (@azure/arm-compute, operations).
        return Response(204 if operation.kind.startswith("DELETE ") else 200)


def end_with(operations: Operations, operation: Operation, finish: Finish) -> None:
    """Make the effect of an operation that still runs, and end it."""
    if operation.status != RUNNING:
        return
    failed: Failure | None = failure("InternalOperationError")
    try:
        failed = finish()
    except ArmError as error:
        failed = error.failure
    finally:
        operations.end(operation, failed)


def no_effect() -> None:
    """Finish an operation whose effect was there from its beginning."""
