"""Recognising a runaway: the same loop again and again without progress."""

from __future__ import annotations

from collections.abc import Hashable

from harness.wording import duration_text
from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop of what may be a runaway.

    Loops with one `signature` are the same; `at` is in virtual seconds; `made` are the objects that this loop created;
    `fault` is the label key because of which the loop before did not help (None when unknown), `why` Karpenter's sentence.
    """

    signature: Hashable
    at: float
    made: tuple[str, ...]
    fault: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Runaway:
    """A runaway that was stopped, with its loops in order. `course`: one loop, in words."""

    subject: str
    loops: tuple[Loop, ...]
    course: str = ""

    @property
    def fault(self) -> str | None:
        """The label at fault, when the last loops agree on one."""
        faults = {loop.fault for loop in self.loops if loop.fault is not None}
        return faults.pop() if len(faults) == 1 else None

    def __str__(self) -> str:
        """Return its course, its loops, and the label at fault."""
        lines = [f"runaway: {self.subject} repeats, {len(self.loops)} loops and no end (times are virtual)"]
        if self.course:
            lines.append(f"  again and again: {self.course}; nothing ends it but a change of the objects or of Azure")
        lines += [f"  {line}" for line in self.told_loops()]
        if self.fault is not None:
            lines.append(f"  label at fault: {self.fault}")
        return "\n".join(lines)

    def told_loops(self) -> list[str]:
        """Return a line per loop; those that go like the loop before, but for the names of their objects, share one."""
        lines: list[str] = []
        printed = 0
        for number, loop in enumerate(self.loops):
            if number > 1 and self._pattern(number) == self._pattern(number - 1):
                continue
            lines += self._same(printed, number - 1)
            because = f" because {loop.why}" if loop.why else ""
            lines.append(
                f"loop {number + 1} at {duration_text(loop.at)}: created {', '.join(loop.made) or 'nothing'}{because}"
            )
            printed = number
        return [*lines, *self._same(printed, len(self.loops) - 1)]

    def _pattern(self, number: int) -> str:
        """Return why a loop came, without the names of the objects of the loop before it."""
        why = self.loops[number].why
        for name in self.loops[number - 1].made:
            why = why.replace(name, "")
        return why

    def _same(self, printed: int, last: int) -> list[str]:
        """Return the line about the loops after the printed one, up to the last that goes like it."""
        if last <= printed:
            return []
        made = ", ".join(self.loops[last].made) or "nothing"
        loops = f"loops {printed + 2} to {last + 1}" if last > printed + 1 else f"loop {last + 1}"
        return [f"{loops}: the same, the last at {duration_text(self.loops[last].at)} created {made}"]


class RunawayDetector:
    """Counts how often the same loop comes back for a subject. Stateless between worlds; one per engine. `course` as in Runaway."""

    __slots__ = ("_course", "_loops", "bound")

    def __init__(self, bound: int = 5, course: str = "") -> None:
        self.bound = bound
        self._course = course
        self._loops: dict[Hashable, list[Loop]] = {}

    def record(self, subject: str, loop: Loop) -> Runaway | None:
        """Add a loop; the runaway, once the same loop has come `bound` times in a row."""
        loops = self._loops.setdefault(subject, [])
        if loops and loops[-1].signature != loop.signature:
            loops.clear()
        loops.append(loop)
        if len(loops) < self.bound:
            return None
        self._loops[subject] = []
        return Runaway(subject, tuple(loops), self._course)

    def forget(self, subject: str) -> None:
        """Reset the count of a subject that made progress."""
        self._loops.pop(subject, None)
