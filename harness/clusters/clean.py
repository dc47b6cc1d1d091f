"""Removes the leftovers of clusters that killed runs left behind: `python -m harness.clusters.clean`."""

from __future__ import annotations

import sys

from harness.clusters.leases import remove_leftovers
from plainlines import joined, print_lines

__all__ = ["main"]


def main() -> int:
    """Remove the leftovers of killed runs and print them. Return the exit code."""
    removed = remove_leftovers()
    print_lines(joined(f"removed {leftover}" for leftover in removed) or "nothing was left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
