"""Words that every part of the harness uses: counts, times, the nearest known names for a mistake, long texts cut."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

__all__ = ["counted", "did_you_mean", "duration_text", "first_few", "listed", "pretty_slice", "shortened"]


def counted(number: int, noun: str) -> str:
    """`1 pod`, `2 pods`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_TENTHS = (("d", 864_000), ("h", 36_000), ("m", 600))


def duration_text(seconds: float) -> str:
    """`46.2s`, `3m20s`, `1h1.3s`, `2d4h`: virtual seconds to a tenth, as a scenario file may write them.

    Every text writes moments and lengths of time so; `picture/src/text.js` does it for the pages.
    """
    if seconds < 0:
        return f"-{duration_text(-seconds)}"
    left = math.floor(seconds * 10 + 0.5)
    text = ""
    for unit, length in _TENTHS:
        count, left = divmod(left, length)
        text += f"{count}{unit}" if count else ""
    whole, tenth = divmod(left, 10)
    return text + (f"{whole}.{tenth}s" if tenth else f"{whole}s" if whole or not text else "")


def listed(lines: Sequence[str], most: int, noun: str) -> list[str]:
    """Return the first lines, at most `most`, the last of which says how many there are beside them."""
    if len(lines) <= most:
        return list(lines)
    return [*lines[: most - 1], f"… and {len(lines) - most + 1} more {noun}"]


def first_few(names: Sequence[str], most: int, noun: str = "") -> str:
    """Return `a, b and 3 more`: the first `most`, and the number of the others; with a `noun`, `and 3 more kinds`."""
    left = len(names) - most
    named = f" {noun if left == 1 else f'{noun}s'}" if noun else ""
    return ", ".join(names[:most]) + (f" and {left} more{named}" if left > 0 else "")


def pretty_slice(items: Sequence[str], most: int) -> str:
    """`a, b and 3 other(s)`: a list as Karpenter prints it (core pkg/utils/pretty Slice, kaz pkg/utils PrettySlice)."""
    left = len(items) - most
    return ", ".join(items[:most]) + (f" and {left} other(s)" if left > 0 else "")


def did_you_mean(word: str, names_known: Iterable[str], *, limit: int = 12) -> str:
    """The hint for an unknown `word`: the closest known ones, or all of them when they are at most `limit`, or nothing."""
    from difflib import get_close_matches  # only a mistake needs it

    names = sorted(set(names_known))
    lowered: dict[str, str] = {name.lower(): name for name in names}
    close = get_close_matches(word.lower(), lowered, n=3, cutoff=0.6)
    if close:
        first = [f"'{lowered[name]}'" for name in close]
        return f"did you mean {' or '.join(first)}?"
    if names and len(names) <= limit:
        return f"one of {', '.join(names)}"
    return ""


def shortened(text: str, most: int) -> str:
    """The text; of a longer one its first `most` letters."""
    return text if len(text) <= most else f"{text[:most]}…"
