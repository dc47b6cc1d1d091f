"""`python -m harness`: see `harness.cli`."""

from __future__ import annotations

import atexit
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from harness import garbage
from harness.interrupts import code_of, heed_termination
from plainlines import print_line

__all__ = ["command", "main"]

ENVIRONMENT, NOBODY_READS = 3, 141  # the latter as a shell tells SIGPIPE


def command() -> NoReturn:
    """`main` as a process, which ends without taking its modules apart one by one, which costs 0.02 s of CPU that nobody has use for.

    Where a profiler, a debugger or coverage runs it, or a thread is left, it ends as any program does.
    """
    code = main()
    threads = sys.modules.get("threading")
    if sys.flags.inspect or _is_run_by_another() or (threads is not None and threads.active_count() > 1):
        sys.exit(code)
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # nobody reads what is said at the very end
        pass
    os._exit(code)


def _is_run_by_another() -> bool:
    """Return whether a program has called the one that called `command`: of Python itself only `-m` does."""
    frame = sys._getframe(2).f_back
    while frame is not None and frame.f_globals.get("__name__") == "runpy":
        frame = frame.f_back
    return frame is not None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code: 0 ok, 1 an expectation failed, 2 bad input, 3 environment.

    Without `arguments` it is the process's own command, and sets how often the process looks for garbage.
    """
    from harness.cli import main as run

    if arguments is not None:
        return run(arguments)
    garbage.look_seldom()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # else it asks every installed package for one
    _prepare_streams()
    heed_termination()
    try:
        try:
            return run(sys.argv[1:])
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read has gone; the interpreter must not try to flush again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    except KeyboardInterrupt as interrupt:
        return code_of(interrupt)
    except OSError as error:  # a full disk, a file or folder that cannot be written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        subject = f"{error.filename}: " if error.filename else ""
        print_line(f"harness: {subject}{(error.strerror or str(error)).lower()}", error=True)
        return ENVIRONMENT
    finally:
        garbage.keep()  # the end of the process frees everything; there is nothing to look for before


def _prepare_streams() -> None:
    """Output goes on where nobody listens, and where the locale has no arrows: those are then written as escapes."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  closed by whoever started the process
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    command()
