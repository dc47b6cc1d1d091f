"""How many examples a property gets: a sample in `make test`, all of them by `make properties`."""

from __future__ import annotations

import os

TIMES = int(os.environ.get("EXAMPLES", "0"))
"""How often the full number is taken; 0: the sample."""


def examples(sample: int, full: int) -> int:
    """Return the sample's number, or as many times the full number as ``EXAMPLES`` says."""
    return TIMES * full or sample
