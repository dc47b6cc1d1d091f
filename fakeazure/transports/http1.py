"""Reading HTTP/1.1 requests from a socket, strictly and within limits; what is wrong is a row of ARM's table of texts.

Measured against h11 0.16 and the standard library's parser: a request with seven headers costs a quarter of h11's time, and what
remains besides the grammar (deadlines, limits with ARM's errors) has to be written with either.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fakeazure.transports.limits import Limits

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_BLANK = re.compile(rb"(?:\r?\n)+")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_HOST = re.compile(r"(?:[A-Za-z0-9._~-]*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_CHUNK_LINE = 1024
_LEAST = 0.01
"""Seconds that are waited for bytes at least."""
_TRICKLE = 16
"""So few bytes after the end of the time are no request that was nearly there."""
_RECEIVE = 32 * 1024


class Refused(Exception):
    """A request that is not understood or not let in. The connection cannot be used any more."""

    def __init__(self, row: str, **facts: object) -> None:
        """`row` of ARM's table of texts, filled with `facts`."""
        super().__init__(row)
        self.row = row
        self.facts = facts


class Closed(Exception):
    """The client went away, or said nothing for too long between two requests."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """One request as it came: `headers` have lower-cased names, those given twice are joined by a comma."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    keep_alive: bool


class Reader:
    """The requests of one connection, one after the other."""

    def __init__(self, connection: socket.socket, limits: Limits, now: Callable[[], float] = time.monotonic) -> None:
        """Read from `connection`; `now` is a clock in seconds that never goes back."""
        self._connection = connection
        self._limits = limits
        self._now = now
        self._buffer = bytearray()
        self._used = False
        self.method = ""
        """Of the request that is being read, as soon as it is known."""

    def next(self) -> Incoming:
        """The next request. Raises `Closed` when there is none, `Refused` for one that is wrong."""
        self.method = ""
        self._wait()
        deadline = self._now() + self._limits.head
        while (end := _HEAD_END.search(self._buffer)) is None:
            self._check_head()
            self._receive(deadline, "RequestTimeout")
        head = bytes(self._buffer[: end.start()])
        del self._buffer[: end.end()]
        first, *lines = head.replace(b"\r\n", b"\n").split(b"\n")
        target, version = self._first_line(first)
        headers = self._headers(lines)
        if "host" not in headers and version == b"HTTP/1.1":
            raise Refused("BadRequest", reason="The request has no Host header.")
        if _HOST.fullmatch(headers.get("host", "")) is None:
            raise Refused("BadRequest", reason="The Host header is invalid.")
        self._used = True
        wanted = headers.get("connection", "").lower()
        keep = "close" not in wanted if version == b"HTTP/1.1" else "keep-alive" in wanted
        return Incoming(self.method, target, headers, self._body(headers), keep)

    def _wait(self) -> None:
        """For the first byte of a request; blank lines before it are skipped."""
        deadline = self._now() + (self._limits.idle if self._used else self._limits.first_byte)
        while True:
            blank = _BLANK.match(self._buffer)
            if blank is not None:
                del self._buffer[: blank.end()]
            if self._buffer and self._buffer != b"\r":
                return
            self._receive(deadline, None)

    def _receive(self, deadline: float, row: str | None) -> None:
        """More bytes, before `deadline`; after it `row` is the answer, or nothing at all."""
        # What has come is read also if this thread was late itself; only then is the client late.
        self._connection.settimeout(max(deadline - self._now(), _LEAST))
        try:
            data = self._connection.recv(_RECEIVE)
        except TimeoutError:
            raise (Closed if row is None else Refused(row)) from None
        if not data:
            raise Closed
        if self._now() > deadline + _LEAST and row is not None and len(data) < _TRICKLE:
            raise Refused(row)
        self._buffer += data

    def _check_head(self) -> None:
        if len(self._buffer) > self._limits.head_bytes:
            raise Refused("RequestHeaderFieldsTooLarge", limit=self._limits.head_bytes)
        line = self._buffer.find(b"\n")
        if (len(self._buffer) if line < 0 else line) > self._limits.url_bytes + 64:
            raise Refused("RequestUriTooLong", limit=self._limits.url_bytes)
        if line < 0 and len(self._buffer) > 64 and b" " not in self._buffer[:64]:
            raise Refused("BadRequest", reason="The request line is invalid.")

    def _first_line(self, line: bytes) -> tuple[str, bytes]:
        parts = line.split(b" ")
        if len(parts) != 3 or _TOKEN.fullmatch(parts[0]) is None or not parts[1] or not parts[2].startswith(b"HTTP/"):
            raise Refused("BadRequest", reason="The request line is invalid.")
        method, target, version = parts
        self.method = method.decode("ascii")
        if version not in (b"HTTP/1.1", b"HTTP/1.0"):
            raise Refused("HttpVersionNotSupported", version=version.decode("latin-1")[:20])
        if len(target) > self._limits.url_bytes:
            raise Refused("RequestUriTooLong", limit=self._limits.url_bytes)
        if any(byte < 0x21 or byte == 0x7F for byte in target):
            raise Refused("BadRequest", reason="The request line is invalid.")
        return target.decode("utf-8", "replace"), version

    def _headers(self, lines: list[bytes]) -> dict[str, str]:
        if len(lines) > self._limits.headers:
            raise Refused("RequestHeaderFieldsTooLarge", limit=f"{self._limits.headers} headers or")
        found: dict[str, str] = {}
        for line in lines:
            raw_name, colon, raw_value = line.partition(b":")
            if not colon or _TOKEN.fullmatch(raw_name) is None or b"\0" in raw_value or b"\r" in raw_value:
                raise Refused("BadRequest", reason="A header is invalid.")
            name, value = raw_name.decode("ascii").lower(), raw_value.decode("latin-1").strip(" \t")
            if name in found:
                if name in ("host", "content-length", "transfer-encoding") and found[name] != value:
                    raise Refused("BadRequest", reason=f"The header {name} is given twice.")
                found[name] = value if found[name] == value else f"{found[name]}, {value}"
            else:
                found[name] = value
        return found

    def _body(self, headers: Mapping[str, str]) -> bytes:
        deadline = self._now() + self._limits.body
        coding, length = headers.get("transfer-encoding"), headers.get("content-length")
        if coding is not None:
            if length is not None:
                raise Refused("BadRequest", reason="Content-Length and Transfer-Encoding exclude each other.")
            if coding.lower() != "chunked":
                raise Refused("TransferEncodingNotSupported", coding=coding[:40])
            self._continue(headers)
            return self._chunks(deadline)
        if length is None:
            return b""
        if not (length.isascii() and length.isdigit()):
            raise Refused("BadRequest", reason="The Content-Length header is invalid.")
        if len(length) > 12 or int(length) > self._limits.body_bytes:
            raise self._too_large()
        if int(length):
            self._continue(headers)
        return self._take(int(length), deadline)

    def _continue(self, headers: Mapping[str, str]) -> None:
        """What a client waits for that first asks whether its body is wanted."""
        if headers.get("expect", "").lower() == "100-continue":
            self._connection.settimeout(self._limits.write)
            self._connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _take(self, count: int, deadline: float) -> bytes:
        while len(self._buffer) < count:
            self._receive(deadline, "RequestTimeout")
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _chunks(self, deadline: float) -> bytes:
        parts = bytearray()
        while size := self._chunk_size(deadline):
            if len(parts) + size > self._limits.body_bytes:
                raise self._too_large()
            parts += self._take(size, deadline)
            if self._line(deadline).strip():
                raise Refused("BadRequest", reason="A chunk of the body is invalid.")
        for _ in range(self._limits.headers):
            if not self._line(deadline).strip():
                return bytes(parts)
        raise Refused("BadRequest", reason="A chunk of the body is invalid.")

    def _chunk_size(self, deadline: float) -> int:
        match = _CHUNK.fullmatch(self._line(deadline))
        if match is None:
            raise Refused("BadRequest", reason="A chunk of the body is invalid.")
        return int(match[1], 16)

    def _line(self, deadline: float) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > _CHUNK_LINE:
                raise Refused("BadRequest", reason="A chunk of the body is invalid.")
            self._receive(deadline, "RequestTimeout")
        return self._take(end + 1, deadline)

    def _too_large(self) -> Refused:
        return Refused("RequestContentTooLarge", limit=self._limits.body_bytes // (1024 * 1024))
