"""How the cost of scheduling grows with the number of pods: a table, bars for the terminal, and a plot as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, floor, log10
from typing import Protocol
from xml.sax.saxutils import escape

BAR = 40  # columns of the longest bar
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 460, 70, 40, 180, 50
COLOURS = {"ours": "#1565c0", "Go": "#8d6e63"}


class Point(Protocol):
    """What is needed of a measurement."""

    @property
    def name(self) -> str: ...
    @property
    def pods(self) -> int: ...
    @property
    def again(self) -> float: ...
    @property
    def go(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Family:
    """Workloads of one kind that differ in the number of pods, fewest first."""

    name: str
    points: Sequence[Point]


def families(found: Sequence[Point]) -> list[Family]:
    """The kinds of workload that were measured at several sizes."""
    ordered = sorted(found, key=lambda one: (_kind(one), one.pods))
    grouped = [Family(kind, list(points)) for kind, points in groupby(ordered, _kind)]
    return [family for family in grouped if len(family.points) > 1]


def _kind(one: Point) -> str:
    parts = [part for part in one.name.split("-") if part != str(one.pods)]
    return "-".join(parts)


def growth_table(found: Sequence[Point]) -> Iterator[str]:
    """Microseconds of CPU for one pod, by the number of pods; the bars have one logarithmic scale."""
    all_of = [cost for family in families(found) for one in family.points for cost in _costs(one)]
    if not all_of:
        return
    low = floor(log10(min(all_of)))
    step = BAR / max(log10(max(all_of)) - low, 1)
    for family in families(found):
        yield ""
        yield f"{family.name}: microseconds for one pod (bars: logarithmic, from {10**low:g})"
        yield f"{'pods':>8}{'ours':>10}{'Go':>10}{'ratio':>8}"
        for one in family.points:
            mine, theirs = _costs(one)
            bars = [round((log10(cost) - low) * step) for cost in (mine, theirs)]
            yield f"{one.pods:8}{mine:10.1f}{theirs:10.1f}{theirs / mine:8.1f}  ours {'█' * bars[0]}"
            yield f"{'':36}  Go   {'░' * bars[1]}"
        first, last = _costs(family.points[0]), _costs(family.points[-1])
        yield (
            f"from {family.points[0].pods} to {family.points[-1].pods} pods the cost of one grows "
            f"{last[0] / first[0]:.2f} times, with Go {last[1] / first[1]:.2f} times"
        )


def _costs(one: Point) -> tuple[float, float]:
    return one.again / one.pods * 1e6, one.go / one.pods * 1e6


def svg(found: Sequence[Point]) -> str:
    """CPU seconds of a simulation over its pods, both axes logarithmic; a line for each kind of workload and scheduler."""
    shown = families(found)
    pods = [one.pods for family in shown for one in family.points] or [1, 10]
    seconds = [value for family in shown for one in family.points for value in (one.again, one.go)] or [0.1, 1.0]
    across = _Axis(min(pods), max(pods), LEFT, WIDTH - RIGHT)
    up = _Axis(min(seconds), max(seconds), HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="15">CPU seconds of one simulation, by number of pods</text>',
    ]
    for tick in across.ticks():
        x = across.at(tick)
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tick:,.0f}</text>')
    for tick in up.ticks():
        y = up.at(tick)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    dashes = ("", "6 3", "2 3", "8 3 2 3", "1 5", "10 5")
    line = 0
    for number, family in enumerate(shown):
        dash = dashes[number % len(dashes)]
        for side, colour in COLOURS.items():
            values = [(one.pods, one.again if side == "ours" else one.go) for one in family.points]
            places = " ".join(f"{across.at(count):.1f},{up.at(value):.1f}" for count, value in values)
            style = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}" fill="none"'
            parts.append(f'<polyline points="{places}" {style}/>')
            y = TOP + 10 + 18 * line
            parts.append(f'<line x1="{WIDTH - RIGHT + 12}" y1="{y}" x2="{WIDTH - RIGHT + 40}" y2="{y}" {style}/>')
            parts.append(f'<text x="{WIDTH - RIGHT + 46}" y="{y + 4}">{escape(family.name)}, {side}</text>')
            line += 1
    return "\n".join([*parts, "</svg>", ""])


class _Axis:
    """A logarithmic axis from one place of the picture to another, out to whole powers of ten."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self._low, self._high = floor(log10(low)), ceil(log10(high))
        self._high = max(self._high, self._low + 1)
        self._start, self._end = start, end

    def at(self, value: float) -> float:
        """Where a value lies."""
        return self._start + (log10(value) - self._low) / (self._high - self._low) * (self._end - self._start)

    def ticks(self) -> list[float]:
        """The powers of ten."""
        return [10.0**power for power in range(self._low, self._high + 1)]
