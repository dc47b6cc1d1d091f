"""`python -m tests.recorded`: the table of recorded machines, errors and runs; each fact with `--all`, into a page with `--write FILE`.

`--take FILE` first adds the machines of a file that `harness reality --facts` wrote on a user's cluster.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from plainlines import printable
from tests.real.pages import replaced
from tests.recorded.clusters import CLUSTERS, take
from tests.recorded.rows import Row, Verdict, all_rows


def table(rows: Sequence[Row]) -> Iterator[str]:
    """One line a field, one for all."""
    yield f"| fact | real objects | facts | {' | '.join(Verdict)} | most that is missing |"
    yield "|---|---|---|---|---|---|---|---|"
    for field in sorted({row.field for row in rows}):
        yield _line(f"`{field}`", [row for row in rows if row.field == field])
    yield _line("all", rows)
    unproved = Counter(row.why for row in rows if row.why)
    yield ""
    yield f"Not comparable: {'; '.join(f'{why} ({count})' for why, count in sorted(unproved.items()))}."


def _line(name: str, rows: Sequence[Row]) -> str:
    count = Counter(row.verdict for row in rows)
    compared = [row.off for row in rows if row.verdict is Verdict.NEAR]
    most = f"{100 * max(compared):.2f} %" if compared else ""
    objects = len({(row.source, row.object) for row in rows})
    cells = name, objects, len(rows), *(count[verdict] for verdict in Verdict), most
    return f"| {' | '.join(map(str, cells))} |"


def main(arguments: Sequence[str] | None = None, clusters: Path = CLUSTERS) -> None:
    """Print the table. `clusters`: the file that the machines of `--take` are added to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="each fact")
    parser.add_argument("--write", type=Path, metavar="FILE")
    parser.add_argument(
        "--take", type=Path, metavar="FILE", help="add the machines of a file of harness reality --facts"
    )
    options = parser.parse_args(arguments)
    if options.take is not None:
        try:
            print(f"new machines: {take(options.take, clusters)}")
        except ValueError as error:
            parser.exit(2, "".join(f"{printable(line)}\n" for line in str(error).split("\n")))
    rows = list(all_rows())
    if options.all:
        for row in rows:
            print(f"{row.verdict}: {row.object}: {row.field}: {row.recorded} here {row.ours} {row.why}".rstrip())
    lines = list(table(rows))
    print(*lines, sep="\n")
    if options.write is not None:
        options.write.write_text(
            replaced(options.write.read_text(encoding="utf-8"), "recorded", lines), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
