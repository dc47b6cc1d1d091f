"""Parts of a run: every test is in exactly one, and all take about as long; the matrix names what exists."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.cli import main
from harness.pytest_plugin.shards import assigned, parse_shard


def test_every_test_is_in_one_part_and_parts_are_even() -> None:
    durations = {f"t{number}": float(number) for number in range(1, 21)}
    parts = assigned([*durations, "new"], durations, 4)
    assert set(parts) == {*durations, "new"}
    loads = [sum(durations.get(name, 1.0) for name, part in parts.items() if part == wanted) for wanted in range(1, 5)]
    assert max(loads) - min(loads) <= 2
    assert parts == assigned(reversed([*durations, "new"]), durations, 4)


@pytest.mark.parametrize("text", ["0/2", "3/2", "x", "1"])
def test_parts_that_do_not_exist(text: str) -> None:
    with pytest.raises(pytest.UsageError, match="--shard"):
        parse_shard(text)


def test_the_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["ci-matrix", "--release", "v1.14.0", "--kubernetes", "1.35", "--kubernetes", "1.36", "--shards", "2"]
    assert main(arguments) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["include"]
    assert len(rows) == 2 * 2 * 2
    assert {row["release"] for row in rows} == {"1.14.0"}
    assert {row["image"].partition("@")[0] for row in rows} == {"kindest/node:v1.35.0", "kindest/node:v1.36.1"}
    assert {row["shard"] for row in rows} == {"1/2", "2/2"}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--release", "9.9.9"], "9.9.9"),
        (["--kubernetes", "1.99"], "kind has no image of Kubernetes 1.99"),
        (["--shards", "0"], "is less than 1"),
    ],
)
def test_a_matrix_of_what_does_not_exist(arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ci-matrix", *arguments]) == 2
    assert why in capsys.readouterr().err
