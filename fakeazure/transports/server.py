"""HTTP and HTTPS: a thread per connection, one send per response, no Nagle, limits, a clean stop.

Every request that comes in gets an answer, a wrong one ARM's error; only a client that says nothing is left without.
"""

from __future__ import annotations

import contextlib
import errno
import socket
import socketserver
import ssl
import sys
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from fakeazure.market.faults import DROPPED, SLOW
from fakeazure.transports.http1 import Closed, Conversation, Incoming, Refused, Unwelcome
from fakeazure.transports.limits import Limits
from fakeazure.transports.live import report
from fakeazure.transports.wire import Front, Reply
from plainlines import print_line

_LINGER = 1.0
"""Seconds in which a refused client may go on sending before its connection is closed."""
_REFUSED = 64
"""Connections beyond the most that are told so at one moment; others are closed without a word, and without a thread."""
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
"""Errors of `accept` where the system has no more to give: the connection stays in the queue, and is there at once again."""
_PAUSE = 0.1
"""Seconds until `accept` is tried again then."""


class _Unwelcome(Unwelcome):
    """With the answer."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply


class _Connection(socketserver.BaseRequestHandler):
    """One connection until it ends."""

    request: socket.socket
    server: _Server

    def setup(self) -> None:
        """No delay between two small sends; the TLS handshake, as slow as a first request may be."""
        limits = self.server.limits
        self.request.settimeout(_LINGER if self.server.crowded else limits.first_byte)
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if isinstance(self.request, ssl.SSLSocket):
            self.request.do_handshake()
        self.here = str(self.request.getsockname()[0])
        self.conversation = Conversation(self.request, limits)

    def handle(self) -> None:
        """Answer requests until the client closes, is refused, or is silent for too long."""
        if self.server.crowded:
            self._refuse(Refused("TooManyConnections", limit=self.server.limits.connections))
            return
        with contextlib.suppress(Closed):
            while self._turn():
                pass

    def _turn(self) -> bool:
        """One request and its answer. Returns whether another may follow."""
        try:
            incoming = self.conversation.next(self._judge)
        except Refused as refused:
            self._refuse(refused)
            return False
        except _Unwelcome as unwelcome:
            self._end(unwelcome.reply)
            return False
        reply = self._answer(incoming)
        kind, seconds = reply.fault
        if kind == SLOW:
            threading.Event().wait(seconds)
        elif kind:
            self._break_off(reply, whole=kind == DROPPED)
            return False
        return self.conversation.answer(reply.status, reply.headers, reply.body)

    def _judge(self, method: str, target: str, headers: Mapping[str, str]) -> None:
        """Raise _Unwelcome for a request of which no byte more need be read."""
        reply = self.server.front.unwelcome(method, target, headers, here=self.here)
        if reply is not None:
            raise _Unwelcome(reply)

    def _break_off(self, reply: Reply, *, whole: bool) -> None:
        """A declared fault: no answer at all, or half of one, then the end of the connection."""
        if not whole:
            head = f"HTTP/1.1 {reply.status} OK\r\nContent-Length: {max(2, len(reply.body))}\r\n\r\n"
            self.request.sendall(head.encode() + reply.body[: len(reply.body) // 2])

    def _answer(self, incoming: Incoming) -> Reply:
        server = self.server
        origin = f"{server.scheme}://{incoming.headers.get('host') or server.address}"
        try:
            return server.front.handle(
                incoming.method, incoming.target, incoming.headers, incoming.body, origin=origin, here=self.here
            )
        except Exception as error:  # a bug in a handler is answered like any other failure: nothing is closed, and nothing goes to stderr
            report(f"{incoming.method} {incoming.target[:200]}", error)
            return server.front.refusal("InternalServerError")

    def _refuse(self, refused: Refused) -> None:
        """Answer what is wrong with a request, in ARM's words."""
        self._end(self.server.front.refusal(refused.row, **refused.facts))

    def _end(self, reply: Reply) -> None:
        """Answer, then read on for a moment: a close with bytes unread would take the answer from the client."""
        self.conversation.answer(reply.status, reply.headers, reply.body, close=True)
        with contextlib.suppress(OSError):
            if not isinstance(self.request, ssl.SSLSocket):
                self.request.shutdown(socket.SHUT_WR)
            end = time.monotonic() + _LINGER
            while (left := end - time.monotonic()) > 0:
                self.request.settimeout(left)
                if not self.request.recv(65536):
                    return


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 512

    def __init__(self, address: tuple[str, int], front: Front, context: ssl.SSLContext | None, limits: Limits) -> None:
        super().__init__(address, _Connection)
        self.front = front
        self.context = context
        self.limits = limits
        self.scheme = "http" if context is None else "https"
        self.address = f"{self.server_address[0]!s}:{self.server_address[1]}"
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()

    @property
    def crowded(self) -> bool:
        """Return whether there are more connections than may be open."""
        return len(self._open) > self.limits.connections

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept; the TLS handshake is left to the connection's own thread. OSError, after a pause where the system has no more to give."""
        try:
            connection, address = self.socket.accept()
        except OSError as error:
            if error.errno in _EXHAUSTED:
                threading.Event().wait(_PAUSE)
            raise
        if self.context is not None:
            connection = self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        with self._guard:
            self._open.add(connection)
        return connection, address

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Tell whether a connection gets a thread."""
        return len(self._open) <= self.limits.connections + _REFUSED

    def shutdown_request(self, request: Any) -> None:
        """Close one connection."""
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """Close what keep-alive left open, so that no thread waits on it."""
        with self._guard:
            still_open = list(self._open)
        for connection in still_open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that disconnect or do not trust the certificate; anything else is reported."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError | ValueError):
            print_line(f"fakeazure: a connection ended in {type(error).__name__}: {error}", error=True)


class HttpServer:
    """The cloud on a TCP port, plain or with TLS; also a context manager. `port` 0 takes a free one."""

    def __init__(
        self,
        front: Front,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        context: ssl.SSLContext | None = None,
        limits: Limits | None = None,
    ) -> None:
        """Bind the port. OSError, which names the address, if that cannot be had."""
        self.front = front
        try:
            self._server = _Server((host, port), front, context, limits or Limits())
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), f"{host}:{port}") from None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Scheme, host and port."""
        return f"{self._server.scheme}://{self._server.address}"

    def start(self) -> HttpServer:
        """Serve on a thread."""
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name=f"fakeazure {self.url}", daemon=True
        )
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop accepting, close every connection, free the port."""
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join(timeout=5)
            self._thread = None
        self._server.close_connections()
        self._server.server_close()

    def __enter__(self) -> HttpServer:
        """Start."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()
