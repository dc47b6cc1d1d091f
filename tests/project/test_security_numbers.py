"""The bounds that docs/how-to/security.md names are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fakeazure.commands import keeping
from fakeazure.snapshots import files as snapshots
from harness import limits
from harness.clusters import cel_engine
from harness.reading import checkout, documents, sources, yaml_tree

ROOT = Path(__file__).parents[2]
PAGE = re.sub(r"\s+", " ", (ROOT / "docs" / "how-to" / "security.md").read_text(encoding="utf-8"))
SHARE = (ROOT / "playground" / "src" / "share.js").read_text(encoding="utf-8")
LIMITS = [limit for limit in vars(limits).values() if isinstance(limit, limits.Limit)]


def of_share(name: str) -> int:
    """A limit of the playground's links."""
    found = re.search(rf"\b{name}: ([\d *]+)", SHARE)
    assert found is not None
    first, *more = map(int, found[1].split("*"))
    for factor in more:
        first *= factor
    return first


@pytest.mark.parametrize(
    ("sentence", "number"),
    [
        (f"A file has at most {documents.MAX_BYTES >> 30} GiB", documents.MAX_BYTES == 1 << 30),
        (f"a header {documents.MAX_HEADER >> 20} MiB", documents.MAX_HEADER == 4 << 20),
        (f"YAML {yaml_tree.MAX_DEPTH} levels and {yaml_tree.MAX_VALUES:,} values of aliases", True),
        (f"a pattern of files looks at {sources.MAX_ENTRIES:,} entries", checkout._MOST == sources.MAX_ENTRIES),
        (f"texts or lists of more than {cel_engine._MEMORY >> 20} MiB", True),
        (f"is unpacked than {snapshots.UNPACKED >> 20} MiB", True),
        (f"it is nested at most {snapshots.NESTING} deep", True),
        (f'("fakeazure snapshot", {snapshots.VERSION})', True),
        (f"It holds {of_share('fragment') >> 10} KiB at most", True),
        (f"{of_share('unpacked') >> 20} MiB when it is unpacked", True),
        ("after each minute in which nothing changed", keeping.QUIET == 60),
        ("every ten minutes where something always does", keeping.LONGEST == 600),
        *((f"| `{limit.name}` | {limit.usual:,} ", True) for limit in LIMITS),
    ],
)
def test_a_bound_of_the_page_is_that_of_the_code(sentence: str, number: bool) -> None:
    assert number
    assert sentence in PAGE


def test_every_limit_that_the_environment_raises_is_in_the_table() -> None:
    table = PAGE.partition("| name | the most, by itself |")[2].partition("```")[0]
    assert re.findall(r"\| `([\w-]+)` \|", table) == [limit.name for limit in LIMITS]
