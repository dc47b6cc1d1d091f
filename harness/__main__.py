"""`python -m harness`: see `harness.cli`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

__all__ = ["main"]

_SELDOM = 100_000  # objects made and not yet gone before cycles are looked for; Python's own 700 costs a third of a command's time


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one subcommand and returns its exit code: 0 ok, 1 an expectation failed, 2 bad input, 3 environment.

    Without `arguments` it is the process's own command, and sets how often the process looks for garbage.
    """
    from harness.cli import main as run

    if arguments is not None:
        return run(arguments)
    gc.set_threshold(_SELDOM, *gc.get_threshold()[1:])
    try:
        return run(sys.argv[1:])
    finally:
        gc.freeze()  # the end of the process frees everything; there is nothing to look for before


if __name__ == "__main__":
    sys.exit(main())
