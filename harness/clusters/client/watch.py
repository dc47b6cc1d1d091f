"""The watch of one kind, on a thread of its own: list, then listen; listen again where it broke off; list again when told to."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from harness.clusters.client.connection import Connection
from harness.clusters.client.paths import path_of
from harness.kube.api.kinds import Kind
from harness.kube.api.objects import Object
from harness.kube.api.status import ApiError

__all__ = ["Heard", "Watch"]

_RETRIES = 5


@dataclass(frozen=True, slots=True)
class Heard:
    """One event; or `all` objects of the kind at a revision; or the reason why nothing will be heard any more."""

    kind: Kind
    revision: int
    type: str = ""
    object: Object | None = None
    all: Sequence[Object] | None = None
    lost: str | None = None


class Watch:
    """Calls `hear` for every event of the objects of a kind after `list` was called."""

    def __init__(self, connection: Connection, kind: Kind, hear: Callable[[Heard], None]) -> None:
        self.kind = kind
        self._connection = connection
        self._hear = hear
        self._revision = "0"
        self._ended = threading.Event()
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None

    def list(self) -> Heard:
        """All objects, and the place from which to listen on. Raises ApiError 404 for a kind that is not served."""
        answer = self._connection.request("GET", path_of(self.kind))
        self._revision = answer["metadata"]["resourceVersion"]
        return Heard(self.kind, int(self._revision), all=answer["items"])

    def start(self) -> None:
        """Begin to listen."""
        self._thread = threading.Thread(target=self._run, name=f"watch-{self.kind.plural}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the watch and wait for its thread."""
        self._ended.set()
        wire = self._socket
        if wire is not None:
            with suppress(OSError):
                wire.shutdown(socket.SHUT_RDWR)
        if self._thread is not None:
            self._thread.join(5)

    def _run(self) -> None:
        failures = 0
        while not self._ended.is_set():
            try:
                self._listen()
                failures = 0
            except ApiError as error:
                if error.code == 410:
                    with suppress(ApiError, OSError, RuntimeError):
                        self._hear(self.list())
                    continue
                failures += 1
            except Exception:  # any error of a connection: try again a few times, then report it
                failures += 1
            if failures > _RETRIES:
                if not self._ended.is_set():
                    why = self._connection.endpoint.diagnose()
                    self._hear(Heard(self.kind, 0, lost=f"the watch of {self.kind.plural} broke off\n{why}".strip()))
                return
            if failures:
                self._ended.wait(0.05 * 2**failures)

    def _listen(self) -> None:
        query = {
            "watch": "1",
            "resourceVersion": self._revision,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": "600",
        }
        self._socket, events = self._connection.stream(path_of(self.kind), query)
        try:
            if self._ended.is_set():
                return
            for event in events:
                if self._ended.is_set():
                    return
                obj = event["object"]
                if event["type"] == "ERROR":
                    raise ApiError(int(obj.get("code") or 500), obj.get("reason") or "", obj.get("message") or "")
                self._revision = obj["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    self._hear(Heard(self.kind, int(self._revision), event["type"], obj))
        finally:
            self._socket = None
            events.close()
