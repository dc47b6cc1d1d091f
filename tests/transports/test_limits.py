"""Requests that are wrong, too large, too slow: ARM's error each, and the server goes on."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

from fakeazure.beginning import SUBSCRIPTION
from fakeazure.transports.http1 import Conversation, Refused
from fakeazure.transports.limits import Limits
from fakeazure.transports.server import HttpServer
from fakeazure.transports.wire import Front
from tests.cloud.driver import Driver
from tests.transports.guarded import GUARD, TOKEN

SMALL = Limits(body_bytes=1024 * 1024, first_byte=0.4, idle=0.4, head=0.4, body=0.4, write=2.0, connections=40)
PATH = f"/subscriptions/{SUBSCRIPTION}?api-version=2022-12-01"
HEAD = f"Host: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"


@pytest.fixture(scope="module")
def server() -> Iterator[HttpServer]:
    with HttpServer(Front(Driver().cloud, guard=GUARD, limits=SMALL), limits=SMALL) as running:
        yield running


def answer(server: HttpServer, *parts: bytes, pause: float = 0.0) -> tuple[int, Any, bytes]:
    """(status, JSON, the rest of the stream) of the first answer to these bytes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as client:
        for part in parts:
            client.sendall(part)
            time.sleep(pause)
        received = b""
        while b"\r\n\r\n" not in received:
            data = client.recv(65536)
            if not data:
                raise AssertionError(f"closed without an answer after {received!r}")
            received += data
        head, _, rest = received.partition(b"\r\n\r\n")
        length = int(next(line for line in head.split(b"\r\n") if line.startswith(b"Content-Length")).split(b":")[1])
        while len(rest) < length:
            rest += client.recv(65536)
        body = json.loads(rest[:length]) if length else None
        return int(head.split(b" ")[1]), body, rest[length:]


def put(length: str) -> bytes:
    return f"PUT {PATH} HTTP/1.1\r\n{HEAD}{length}\r\n\r\n".encode()


GOOD = f"GET {PATH} HTTP/1.1\r\n{HEAD}\r\n".encode()


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (GOOD, 200, None),
        (b"\r\n\r\n" + GOOD, 200, None),
        (GOOD.replace(b"\r\n", b"\n"), 200, None),
        (GOOD.replace(b"GET /", b"GET http://localhost/"), 200, None),
        (b"nonsense\r\n\r\n", 400, "BadRequest"),
        (b"GET\r\n\r\n", 400, "BadRequest"),
        (b"GET /\r\n\r\n", 400, "BadRequest"),  # HTTP/0.9
        (b"GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "BadRequest"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100), 400, "BadRequest"),  # TLS on a plain port
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "HttpVersionNotSupported"),
        (GOOD.replace(b"1.1", b"3.9"), 505, "HttpVersionNotSupported"),
        (GOOD.replace(b"Host: localhost\r\n", b""), 400, "BadRequest"),
        (GOOD.replace(b"Host: localhost", b"Host: a b"), 400, "BadRequest"),
        (GOOD.replace(b"Host: localhost", b"Host: localhost\r\nHost: y"), 400, "BadRequest"),
        (GOOD.replace(b"Host: localhost", b"Host: localhost\r\n folded: y"), 400, "BadRequest"),
        (GOOD.replace(b"Host: localhost", b"Host: localhost\r\nno colon"), 400, "BadRequest"),
        (GOOD.replace(b"Host: localhost", b"Host: localhost\r\nA\x00: y"), 400, "BadRequest"),
        (f"GET /{'a' * 20_000} HTTP/1.1\r\n{HEAD}\r\n".encode(), 414, "RequestUriTooLong"),
        (f"GET / HTTP/1.1\r\n{HEAD}X: {'a' * 200_000}\r\n\r\n".encode(), 431, "RequestHeaderFieldsTooLarge"),
        (("GET / HTTP/1.1\r\n" + HEAD + "X: a\r\n" * 300 + "\r\n").encode(), 431, "RequestHeaderFieldsTooLarge"),
        (b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "BadRequest"),
        (f"GET /?{'&'.join('a=b' for _ in range(500))} HTTP/1.1\r\n{HEAD}\r\n".encode(), 400, "BadRequest"),
        *(
            (f"{verb} {PATH} HTTP/1.1\r\n{HEAD}\r\n".encode(), 405, "MethodNotAllowed")
            for verb in ("OPTIONS", "TRACE", "BREW")
        ),
        (f"OPTIONS * HTTP/1.1\r\n{HEAD}\r\n".encode(), 404, "InvalidResourceType"),
        (f"CONNECT example.com:443 HTTP/1.1\r\n{HEAD}\r\n".encode(), 405, "MethodNotAllowed"),
        *(
            (put(f"Content-Length: {wrong}"), 400, "BadRequest")
            for wrong in ("-1", "+1", "1.5", "x", "0x10", "1, 2", "")
        ),
        (put("Content-Length: 1\r\nContent-Length: 2"), 400, "BadRequest"),
        (put("Content-Length: 2\r\nTransfer-Encoding: chunked") + b"0\r\n\r\n", 400, "BadRequest"),
        (put(f"Content-Length: {SMALL.body_bytes}") + bytes(SMALL.body_bytes), 400, "InvalidRequestContent"),
        (put(f"Content-Length: {SMALL.body_bytes + 1}"), 413, "RequestContentTooLarge"),
        (put("Content-Length: 2000000"), 413, "RequestContentTooLarge"),
        (put(f"Content-Length: {'9' * 20}"), 413, "RequestContentTooLarge"),
        (put(f"Content-Length: {'9' * 30}"), 400, "BadRequest"),
        (put("Transfer-Encoding: gzip"), 501, "TransferEncodingNotSupported"),
        *(
            (put("Transfer-Encoding: chunked") + chunks, 400, "BadRequest")
            for chunks in (
                b"zz\r\n{}\r\n",
                b"-1\r\n",
                b"2\r\n{}xx0\r\n\r\n",
                b"\r\n",
                b"1" * 2000 + b"\r\n",
                b"F" * 21 + b"\r\n",
            )
        ),
        (put("Transfer-Encoding: chunked") + b"FFFFFF\r\n" + bytes(1 << 20) + b"x", 413, "RequestContentTooLarge"),
        (put("Transfer-Encoding: chunked") + b"1;a=b\r\n{\r\n1\r\n}\r\n0\r\nT: x\r\n\r\n", 405, "MethodNotAllowed"),
        (put("Content-Length: 4") + b"null", 400, "InvalidRequestContent"),
        *(
            (put(f"Content-Length: {len(body)}") + body, 400, "InvalidRequestContent")
            for body in (
                b"[" * 5000,
                b'{"a":' * 5000 + b"1" + b"}" * 5000,
                b'{"a":NaN}',
                b'{"a":1e999}',
                b'{"a":' + b"9" * 5000 + b"}",
                b"\xff\xfe",
                b'{"a":"\x00"}',
            )
        ),
    ],
)
def test_every_request_has_an_answer(sent: bytes, status: int, code: str | None, server: HttpServer) -> None:
    found, body, _ = answer(server, sent)
    assert (found, body.get("error", {}).get("code")) == (status, code)
    if code is not None:
        assert body["error"]["message"]


def test_depth_is_counted_outside_of_text(server: HttpServer) -> None:
    body = json.dumps({"a": "[{" * 500, "b": [[[1]]]}).encode()
    assert answer(server, put(f"Content-Length: {len(body)}") + body)[0] == 405


def test_requests_one_after_the_other_on_a_connection(server: HttpServer) -> None:
    status, _, rest = answer(
        server, GOOD * 2 + GOOD.replace(b"Host: localhost", b"Host: localhost\r\nConnection: close"), pause=0.2
    )
    assert status == 200
    assert rest.count(b"HTTP/1.1 200 OK") == 2
    assert rest.count(b"Connection: close") == 1


def test_a_client_may_ask_before_it_sends(server: HttpServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as client:
        client.sendall(put("Content-Length: 2\r\nExpect: 100-continue"))
        assert client.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"{}")
        assert client.recv(1000).startswith(b"HTTP/1.1 405 ")


@pytest.mark.parametrize(
    "parts",
    [
        (GOOD[:20],),
        (GOOD[:-2], b"X"),
        (put("Content-Length: 10"), b"{"),
        (put("Transfer-Encoding: chunked"), b"5\r\n{"),
    ],
)
def test_slow_requests_time_out(parts: tuple[bytes, ...], server: HttpServer) -> None:
    status, body, _ = answer(server, *parts)
    assert (status, body["error"]["code"]) == (408, "RequestTimeout")


def test_a_request_that_breaks_off_is_told_so(server: HttpServer) -> None:
    for sent in (GOOD[:-2], put("Content-Length: 10") + b"{", put("Content-Length: 2, 2") + b"{"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as client:
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            received = client.recv(65536)
        assert received.startswith(b"HTTP/1.1 400 ")
        assert b" closed connection" in received


def test_slow_drops_do_not_extend_the_time(server: HttpServer) -> None:
    status, _, _ = answer(server, *(bytes([byte]) for byte in GOOD[:8]), pause=0.1)
    assert status == 408


class Trickle:
    """A connection on which one byte comes when its clock says so."""

    def __init__(self, comes_at: float) -> None:
        self.now = 0.0
        self._comes_at = comes_at
        self.sent = [GOOD[:8], b"X", b""]

    def settimeout(self, seconds: float) -> None:
        assert seconds > 0

    def recv(self, _: int) -> bytes:
        if len(self.sent) == 2:
            self.now = self._comes_at
        return self.sent.pop(0)


@pytest.mark.parametrize(("comes_at", "row"), [(1.0, "BadRequest"), (1.01, "BadRequest"), (1.02, "RequestTimeout")])
def test_a_byte_may_come_a_hundredth_of_a_second_late(comes_at: float, row: str) -> None:
    """As long is waited for bytes at least; what came by then is read, and breaks off here."""
    client = Trickle(comes_at)
    with pytest.raises(Refused) as refused:
        Conversation(client, Limits(head=1.0), lambda: client.now).next()  # type: ignore[arg-type]
    assert refused.value.row == row


def test_silent_connections_are_closed(server: HttpServer) -> None:
    threads = threading.active_count()
    silent = [socket.create_connection(("127.0.0.1", server.port), timeout=5) for _ in range(20)]
    assert all(client.recv(1) == b"" for client in silent)
    for client in silent:
        client.close()
    wait_for(lambda: threading.active_count() <= threads)


def test_there_are_only_so_many_connections() -> None:
    few = Limits(connections=10, first_byte=60)
    with HttpServer(Front(Driver().cloud, guard=GUARD), limits=few) as server:
        open_ = [socket.create_connection(("127.0.0.1", server.port), timeout=5) for _ in range(few.connections)]
        open_[-1].sendall(GOOD)
        assert open_[-1].recv(65536).startswith(b"HTTP/1.1 200 ")
        status, body, _ = answer(server, GOOD)
        assert (status, body["error"]["code"]) == (503, "TooManyConnections")
        for client in open_:
            client.close()
        wait_for(lambda: answer(server, GOOD)[0] == 200)


def test_connections_beyond_the_most_get_few_threads() -> None:
    threads = threading.active_count()
    with (
        HttpServer(Front(Driver().cloud, guard=GUARD), limits=Limits(connections=2, first_byte=60)) as server,
        contextlib.ExitStack() as stack,
    ):
        clients = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=5)) for _ in range(120)
        ]
        clients[-1].settimeout(10)
        with contextlib.suppress(ConnectionResetError):
            assert clients[-1].recv(1) == b""  # closed without a word, after all others were accepted
        assert threading.active_count() - threads <= 1 + 2 + 64 + 1
        stack.close()
        wait_for(lambda: answer(server, GOOD)[0] == 200)


def test_a_refused_client_that_goes_on_sending_is_left() -> None:
    with (
        HttpServer(Front(Driver().cloud, guard=GUARD), limits=Limits(connections=0)) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=5) as client,
    ):
        assert client.recv(65536).startswith(b"HTTP/1.1 503 ")

        def is_left() -> bool:
            with contextlib.suppress(OSError):
                client.sendall(b".")
            time.sleep(0.5)
            return not server._server._open

        wait_for(is_left)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_without_descriptors_the_server_waits(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    class Exhausted(socket.socket):
        def accept(self) -> NoReturn:
            tries.append(number)
            raise OSError(number, os.strerror(number))

    with HttpServer(Front(Driver().cloud, guard=GUARD)) as server:
        listening = server._server.socket
        exhausted = Exhausted(fileno=os.dup(listening.fileno()))
        monkeypatch.setattr(server._server, "socket", exhausted)
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as client:
            wait_for(lambda: tries)
            time.sleep(0.5)
            assert len(tries) < 20
            monkeypatch.undo()
            exhausted.close()
            client.sendall(GOOD)
            assert client.recv(65536).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "body", ["Content-Length: 1000000", "Transfer-Encoding: chunked", "Content-Length: 9\r\nExpect: 100-continue"]
)
@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("PUT / HTTP/1.1\r\nHost: evil.example", 403),
        ("PUT /subscriptions HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example", 403),
        ("POST /_fakeazure/restore HTTP/1.1\r\nHost: localhost", 401),
    ],
)
def test_a_request_that_may_not_come_in_is_refused_before_its_body(
    head: str, status: int, body: str, server: HttpServer
) -> None:
    assert answer(server, f"{head}\r\n{body}\r\n\r\n".encode())[0] == status  # nothing follows, which would be 408


def wait_for(holds: Any) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_mistake_of_ours_is_an_answer_and_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud = Driver().cloud

    def fails(*args: object, **options: object) -> None:
        raise RecursionError("much too deep")

    monkeypatch.setattr(cloud, "begin", fails)
    with HttpServer(Front(cloud, guard=GUARD)) as server:
        status, body, _ = answer(server, GOOD)
    assert (status, body["error"]["code"]) == (500, "InternalServerError")
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("fakeazure: GET /subscriptions/")
    assert f"RecursionError at {__file__}:" in line
    assert line.endswith(": much too deep")
