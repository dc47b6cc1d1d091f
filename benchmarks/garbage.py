"""How often a benchmark looks for garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from harness.garbage import SELDOM

__all__ = ["garbage_seldom"]


@contextmanager
def garbage_seldom() -> Iterator[None]:
    """As the commands of `harness` have it (`harness/__main__.py`)."""
    before = gc.get_threshold()
    gc.set_threshold(SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
