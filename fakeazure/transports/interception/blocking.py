"""`http.client` and what stands on it: urllib, urllib3, and so requests, msal and the Azure SDKs' synchronous clients."""

from __future__ import annotations

import http.client
import io
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from fakeazure.transports.interception.active import Active, World
from fakeazure.transports.interception.names import host_name
from fakeazure.transports.interception.patches import Patch
from fakeazure.transports.interception.spoken import Answer, Unfinished, answer


class _Read(io.BytesIO):
    """An answer as `http.client` reads it; one that is lost ends as a reset connection."""

    def __init__(self, answered: Answer) -> None:
        super().__init__(answered.content)
        self._lost = answered.lost

    def readline(self, size: int | None = -1, /) -> bytes:
        """The next line of the head."""
        line = super().readline(-1 if size is None else size)
        if not line and self._lost:
            raise ConnectionResetError(self._lost)
        return line


class Line:
    """The substitute for a connection's socket: it keeps the sent bytes, and answers when an answer is read."""

    def __init__(self, world: World, scheme: str) -> None:
        """Lead to `world`, for one request."""
        self.world = world
        self._scheme = scheme
        self._sent = bytearray()

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Keep a part of the request."""
        self._sent += data

    def makefile(self, mode: str = "rb", *arguments: Any, **named: Any) -> io.BytesIO:
        """Answer what was sent."""
        sent, self._sent = bytes(self._sent), bytearray()
        try:
            return _Read(answer(self.world, self._scheme, sent))
        except Unfinished:  # as a server does with a request that breaks off
            return _Read(Answer(b""))

    def getpeercert(self, binary_form: bool = False) -> Any:
        """No certificate: none was needed."""
        return b"" if binary_form else {}

    def fileno(self) -> int:
        """Return the number of a closed socket: there is nothing to wait for."""
        return -1

    def close(self) -> None:
        """Nothing is open."""

    def shutdown(self, how: int) -> None:
        """Nothing is open."""

    def settimeout(self, seconds: float | None) -> None:
        """Nothing is waited for."""

    def gettimeout(self) -> float | None:
        """Nothing is waited for."""
        return None

    def setsockopt(self, *option: Any) -> None:
        """No network has options."""


def patches(active: Active) -> Iterator[Patch]:
    """Yield the patches: where a connection is made, and where a request begins on one that may be open already."""
    classes: list[Any] = [http.client.HTTPConnection, http.client.HTTPSConnection]
    if find_spec("urllib3") is not None:  # its classes connect by themselves
        import urllib3.connection

        classes += [urllib3.connection.HTTPConnection, urllib3.connection.HTTPSConnection]
    for owner in dict.fromkeys(classes):
        if "connect" in vars(owner):
            yield Patch(owner, "connect", lambda original: _connect(active, original))
    yield Patch(http.client.HTTPConnection, "putrequest", lambda original: _putrequest(active, original))


def _connect(active: Active, original: Callable[..., Any]) -> Callable[..., Any]:
    def connect(connection: Any) -> Any:
        world = active.world()
        if world is None or not _lead(connection, world, _target(connection, "")):
            return original(connection)
        return None

    return connect


def _putrequest(active: Active, original: Callable[..., Any]) -> Callable[..., Any]:
    def putrequest(connection: Any, method: str, url: str, *arguments: Any, **named: Any) -> Any:
        world = active.world()
        caught = world is not None and _lead(connection, world, _target(connection, url))
        if not caught and isinstance(connection.sock, Line):
            connection.close()
        return original(connection, method, url, *arguments, **named)

    return putrequest


def _target(connection: Any, url: str) -> tuple[str, str]:
    """Scheme and host that a request is for, behind a proxy too."""
    scheme = (
        "https" if connection.default_port == http.client.HTTPS_PORT else "http"
    )  # urllib3's is no `HTTPSConnection`
    if "://" in url and not url.startswith("/"):  # of a proxy it is asked for with the whole URL
        parts = urlsplit(url)
        return parts.scheme, host_name(parts.hostname)
    return scheme, host_name(getattr(connection, "_tunnel_host", None) or connection.host)


def _lead(connection: Any, world: World, target: tuple[str, str]) -> bool:
    """Let a connection lead to `world` if the target is caught; one that is open to somewhere else is closed. `Refused` as `catches`."""
    scheme, host = target
    if not world.catches(host):
        return False
    if not isinstance(connection.sock, Line) or connection.sock.world is not world:
        if connection.sock is not None:
            connection.close()
        connection.sock = Line(world, scheme)
        if hasattr(connection, "is_verified"):  # urllib3 warns of connections without a certificate
            connection.is_verified = True
    return True
