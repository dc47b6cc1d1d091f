"""Malformed requests by the thousand against a served cloud: each gets an ARM error or ARM's answer, in time, and memory comes back.

`python -m tests.transports.fuzz --requests 10000 --seed 1`; the part that `make test` runs is in test_fuzz.py.
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
from dataclasses import dataclass, field
from pathlib import Path

from fakeazure.cloud import SUBSCRIPTION, TENANT, FakeAzure
from fakeazure.journal import Journal
from fakeazure.transports.limits import Limits
from fakeazure.transports.live import wall_time
from fakeazure.transports.server import HttpServer
from fakeazure.transports.tokens import Tokens
from fakeazure.transports.wire import Front

LIMITS = Limits(first_byte=1.0, idle=1.0, head=1.0, body=1.0, write=2.0)
PATIENCE = 2.0
"""Seconds in which an answer must begin, beyond the time that the server grants a slow request."""
ROOT_FOLDER = Path(__file__).parents[2]
ROOT = f"/subscriptions/{SUBSCRIPTION}"
GROUP = f"{ROOT}/resourceGroups/MC_rg_c_eastus/providers"
POOL = f"{ROOT}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/c/agentPools/aksmanagedap"
PATHS = (
    f"{ROOT}/providers/Microsoft.Compute/skus?api-version=2021-07-01&$filter=location eq 'eastus'",
    f"{ROOT}/providers/Microsoft.Compute/locations/eastus/usages?api-version=2025-04-01",
    f"{GROUP}/Microsoft.Compute/virtualMachines/v?api-version=2025-04-01",
    f"{GROUP}/Microsoft.Network/networkInterfaces/n?api-version=2022-01-01",
    f"{GROUP}/Microsoft.Network/virtualNetworks/w/subnets/s?api-version=2022-01-01",
    f"{GROUP}/Microsoft.Compute/disks/d?api-version=2025-01-02",
    f"{POOL}/machines/m?api-version=2026-04-02-preview",
    f"{POOL}/deleteMachines?api-version=2026-04-02-preview",
    f"{ROOT}/resourceGroups/new?api-version=2021-04-01",
    "/providers/Microsoft.ResourceGraph/resources?api-version=2024-04-01",
    "/api/retail/prices?$filter=armRegionName eq 'eastus'",
    f"/{TENANT}/oauth2/v2.0/token",
    "/msi/token?resource=x",
    "/metadata/endpoints",
    "/common/discovery/instance?authorization_endpoint=https://[",
    "/",
    "*",
    "http://[::1",
    "/subscriptions/%00/%ff%fe/..%2f..%2f",
)
VERBS = ("GET", "PUT", "PATCH", "POST", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "BREW", "get", "G\x01T", "")
JUNK = (
    "''", "(", ")", "not ", "eq", "%27", "\u00fc", "%", "%zz", "[", "]", "{", "9" * 400, "-1", "1e999", "null", "true", "a/b/c",
    "$skiptoken=", "&$top=", "&$filter=", "api-version=", "../", "\\", '"', "|", "where ", "\ud800", "\x7f",
)  # fmt: skip


@dataclass
class Found:
    """What came of a run: `broken` has one line for each request that was not answered as it should."""

    statuses: Counter[int] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    slowest: float = 0.0
    grown: int = 0
    """Bytes of memory that the server has more afterwards."""


def nested(rng: random.Random) -> str:
    """Text that is nested deeply, as JSON, as a filter or as a query."""
    deep = rng.choice((10, 70, 900, 5000, 100_000))
    return rng.choice(
        (
            "[" * deep,
            "[" * deep + "]" * deep,
            '{"a":' * deep + "1" + "}" * deep,
            json.dumps({"query": "Resources | where " + "(" * min(deep, 20_000) + "a == 1"}),
            json.dumps(
                {"query": "Resources | where " + "not(" * min(deep, 20_000) + "a == 1" + ")" * min(deep, 20_000)}
            ),
            json.dumps({"query": "Resources | where " + " and ".join(["a == 1"] * min(deep, 20_000))}),
            json.dumps({"query": "Resources" + " | limit 1" * min(deep, 20_000)}),
            json.dumps({"properties": {"ipConfigurations": [{"name": "x" * deep}] * 50}}),
            json.dumps({"location": "eastus", "properties": {"addressPrefix": f"{deep}.0.0.0/0"}}),
        )
    )


SCALARS = (
    None, True, 0, -1, 1e308, 10**30, "", "x", "eastus", "Standard_D2s_v5", "\u0000", "\ud800", "a" * 5000, "0.0.0.0/0",
)  # fmt: skip


def value(rng: random.Random, depth: int = 0) -> object:
    """Some JSON with the names that handlers look for."""
    names = (
        "properties", "location", "zones", "tags", "hardwareProfile", "vmSize", "storageProfile", "osDisk", "diskSizeGB", "sku", "name",
        "networkProfile", "networkInterfaces", "id", "ipConfigurations", "subnet", "addressPrefix", "subnets", "machineNames", "query",
        "options", "$top", "$skip", "subscriptions", "identity", "userAssignedIdentities", "priority", "osProfile", "hardware",
    )  # fmt: skip
    kind = rng.random()
    if depth > 4 or kind < 0.35:
        return rng.choice(
            (
                None,
                True,
                0,
                -1,
                1e308,
                10**30,
                "",
                "x",
                "eastus",
                "Standard_D2s_v5",
                "\u0000",
                "\ud800",
                "a" * 5000,
                "0.0.0.0/0",
            )
        )
    if kind < 0.5:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(names): value(rng, depth + 1) for _ in range(rng.randrange(1, 6))}


def body(rng: random.Random) -> bytes:
    """A body, often wrong."""
    kind = rng.random()
    if kind < 0.45:
        return json.dumps(value(rng)).encode("utf-8", "surrogatepass")
    if kind < 0.65:
        return nested(rng).encode()
    if kind < 0.8:
        return rng.randbytes(rng.choice((0, 1, 10, 1000, 100_000)))
    return rng.choice((b"", b"null", b'{"a":NaN}', b"{" * 3, b'{"a":1e400}', b'"' * 999, b"a=b&c=d", b" " * 5000))


def target(rng: random.Random) -> str:
    """A path with a query, often changed."""
    path = rng.choice(PATHS)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 5))):
        place = rng.randrange(len(path) + 1)
        path = path[:place] + rng.choice(JUNK) + path[place + rng.randrange(3) :]
    if rng.random() < 0.05:
        path += "&$filter=" + "(" * rng.choice((50, 500, 5000, 20_000)) + "a eq 'b'"
    return path if rng.random() < 0.15 else path.replace(" ", "%20")


VERSIONS = (*("HTTP/1.1",) * 9, "HTTP/1.0", "HTTP/2.0", "", "X")
HOSTS = ("127.0.0.1", "x", "a b", "", "[::1]:80", "é")
LENGTHS = ("-1", "1e3", "", "99999999999999999999", "1, 1", str(2**40))
CODINGS = (*("chunked",) * 5, "gzip", "chunked, chunked", "identity")


def request(rng: random.Random, token: str) -> list[bytes]:
    """The bytes of one request, in the parts that are sent with a pause between them."""
    content = body(rng)
    if rng.random() < 0.5:  # good HTTP around whatever is in it
        head = f"{rng.choice(VERBS[:6])} {target(rng).replace(' ', '%20')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
        return [f"{head}Content-Length: {len(content)}\r\n\r\n".encode("utf-8", "surrogatepass") + content]
    verb = rng.choice(VERBS[:6] if rng.random() < 0.8 else VERBS)
    lines = [f"{verb} {target(rng)} {rng.choice(VERSIONS)}"]
    if rng.random() < 0.95:
        lines.append(f"Host: {rng.choice(HOSTS)}")
    authorizations = (*(f"Bearer {token}",) * 8, "Bearer x", "Bearer " + "a." * 5000, "", "Basic \x01")
    lines.append(f"Authorization: {rng.choice(authorizations)}")
    for _ in range(rng.choice((1, 3, 150, 400)) if rng.random() < 0.1 else 0):
        large = "X: " + "z" * rng.choice((10, 70_000))
        lines.append(rng.choice(("X: y", "If-Match: *", "BatchPutMachine: {", "no colon", " folded", large)))
    kind = rng.random()
    if kind < 0.55:
        lines.append(f"Content-Length: {len(content)}")
    elif kind < 0.75:
        lines.append(f"Content-Length: {rng.choice((*LENGTHS, str(len(content) + 5)))}")
    elif kind < 0.95:
        lines.append(f"Transfer-Encoding: {rng.choice(CODINGS)}")
        content = chunked(rng, content)
    ends = rng.choice((*("\r\n",) * 9, "\n"))
    raw = ends.join([*lines, "", ""]).encode("utf-8", "surrogatepass") + content
    if rng.random() < 0.03:
        cut = rng.randrange(len(raw))
        return [raw[:cut], raw[cut:]] if rng.random() < 0.7 else [raw[:cut]]
    return [raw]


def chunked(rng: random.Random, content: bytes) -> bytes:
    """A body in chunks, sometimes broken ones."""
    parts = [b"%x\r\n%b\r\n" % (len(content), content)] if content else []
    wrong = rng.choice((b"", b"", b"", b"zz\r\n", b"-5\r\n", b"5\r\nabc", b"\r\n", b"f" * 30, b"7fffffff\r\n"))
    return b"".join([*parts, wrong, b"0\r\n\r\n"])


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


def ask(port: int, parts: list[bytes], found: Found, label: str) -> None:
    """Send one request and read one answer."""
    start = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE + LIMITS.head + LIMITS.body) as client:
        raw = b""
        try:
            for part in parts:
                client.sendall(part)
            if len(parts) == 1:
                client.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # refused before all of it was sent: the answer is there
        try:
            while data := client.recv(1 << 16):
                raw += data
                head, mark, rest = raw.partition(b"\r\n\r\n")
                length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
                if mark and length is not None and len(rest) >= int(length[1]):
                    break
        except TimeoutError:
            found.broken.append(f"{label}: no answer in {time.monotonic() - start:.1f} s: {parts[0][:200]!r}")
            return
        except ConnectionResetError:
            if not raw:
                found.broken.append(f"{label}: reset: {parts[0][:200]!r}")
                return
    found.slowest = max(found.slowest, time.monotonic() - start)
    if raw:
        check(raw, found, f"{label} {parts[0][:120]!r}", parts[0].startswith(b"HEAD "))
    elif complete(parts):
        found.broken.append(f"{label}: closed without an answer: {parts[0][:200]!r}")


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
    cloud = FakeAzure(journal=Journal(most=1000, most_bytes=4 << 20))
    with HttpServer(Front(cloud, limits=LIMITS), limits=LIMITS) as server:
        print(server.port, Tokens(TENANT, wall_time).token(), flush=True)
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


def run(seed: int, requests: int, workers: int) -> Found:
    """Send `requests` requests from `workers` connections at once. The same seed sends the same requests."""
    found, served = Found(), Served()

    def work(number: int) -> None:
        for step in range(number, requests, workers):
            parts = request(random.Random(f"{seed}/{step}"), served.token)
            ask(served.port, parts, found, f"request {step}")

    try:
        for warm in range(300):
            ask(served.port, request(random.Random(f"warm/{warm}"), served.token), Found(), "warm")
        for path in PATHS:  # what is read once stays: the catalogue of a region, a list as it was written
            good = f"GET {path.replace(' ', '%20')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {served.token}\r\n\r\n"
            ask(served.port, [good.encode()], Found(), "warm")
        before = served.memory()
        threads = [threading.Thread(target=work, args=(number,)) for number in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(LIMITS.idle + 0.5)
        found.grown = served.memory() - before
    finally:
        errors = served.stop()
    if errors:
        found.broken.append(f"on stderr: {errors[:3000]}")
    return found


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=16, help="connections at once")
    options = parser.parse_args()
    found = run(options.seed, options.requests, options.workers)
    print("statuses:", dict(sorted(found.statuses.items())))
    print("codes:", dict(found.codes.most_common()))
    print(f"slowest: {found.slowest:.2f} s; memory: {found.grown / 1e6:+.1f} MB; broken: {len(found.broken)}")
    for line in found.broken[:20]:
        print(" ", line)
    return 1 if found.broken else 0


if __name__ == "__main__":
    sys.exit(main())
