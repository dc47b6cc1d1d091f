"""The times when Python looks for garbage while thousands of worlds come and go: seldom, and through a case's objects as soon as it is
over.

Python looks for cycles of dead objects after every 700 new ones, which is made for small programs: a third of the time of a run of
thousands of scenarios goes into looking at the same living objects again. A world is full of cycles, which go by such a look alone. Right
after its end it meets little but that world, and memory that is still near; after a million objects it takes four times as long for each,
and the next worlds have had to be made in memory that was never used.
"""

from __future__ import annotations

import gc
import sys

__all__ = ["SELDOM", "Importing", "NothingToFind", "after_world", "keep", "look_seldom"]

SELDOM = 1_000_000
"""Objects made and not yet gone before Python looks for cycles among them."""

_MODULES, _OBJECTS = 200, 20_000
"""The most modules and objects of a process that has just started; Python begins with 40 and 5,000. Counting objects takes time, too."""


class Importing:
    """A `with` for imports without looks for garbage: imported objects stay, and the looks take a tenth of the import.

    In a process that has just started they are left out of all later looks: also of the one at its end, which is a fifth of the time
    of a process that does nothing else. In any other they are looked through as usual, since earlier objects might become garbage.
    """

    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        self._just_started = len(sys.modules) < _MODULES and len(gc.get_objects()) < _OBJECTS
        gc.disable()

    def __exit__(self, *error: object) -> None:
        if self._just_started:
            gc.freeze()
        if self._enabled:
            gc.enable()


class NothingToFind:
    """A `with` for time that passes in one world, without looks for garbage.

    A world that grows keeps nearly all of its objects, and those of a turn of the disruption controller are freed without a look
    (`tests/disruption/test_freed.py`): in a week of 1,000 nodes a twentieth of the time goes into looks that find a few dozen objects.
    """

    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *error: object) -> None:
        if self._enabled:
            gc.enable()


def look_seldom() -> None:
    """Let a whole process look seldom. A larger threshold, or zero, stays."""
    first, *others = gc.get_threshold()
    if 0 < first < SELDOM:
        gc.set_threshold(SELDOM, *others)


def keep() -> None:
    """Leave the present objects out of all later looks: they live until the end."""
    gc.freeze()


def after_world() -> None:
    """Leave the present objects out of all later looks: they live until the end."""
    if gc.isenabled():
        gc.collect(0)
