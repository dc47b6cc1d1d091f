"""Golden vectors: a seeded sample of questions with the real code's answers, for machines without Go.

One folder per release: ``OP.jsonl.gz`` (lines ``{op, input, answer | panic | fatal}``), ``data.json.gz`` (SKU lists and prices that the
answers rest on), ``catalogs.json.gz`` (instance types that `schedule` cases name) and ``about.json`` (what made them, and when).
"""

from __future__ import annotations

import datetime
import gzip
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.conformance.build import Oracle
from tests.conformance.cases import ANSWERED, draw_cases
from tests.conformance.material import Material, write_gzip
from tests.conformance.processes import Answerer
from tests.conformance.run import asked_of, with_variants

__all__ = ["COUNTS", "GOLDEN", "REGRESSIONS", "UNRECORDED", "vectors", "write_golden"]

Json = dict[str, Any]

GOLDEN = Path(__file__).resolve().parent / "golden"
REGRESSIONS = Path(__file__).resolve().parent / "regressions"
SEED = 20260101

#: how many of each op, so that all releases together stay below 3.5 MB and are checked in seconds
COUNTS: Mapping[str, int] = {
    "requirements": 250,
    "validate_nodepool": 300,
    "update": 140,
    "instance_types": 24,
    "launch": 60,
    "labels": 150,
    "schedule": 40,
    "disrupt": 24,
    "lifetimes": 24,
    "azure_drift": 40,
    "static": 40,
}


#: ops without vectors of these releases: the sources of 1.5.5 were not at hand when `update` came, and no module proxy has them.
#: With them: `make golden OPS=update RELEASES=1.5.5`
UNRECORDED: Mapping[str, frozenset[str]] = {
    "update": frozenset({"1.5.5"}),
}


def vectors(path: Path) -> Iterator[Json]:
    """The lines of a vector file, plain or gzipped."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        for line in file:
            yield json.loads(line)


def write_golden(oracles: Sequence[Oracle], only: Sequence[str] = ANSWERED) -> None:
    """Writes the folders of these oracles' releases anew, or only the vectors of some ops in them."""
    for oracle in oracles:
        material = Material.of(oracle.path)
        ops = asked_of(material.release, only)
        folder = GOLDEN / f"v{material.release}"
        folder.mkdir(parents=True, exist_ok=True)
        write_gzip(folder / "data.json.gz", json.dumps(material.data))
        write_gzip(folder / "catalogs.json.gz", json.dumps(material.catalogs))
        with Answerer([str(oracle.path)]) as asked:
            asked.prepare(material.catalog_requests())
            for op in ops:
                requests = draw_cases(op, COUNTS[op], SEED, material)
                replies = asked.ask([with_variants(request) for request in requests]).replies
                lines = [_line(request, reply) for request, reply in zip(requests, replies, strict=True)]
                write_gzip(folder / f"{op}.jsonl.gz", "".join(lines))
        about = {
            "release": material.release,
            "core": material.core,
            "go": subprocess.run(["go", "version"], capture_output=True, text=True, check=True).stdout.strip(),
            "oracle": oracle.path.name,
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "seed": SEED,
            "cases": {**_counts(folder), **{op: COUNTS[op] for op in ops}},
        }
        (folder / "about.json").write_text(json.dumps(about, indent=2) + "\n")
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{folder.name}: {', '.join(f'{COUNTS[op]} {op}' for op in ops)}; {size / 1000:.0f} kB")


def _counts(folder: Path) -> dict[str, int]:
    """How many vectors of each op there are already."""
    about = folder / "about.json"
    return dict(json.loads(about.read_text())["cases"]) if about.exists() else {}


def _line(request: Json, reply: Json) -> str:
    put = {"op": request["op"], "input": {key: value for key, value in request.items() if key != "op"}, **reply}
    return json.dumps(put, ensure_ascii=False, separators=(",", ":")) + "\n"
