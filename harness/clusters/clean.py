"""Removes what killed runs left of clusters: `python -m harness.clusters.clean`."""

from __future__ import annotations

import sys

from harness.clusters.leases import remove_leftovers
from plainlines import joined, print_lines

__all__ = ["main"]


def main() -> int:
    """Removes what killed runs left, and prints what that was. Returns the exit code."""
    removed = remove_leftovers()
    print_lines(joined(f"removed {what}" for what in removed) or "nothing was left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
