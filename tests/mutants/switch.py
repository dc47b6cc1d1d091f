"""Which change is on in this process, and the changes whose place has been run: all changes of a run stand in the code at once."""

from __future__ import annotations

import os
from pathlib import Path

ON = "MUTANTS_ON"
"""Environment variable: the number of the change that is on, also in processes that a test starts."""
NOTED = "MUTANTS_NOTED"
"""Environment variable: the file in which processes that a test starts note what they run."""


class Switch:
    """Asked at each changed place whether the code runs as it was written."""

    __slots__ = ("_owner", "on", "run")

    def __init__(self) -> None:
        self._owner = os.getpid() if NOTED not in os.environ else None
        self.on = int(os.environ.get(ON, "-1"))
        self.run: set[int] = set()

    def own(self) -> None:
        """What runs in this process is asked for by `run`; only the processes that it starts note it in the file."""
        self._owner = os.getpid()
        self.run.clear()

    def original(self, number: int) -> bool:
        """False where the change of that number is on."""
        if number not in self.run:
            self.run.add(number)
            if NOTED in os.environ and os.getpid() != self._owner:
                with Path(os.environ[NOTED]).open("a", encoding="utf-8") as noted:
                    noted.write(f"{number}\n")
        return number != self.on


SWITCH = Switch()
original = SWITCH.original
