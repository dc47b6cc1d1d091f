"""The owner of a cluster: a process of this machine, told apart from a later one that happens to get its number."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["NOBODY", "lives", "this_process"]

NOBODY = "1"
"""The owner of clusters that shall outlive their maker: the machine's first process."""


def this_process() -> str:
    """This process as text for `lives`: its id, and its start time where the system reports one."""
    return _named(os.getpid())


def lives(owner: str) -> bool:
    """Return whether the process still runs. False for text that names none."""
    number, _, started = owner.partition("@")
    try:
        pid = int(number)
        os.kill(pid, 0)
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    except PermissionError:
        pass
    return not started or _named(pid) == owner


def _named(pid: int) -> str:
    try:
        # the fields after the program's name, which is in brackets and may have any character
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return str(pid)
    # a zombie is dead; field 22 is the start in ticks since the machine's
    return "" if fields[0] == "Z" else f"{pid}@{fields[19]}"
