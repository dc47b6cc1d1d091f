"""Malformed requests by the thousand against a served cloud: each gets an ARM error or ARM's answer, in time, and memory comes back.

`python -m tests.transports.fuzz --requests 10000 --seed 1`: the requests one after the other on some connections, then 200
connections that send at the same moment, then 20,000 good requests. The part that `make test` runs is in test_fuzz.py.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fakeazure.cloud import FakeAzure
from fakeazure.journal import Journal
from fakeazure.transports.limits import Limits
from fakeazure.transports.memory import few_arenas
from fakeazure.transports.server import HttpServer
from fakeazure.transports.wire import Front
from tests.transports.guarded import GUARD, TOKEN
from tests.transports.malformed import PATHS, request

LIMITS = Limits(first_byte=10.0, idle=1.0, head=1.0, body=1.0, write=2.0)
PATIENCE = 2.0
"""Seconds in which an answer must begin, beyond the time that the server grants a slow request."""
LONG_PATIENCE = 30.0
"""The same, where hundreds of clients begin at one moment on a machine that has other work."""
ROOT_FOLDER = Path(__file__).parents[2]


@dataclass
class Found:
    """What came of a run: `broken` has one line for each request that was not answered as it should."""

    statuses: Counter[int] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    slowest: float = 0.0
    grown: int = 0
    """Bytes of memory that the server has more afterwards."""
    grown_by_burst: int = 0
    """The same, of many connections at one moment."""
    grown_by_reads: int = 0
    """Bytes of memory that good requests added."""


def check(raw: bytes, found: Found, label: str, head_only: bool) -> None:
    """One answer: a status line, a body of the length that is told, JSON, and a code where it is an error."""
    head, mark, rest = raw.partition(b"\r\n\r\n")
    match = re.match(rb"HTTP/1\.1 (\d{3}) ", head)
    if not mark or match is None:
        found.broken.append(f"{label}: no HTTP: {raw[:80]!r}")
        return
    status = int(match[1])
    found.statuses[status] += 1
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    if head_only or length is None:
        return
    try:
        document = json.loads(rest[: int(length[1])]) if int(length[1]) else None
    except ValueError:
        found.broken.append(f"{label}: {status} with a body that is no JSON: {rest[:80]!r}")
        return
    if status >= 400 and document is not None:
        error = document.get("error", document.get("Error", document))
        code = error if isinstance(error, str) else error.get("code") or error.get("Code")
        found.codes[str(code)] += 1
        if not code:
            found.broken.append(f"{label}: {status} without a code: {rest[:80]!r}")
    if status == 500:
        found.broken.append(f"{label}: 500: {rest[:200]!r}")


def ask(
    port: int,
    parts: list[bytes],
    found: Found,
    label: str,
    *,
    patience: float = PATIENCE,
    together: threading.Barrier | None = None,
) -> None:
    """Send one request and read one answer; `together` lets all that are connected send at the same moment."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience + LIMITS.head + LIMITS.body) as client:
        if together is not None:
            together.wait(timeout=30)
        start = time.monotonic()
        raw = b""
        try:
            for part in parts:
                client.sendall(part)
            if len(parts) == 1:
                client.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # refused before all of it was sent: the answer is there
        try:
            raw = read(client)
        except TimeoutError:
            found.broken.append(f"{label}: no answer in {time.monotonic() - start:.1f} s: {parts[0][:200]!r}")
            return
        except ConnectionResetError:
            found.broken.append(f"{label}: reset: {parts[0][:200]!r}")
            return
    found.slowest = max(found.slowest, time.monotonic() - start)
    if raw:
        check(raw, found, f"{label} {parts[0][:120]!r}", parts[0].startswith(b"HEAD "))
    elif complete(parts):
        found.broken.append(f"{label}: closed without an answer: {parts[0][:200]!r}")


def read(client: socket.socket) -> bytes:
    """One answer, as far as it comes. ConnectionResetError where nothing did."""
    raw = b""
    try:
        while data := client.recv(1 << 16):
            raw += data
            head, mark, rest = raw.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
            if mark and length is not None and len(rest) >= int(length[1]):
                break
    except ConnectionResetError:
        if not raw:
            raise
    return raw


def complete(parts: list[bytes]) -> bool:
    """Whether there was a request to answer: its end was sent, or it is wrong at its beginning."""
    raw = b"".join(parts)
    head = re.search(rb"\r?\n\r?\n", raw)
    if head is None:
        return False
    length = re.search(rb"(?i)\ncontent-length: *(\d+)\r?\n", raw[: head.end()])
    chunks = re.search(rb"(?i)\ntransfer-encoding:", raw[: head.end()])
    return chunks is None and (length is None or len(raw) - head.end() >= int(length[1]))


def serve() -> None:
    """Serve a cloud until standard input ends: prints its port and a token first."""
    few_arenas()
    cloud = FakeAzure(journal=Journal(most=1000, most_bytes=4 << 20))
    with HttpServer(Front(cloud, limits=LIMITS, guard=GUARD), limits=LIMITS) as server:
        print(server.port, TOKEN, flush=True)
        sys.stdin.read()


class Served:
    """A served cloud in a process of its own."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", "from tests.transports.fuzz import serve; serve()"]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115, closed by stop
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, cwd=ROOT_FOLDER
        )
        assert self._process.stdout is not None
        port, self.token = self._process.stdout.readline().decode().split()
        self.port = int(port)

    def memory(self) -> int:
        """Bytes of it that are in memory."""
        return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * 4096

    def stop(self) -> str:
        """Stop it. Returns what it wrote on stderr."""
        self._process.communicate(timeout=30)
        self._errors.seek(0)
        with self._errors:
            return self._errors.read().decode("utf-8", "replace")


def run(seed: int, requests: int, workers: int, *, burst: int = 0, reads: int = 0) -> Found:
    """Send `requests` requests from `workers` connections at once, `burst` that begin together, and `reads` good ones.

    The same seed sends the same requests.
    """
    found, served = Found(), Served()

    def work(number: int) -> None:
        for step in range(number, requests, workers):
            ask(served.port, request(random.Random(f"{seed}/{step}"), served.token), found, f"request {step}")

    barrier = threading.Barrier(max(1, burst))

    def at_once(number: int) -> None:
        parts = request(random.Random(f"{seed}/burst/{number}"), served.token)
        ask(served.port, parts, found, f"burst {number}", patience=LONG_PATIENCE, together=barrier)

    try:
        _warm(served)
        before = served.memory()
        _threads(work, workers)
        time.sleep(LIMITS.idle + 0.5)
        found.grown, before = served.memory() - before, served.memory()
        slowest = found.slowest
        _threads(at_once, burst)
        found.slowest = slowest  # of many that begin together the last waits for all others
        time.sleep(LIMITS.idle + 0.5)
        found.grown_by_burst, before = served.memory() - before, served.memory()
        for _ in range(reads):
            ask(served.port, [_good(served, PATHS[1])], Found(), "read")
        found.grown_by_reads = served.memory() - before
    finally:
        errors = served.stop()
    if errors:
        found.broken.append(f"on stderr: {errors[:3000]}")
    return found


def _good(served: Served, path: str) -> bytes:
    head = f"GET {path.replace(' ', '%20')} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {served.token}\r\n\r\n"
    return head.encode()


def _warm(served: Served) -> None:
    """What is read once stays: the catalogue of a region, a list as it was written."""
    for warm in range(300):
        ask(served.port, request(random.Random(f"warm/{warm}"), served.token), Found(), "warm")
    for path in PATHS:
        ask(served.port, [_good(served, path)], Found(), "warm")


def _threads(work: Callable[[int], None], count: int) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=16, help="connections at once")
    parser.add_argument("--burst", type=int, default=200, help="connections that send at the same moment")
    parser.add_argument("--reads", type=int, default=20_000, help="good requests at the end")
    options = parser.parse_args()
    found = run(options.seed, options.requests, options.workers, burst=options.burst, reads=options.reads)
    print("statuses:", dict(sorted(found.statuses.items())))
    print("codes:", dict(found.codes.most_common()))
    print(
        f"slowest: {found.slowest:.2f} s; memory: {found.grown / 1e6:+.1f} MB, by the burst"
        f" {found.grown_by_burst / 1e6:+.1f} MB, by good requests"
        f" {found.grown_by_reads / 1e6:+.1f} MB; broken: {len(found.broken)}"
    )
    for line in found.broken[:20]:
        print(" ", line)
    return 1 if found.broken else 0


if __name__ == "__main__":
    sys.exit(main())
