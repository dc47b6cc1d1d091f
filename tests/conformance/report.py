"""What a run prints, and the files that it leaves about mismatches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import yaml

from tests.conformance.causes import short
from tests.conformance.run import Mismatch, OpResult
from tests.conformance.scenario import scenario_text
from tests.conformance.shrink import size

__all__ = ["HEADER", "cause_lines", "result_lines", "split_lines", "write_mismatch"]

HEADER = f"{'release':8} {'op':19} {'identical/total':>17} {'':8} {'ours/s':>9} {'oracle/s':>9}"


def split_lines(parts: Mapping[tuple[str, str], int]) -> list[str]:
    """How the cases are spread; `-` where a release does not answer an op."""
    releases = list(dict.fromkeys(release for release, _ in parts))
    ops = list(dict.fromkeys(op for _, op in parts))
    lines = [f"{'cases':8} " + " ".join(f"{op:>17}" for op in ops)]
    lines += [f"{release:8} " + " ".join(f"{parts.get((release, op), '-'):>17}" for op in ops) for release in releases]
    return lines


def result_lines(result: OpResult) -> list[str]:
    """One line for the op, more for the kinds of objects and for what is different on purpose."""
    share = 100 * result.identical / result.total if result.total else 100.0
    # never rounded up to 100
    shown = "100 %" if result.identical == result.total else f"{min(share, 99.99):.2f} %"
    counts = f"{result.identical}/{result.total}"
    ours = result.total / result.our_seconds if result.our_seconds else 0.0
    oracle = result.total / result.oracle_seconds if result.oracle_seconds else 0.0
    lines = [f"{result.release:8} {result.title or result.op:19} {counts:>17} {shown:>8} {ours:9.0f} {oracle:9.0f}"]
    lines += [f"{'':8}   {kind:17} {f'{same}/{total}':>17}" for kind, (same, total) in sorted(result.kinds.items())]
    lines += [f"{'':8}   {count} different on purpose: {reason}" for reason, count in result.explained.most_common()]
    return lines


def cause_lines(result: OpResult, most: int = 8) -> list[str]:
    """The groups of mismatches, with the first of each."""
    lines = []
    groups = result.causes()
    for cause, mismatches in groups[:most]:
        first = mismatches[0]
        lines.append(f"  {len(mismatches)} × {cause}")
        for difference in first.found[:2]:
            lines.append(f"      case {first.number}, {difference.path}")
            lines.append(f"        real {short(difference.want)}")
            lines.append(f"        ours {short(difference.got)}")
    if len(groups) > most:
        lines.append(f"  and {len(groups) - most} more causes")
    return lines


def write_mismatch(folder: Path, mismatch: Mismatch, name: str) -> list[Path]:
    """Leaves a shrunk mismatch as a regression vector (``.jsonl``) and as a file to read (``.yaml``); returns both.

    The latter is a scenario that expects the real answer where the language can say it, else the question.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vector, text = folder / f"{name}.jsonl", folder / f"{name}.yaml"
    vector.write_text(json.dumps(mismatch.vector(), ensure_ascii=False) + "\n")
    text.write_text(_readable(mismatch))
    return [vector, text]


def _readable(mismatch: Mismatch) -> str:
    lines = [
        f"# Our answer to this {mismatch.op} question differs from the one of Karpenter {mismatch.release} "
        f"(case {mismatch.number}, {size(mismatch.request)} values):",
    ]
    for difference in mismatch.found[:8]:
        lines += [
            f"#   {difference.path}",
            f"#     real {short(difference.want, 300)}",
            f"#     ours {short(difference.got, 300)}",
        ]
    text = scenario_text(mismatch.release, mismatch.request, mismatch.want)
    return "\n".join(lines) + "\n" + (text or yaml.safe_dump(mismatch.request, sort_keys=False, allow_unicode=True))
