"""Frames of a film on a terminal: nodes with their bars and prices, and below them what happened last. Needs rich."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.reports.film import Bar, Frame, bar_text, frame_title, frames
from harness.trace import Trace

__all__ = ["play", "rendered"]

_COLUMNS = (("cpu", "cpu"), ("memory", "memory"), ("nvidia.com/gpu", "GPU"))
_LONGEST = 1.0
"""Seconds that one frame stays at most."""
_ROWS = 30


def play(trace: Trace, wait: Callable[[float], object], *, seconds: float, console: Any = None) -> None:
    """Shows all frames in about so many seconds, longer pauses where more virtual time passes. Raises ImportError without rich."""
    from rich.live import Live

    film = list(frames(trace))
    total = film[-1].t if film else 0.0
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for number, frame in enumerate(film):
            live.update(rendered(frame), refresh=True)
            following = film[number + 1].t if number + 1 < len(film) else frame.t
            share = (following - frame.t) / total if total else 0.0
            wait(min(_LONGEST, 0.5 * seconds * share + 0.5 * seconds / len(film)))


def rendered(frame: Frame) -> Any:
    """A frame as rich shows it."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    gpus = any("nvidia.com/gpu" in bar.filled for bar in frame.bars)
    columns = [one for one in _COLUMNS if gpus or one[0] != "nvidia.com/gpu"]
    table = Table(box=None, pad_edge=False, expand=False)
    for title in ("node", "", *(label for _, label in columns), "pods", "USD/h", "size"):
        table.add_column(title, no_wrap=True, justify="right" if title in ("pods", "USD/h") else "left")
    for bar in frame.bars[:_ROWS]:
        cells = [_share(bar, name) for name, _ in columns]
        price = f"{bar.price:.4f}" if bar.price is not None else ""
        table.add_row(bar.name, _state(bar), *cells, str(bar.pods or ""), price, bar.kind)
    parts: list[Any] = [Text(frame_title(frame), style="bold"), table]
    if len(frame.bars) > _ROWS:
        parts.append(Text(f"… and {len(frame.bars) - _ROWS} more"))
    parts.append(Text(""))
    for one in frame.recent:
        line = f"{one.t:10,.1f} s  {'! ' if one.bad else '  '}{one.text}"
        parts.append(Text(line, style="red" if one.bad else "dim", no_wrap=True, overflow="ellipsis"))
    return Group(*parts)


def _share(bar: Bar, name: str) -> Any:
    from rich.text import Text

    if name not in bar.filled:
        return Text("")
    share = bar.filled[name]
    return Text(bar_text(share, 10), style="green" if share < 0.7 else "yellow" if share < 0.95 else "magenta")


def _state(bar: Bar) -> Any:
    from rich.text import Text

    styles = {"ready": "green", "deleting": "yellow", "unready": "cyan", "created": "cyan"}
    return Text(bar.state, style=styles.get(bar.state, "dim"))
