"""HTTP and HTTPS: the standard library's threading server, one send per response, no Nagle, a clean stop."""

from __future__ import annotations

import contextlib
import socket
import ssl
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from fakeazure.transports.wire import Front, Reply


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "fakeazure"
    disable_nagle_algorithm = True
    server: _Server

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length) if length else b""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            raw = self._chunks()
        origin = f"{self.server.scheme}://{self.headers.get('Host') or self.server.address}"
        reply = self.server.front.handle(self.command, self.path, dict(self.headers.items()), raw, origin=origin)
        self._send(reply)

    def _chunks(self) -> bytes:
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(parts)

    def _send(self, reply: Reply) -> None:
        """Status line, headers and body in one send: two would cost a client 40 ms of delayed acknowledgement each."""
        try:
            phrase = HTTPStatus(reply.status).phrase
        except ValueError:
            phrase = ""
        lines = [f"HTTP/1.1 {reply.status} {phrase}", *(f"{name}: {value}" for name, value in reply.headers.items())]
        head = "\r\n".join(lines) + "\r\n\r\n"
        body = b"" if self.command == "HEAD" else reply.body
        self.wfile.write(head.encode("latin-1", "replace") + body)

    do_GET = do_PUT = do_PATCH = do_POST = do_DELETE = do_HEAD = _serve

    def log_message(self, format: str, *args: Any) -> None:
        """The journal is the log."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], front: Front, context: ssl.SSLContext | None) -> None:
        super().__init__(address, _Handler)
        self.front = front
        self.context = context
        self.scheme = "http" if context is None else "https"
        self.address = f"{self.server_address[0]!s}:{self.server_address[1]}"
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()

    def server_bind(self) -> None:
        """As the base class, without its name look-up, which can take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept; the TLS handshake is left to the connection's own thread."""
        connection, address = self.socket.accept()
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
        """Close what keep-alive left open, so that no thread waits on it."""
        with self._guard:
            still_open = list(self._open)
        for connection in still_open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away, or does not trust the certificate, is no news; anything else is."""
        if not isinstance(sys.exc_info()[1], OSError | ValueError):
            super().handle_error(request, client_address)


class HttpServer:
    """The cloud on a TCP port, plain or with TLS; also a context manager. `port` 0 takes a free one."""

    def __init__(
        self, front: Front, *, host: str = "127.0.0.1", port: int = 0, context: ssl.SSLContext | None = None
    ) -> None:
        """Bind the port. OSError if it is taken."""
        self.front = front
        self._server = _Server((host, port), front, context)
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
