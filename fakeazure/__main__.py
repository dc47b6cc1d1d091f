"""`python -m fakeazure`."""

from __future__ import annotations

import gc
import os
import sys

_SELDOM = 100_000
"""Allocations between two searches for cycles; 700 by default."""


def main() -> int:
    """The command of the console script; returns the exit code."""
    from fakeazure.cli import run

    # A catalogue and its tables hold no cycles, and looking for some takes a tenth of a command's time. `serve` still looks.
    gc.set_threshold(_SELDOM, *gc.get_threshold()[1:])
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
        gc.freeze()  # the end of the process frees everything; there is nothing to look for before
    except BrokenPipeError:
        # The reader (head, less) has had enough; Python would complain again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


if __name__ == "__main__":
    raise SystemExit(main())
