"""Which tests run a line: recorded once by coverage, a context for every test."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path


class Reach:
    """The tests that run each line of each file, the most specific first: those that run the fewest lines in all."""

    def __init__(self, lines: dict[str, dict[int, list[str]]]) -> None:
        self._lines = lines

    @classmethod
    def read(cls, data: Path, root: Path) -> Reach:
        """Reads coverage's database of a run in `root`. Tests that failed there are told by `failed.json` beside it."""
        from coverage.numbits import numbits_to_nums  # an extra of `make mutants`

        failed = set(json.loads((data.parent / "failed.json").read_text()))
        database = sqlite3.connect(data)
        names = dict(database.execute("select id, context from context"))
        files = {key: str(Path(path).relative_to(root)) for key, path in database.execute("select id, path from file")}
        weight: Counter[str] = Counter()
        rows: list[tuple[str, str, list[int]]] = []
        for file, context, bits in database.execute("select file_id, context_id, numbits from line_bits"):
            name = names[context]
            if name and name not in failed:
                rows.append((files[file], name, numbits_to_nums(bits)))
                weight[name] += len(rows[-1][2])
        database.close()
        lines: dict[str, dict[int, list[str]]] = {}
        for path, name, numbers in sorted(rows, key=lambda row: (weight[row[1]], row[1])):
            of_file = lines.setdefault(path, {})
            for number in numbers:
                of_file.setdefault(number, []).append(name)
        return cls(lines)

    def tests(self, path: str, line: int) -> list[str]:
        """Node ids of the tests that run a line."""
        return self._lines.get(path, {}).get(line, [])
