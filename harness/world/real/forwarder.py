"""Azure's own names for a controller that must find them: an HTTP proxy on loopback that leads to the world's Azure, and nowhere else.

The price list's address is a constant in the provider, which reads it only where Resource Manager is https://management.azure.com (kaz
pkg/auth/environment.go IsPublic, pkg/providers/pricing/client/pricingapi.go). Go's clients take HTTPS_PROXY for all but loopback.
"""

from __future__ import annotations

import contextlib
import re
import selectors
import socket
import socketserver
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType

__all__ = ["NAMES", "Forwarder"]

NAMES = frozenset({"management.azure.com", "prices.azure.com"})
_HEAD, _CHUNK, _PATIENCE = 8192, 65536, 30.0
_CONNECT = re.compile(rb"CONNECT ([a-z0-9.-]+):443 HTTP/1\.[01]\r\n")


class _Tunnel(socketserver.BaseRequestHandler):
    request: socket.socket
    server: _Server

    def handle(self) -> None:
        """Answer one CONNECT, and carry bytes both ways until one side ends."""
        self.request.settimeout(_PATIENCE)
        with contextlib.suppress(OSError):
            head = self._head()
            connect = _CONNECT.match(head)
            if connect is None or connect[1].decode() not in NAMES:
                self.request.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            with socket.create_connection(("127.0.0.1", self.server.target), _PATIENCE) as azure:
                self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                self._carry(azure)

    def _head(self) -> bytes:
        """Return the request without a body; a text longer than a CONNECT is cut off."""
        head = b""
        while b"\r\n\r\n" not in head and len(head) < _HEAD:
            more = self.request.recv(_HEAD)
            if not more:
                break
            head += more
        return head

    def _carry(self, azure: socket.socket) -> None:
        for end in (self.request, azure):
            end.settimeout(None)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        other = {self.request: azure, azure: self.request}
        with selectors.DefaultSelector() as ready:
            for end in other:
                ready.register(end, selectors.EVENT_READ, end)
            with self.server.carrying(other):
                while True:
                    for key, _ in ready.select():
                        end = key.data
                        data = end.recv(_CHUNK)
                        if not data:
                            return
                        other[end].sendall(data)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, target: int) -> None:
        super().__init__(("127.0.0.1", 0), _Tunnel)
        self.target = target
        self._ends: set[socket.socket] = set()
        self._guard = threading.Lock()

    @contextlib.contextmanager
    def carrying(self, ends: Iterable[socket.socket]) -> Iterator[None]:
        """Close the ends of a tunnel with the server while it is open."""
        with self._guard:
            self._ends.update(ends)
        try:
            yield
        finally:
            with self._guard:
                self._ends.difference_update(ends)

    def close_tunnels(self) -> None:
        """Close the open tunnels."""
        with self._guard:
            ends = tuple(self._ends)
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class Forwarder:
    """The proxy; `target` is the port of the world's Azure with TLS. A context manager."""

    def __init__(self, target: int) -> None:
        self._server = _Server(target)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="forwarder", daemon=True
        )

    @property
    def url(self) -> str:
        """Return the value of HTTPS_PROXY."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Forwarder:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join(timeout=5)
        self._server.close_tunnels()
        self._server.server_close()
