"""What becomes of a line of pods of which nothing but amounts decides: the same for all lines that read the same."""

from collections.abc import Mapping, Sequence

from harness.karpenter.scheduling.likeness.asking import Asking
from harness.karpenter.scheduling.likeness.filling import EqualFilling, Filling
from harness.karpenter.scheduling.likeness.line import Runs
from harness.karpenter.scheduling.nodes.room import Room
from harness.karpenter.scheduling.pods.shapes import PodShape
from lazyrecords import dataclass

__all__ = ["Course", "course_of"]


@dataclass(frozen=True, slots=True)
class Course:
    """Which pods of the line, from a place on and up to another one, go to which node that is not initialized (``early``), and the fits
    of those that no node takes, with their number (``overflow``). ``spans`` are the places of all that go to such nodes."""

    early: tuple[tuple[int, int, str], ...]
    overflow: tuple[tuple[int, int], ...]
    spans: tuple[tuple[int, int], ...]


def course_of(room: Room, runs: Runs, pods: Sequence[Asking], gone: int, settling: int) -> Course:
    """What becomes of these pods, who stand in line as ``runs`` says, without the nodes ``gone``; masks of nodes are by position.

    ``settling`` are those that take exempt pods only. The same as long as the room is: it is kept there.
    """
    key = runs, gone, settling
    found: Course | None = room.courses.get(key)
    if found is None:
        if len(room.courses) >= _MOST:
            room.courses.clear()
        shapes = {fit: shape for each in pods for fit, shape in each.shapes.items()}
        found = room.courses[key] = _run(room, runs, shapes, gone, settling)
    return found


_MOST = 4096


def _run(room: Room, runs: Runs, shapes: Mapping[int, PodShape], gone: int, settling: int) -> Course:
    kind = EqualFilling if len(shapes) == 1 else Filling
    filling: Filling | EqualFilling = kind(room, shapes, gone, settling)
    early: list[tuple[int, int, str]] = []
    overflow: list[tuple[int, int]] = []
    begin = 0
    for (fit, exempt), count in runs:
        at = begin
        for position, taken in filling.take(fit, exempt, count):
            if position >= room.initialized:
                early.append((at, at + taken, room.existing[position].state.name))
            at += taken
        begin += count
        if over := begin - at:
            if overflow and overflow[-1][0] == fit:
                over += overflow.pop()[1]
            overflow.append((fit, over))
    spans: list[tuple[int, int]] = []
    for first, last, _ in early:
        goes_on = spans and spans[-1][1] == first
        spans.append((spans.pop()[0] if goes_on else first, last))
    return Course(tuple(early), tuple(overflow), tuple(spans))
