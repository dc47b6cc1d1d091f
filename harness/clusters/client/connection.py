"""Connections to an API server: kept alive, one request at a time each, answers as JSON, refusals as ApiError."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from harness.clusters.errors import ClusterFailed
from harness.clusters.waiting import TimedOut, poll, stopwatch
from harness.kube.api.status import ApiError

__all__ = ["ClusterLost", "Connection", "Endpoint", "Events"]


_KEPT = 30.0
"""Seconds after which an unused connection is opened anew; kube-apiserver closes it after 90."""

_DEATH_TOLD = 2.0
"""Seconds after which the death of a program is known."""


class ClusterLost(ClusterFailed):
    """The API server does not answer any more. The message names the dead program, with the last lines of its log."""


@dataclass(frozen=True)
class Endpoint:
    """The address of an API server and the way to speak to it: TLS with a client certificate, or plain with headers.

    `server_name` is the name that its certificate has to have, where that is not `host`. `diagnose` returns, when the server does not
    answer, the reason.
    """

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    server_name: str = ""
    diagnose: Callable[[], str] = lambda: ""

    @property
    def url(self) -> str:
        """`https://HOST:PORT`."""
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"


class Events:
    """The events of a watch as they come, until the server ends it."""

    def __init__(self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse) -> None:
        self._connection = connection
        self._answer = answer

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while line := self._answer.readline():
            yield json.loads(line)

    def close(self) -> None:
        """End the connection."""
        try:
            self._answer.close()
        finally:
            self._connection.close()


class Connection:
    """One keep-alive connection. Threads may share it: requests wait for each other."""

    def __init__(self, endpoint: Endpoint, *, timeout: float = 30.0) -> None:
        self.endpoint = endpoint
        self._timeout = timeout
        self._lock = threading.Lock()
        self._http: http.client.HTTPConnection | None = None
        self._idle: Callable[[], float] | None = None

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
    ) -> Any:
        """The JSON of the answer. Raises ApiError for a Status of failure, ClusterLost when nobody answers."""
        status, text = self.raw(method, path, query=query, body=body, content_type=content_type)
        try:
            answer = json.loads(text) if text else None
        except ValueError:
            answer = None
        if status >= 400:
            raise error_of(status, answer, text)
        return answer

    def raw(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> tuple[int, str]:
        """Status and text of the answer. Raises ClusterLost when nobody answers."""
        url = path + ("?" + urlencode(query) if query else "")
        headers = {"Accept": accept, **self.endpoint.headers}
        payload = None
        if body is not None:
            payload = json.dumps(body).encode()
            headers["Content-Type"] = content_type
        with self._lock:
            if self._idle is not None and self._idle() > _KEPT:
                self._drop()  # servers close idle connections, and a write must not be the one to notice
            fresh = self._http is None
            try:
                return self._send(method, url, payload, headers)
            except (OSError, http.client.HTTPException) as error:
                self._drop()
                # a kept connection that the server closed meanwhile is opened once more; reads may be repeated anyway
                if fresh or not (method == "GET" or isinstance(error, http.client.RemoteDisconnected)):
                    raise self._lost(error) from error
            try:
                return self._send(method, url, payload, headers)
            except (OSError, http.client.HTTPException) as error:
                self._drop()
                raise self._lost(error) from error

    def stream(self, path: str, query: Mapping[str, str]) -> tuple[socket.socket, Events]:
        """A watch, on a connection of its own: the socket (shut it down to stop) and the events as they come."""
        connection = _open(self.endpoint, None)
        try:
            connection.request(
                "GET", f"{path}?{urlencode(query)}", headers={"Accept": "application/json", **self.endpoint.headers}
            )
            wire = connection.sock
            answer = connection.getresponse()
            if answer.status == 200:
                return wire, Events(connection, answer)
            text = answer.read().decode("utf-8", "replace")
        except BaseException:  # a server that dies meanwhile must not leave an open socket behind
            connection.close()
            raise
        connection.close()
        with suppress(ValueError):
            raise error_of(answer.status, json.loads(text), text)
        raise error_of(answer.status, None, text)

    def close(self) -> None:
        """Close the connection; a later request opens it again."""
        with self._lock:
            self._drop()

    def _send(self, method: str, url: str, payload: bytes | None, headers: Mapping[str, str]) -> tuple[int, str]:
        if self._http is None:
            self._http = _open(self.endpoint, self._timeout)
        self._http.request(method, url, body=payload, headers=dict(headers))
        answer = self._http.getresponse()
        text = answer.read().decode("utf-8", "replace")
        self._idle = stopwatch()
        return answer.status, text

    def _drop(self) -> None:
        if self._http is not None:
            self._http.close()
            self._http = None

    def _lost(self, error: Exception) -> ClusterLost:
        why = ""
        with suppress(TimedOut):  # the watcher of a program may learn of its death a moment after its connections
            why = poll(self.endpoint.diagnose, "somebody to be found dead", seconds=_DEATH_TOLD, every=0.05)
        text = f"{self.endpoint.url} does not answer: {type(error).__name__}: {error}"
        return ClusterLost(f"{text}\n{why}" if why else text)


class _SecureConnection(http.client.HTTPConnection):
    """A connection whose server shows a certificate with the endpoint's name."""

    def __init__(self, endpoint: Endpoint, tls: ssl.SSLContext, timeout: float | None) -> None:
        super().__init__(endpoint.host, endpoint.port, timeout=timeout)
        self._tls, self._name = tls, endpoint.server_name or endpoint.host

    def connect(self) -> None:
        """Open the connection. Raises ssl.SSLError, also where the name is another one."""
        super().connect()
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._name)


def _open(endpoint: Endpoint, timeout: float | None) -> http.client.HTTPConnection:
    connection: http.client.HTTPConnection
    if endpoint.tls is None:
        connection = http.client.HTTPConnection(endpoint.host, endpoint.port, timeout=timeout)
    else:
        connection = _SecureConnection(endpoint, endpoint.tls, timeout)
    try:
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        connection.close()
        raise
    return connection


def error_of(status: int, answer: Any, text: str) -> ApiError:
    """The ApiError of a refusal: of its Status, or of its bare text."""
    if isinstance(answer, dict) and answer.get("kind") == "Status":
        return ApiError(
            int(answer.get("code") or status),
            answer.get("reason") or "",
            answer.get("message") or "",
            details=answer.get("details") or {},
        )
    return ApiError(status, http.client.responses.get(status, "").replace(" ", ""), text.strip())
