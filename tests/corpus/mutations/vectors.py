"""The golden vectors as witnesses: recordings of the real Go code notice changes of which the scenario language cannot speak."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from harness.conformance import AnswerContext, DataFile, reply
from harness.karpenter.releases import provider
from tests.conformance.compare import reply_differences
from tests.conformance.golden import GOLDEN, REGRESSIONS, vectors
from tests.corpus.mutations.cells import Cell

__all__ = ["vector_witness"]

_OPS = ("labels", "instance_types")


def vector_witness(cell: Cell) -> str | None:
    """The first vector of the cell's release that is answered differently. The cell's patches must be in place."""
    asked = AnswerContext(cell.mutant or provider(cell.release), _data(cell.release))
    return next((name for name, vector in _vectors(cell.release) if _differs(vector, asked)), None)


@cache
def _data(release: str) -> DataFile:
    return DataFile(GOLDEN / f"v{release}" / "data.json.gz")


@cache
def _vectors(release: str) -> Sequence[tuple[str, Mapping[str, Any]]]:
    paths = (*(GOLDEN / f"v{release}" / f"{op}.jsonl.gz" for op in _OPS), *sorted(REGRESSIONS.glob("*.jsonl")))
    found = (
        (f"{path.parent.name}/{path.name}:{at}", each) for path in paths for at, each in enumerate(vectors(path), 1)
    )
    return tuple((name, each) for name, each in found if each["op"] in _OPS and each.get("release", release) == release)


def _differs(vector: Mapping[str, Any], asked: AnswerContext) -> bool:
    request = json.dumps({**vector["input"], "op": vector["op"]}).encode()
    return bool(reply_differences(vector["op"], vector, json.loads(json.dumps(reply(request, asked)))))
