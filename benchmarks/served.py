"""A server in a process of its own and a client that costs next to nothing: what a call costs the server, in CPU and on the wall."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Measured:
    """What one call costs: CPU of the server (the best of several runs) and the wall (best, median), in milliseconds."""

    cpu: float
    best: float
    median: float

    @property
    def rate(self) -> float:
        """Calls per second that one core of the server can answer."""
        return 1000 / self.cpu if self.cpu else float("inf")


class Server:
    """A process that serves HTTP; also a context manager."""

    def __init__(self, command: Sequence[str], port: int) -> None:
        """Start `command`, which serves on `port`, and wait until it accepts a connection."""
        begun = time.perf_counter()
        self.port = port
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if self._process.poll() is not None:
                    raise RuntimeError(f"{command[0]} ended with {self._process.returncode}") from None
                time.sleep(0.005)
        self.started = time.perf_counter() - begun
        self.started_cpu = self.cpu()

    def cpu(self) -> float:
        """Seconds of CPU so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def __enter__(self) -> Server:
        """Returns itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait(timeout=20)


class Client:
    """One connection, kept while the server keeps it; requests are bytes."""

    def __init__(self, port: int) -> None:
        """Connects to the server on `port` with the first request."""
        self._port = port
        self._socket: socket.socket | None = None

    def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and body."""
        kept = self._socket is not None
        try:
            return self._ask(request)
        except ConnectionError:
            self.close()
            if not kept:
                raise
            return self._ask(request)

    def _ask(self, request: bytes) -> tuple[int, bytes]:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=60)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(request)
        raw = bytearray()
        while (end := raw.find(b"\r\n\r\n")) < 0:
            raw += self._more()
        head = bytes(raw[:end]).lower()
        body = raw[end + 4 :]
        length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), 0)
        while len(body) < length:
            body += self._more()
        if b"connection: close" in head or head.startswith(b"http/1.0"):
            self.close()
        return int(head[9:12]), bytes(body)

    def _more(self) -> bytes:
        assert self._socket is not None
        data = self._socket.recv(1 << 20)
        if not data:
            raise ConnectionResetError("closed by the server")
        return data

    def close(self) -> None:
        """End the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def measure(server: Server, requests: Sequence[Sequence[bytes]], *, runs: int = 5) -> Measured:
    """Ask `requests`, each a call of one or more HTTP requests, in `runs` equal parts. RuntimeError for an answer that is an error."""
    client, times, costs = Client(server.port), [], []
    part = len(requests) // runs
    for run in range(runs):
        cpu = server.cpu()
        for call in requests[run * part : (run + 1) * part]:
            begun = time.perf_counter()
            for request in call:
                status, body = client.ask(request)
                if status >= 400:
                    raise RuntimeError(f"{status}: {body[:300]!r}")
            times.append(time.perf_counter() - begun)
        costs.append((server.cpu() - cpu) / part)
    client.close()
    return Measured(min(costs) * 1000, min(times) * 1000, median(times) * 1000)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
