"""Below every client: while a mock is on, no name of Azure is resolved and no socket connects to one."""

from __future__ import annotations

import _socket
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

from fakeazure.transports.interception.active import Active
from fakeazure.transports.interception.names import host_name, is_azure
from fakeazure.transports.interception.patches import Patch


class NotResolved(socket.gaierror):
    """A name of Azure that a client asked for by a way that no mock answers."""

    def __init__(self, host: str) -> None:
        """Refuse `host`."""
        super().__init__(
            socket.EAI_NONAME,
            f"'{host}' is Azure's, and mock_azure() is on: a client that it does not know was kept from reaching it",
        )


def patches(active: Active) -> Iterator[Patch]:
    """Yield the patches; threads that start take the world of their starter along."""
    yield Patch(_socket, "getaddrinfo", lambda original: _by_name(active, original))  # socket.getaddrinfo calls this
    for name in ("gethostbyname", "gethostbyname_ex"):
        yield Patch(socket, name, lambda original: _by_name(active, original))
    for name in ("connect", "connect_ex"):
        yield Patch(socket.socket, name, lambda original: _by_address(active, original))
    yield Patch(threading.Thread, "start", lambda original: _start(active, original))


def _by_name(active: Active, original: Callable[..., Any]) -> Callable[..., Any]:
    def resolve(host: Any, *arguments: Any, **named: Any) -> Any:
        _check(active, host)
        return original(host, *arguments, **named)

    return resolve


def _by_address(active: Active, original: Callable[..., Any]) -> Callable[..., Any]:
    def connect(connection: Any, address: Any) -> Any:
        if isinstance(address, tuple):
            _check(active, address[0])
        return original(connection, address)

    return connect


def _check(active: Active, host: object) -> None:
    name = host_name(host)
    if active.world() is not None and is_azure(name):
        raise NotResolved(name)


def _start(active: Active, original: Callable[..., Any]) -> Callable[..., Any]:
    def start(thread: threading.Thread) -> Any:
        active.starting(thread)
        return original(thread)

    return start
