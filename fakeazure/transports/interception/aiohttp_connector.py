"""aiohttp's connector, on which the Azure SDKs' `.aio` clients stand: a connection of its own kind, to no socket."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fakeazure.transports.interception.active import Active, World
from fakeazure.transports.interception.names import host_name
from fakeazure.transports.interception.patches import Patch
from fakeazure.transports.interception.spoken import Unfinished, answer


class _Line(asyncio.Transport):
    """The transport of one request: it answers as soon as all of it is written."""

    def __init__(self, loop: asyncio.AbstractEventLoop, protocol: Any, world: World, scheme: str) -> None:
        super().__init__()
        self._loop, self._protocol, self._world, self._scheme = loop, protocol, world, scheme
        self._written = bytearray()
        self._closing = False

    def write(self, data: Any) -> None:
        """Take a part of the request."""
        self._written += data
        try:
            answered = answer(self._world, self._scheme, bytes(self._written))
        except Unfinished:
            return
        self._written.clear()
        if answered.content:
            self._loop.call_soon(self._protocol.data_received, answered.content)
        if answered.lost:
            self._end(ConnectionResetError(answered.lost))

    def _end(self, error: Exception | None) -> None:
        if not self._closing:
            self._closing = True
            self._loop.call_soon(self._protocol.connection_lost, error)

    def is_closing(self) -> bool:
        """Return whether it ended."""
        return self._closing

    def close(self) -> None:
        """End it."""
        self._end(None)

    def abort(self) -> None:
        """End it."""
        self._end(None)

    def pause_reading(self) -> None:
        """All of an answer is there at once."""

    def resume_reading(self) -> None:
        """All of an answer is there at once."""

    def get_write_buffer_size(self) -> int:
        """Nothing waits to be sent."""
        return 0


def patches(active: Active) -> Iterator[Patch]:
    """Yield the patches, none where aiohttp is not installed: where a connection is made, and where an open one is taken again."""
    if find_spec("aiohttp") is None:
        return
    connector = import_module("aiohttp.connector")
    yield Patch(connector.TCPConnector, "_create_connection", lambda original: _create_connection(active, original))
    yield Patch(connector.BaseConnector, "_get", lambda original: _get(active, original))


def _catching(active: Active, host: str | None) -> World | None:
    """The world that answers requests to a host, None if they go out. `Refused` as `catches`."""
    world = active.world()
    return world if world is not None and world.catches(host_name(host)) else None


def _create_connection(active: Active, original: Callable[..., Any]) -> Callable[..., Any]:
    async def create_connection(connector: Any, request: Any, *arguments: Any, **named: Any) -> Any:
        world = _catching(active, request.url.host)
        if world is None:
            return await original(connector, request, *arguments, **named)
        loop = asyncio.get_running_loop()
        protocol = connector._factory()
        protocol.connection_made(_Line(loop, protocol, world, request.url.scheme))
        return protocol

    return create_connection


def _get(active: Active, original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a connection as the original does; connections that were open before do not lead to Azure."""
    if not inspect.iscoroutinefunction(original):
        return lambda connector, key, *rest: None if _catching(active, key.host) else original(connector, key, *rest)

    async def get(connector: Any, key: Any, *rest: Any) -> Any:
        return None if _catching(active, key.host) else await original(connector, key, *rest)

    return get
