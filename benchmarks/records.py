"""Measure a record: defined at an import, made, pickled, compared; ours, the standard library's, and msgspec's if it is installed.

`python -m benchmarks.records` prints CPU. Each kind defines the same 110 classes, which is what `harness run` makes of this project's.
"""

from __future__ import annotations

import importlib.util
import pickle
import sys
from time import process_time
from types import ModuleType

RECORDS = 110
FIELDS = ("name: str", "count: int = 0", "price: float = 0.0", "zone: str = ''", "labels: tuple[str, ...] = ()")
KINDS = {
    "lazyrecords": ("from lazyrecords import dataclass", "@dataclass(frozen=True, slots=True)\nclass {name}:"),
    "dataclasses": ("from dataclasses import dataclass", "@dataclass(frozen=True, slots=True)\nclass {name}:"),
    "msgspec": ("from msgspec import Struct", "class {name}(Struct, frozen=True):"),
}


def text_of(kind: str) -> str:
    """Return the text of a module with the records."""
    first, head = KINDS[kind]
    classes = [
        "\n    ".join([head.format(name=f"Record{number}"), f"field{number}: int", *FIELDS]).replace(
            f"field{number}: int\n    name: str", f"name: str\n    field{number}: int = 1"
        )
        for number in range(RECORDS)
    ]
    return "\n".join([first, *classes])


def seconds(text: str, names: dict[str, object], times: int, turns: int = 5) -> float:
    """Return the least CPU of a statement, in seconds."""
    code = compile(f"for _ in range({times}): {text}", "<statement>", "exec")
    best = float("inf")
    for _ in range(turns):
        start = process_time()
        exec(code, names)
        best = min(best, process_time() - start)
    return best / times


def measured(kind: str) -> dict[str, float]:
    """Return the figures of a kind."""
    code = compile(text_of(kind), kind, "exec")
    exec(KINDS[kind][0], {})  # what the kind itself imports is not the records'
    name, best = "records_of_" + kind, float("inf")
    for _ in range(5):
        sys.modules[name] = module = ModuleType(name)
        names: dict[str, object] = vars(module)
        start = process_time()
        exec(code, names)
        best = min(best, process_time() - start)
    names.update(pickle=pickle)
    exec("one = Record7('a', price=2.0); other = Record7('a', price=2.0); raw = pickle.dumps(one, -1)", names)
    figures = {"define, ms": best * 1e3}
    for what, text in {
        "make, ns": "Record7('a', price=2.0)",
        "compare, ns": "one == other",
        "hash, ns": "hash(one)",
        "pickle, ns": "pickle.dumps(one, -1)",
        "unpickle, ns": "pickle.loads(raw)",
    }.items():
        figures[what] = seconds(text, names, 20000) * 1e9
    return figures


def main() -> None:
    """Print the table."""
    kinds = [kind for kind in KINDS if kind != "msgspec" or importlib.util.find_spec("msgspec")]
    table = {kind: measured(kind) for kind in kinds}
    print(f"Python {sys.version.split()[0]}, {RECORDS} records of {len(FIELDS) + 1} fields")
    for what in table[kinds[0]]:
        print(f"{what:12}", *(f"{kind} {table[kind][what]:8.1f}" for kind in kinds))


if __name__ == "__main__":
    main()
