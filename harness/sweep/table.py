"""The store of rows: a file that grows by lines while a sweep runs, and the table in Parquet, CSV or JSON lines at its
end.

A row has its key beside its values: a table knows which questions its rows answer.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atomicfiles.inputs import open_input, read_input
from harness.outputs import write_bytes
from harness.sweep.result import KEY, OUTCOME, Value

if TYPE_CHECKING:
    from harness.sweep.plan import Plan

__all__ = ["FORMATS", "Store", "TableError", "axes_of", "check_format", "read_table", "rows_of", "write_table"]

FORMATS = (".parquet", ".csv", ".jsonl")
"""The table's format is the end of the file's name."""

_NO_TEXTS: Mapping[str, Value] = {name: "" for name, kind in OUTCOME.items() if kind is str}
"""Columns of texts, empty: an earlier release did not write all of them."""


class TableError(Exception):
    """A file that cannot be written or read."""


class Store:
    """Rows by key in `FILE.part`, a line each, so that a sweep that was stopped goes on where it was."""

    def __init__(self, table: Path) -> None:
        self.path = table.with_name(f"{table.name}.part")
        self._file: Any = None

    def read(self) -> dict[str, dict[str, Value]]:
        """Return the stored rows. A last line that is not whole is forgotten. Raises TableError."""
        if not self.path.exists():
            return {}
        outcomes: dict[str, dict[str, Value]] = {}
        try:
            lines = read_input(self.path).decode().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise TableError(f"{self.path}: {error}") from error
        for number, line in enumerate(lines, 1):
            try:
                key, row = json.loads(line)
                row = {**_NO_TEXTS, **row}
                outcomes[key] = {name: row[name] for name in OUTCOME}
            except (ValueError, TypeError, KeyError) as error:
                if number < len(lines) or not line.startswith('["'):
                    raise TableError(
                        f"{self.path}:{number}: not a row of a sweep; remove the file to begin anew"
                    ) from error
        return outcomes

    def add(self, rows: Iterable[tuple[str, Mapping[str, Value]]]) -> None:
        """Keep rows durably: they survive if the process ends at once. Raises TableError."""
        try:
            if self._file is None:
                self._file = self.path.open("a", encoding="utf-8")
                if self._file.tell() and not read_input(self.path).endswith(b"\n"):
                    self._file.write("\n")
            for key, row in rows:
                self._file.write(json.dumps([key, row], ensure_ascii=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise TableError(f"{self.path}: {error.strerror}") from error

    def close(self, *, done: bool) -> None:
        """End the store; its file goes when the table is written."""
        if self._file is not None:
            self._file.close()
        if done:
            self.path.unlink(missing_ok=True)


def rows_of(plan: Plan, outcomes: Mapping[str, Mapping[str, Value]]) -> list[dict[str, Value]]:
    """Return the rows that are there, in the plan's order: the axes, then the outcome, then the key."""
    return [
        {**{axis: planned.axes.get(axis, "") for axis in plan.axes}, **outcomes[planned.key], KEY: planned.key}
        for planned in plan.planned
        if planned.key in outcomes
    ]


def check_format(path: Path) -> None:
    """Raise TableError where the table could not be written in the form that its name asks for."""
    if path.suffix not in FORMATS:
        raise TableError(f"--output {path}: a name that ends with {', '.join(FORMATS)} is expected")
    if path.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise TableError(
            "Parquet needs the package pyarrow: pip install 'karpenter-azure-harness[sweep]', or name a .csv"
        )


def write_table(path: Path, axes: Sequence[str], rows: Sequence[Mapping[str, Value]]) -> None:
    """Write the table atomically. Raises TableError."""
    columns = {**dict.fromkeys(axes, str), **OUTCOME, KEY: str}
    content = {".parquet": _parquet, ".csv": _csv, ".jsonl": _json_lines}[path.suffix](columns, rows)
    try:
        write_bytes(path, content)
    except OSError as error:
        raise TableError(f"{path}: {error.strerror or error}") from error


def _parquet(columns: Mapping[str, type], rows: Sequence[Mapping[str, Value]]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    types: dict[type, Any] = {
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        bool: pyarrow.bool_(),
        str: pyarrow.string(),
    }
    schema = pyarrow.schema([(name, types[kind]) for name, kind in columns.items()])
    buffer = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.Table.from_pylist([dict(row) for row in rows], schema=schema), buffer)
    return bytes(buffer.getvalue())


def _csv(columns: Mapping[str, type], rows: Sequence[Mapping[str, Value]]) -> bytes:
    text = StringIO(newline="")
    writer = csv.DictWriter(text, list(columns))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def _json_lines(columns: Mapping[str, type], rows: Sequence[Mapping[str, Value]]) -> bytes:
    lines = (json.dumps({name: row[name] for name in columns}, ensure_ascii=False) + "\n" for row in rows)
    return "".join(lines).encode("utf-8", "backslashreplace")


def read_table(path: Path) -> list[dict[str, Value]]:
    """Return the rows of a table that a sweep wrote. Raises TableError."""
    check_format(path)
    try:
        rows = {".parquet": _read_parquet, ".csv": _read_csv, ".jsonl": _read_json_lines}[path.suffix](path)
    except OSError as error:
        raise TableError(f"{path}: {error.strerror or error}") from error
    except (ValueError, TypeError, AttributeError, KeyError):
        rows = [{}]
    rows = [{**_NO_TEXTS, **row} for row in rows]
    if any(KEY not in row or any(name not in row for name in OUTCOME) for row in rows):
        raise TableError(f"{path}: not the table of a sweep")
    return rows


def axes_of(rows: Sequence[Mapping[str, Value]]) -> tuple[str, ...]:
    """Return the names of the axes of a table's rows."""
    return tuple(name for name in (rows[0] if rows else ()) if name not in OUTCOME and name != KEY)


def _read_parquet(path: Path) -> list[dict[str, Value]]:
    from pyarrow import parquet

    rows: list[dict[str, Value]] = parquet.read_table(path).to_pylist()
    return rows


def _read_csv(path: Path) -> list[dict[str, Value]]:
    with TextIOWrapper(open_input(path), encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if rows.fieldnames is not None and KEY not in rows.fieldnames:  # also where there is no row that could lack it
            raise ValueError(f"no column '{KEY}'")
        return [{name: _typed(name, text) for name, text in row.items()} for row in rows]


def _typed(name: str, text: str) -> Value:
    kind = OUTCOME.get(name, str)
    if kind is str:
        return text
    if text == "":
        return None
    return text == "True" if kind is bool else kind(text)


def _read_json_lines(path: Path) -> list[dict[str, Value]]:
    return [dict(json.loads(line)) for line in read_input(path).decode().splitlines()]
