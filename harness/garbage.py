"""When Python looks for garbage where thousands of worlds come and go: seldom, and in what a case leaves as soon as it is over.

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
"""Objects made and not yet gone before cycles among them are looked for."""

_MODULES, _OBJECTS = 200, 20_000
"""What there is at most in a process that has just started; Python itself begins with 40 and 5,000. Counting objects takes time, too."""


class Importing:
    """A `with` for imports: nobody looks for garbage meanwhile, since what is imported stays, and that takes a tenth of the import.

    In a process that has just started nobody ever looks through it afterwards: not when the process ends, which is a fifth of the time
    of one that does nothing else. In any other it is looked through as usual, since what was there before might become garbage.
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
    """A `with` for time that passes in one world: nobody looks for garbage meanwhile.

    A world that grows keeps nearly all that it makes, and what a turn of the disruption controller makes is freed without a look
    (`tests/disruption/test_freed.py`): in a week of 1,000 nodes a twentieth of the time goes into looks that find a few dozen objects.
    """

    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *error: object) -> None:
        if self._enabled:
            gc.enable()


def look_seldom() -> None:
    """For whole processes. Whoever has set a larger number, or zero, keeps it."""
    first, *others = gc.get_threshold()
    if 0 < first < SELDOM:
        gc.set_threshold(SELDOM, *others)


def keep() -> None:
    """What is there lives until the end: nobody needs to look through it."""
    gc.freeze()


def after_world() -> None:
    """The world of a case, a seed or a cell of a table is done with: frees it, unless somebody still holds it or has switched this off.

    Looks at what was made since the last time only.
    """
    if gc.isenabled():
        gc.collect(0)
