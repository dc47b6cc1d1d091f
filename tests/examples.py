"""The number of examples of a property: a sample in `make test`, all of them by `make properties`."""

from __future__ import annotations

import os

TIMES = int(os.environ.get("EXAMPLES", "0"))
"""The factor of the full number; 0: the sample."""


def examples(sample: int, full: int) -> int:
    """Return the sample's number, or as many times the full number as ``EXAMPLES`` says."""
    return TIMES * full or sample
