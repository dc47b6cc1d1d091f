"""The sockets of the HTTP cluster: one thread for each connection, one lock around the store."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from harness.clusters.client.access import kubeconfig_of
from harness.clusters.client.connection import Endpoint
from harness.clusters.http import protobuf
from harness.clusters.http.api import Answer, Api, Request, Stream
from harness.clusters.http.events import ClientEvents
from harness.clusters.memory.store import Store
from harness.clusters.waiting import Deadline
from harness.engine.ports import ADMIN, Change, Identity
from harness.kube.api.status import ApiError, bad_request

__all__ = ["ApiServer"]

_BOOKMARK_EVERY = 30.0


class ApiServer:
    """Serves a store on a port of the loopback interface.

    Every request runs under `lock`; code that touches the store directly meanwhile takes it, too. `settle` is called under the lock
    after each write: the loop of the controllers on the store (scheduler, workloads), so that a client finds their effects.
    `catch_up` is called under the lock before each request, so that a clock that follows the wall moves on.
    A request is made in the name of the user in `Impersonate-User`, of the user of its bearer token in `tokens`, or of the administrator.
    Go clients send tokens by TLS only, which `context` brings.
    """

    def __init__(
        self,
        store: Store,
        *,
        kubernetes: str,
        events: ClientEvents,
        settle: Callable[[], object] | None = None,
        catch_up: Callable[[], object] | None = None,
        lock: AbstractContextManager[object] | None = None,
        tokens: Mapping[str, Identity] | None = None,
        context: ssl.SSLContext | None = None,
        port: int = 0,
    ) -> None:
        self.lock = lock if lock is not None else threading.RLock()
        self.tokens = dict(tokens or {})
        self._api = Api(store, kubernetes, events)
        self._store = store
        self._settle = settle
        self._catch_up = catch_up
        self._changed = threading.Condition(self.lock)  # type: ignore[arg-type]  # any reentrant lock will do
        self._closing = False
        store.subscribe(self._notice)
        handler = type("Handler", (_Handler,), {"cluster": self})
        self._scheme = "http" if context is None else "https"
        self._server = _Server(("127.0.0.1", port), handler)
        self._server.context = context
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="api-server", daemon=True)

    def start(self) -> ApiServer:
        """Begin to answer."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End all watches, close the port and every connection."""
        with self.lock:
            self._closing = True
            self._changed.notify_all()
        self._server.shutdown()
        self._server.close_connections()
        self._server.server_close()
        self._thread.join(5)

    def __enter__(self) -> ApiServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`, or `https://…`."""
        return f"{self._scheme}://127.0.0.1:{self.port}"

    def endpoint(self, identity: Identity = ADMIN) -> Endpoint:
        """The endpoint for `clusters.client`, as an identity."""
        groups = ",".join(identity.groups)
        return Endpoint(
            "127.0.0.1", self.port, headers={"Impersonate-User": identity.user, "X-Impersonate-Groups": groups}
        )

    def kubeconfig(self, token: str = "") -> dict[str, Any]:
        """Return a kubeconfig for kubectl and the `kubernetes` package; with a token, its user's. No certificate is checked."""
        user = {"token": token} if token else {}
        trust = {"insecure-skip-tls-verify": True} if self._scheme == "https" else {}
        return kubeconfig_of("http", {"server": self.url, **trust}, user, user_name="admin")

    def handle(self, request: Request) -> Answer | Stream:
        """Answer one request, under the lock, with its consequences."""
        with self.lock:
            if self._catch_up is not None:
                self._catch_up()
            before = self._store.revision
            answer = self._api.handle(request)
            if self._settle is not None and self._store.revision != before:
                self._settle()
            return answer

    def stream(self, stream: Stream, send: Callable[[Mapping[str, Any]], None]) -> None:
        """Send the events of a watch until its time is over, the client goes or the server stops. Raises ApiError 410."""
        deadline = Deadline(stream.seconds if stream.seconds is not None else 1 << 20)
        revision = stream.since
        for event in stream.first:
            send(event)
        while not deadline.passed:
            with self._changed:
                changes = list(self._store.changes(revision))
                if not changes:
                    if self._closing:
                        return
                    self._changed.wait(min(deadline.left, _BOOKMARK_EVERY))
                    changes = list(self._store.changes(revision))
                revision = max(revision, self._store.revision)
            for change in changes:
                for event in stream.wants(change):
                    send(event)
            if not changes and stream.bookmark is not None:
                send(stream.bookmark(revision))

    def _notice(self, change: Change) -> None:
        with self._changed:
            self._changed.notify_all()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    context: ssl.SSLContext | None = None

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._open: set[Any] = set()
        self._guard = threading.Lock()

    def get_request(self) -> tuple[Any, Any]:
        """Accept; the TLS handshake is left to the connection's own thread."""
        connection, address = super().get_request()
        if self.context is not None:
            connection = self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        with self._guard:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        """Close one connection."""
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """End connections that keep-alive left open; the thread of each closes it."""
        with self._guard:
            still_open = list(self._open)
        for connection in still_open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of clients that disconnect in the middle of a request."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    cluster: ApiServer

    def _serve(self) -> None:
        try:
            answer = self.cluster.handle(self._request())
            if isinstance(answer, Stream):
                self._stream(answer)
            else:
                self._answer(answer.status, answer.body)
        except ApiError as error:
            self._answer(error.code, error.status)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

    def finish(self) -> None:
        """Close both directions, also of a client that went away before it had read everything."""
        for stream in (self.wfile, self.rfile):
            with suppress(OSError):
                stream.close()

    def _request(self) -> Request:
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(length)
        content_type = self.headers.get("Content-Type") or "application/json"
        body = None
        if text:
            body = _decoded(text, content_type)
        return Request(
            self.command,
            parts.path.rstrip("/"),
            dict(parse_qsl(parts.query, keep_blank_values=True)),
            body,
            content_type,
            self._identity(),
        )

    def _identity(self) -> Identity:
        user = self.headers.get("Impersonate-User")
        if not user:
            scheme, _, token = (self.headers.get("Authorization") or "").partition(" ")
            return self.cluster.tokens.get(token, ADMIN) if scheme == "Bearer" else ADMIN
        groups = self.headers.get("X-Impersonate-Groups") or ",".join(self.headers.get_all("Impersonate-Group") or ())
        return Identity(user, tuple(filter(None, groups.split(","))))

    def _answer(self, status: int, body: Mapping[str, Any]) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
        self.wfile.flush()

    def _stream(self, stream: Stream) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()

        def send(event: Mapping[str, Any]) -> None:
            line = json.dumps(event).encode() + b"\n"
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            self.wfile.flush()

        try:
            self.cluster.stream(stream, send)
        except ApiError as error:
            send({"type": "ERROR", "object": error.status})
        with suppress(OSError):
            self.wfile.write(b"0\r\n\r\n")
            self.wfile.flush()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Print nothing."""


def _decoded(text: bytes, content_type: str) -> Any:
    """The body of a request. Raises ApiError 400 and 415."""
    unknown = "the body of the request was in an unknown format - "
    if content_type.partition(";")[0].strip() == protobuf.CONTENT_TYPE:
        try:
            return protobuf.decode(text)
        except protobuf.NotProtobuf as error:
            raise ApiError(415, "UnsupportedMediaType", f"{unknown}{error}") from error
    if "json" not in content_type:
        raise ApiError(415, "UnsupportedMediaType", f"{unknown}{content_type} is not there; send JSON")
    try:
        return json.loads(text)
    except ValueError as error:
        raise bad_request(f"the body of the request is not JSON: {error}") from error
