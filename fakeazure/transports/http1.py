"""One HTTP/1.1 connection: h11 knows the protocol; limits, deadlines and ARM's words for what is wrong are here.

h11 rather than a parser of our own: it costs a small GET 0.05 ms of CPU more (benchmarks/serving.py), and its grammar is tried by
others. A framework on top of it (uvicorn, aiohttp) would write the errors of a malformed request itself, in its own words.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Protocol

import h11

from fakeazure.transports.limits import MIB, Limits
from fakeazure.transports.live import wall_time

_HOST = re.compile(r"(?:[A-Za-z0-9._~-]*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_FIRST_LINE = 64
"""Bytes of a request line beside its URL."""
_LEAST = 0.01
"""Seconds that are waited for bytes at least."""
_TRICKLE = 16
"""So few bytes after the end of the time are no request that was nearly there."""
_RECEIVE = 32 * 1024
"""Bytes that are read at once, and up to which a body is sent with its head."""
_UNPRINTABLE = dict.fromkeys((*range(32), 127), " ")


class Refused(Exception):
    """A request that is not understood or not let in. The connection cannot be used any more."""

    def __init__(self, row: str, **facts: object) -> None:
        """`row` of ARM's table of texts, filled with `facts`."""
        super().__init__(row)
        self.row = row
        self.facts = facts


class Unwelcome(Exception):
    """A request whose head is enough to refuse it, as somebody else has judged. Its body is not read."""


class Closed(Exception):
    """The client went away, or said nothing for too long between two requests."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """One request as it came: `headers` have lower-cased names, those given twice are joined by a comma."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class Connection(Protocol):
    """The part of a socket that is needed."""

    def settimeout(self, seconds: float, /) -> None: ...
    def recv(self, size: int, /) -> bytes: ...
    def sendall(self, data: bytes, /) -> None: ...


class Conversation:
    """The requests and answers of one connection, one after the other."""

    def __init__(self, connection: Connection, limits: Limits, now: Callable[[], float] = time.monotonic) -> None:
        """Talk over `connection`; `now` is a clock in seconds that never goes back."""
        self._connection = connection
        self._limits = limits
        self._now = now
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.head_bytes)
        self._used = False
        self._method = ""

    def next(
        self, judge: Callable[[str, str, Mapping[str, str]], None] = lambda method, target, headers: None
    ) -> Incoming:
        """The next request. Raises `Closed` when there is none, `Refused` for one that is wrong.

        `judge` gets method, target and headers of one that has a body, before that is read, and may raise `Unwelcome`.
        """
        if self._used:
            self._http.start_next_cycle()
        self._method = ""
        request = self._head()
        self._used = True
        self._method = request.method.decode("ascii")
        if self._method == "CONNECT":  # h11 would wait for what follows a tunnel
            raise Refused("MethodNotAllowed", method="CONNECT")
        target, headers = self._checked(request)
        if "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
            judge(self._method, target, headers)
        return Incoming(self._method, target, headers, self._body(headers))

    # --- reading ----------------------------------------------------------------------------------------------------

    def _event(self) -> object:
        """h11's next event; what it does not understand is `Refused`."""
        try:
            return self._http.next_event()
        except h11.RemoteProtocolError as error:
            if error.error_status_hint == 431:
                raise Refused("RequestHeaderFieldsTooLarge", limit=self._limits.head_bytes) from None
            if error.error_status_hint == 501:
                raise Refused("TransferEncodingNotSupported") from None
            raise Refused("BadRequest", reason=f"It is no HTTP: {str(error)[:200]}.") from None

    def _head(self) -> h11.Request:
        """The first line and the headers; a client may be silent before them for longer than within them."""
        silence = self._now() + (self._limits.idle if self._used else self._limits.first_byte)
        deadline = None
        while (event := self._event()) is h11.NEED_DATA:
            begun = self._http.trailing_data[0]
            if begun and deadline is None:
                deadline = self._now() + self._limits.head
            if len(begun) > self._limits.url_bytes + _FIRST_LINE and b"\n" not in begun:
                raise Refused("RequestUriTooLong", limit=self._limits.url_bytes)
            if deadline is None:
                data = self._receive(silence, None).lstrip(b"\r\n")  # blank lines before a request mean nothing
                if data:
                    self._http.receive_data(data)
            else:
                self._http.receive_data(self._receive(deadline, "RequestTimeout"))
        if not isinstance(event, h11.Request):
            raise Closed
        return event

    def _receive(self, deadline: float, row: str | None) -> bytes:
        """More bytes, before `deadline`; after it `row` is the answer, or nothing at all. None come within a request that breaks off."""
        # What has come is read also if this thread was late itself; only then is the client late.
        self._connection.settimeout(max(deadline - self._now(), _LEAST))
        try:
            data = self._connection.recv(_RECEIVE)
        except TimeoutError:
            raise (Closed if row is None else Refused(row)) from None
        if not data and row is None:
            raise Closed
        if self._now() > deadline + _LEAST and row is not None and 0 < len(data) < _TRICKLE:
            raise Refused(row)
        return data

    def _checked(self, request: h11.Request) -> tuple[str, dict[str, str]]:
        """URL and headers, within the limits and of one meaning."""
        version = request.http_version.decode("ascii")
        if version not in ("1.1", "1.0"):
            raise Refused("HttpVersionNotSupported", version=f"HTTP/{version}")
        if len(request.target) > self._limits.url_bytes:
            raise Refused("RequestUriTooLong", limit=self._limits.url_bytes)
        if len(request.headers) > self._limits.headers:
            raise Refused("RequestHeaderFieldsTooLarge", limit=f"{self._limits.headers} headers or")
        headers: dict[str, str] = {}
        for raw_name, raw_value in request.headers:
            name, value = raw_name.decode("ascii"), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        if _HOST.fullmatch(headers.get("host", "")) is None:
            raise Refused("BadRequest", reason="The Host header is invalid.")
        if "transfer-encoding" in headers and "content-length" in headers:
            raise Refused("BadRequest", reason="Content-Length and Transfer-Encoding exclude each other.")
        if int(headers.get("content-length", "0")) > self._limits.body_bytes:
            raise self._too_large()
        return request.target.decode("ascii"), headers

    def _body(self, headers: Mapping[str, str]) -> bytes:
        deadline = self._now() + self._limits.body
        parts = bytearray()
        while not isinstance(event := self._event(), h11.EndOfMessage):
            if isinstance(event, h11.Data):
                parts += event.data
                if len(parts) > self._limits.body_bytes:
                    raise self._too_large()
            elif event is h11.NEED_DATA:
                if self._http.they_are_waiting_for_100_continue:
                    self._send(
                        self._http.send(h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue"))
                    )
                self._http.receive_data(self._receive(deadline, "RequestTimeout"))
            else:
                raise Closed
        return bytes(parts)

    def _too_large(self) -> Refused:
        return Refused("RequestContentTooLarge", limit=self._limits.body_bytes // MIB)

    # --- writing ----------------------------------------------------------------------------------------------------

    def answer(self, status: int, headers: Mapping[str, str], body: bytes, *, close: bool = False) -> bool:
        """Answer the request: in one send, as two may cost a client 40 ms of delayed acknowledgement; a large body is not copied for it.

        Returns whether another request may follow on this connection. A body that the method or status forbids is left out.
        """
        fields = [(_name(name), _value(value)) for name, value in headers.items()]
        fields.append((b"Date", _date(int(wall_time()))))
        if close:
            fields.append((b"Connection", b"close"))
        http = self._http
        parts = [http.send(h11.Response(status_code=status, headers=fields, reason=_REASONS.get(status, b"")))]
        if body and self._method != "HEAD" and status not in (204, 304):
            parts.append(http.send(h11.Data(data=body)))
        parts.append(http.send(h11.EndOfMessage()))
        small = len(body) < _RECEIVE
        for part in (b"".join(parts),) if small else parts:
            if part:
                self._send(part)
        return http.our_state is h11.DONE and http.their_state is h11.DONE

    def _send(self, data: bytes) -> None:
        self._connection.settimeout(self._limits.write)
        self._connection.sendall(data)


@lru_cache(maxsize=2)
def _date(second: int) -> bytes:
    """A moment as HTTP writes it; many answers are sent in one second."""
    return formatdate(second, usegmt=True).encode()


@lru_cache(maxsize=128)
def _name(text: str) -> bytes:
    return text.encode("latin-1", "replace")


def _value(text: str) -> bytes:
    if text.isascii() and text.isprintable():
        return text.strip().encode("ascii")
    return text.translate(_UNPRINTABLE).strip().encode("latin-1", "replace")


_REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}
