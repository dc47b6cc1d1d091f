"""`python -m fakeazure`."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """The command of the console script; returns the exit code."""
    from fakeazure.cli import run

    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has had enough; Python would complain again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


if __name__ == "__main__":
    raise SystemExit(main())
