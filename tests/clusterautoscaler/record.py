"""Ask the real autoscaler, and keep its answers: `python -m tests.clusterautoscaler.record ORACLE`; README.md has the form of both."""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.clusterautoscaler.witness import answer, comparable
from tests.clusterautoscaler.witness_cases import drawn_cases

__all__ = ["RECORDED", "recorded_cases"]

RECORDED = Path(__file__).with_name("recorded.jsonl.gz")


def recorded_cases() -> list[Mapping[str, Any]]:
    """Return the recorded cases, each with all answers that were seen."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines][1:]


def _answers(oracle: str, cases: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """Return what an oracle answers to each case."""
    text = "".join(f"{json.dumps(case)}\n" for case in cases)
    done = subprocess.run([oracle], input=text, capture_output=True, text=True, encoding="utf-8", check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def _keep(version: str, rows: Sequence[Mapping[str, Any]]) -> None:
    lines = [{"autoscaler": version, "cases": len(rows)}, *rows]
    text = "".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines)
    RECORDED.write_bytes(gzip.compress(text.encode(), mtime=0))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("oracle", help="a program that answers cases")
    parser.add_argument("--version", default="", help="record the answers as those of this version and commit")
    parser.add_argument("--cases", type=int, default=40, help="cases of each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cases = list(drawn_cases(options.cases, options.seed))
    rows = [
        {"case": case, "answers": comparable(case, answers)}
        for case, answers in zip(cases, _answers(options.oracle, cases), strict=True)
    ]
    different = [row["case"]["name"] for row in rows if answer(row["case"]) not in row["answers"]]
    print(f"{len(rows)} cases, {len(different)} differ: {', '.join(different)}")
    if options.version:
        _keep(options.version, rows)
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
