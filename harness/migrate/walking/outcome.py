"""The verdicts on workloads, after the move was walked: where the simulation came to another one, that one counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.migrate.judging.judgement import Judged, Move
from harness.migrate.walking.walk import Walk

__all__ = ["reconciled"]


def reconciled(judged: Sequence[Judged], walk: Walk) -> list[Judged]:
    """Return the verdicts; a pod that is left behind has no place, and one that found a place was not kept from it."""
    left: dict[str, list[str]] = {}
    for verdict in walk.left:
        left.setdefault(verdict.workload, []).append(f"{verdict.pod} {verdict.why}")
    return [_reconciled(verdict, left.get(verdict.name, []), verdict.name in walk.stayed) for verdict in judged]


def _reconciled(verdict: Judged, left: list[str], stayed: bool) -> Judged:
    if verdict.move is Move.PATCHED and verdict.running.is_fixed:
        return verdict  # the walk creates nothing anew
    if left and verdict.move is Move.PATCHED:
        return replace(verdict, move=Move.BLOCKED, why=(*verdict.why, left[0]), needs_patch=True)
    if left and verdict.move is not Move.STAYS:
        return replace(verdict, move=Move.BLOCKED, why=verdict.why or (left[0],))
    if verdict.move is Move.BLOCKED and stayed:
        return replace(
            verdict,
            move=Move.STAYS,
            why=("its pods are on an agent pool that stays",),
            notes=(*verdict.why, *verdict.notes),
        )
    if verdict.move is Move.BLOCKED and verdict.pool and verdict.running.workload.kind != "CronJob":
        return replace(verdict, move=Move.AS_IS, why=(), notes=(*verdict.why, *verdict.notes))
    return verdict
