"""Parts of pages that commands write: what stands between `<!-- NAME -->` and `<!-- /NAME -->`."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["part", "replaced"]


def part(page: str, name: str) -> list[str]:
    """The lines in the part of this name. Raises ValueError where the page has no such part."""
    return _split(page, name)[1].splitlines()


def replaced(page: str, name: str, lines: Sequence[str]) -> str:
    """The page with these lines in the part of this name. Raises ValueError where it has no such part."""
    before, _, after = _split(page, name)
    return before + "\n".join(lines) + "\n" + after


def _split(page: str, name: str) -> tuple[str, str, str]:
    """What stands before the part, with its first mark; the part; what comes after it, with its last."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, found, rest = page.partition(begin)
    inside, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page has no part <!-- {name} --> … <!-- /{name} -->")
    return before + begin, inside, end + after
