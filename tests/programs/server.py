"""Runs programs of this project in forks of a process that has imported them, so that each starts in a hundredth of the time.

Each fork has the words, variables, directory and streams of its caller (`tests.programs.client`) and nothing of another program's. How
a process of one's own starts is tested elsewhere (`tests/cli/test_process.py`, `tests/project/test_start.py`).
"""

import contextlib
import gc
import os
import pkgutil
import runpy
import select
import socket
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

from harness import testing
from harness.world import World
from tests.programs.client import NUMBER, STREAMS, read

IMPORTED = (
    "harness.cli.commands",
    "harness.scenario",
    "harness.explain",
    "harness.karpenter",
    "harness.world",
    "fakeazure",
)
"""Packages all of whose modules are there before the first program starts, but for those that need an extra."""


def main(address: str) -> None:
    """Serves until standard input ends."""
    for package in IMPORTED:
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                with contextlib.suppress(ImportError):
                    import_module(module.name)
    world = World()
    world.apply(testing.nodeclass(), testing.nodepool(), testing.deployment("web"))
    world.settle()  # catalogue and instance types, which are never changed, are read
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            ready, _, _ = select.select([listening, sys.stdin], [], [])
            if sys.stdin in ready:
                reap()
                return
            connection, _ = listening.accept()
            reap()
            if not os.fork():
                listening.close()
                attend(connection)
            connection.close()


def reap() -> None:
    """Waits for the forks that have ended, so that their CPU seconds count as this process's."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def attend(connection: socket.socket) -> None:
    """Starts the program that is asked for, and tells the caller its process and its exit code."""
    length, streams, _, _ = socket.recv_fds(connection, NUMBER, len(STREAMS))
    directory, count, *rest = read(connection, int.from_bytes(length, "big")).split(b"\0")
    words, variables = rest[: int(count)], rest[int(count) :]
    program = os.fork()
    if not program:
        connection.close()
        for stream, number in zip(streams, STREAMS, strict=True):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(directory)
        os.environb.clear()
        os.environb.update(dict(variable.split(b"=", 1) for variable in variables))
        become([os.fsdecode(word) for word in words])
    for stream in streams:
        os.close(stream)
    connection.sendall(program.to_bytes(NUMBER, "big"))
    _, status = os.waitpid(program, 0)
    with contextlib.suppress(OSError):  # the caller has gone
        connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(NUMBER, "big", signed=True))
    os._exit(0)


def become(words: Sequence[str]) -> None:
    """Runs Python with these words, in this process, which then ends."""
    option, *rest = words or [""]
    if option not in ("-m", "-c") or rest[:1] == [
        "pytest"
    ]:  # it rewrites what it imports, and nothing may be there before
        os.execv(sys.executable, [sys.executable, *words])
    named, *arguments = rest
    streams = [open(number, mode, encoding="utf-8", closefd=False) for number, mode in enumerate("rww")]  # noqa: SIM115
    sys.stdin, sys.stdout, sys.stderr = streams
    sys.stderr.reconfigure(errors="backslashreplace", line_buffering=True)
    code = 0
    try:
        sys.path[0] = os.getcwd()
        sys.argv = [option, *arguments]
        if option == "-m":
            runpy.run_module(named, run_name="__main__", alter_sys=True)
        else:
            main = sys.modules["__main__"] = type(sys)("__main__")
            exec(compile(named, "<string>", "exec"), vars(main))
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if not isinstance(end.code, int | None):
            print(end.code, file=sys.stderr)
    except BaseException:  # as Python itself does with what nobody catches
        code = 1
        traceback.print_exc()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1])
