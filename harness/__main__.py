"""`python -m harness`: see `harness.cli`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one subcommand and returns its exit code: 0 ok, 1 an expectation failed, 2 bad input, 3 environment."""
    from harness.cli import main as run

    return run(sys.argv[1:] if arguments is None else arguments)


if __name__ == "__main__":
    sys.exit(main())
