"""Parts of pages that commands write: what stands between `<!-- NAME -->` and `<!-- /NAME -->`."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["replaced"]


def replaced(page: str, name: str, lines: Sequence[str]) -> str:
    """The page with these lines in the part of this name. Raises ValueError where it has no such part."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page has no part <!-- {name} --> … <!-- /{name} -->")
    return before + begin + "\n".join(lines) + f"\n{end}" + after
