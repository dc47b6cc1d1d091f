"""A part of the fuzzing that `make fuzz` does at length."""

from __future__ import annotations

import socket
import sys

import pytest

from fakeazure.routing import router
from fakeazure.transports.server import HttpServer
from fakeazure.transports.wire import Front
from tests.cloud.driver import Driver
from tests.transports.fuzz import LONG_PATIENCE, MEMORY, run
from tests.transports.guarded import GUARD
from tests.transports.wellformed import corpus


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.slow
def test_requests_get_arms_answers_and_leave_the_cloud_whole() -> None:
    found = run(seed=7, requests=1000, workers=4, burst=100, reads=200, patience=LONG_PATIENCE)
    assert found.broken == []
    assert sum(found.statuses.values()) > 900
    assert {200, 201, 202, 204, 400, 401, 404, 405, 413, 414, 431, 501, 505} <= set(found.statuses)
    assert found.grown + found.grown_by_burst < MEMORY
    assert found.grown_by_reads < 5_000_000


def test_every_operation_is_in_the_corpus() -> None:
    asked = {
        (ask.method, match.route.pattern)
        for ask in corpus()
        if (match := router().find(ask.method, ask.path)) is not None
    }
    assert {(route.method, route.pattern) for route in router().routes} == asked


@pytest.mark.parametrize("target", ["example.com:443", "/", "/subscriptions"])
def test_a_tunnel_is_refused(target: str) -> None:
    with (
        HttpServer(Front(Driver().cloud, guard=GUARD)) as server,
        socket.create_connection(("127.0.0.1", server.port)) as client,
    ):
        client.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 405 Method Not Allowed\r\n")
    assert b"The requested resource does not support http method 'CONNECT'." in answer
