"""`python -m tests.real.figures JUNIT...`: the figures of comparisons with the real controller, from the reports of pytest (`--junitxml`).

With `--write FILE` the table is put between `<!-- agreement -->` and `<!-- /agreement -->` of a page.
"""

from __future__ import annotations

import argparse
import ast
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness.scenario.comparing.comparison import Comparison, Result
from harness.scenario.language.files import load
from tests.real.pages import replaced

ROOT = Path(__file__).parents[2]


def comparisons(paths: Iterable[Path]) -> Iterator[Comparison]:
    """What the reports say."""
    for path in paths:
        for each in ET.parse(path).iterfind(".//property[@name='karpenter']"):
            yield Comparison.from_json(ast.literal_eval(each.attrib["value"]))


def rows_of_nodes(folder: Path) -> dict[str, int]:
    """By release: rows of label tables in a folder of scenarios that say something about a Node."""
    found: Counter[str] = Counter()
    for path in sorted(folder.glob("*.yaml")):
        for case in (case for scenario in load(path) for case in scenario.cases):
            for entry in case.then:
                table = entry.expectation.labels
                if table is not None and case.given.karpenter:
                    found[case.given.karpenter] += sum(row.written is not None for row in table.are.values())
    return dict(found)


def table(found: Sequence[Comparison], rows: dict[str, int]) -> Iterator[str]:
    """One line for each release and mode, and one for all."""
    yield "| release | mode | compared | agree | facts that are the same | rows of label tables | needs virtual time | not applicable |"
    yield "|---|---|---|---|---|---|---|---|"
    keys = sorted(
        {(each.release, each.mode) for each in found if each.result in (Result.AGREE, Result.DIFFER)},
        key=lambda key: ([-int(part) for part in key[0].split(".") if part.isdigit()], key[1]),
    )
    for release, mode in keys:
        yield line(release, mode, [each for each in found if (each.release, each.mode) == (release, mode)])
    yield line("all", "", found)
    shown = {release: sum(each.rows for each in found if each.release == release) for release in rows}
    yield ""
    said = (f"{shown[release]} of {count} in {release}" for release, count in sorted(rows.items()) if shown[release])
    yield f"Rows of label tables in `scenarios/labels` about a Node that a real one shows the same: {', '.join(said) or 'none ran'}."


def line(release: str, mode: str, found: Sequence[Comparison]) -> str:
    """One line of the table."""
    count = Counter(each.result for each in found)
    compared = count[Result.AGREE] + count[Result.DIFFER]
    share = f"{count[Result.AGREE]} ({100 * count[Result.AGREE] / compared:.1f} %)" if compared else "0"
    facts, rows = sum(each.facts for each in found), sum(each.rows for each in found)
    cells = release, mode, compared, share, facts, rows, count[Result.VIRTUAL], count[Result.NOT_APPLICABLE]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reports", nargs="+", type=Path, metavar="JUNIT")
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()
    lines = list(table(list(comparisons(options.reports)), rows_of_nodes(ROOT / "scenarios" / "labels")))
    print(*lines, sep="\n")
    if options.write is not None:
        options.write.write_text(replaced(options.write.read_text(), "agreement", lines))


if __name__ == "__main__":
    main()
