"""Our answers to the golden vectors and to every mismatch that was ever found are those of the real Go code."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.conformance import AnswerContext, DataFile, reply
from harness.karpenter.releases import provider
from tests.conformance.build import BUILDABLE
from tests.conformance.cases import ANSWERED
from tests.conformance.cases.disruption.sizes import disruption_catalogs
from tests.conformance.causes import short
from tests.conformance.compare import reply_differences
from tests.conformance.golden import GOLDEN, REGRESSIONS, UNRECORDED, vectors
from tests.conformance.material import read_json
from tests.conformance.run import WITH_CATALOGS, asked_of

FILES = sorted(GOLDEN.glob("v*/*.jsonl.gz"))
REGRESSION_FILES = sorted(REGRESSIONS.glob("*.jsonl"))


@cache
def context(release: str) -> AnswerContext:
    return AnswerContext(provider(release), DataFile(GOLDEN / f"v{release}" / "data.json.gz"))


@cache
def context_with_catalogs(release: str) -> AnswerContext:
    made = context(release)
    known = {**read_json(GOLDEN / f"v{release}" / "catalogs.json.gz"), **disruption_catalogs()}
    for name, types in known.items():
        answer = ask({"op": "catalog", "name": name, "instance_types": types}, made)
        assert answer.get("answer") == len(types), answer
    return made


def ask(request: dict[str, Any], asked: AnswerContext) -> dict[str, Any]:
    """What comes over the wire."""
    answer: dict[str, Any] = json.loads(json.dumps(reply(json.dumps(request).encode(), asked)))
    return answer


def wrong_answers(release: str, lines: list[dict[str, Any]]) -> list[str]:
    named = any(vector["op"] in WITH_CATALOGS for vector in lines)
    return wrong_answers_of(lines, (context_with_catalogs if named else context)(release))


def wrong_answers_of(lines: list[dict[str, Any]], asked: AnswerContext) -> list[str]:
    wrong = []
    for number, vector in enumerate(lines):
        got = ask({**vector["input"], "op": vector["op"]}, asked)
        found = reply_differences(vector["op"], vector, got)
        if found:
            wrong.append(f"line {number + 1}, {found[0].path}: real {short(found[0].want)}, ours {short(found[0].got)}")
    return wrong


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name.partition('.')[0]}")
def test_golden(path: Path) -> None:
    release = path.parent.name.removeprefix("v")
    lines = list(vectors(path))
    wrong = wrong_answers(release, lines)
    assert not wrong, f"{len(lines) - len(wrong)}/{len(lines)} identical\n" + "\n".join(wrong[:8])


@pytest.mark.parametrize("path", REGRESSION_FILES, ids=lambda path: path.stem)
def test_regressions(path: Path) -> None:
    for vector in vectors(path):
        assert not wrong_answers(vector["release"], [vector])


@pytest.mark.parametrize("release", BUILDABLE)
def test_every_release_and_op_has_vectors(release: str) -> None:
    folder = GOLDEN / f"v{release}"
    about = json.loads((folder / "about.json").read_text())
    ops = [op for op in asked_of(release, ANSWERED) if release not in UNRECORDED.get(op, ())]
    counts = {op: sum(1 for _ in vectors(folder / f"{op}.jsonl.gz")) for op in ops}
    assert counts == about["cases"]
    assert all(counts.values())


def test_the_vectors_stay_small() -> None:
    assert sum(path.stat().st_size for path in GOLDEN.rglob("*") if path.is_file()) < 3_500_000
