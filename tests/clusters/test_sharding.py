"""Parts of a run: every test is in exactly one, and all take about as long; the matrix names what exists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import harness.pytest_plugin.items
import harness.world  # noqa: F401  imported once here: some tests below run pytest in this process
from harness.cli import main
from harness.karpenter.releases import ALL_PROVIDER_RELEASES, releases_of
from harness.pytest_plugin.selection import assigned, parse_shard, read_durations, sampled


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


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["dev", "ci-matrix", *arguments]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["include"]
    return rows


def test_the_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    rows = printed(capsys, "--release", "v1.14.0", "--kubernetes", "1.35", "--kubernetes", "1.36", "--shards", "2")
    assert len(rows) == 2 * (2 + 1)
    assert {row["release"] for row in rows} == {"1.14.0"}
    assert {row["image"].partition("@")[0] for row in rows} == {"kindest/node:v1.35.0", "kindest/node:v1.36.1"}
    assert {row["kubernetes"] for row in rows} == {"1.35.0", "1.36.1"}
    assert {(row["cluster"], row["paths"], row["shard"]) for row in rows} == {
        ("apiserver", "scenarios", "1/2"),
        ("apiserver", "scenarios", "2/2"),
        ("kind", "scenarios/labels", "1/1"),
    }


def test_every_release_is_in_one_line_of_the_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    rows = printed(capsys, "--cluster", "apiserver", "--kubernetes", "1.36")
    covered = [version for row in rows for version in releases_of(row["release"])]
    assert sorted(covered) == sorted(ALL_PROVIDER_RELEASES)


def test_a_sample_has_cases_of_every_line() -> None:
    lines = {f"t{number}": f"1.{number % 3}" for number in range(30)} | {"alone": "1.9"}
    drawn = sampled(lines, 2, 1)
    assert sorted(lines[name] for name in drawn) == ["1.0", "1.0", "1.1", "1.1", "1.2", "1.2", "1.9"]
    assert drawn == sampled(dict(reversed(lines.items())), 2, 1)
    assert any(sampled(lines, 2, seed) != drawn for seed in range(2, 5))


CORPUS = """
scenario: of every release
matrix: {karpenter: [1.6.5, 1.6.8, 1.14.0]}
then: [{requirements: {of: Standard_D4s_v5, are: {karpenter.azure.com/sku-cpu: 4}}}]
---
scenario: of none by name
then: [{requirements: {of: Standard_D4s_v5, are: {karpenter.azure.com/sku-cpu: 4}}}]
---
scenario: of a design
given: {policy: design-2025-11-07}
then: [{requirements: {of: Standard_D4s_v5, are: {karpenter.azure.com/sku-cpu: 4}}}]
"""


def test_one_case_of_each_line(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml('[tool.pytest]\nstrict = true\naddopts = ["-p", "no:benchmark"]\n')
    pytester.makeconftest('pytest_plugins = ("harness.pytest_plugin",)\n')
    pytester.makefile(".yaml", corpus=CORPUS)
    quiet = ("-p", "no:cacheprovider", "-p", "no:xdist", "corpus.yaml")
    pytester.runpytest_inprocess("--sample", "1", *quiet).assert_outcomes(passed=2, deselected=3)
    refused = pytester.runpytest_inprocess("--sample", "0", *quiet)
    refused.stderr.fnmatch_lines(["*--sample: 0 is less than 1*"])


@pytest.mark.parametrize(
    ("release", "count"), [("1.6.5", 2), ("1.6", 3), ("1.14", 2), ("1.13", 0)], ids=["patch", "line", "newest", "none"]
)
def test_only_the_cases_of_a_release(pytester: pytest.Pytester, release: str, count: int) -> None:
    pytester.makepyprojecttoml('[tool.pytest]\nstrict = true\naddopts = ["-p", "no:benchmark"]\n')
    pytester.makeconftest('pytest_plugins = ("harness.pytest_plugin",)\n')
    pytester.makefile(".yaml", corpus=CORPUS)
    quiet = ("-p", "no:cacheprovider", "-p", "no:xdist", "corpus.yaml")
    result = pytester.runpytest_inprocess("--only-release", release, *quiet)
    result.assert_outcomes(passed=count, deselected=5 - count)
    unknown = pytester.runpytest_inprocess("--only-release", "9.9", *quiet)
    assert unknown.ret == pytest.ExitCode.USAGE_ERROR
    unknown.stderr.fnmatch_lines(["*--only-release: unknown Karpenter release '9.9'*"])


def test_the_parts_of_a_run_are_the_run(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml('[tool.pytest]\nstrict = true\naddopts = ["-p", "no:benchmark"]\n')
    pytester.makeconftest('pytest_plugins = ("harness.pytest_plugin",)\n')
    pytester.makefile(".yaml", corpus=CORPUS)
    (pytester.path / "known.json").write_text('{"corpus.yaml::a": 3, "elsewhere.yaml::b": 0.5}')
    ran: list[str] = []
    for part in ("1/2", "2/2"):
        shared = ("--shard", part, "--shard-durations", "known.json", "--write-durations", "new.json")
        pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist", "corpus.yaml", *shared)
        ran += json.loads((pytester.path / "new.json").read_text())
    assert len(ran) == len({*ran}) == 5


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "known.json: No such file or directory"),
        ("seconds: 1", "known.json: not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[1]", "known.json: an object of seconds by test id is expected"),
        ('{"a": "1"}', 'known.json: a: "1" are no seconds'),
        ('{"a": true}', "known.json: a: true are no seconds"),
        ('{"a": -1}', "known.json: a: -1 are no seconds"),
        ('{"a": NaN}', "known.json: a: NaN are no seconds"),
    ],
)
def test_durations_that_are_none(tmp_path: Path, text: str | None, why: str) -> None:
    file = tmp_path / "known.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(pytest.UsageError) as caught:
        read_durations(file)
    assert str(caught.value) == f"--shard-durations: {tmp_path}/{why}"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--shard", "3/2"], "--shard: '3/2' is not I/N with 1 <= I <= N"),
        (["--shard", "1/2", "--shard-durations", "no.json"], "--shard-durations: no.json: No such file or directory"),
        (["--write-durations", "no/new.json"], "--write-durations: no/new.json: there is no folder no"),
        (["--write-durations", "."], "--write-durations: .: is a folder"),
        (["--cluster", "memory,foo"], "--cluster: foo; there are memory, http, apiserver, kind"),
    ],
)
def test_options_that_mean_nothing_are_one_line(pytester: pytest.Pytester, options: list[str], why: str) -> None:
    pytester.makepyprojecttoml('[tool.pytest]\nstrict = true\naddopts = ["-p", "no:benchmark"]\n')
    pytester.makeconftest('pytest_plugins = ("harness.pytest_plugin",)\n')
    pytester.makefile(".yaml", corpus=CORPUS)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist", "corpus.yaml", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.errlines if line] == [f"ERROR: {why}"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--release", "9.9.9"], "9.9.9"),
        (["--kubernetes", "1.99"], "kind has no image of Kubernetes 1.99"),
        (["--shards", "0"], "is less than 1"),
    ],
)
def test_a_matrix_of_what_does_not_exist(arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dev", "ci-matrix", *arguments]) == 2
    assert why in capsys.readouterr().err
