"""The parent of a cluster's programs: run as a script of its own, so that nothing outlives the process that wanted the cluster.

    python supervisor.py FOLDER

Standard input takes one JSON object per line: {"start": NAME, "argv": [...]}. Standard output answers {"started": NAME, "pid": N},
and {"exited": NAME, "status": N} when a program ends by itself. Logs go to FOLDER/NAME.log. When standard input ends, which it does
however the process at its other end dies, every program is killed and FOLDER is removed. Programs die with this process, too.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_CHECK_EVERY = 0.2


def main() -> int:
    """Carry out commands from standard input until it ends."""
    folder = sys.argv[1]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    die_together = _die_with_parent()
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        pending = b""
        while True:
            if select.select([0], [], [], _CHECK_EVERY)[0]:
                data = os.read(0, 1 << 16)
                if not data:
                    return 0
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    order = json.loads(line)
                    name = order["start"]
                    with open(os.path.join(folder, f"{name}.log"), "ab") as log:
                        running[name] = subprocess.Popen(
                            order["argv"],
                            stdin=subprocess.DEVNULL,
                            stdout=log,
                            stderr=subprocess.STDOUT,
                            preexec_fn=die_together,
                        )
                    _say(started=name, pid=running[name].pid)
            for name, process in list(running.items()):
                if process.poll() is not None:
                    del running[name]
                    _say(exited=name, status=process.returncode)
    finally:
        for process in running.values():
            process.kill()
        for process in running.values():
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _end(number: int, frame: object) -> None:
    sys.exit(128 + number)


def _die_with_parent() -> Callable[[], None] | None:
    """Return the function that a program runs before it starts: it asks the kernel to be killed with this process (Linux only)."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    return ask


def _say(**message: object) -> None:
    try:
        os.write(1, json.dumps(message).encode() + b"\n")  # to the parent: nothing of the project can be imported here
    except BrokenPipeError:
        sys.exit(1)


if __name__ == "__main__":
    sys.exit(main())
