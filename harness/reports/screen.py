"""Frames of a film on a terminal: nodes with their bars and prices, and below them what happened last. Needs rich."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from harness.reports.film import Bar, Frame, bar_text, first_bars, frame_title, frames, in_letters
from harness.trace import Trace
from harness.wording import duration_text
from plainlines import printable

__all__ = ["play", "rendered"]

_COLUMNS = (("cpu", "cpu"), ("memory", "memory"), ("nvidia.com/gpu", "GPU"))
_LONGEST = 1.0
"""Seconds that one frame stays at most."""
_PER_SECOND = 15
"""Frames that anybody can see; a world in which more happens leaves some out."""
_NARROW = 110
"""Columns below which bars are short and a size goes without its place."""
_FEW_LINES = 3
"""Lines of the story that stay however low the terminal is."""


def play(trace: Trace, wait: Callable[[float], object], *, seconds: float, console: Any = None) -> None:
    """Shows all frames in about so many seconds, longer pauses where more virtual time passes. Raises ImportError without rich."""
    from rich.console import Console
    from rich.live import Live

    console = console or Console()
    film = _visible(list(frames(trace)), int(seconds * _PER_SECOND))
    total = film[-1].t if film else 0.0
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for number, frame in enumerate(film):
            live.update(rendered(frame, *console.size, encoding=console.encoding), refresh=True)
            following = film[number + 1].t if number + 1 < len(film) else frame.t
            share = (following - frame.t) / total if total else 0.0
            wait(min(_LONGEST, 0.5 * seconds * share + 0.5 * seconds / len(film)))


def _visible(film: Sequence[Frame], most: int) -> Sequence[Frame]:
    """Evenly chosen frames, the last among them."""
    if len(film) <= max(most, 1):
        return film
    step = len(film) / max(most, 1)
    return [film[min(len(film), round(step * (number + 1))) - 1] for number in range(max(most, 1))]


def rendered(frame: Frame, width: int = 150, height: int = 40, *, encoding: str = "utf-8") -> Any:
    """A frame as rich shows it on a terminal of so many columns and lines."""
    from rich.console import Group
    from rich.text import Text

    recent = frame.recent[-max(_FEW_LINES, height - len(frame.bars) - 4) :]
    bars, more = first_bars(frame.bars, max(1, height - len(recent) - 4))
    parts: list[Any] = [Text(printable(frame_title(frame)), style="bold", no_wrap=True, overflow="ellipsis")]
    parts.append(_table(bars, width, encoding))
    if more:
        parts.append(_line(more, "", encoding))
    parts.append(Text(""))
    for entry in recent:
        line = f"{duration_text(entry.t):>10}  {'! ' if entry.bad else '  '}{entry.text}"
        parts.append(_line(line, "red" if entry.bad else "dim", encoding))
    return Group(*parts)


def _line(text: str, style: str, encoding: str) -> Any:
    from rich.text import Text

    overflow: Any = "ellipsis" if in_letters("…", encoding) == "…" else "crop"
    return Text(in_letters(printable(text), encoding), style=style, no_wrap=True, overflow=overflow)


def _table(bars: Sequence[Bar], width: int, encoding: str) -> Any:
    from rich.table import Table
    from rich.text import Text

    narrow = width < _NARROW
    gpus = any("nvidia.com/gpu" in bar.filled for bar in bars)
    columns = [column for column in _COLUMNS if gpus or column[0] != "nvidia.com/gpu"]
    table = Table(box=None, pad_edge=False, expand=False)
    for title in ("node", "", *(label for _, label in columns), "pods", "USD/h", "size"):
        right = title in ("pods", "USD/h")
        table.add_column(title, no_wrap=True, justify="right" if right else "left", overflow="crop")
    for bar in bars:
        cells = [_share(bar, name, 4 if narrow else 10, encoding) for name, _ in columns]
        price = f"{bar.price:.4f}" if bar.price is not None else ""
        table.add_row(
            *_named(bar, narrow), *cells, str(bar.pods or ""), price, Text(printable(" ".join(_kind(bar, narrow))))
        )
    return table


def _named(bar: Bar, narrow: bool) -> Iterator[Any]:
    from rich.text import Text

    yield Text(printable(bar.name.removeprefix("aks-") if narrow else bar.name))
    yield _state(bar)


def _kind(bar: Bar, narrow: bool) -> Iterator[str]:
    """Yield the words that a narrow terminal has room for: the size without the word that all begin with, and spot,
    which is worth knowing.
    """
    if not narrow:
        yield bar.kind
        return
    yield bar.size.removeprefix("Standard_")
    if bar.capacity_type == "spot":
        yield "spot"


def _share(bar: Bar, name: str, width: int, encoding: str) -> Any:
    from rich.text import Text

    if name not in bar.filled:
        return Text("")
    share = bar.filled[name]
    style = "green" if share < 0.7 else "yellow" if share < 0.95 else "magenta"
    return Text(in_letters(bar_text(share, width), encoding), style=style)


def _state(bar: Bar) -> Any:
    from rich.text import Text

    styles = {"ready": "green", "deleting": "yellow", "unready": "cyan", "created": "cyan"}
    return Text(printable(bar.state), style=styles.get(bar.state, "dim"))
