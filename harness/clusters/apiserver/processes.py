"""The programs of a cluster, by way of their supervisor: start, watch over, stop, and the ends of their logs."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from harness.clusters.apiserver import supervisor
from harness.clusters.waiting import poll

__all__ = ["Processes", "free_ports", "tail"]


class Processes:
    """Programs that end with this process, whatever ends it. `folder` belongs to them and is removed at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pids: dict[str, int] = {}
        self.exited: dict[str, int] = {}
        command = [sys.executable, "-I", "-S", str(Path(supervisor.__file__)), str(folder)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="locale", start_new_session=True
        )
        self._reader = threading.Thread(target=self._read, name="supervisor", daemon=True)
        self._reader.start()

    def start(self, name: str, *argv: str) -> None:
        """Start a program, and return when it runs. Raises RuntimeError when it cannot be executed."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"start": name, "argv": argv}) + "\n")
        self._process.stdin.flush()
        poll(lambda: name in self.pids or self._process.poll() is not None, f"{name} to start", seconds=30, every=0.005)
        if name not in self.pids:
            raise RuntimeError(f"{argv[0]} could not be started")

    def stop(self) -> None:
        """Kill all programs and remove the folder, and return when that is done."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        self._process.wait(30)
        self._reader.join(5)
        if self._process.stdout is not None:
            self._process.stdout.close()

    @property
    def supervisor_pid(self) -> int:
        """Return the process that would have to die first."""
        return self._process.pid

    def diagnose(self) -> str:
        """Return the programs that have ended, each with the last lines of its log; empty while all run."""
        if self._process.poll() is not None and not self.exited:
            return f"the supervisor of the cluster's programs ended with status {self._process.returncode}, and they with it"
        lines = []
        for name, status in self.exited.items():
            how = f"was killed by signal {-status}" if status < 0 else f"exited with status {status}"
            lines.append(f"{name} {how}; the end of its log:\n{tail(self.folder / f'{name}.log')}")
        return "\n".join(lines)

    def logs(self) -> str:
        """The last lines of all logs."""
        return "\n".join(tail(path) for path in sorted(self.folder.glob("*.log")) if path.name != "audit.log")

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if "started" in message:
                self.pids[message["started"]] = message["pid"]
            else:
                self.exited[message["exited"]] = message["status"]


def tail(path: Path, lines: int = 15) -> str:
    """The last lines of a log, indented."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return f"    ({error})"
    return "\n".join("    " + line for line in text.splitlines()[-lines:])


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody listens on now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(socket.getsockname()[1]) for socket in sockets]
    for opened in sockets:
        opened.close()
    return ports
