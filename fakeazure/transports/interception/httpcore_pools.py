"""httpcore's pools, on which httpx stands: synchronous and asynchronous."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fakeazure.transports.interception.active import Active, World
from fakeazure.transports.interception.names import host_name
from fakeazure.transports.interception.patches import Patch
from fakeazure.transports.interception.spoken import lost_text


def patches(active: Active) -> Iterator[Patch]:
    """Yield the patches, none where httpcore is not installed."""
    if find_spec("httpcore") is None:
        return
    httpcore = import_module("httpcore")
    yield Patch(httpcore.ConnectionPool, "handle_request", lambda original: _blocking(active, original))
    yield Patch(httpcore.AsyncConnectionPool, "handle_async_request", lambda original: _asynchronous(active, original))


def _blocking(active: Active, original: Callable[..., Any]) -> Callable[..., Any]:
    def handle_request(pool: Any, request: Any) -> Any:
        world = _catching(active, request)
        if world is None:
            return original(pool, request)
        return _response(world, request, b"".join(request.stream))

    return handle_request


def _asynchronous(active: Active, original: Callable[..., Any]) -> Callable[..., Any]:
    async def handle_async_request(pool: Any, request: Any) -> Any:
        world = _catching(active, request)
        if world is None:
            return await original(pool, request)
        return _response(world, request, b"".join([part async for part in request.stream]))

    return handle_async_request


def _catching(active: Active, request: Any) -> World | None:
    """The world that answers a request, None if it goes out."""
    world = active.world()
    try:
        return world if world is not None and world.catches(host_name(request.url.host)) else None
    except ConnectionRefusedError as error:
        raise import_module("httpcore").ConnectError(str(error)) from error


def _response(world: World, request: Any, body: bytes) -> Any:
    httpcore = import_module("httpcore")
    headers: dict[str, str] = {}
    for raw_name, raw_value in request.headers:
        name, value = raw_name.decode("ascii").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    method, origin = request.method.decode("ascii"), f"{request.url.scheme.decode()}://{headers.get('host', '')}"
    reply = world.handle(method, request.url.target.decode("ascii"), headers, body, origin)
    lost = lost_text(reply)
    if lost:  # what it says of half an answer: httpcore has read none of it
        raise httpcore.RemoteProtocolError(lost)
    fields = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in reply.headers.items()]
    return httpcore.Response(reply.status, headers=fields, content=b"" if method == "HEAD" else reply.body)
