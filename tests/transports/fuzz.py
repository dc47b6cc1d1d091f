"""Requests by the thousand against a served cloud, malformed ones and good ones that ask for much: each gets an ARM error or ARM's answer,
in time, also another client meanwhile; memory stays bounded; and in the end everything that was begun has ended, and fits together.

`python -m tests.transports.fuzz --requests 50000 --seed 1` (`make fuzz`): the requests on some connections at once, beside a client that
polls, then connections that send at the same moment, then good requests. The part that `make test` runs is in test_fuzz.py. What a seed
sends is the same each time; `--only 1234` sends one request of it.
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
from fakeazure.transports.live import Pump, WallClock
from fakeazure.transports.memory import few_arenas
from fakeazure.transports.server import HttpServer
from fakeazure.transports.wire import Front
from tests.cloud.changes import wrong
from tests.transports import malformed, wellformed
from tests.transports.guarded import GUARD, TOKEN
from tests.transports.malformed import PATHS, ROOT

LIMITS = Limits(first_byte=10.0, idle=1.0, head=1.0, body=1.0, write=2.0)
PATIENCE = 2.0
"""Seconds in which an answer must begin, beyond the time that the server grants a slow request."""
REFUSALS = frozenset(
    {
        (501, "TransferEncodingNotSupported"),
        (501, "NotEmulated"),
        (503, "TooManyConnections"),
        (505, "HttpVersionNotSupported"),
    }
)
"""Status and code of a server that does not speak so (RFC 9110, 15.6), has no place, or says that it does not emulate what is real: no
failure of the cloud."""
LONG_PATIENCE = 30.0
"""The same, where hundreds of clients begin at one moment on a machine that has other work."""
MALFORMED = 0.3
"""Of the requests, those that are drawn as bytes."""
POLLED = f"{ROOT}?api-version=2022-12-01"
MEMORY = 200 << 20
"""Bytes that the server may grow by: its store, its operations, what is remembered of lists."""
ROOT_FOLDER = Path(__file__).parents[2]


@dataclass
class Found:
    """What came of a run: `broken` has one line for each request that was not answered as it should."""

    statuses: Counter[int] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    slowest: float = 0.0
    """Seconds of an answer to a request that came at once."""
    slowest_request: str = ""
    polled: float = 0.0
    """Seconds of the slowest answer to the client that polls meanwhile."""
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
    code = None
    if status >= 400 and document is not None:
        error = document.get("error", document.get("Error", document))
        code = error if isinstance(error, str) else error.get("code") or error.get("Code")
        found.codes[str(code)] += 1
        if not code:
            found.broken.append(f"{label}: {status} without a code: {rest[:80]!r}")
    if status >= 500 and (status, code) not in REFUSALS:
        found.broken.append(f"{label}: {status}: {rest[:200]!r}")


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
    took = time.monotonic() - start
    if len(parts) == 1 and took > found.slowest:
        found.slowest, found.slowest_request = took, f"{label} {parts[0][:200]!r}"
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
    """Serve a cloud, whose time is fast, until standard input ends: prints its port and a token first, and what is wrong with it last."""
    few_arenas()
    clock = WallClock(speed=200)
    cloud = FakeAzure(clock=clock, journal=Journal(most=1000, most_bytes=4 << 20))
    front = Front(cloud, limits=LIMITS, guard=GUARD)
    with HttpServer(front, limits=LIMITS) as server, Pump(front, clock) as pump:
        print(server.port, TOKEN, flush=True)
        sys.stdin.read()
        lines = [] if pump._thread.is_alive() else ["the pump has ended"]
    for _ in range(10_000):
        due = cloud.next_due()
        if due is None:
            break
        cloud.run_until(due)
    print("\n".join([*lines, *wrong(cloud)]))


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

    def stop(self) -> list[str]:
        """Stop it. Returns what it wrote on stderr, and what is wrong with its world."""
        told, _ = self._process.communicate(timeout=60)
        self._errors.seek(0)
        with self._errors:
            errors = self._errors.read().decode("utf-8", "replace")
        return [*([f"on stderr: {errors[:3000]}"] if errors else []), *told.decode().split("\n")[:20]]


def drawn(seed: int | str, step: int, token: str) -> list[bytes]:
    """A request of a seed, in the parts that are sent with a pause between them."""
    rng = random.Random(f"{seed}/{step}")
    return malformed.request(rng, token) if rng.random() < MALFORMED else wellformed.request(rng, token)


def run(seed: int, requests: int, workers: int, *, burst: int = 0, reads: int = 0, patience: float = PATIENCE) -> Found:
    """Send `requests` requests from `workers` connections at once, `burst` that begin together, and `reads` good ones.

    The same seed sends the same requests.
    """
    found, served, ended = Found(), Served(), threading.Event()
    wellformed.corpus()

    def work(number: int) -> None:
        for step in range(number, requests, workers):
            ask(served.port, drawn(seed, step, served.token), found, f"request {step}", patience=patience)

    def poll() -> None:
        polls = Found()
        while not ended.wait(0.05):
            ask(served.port, [_good(served, POLLED)], polls, "poll", patience=LONG_PATIENCE)
        found.polled = polls.slowest
        found.broken.extend(polls.broken)

    barrier = threading.Barrier(max(1, burst))

    def at_once(number: int) -> None:
        parts = malformed.request(random.Random(f"{seed}/burst/{number}"), served.token)
        ask(served.port, parts, found, f"burst {number}", patience=LONG_PATIENCE, together=barrier)

    try:
        _warm(served)
        before = served.memory()
        poller = threading.Thread(target=poll)
        poller.start()
        _threads(work, workers)
        ended.set()
        poller.join()
        time.sleep(LIMITS.idle + 0.5)
        found.grown, before = served.memory() - before, served.memory()
        slowest = found.slowest, found.slowest_request
        _threads(at_once, burst)
        found.slowest, found.slowest_request = slowest  # of many that begin together the last waits for all others
        time.sleep(LIMITS.idle + 0.5)
        found.grown_by_burst, before = served.memory() - before, served.memory()
        for _ in range(reads):
            ask(served.port, [_good(served, PATHS[1])], Found(), "read")
        found.grown_by_reads = served.memory() - before
    finally:
        ended.set()
        found.broken.extend(line for line in served.stop() if line)
    return found


def _good(served: Served, path: str) -> bytes:
    head = f"GET {path.replace(' ', '%20')} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {served.token}\r\n\r\n"
    return head.encode()


def _warm(served: Served) -> None:
    """What is read once stays: the catalogue of a region, a list as it was written."""
    for warm in range(300):
        ask(served.port, drawn("warm", warm, served.token), Found(), "warm")
    for path in PATHS:
        ask(served.port, [_good(served, path)], Found(), "warm")


def _threads(work: Callable[[int], None], count: int) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> int:
    """The command line. Returns 1 where a request was answered wrongly or late, or memory grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--workers", type=int, default=8, help="connections at once")
    parser.add_argument("--burst", type=int, default=200, help="connections that send at the same moment")
    parser.add_argument("--reads", type=int, default=20_000, help="good requests at the end")
    parser.add_argument("--only", type=int, help="send one request of the seed, and show it")
    options = parser.parse_args()
    if options.only is not None:
        return _one(options.seed, options.only)
    found = run(options.seed, options.requests, options.workers, burst=options.burst, reads=options.reads)
    print("statuses:", dict(sorted(found.statuses.items())))
    print("codes:", dict(found.codes.most_common()))
    print(f"slowest: {found.slowest:.2f} s, another client's {found.polled:.2f} s: {found.slowest_request}")
    print(
        f"memory: {found.grown / 1e6:+.1f} MB, by the burst {found.grown_by_burst / 1e6:+.1f} MB, by good requests"
        f" {found.grown_by_reads / 1e6:+.1f} MB; broken: {len(found.broken)}"
    )
    for line in found.broken[:40]:
        print(" ", line[:1000])
    late = max(found.slowest, found.polled) > PATIENCE
    return 1 if found.broken or late or found.grown > MEMORY else 0


def _one(seed: int, step: int) -> int:
    served, found = Served(), Found()
    parts = drawn(seed, step, served.token)
    print(b"".join(parts).decode("utf-8", "replace")[:20_000])
    ask(served.port, parts, found, f"request {step}", patience=LONG_PATIENCE)
    found.broken.extend(line for line in served.stop() if line)
    print(found)
    return 1 if found.broken else 0


if __name__ == "__main__":
    sys.exit(main())
