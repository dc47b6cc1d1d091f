"""The workflows are ones that GitHub would take, and use the matrix as it is printed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.cli.commands.ci_matrix import matrix

WORKFLOWS = sorted((Path(__file__).parents[2] / ".github" / "workflows").glob("*.yaml"))
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"


@pytest.mark.needs_go
@pytest.mark.slow
def test_actionlint_has_nothing_to_say(tmp_path: Path) -> None:
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if go is None:
        pytest.skip("go is not installed: actionlint is built with it")
    command = [go, "run", ACTIONLINT]
    built = subprocess.run([*command, "-version"], cwd=tmp_path, capture_output=True, text=True, check=False)
    if built.returncode:
        pytest.skip(f"actionlint cannot be built here: {built.stderr.strip().splitlines()[-1]}")
    found = subprocess.run(
        [*command, "-no-color", *map(str, WORKFLOWS)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (found.stdout, found.returncode) == ("", 0)


def test_the_nightly_run_uses_what_the_matrix_has() -> None:
    text = next(path for path in WORKFLOWS if path.name == "nightly.yaml").read_text(encoding="utf-8")
    clusters = text[text.index("\n  clusters:") : text.index("\n  whole:")]
    used = set(re.findall(r"matrix\.([a-z]+)", clusters))
    (row, *_) = matrix(["1.14"], ["1.36"], ["apiserver"], 1)
    assert used == set(row)


def test_the_nightly_run_asks_for_options_that_there_are(pytestconfig: pytest.Config) -> None:
    text = next(path for path in WORKFLOWS if path.name == "nightly.yaml").read_text(encoding="utf-8")
    command = text[text.index("pytest $PATHS") :]
    for option in re.findall(r"--([a-z-]+)", command[: command.index("\n    - id: name")]):
        assert pytestconfig.getoption(f"--{option}", default=NotImplemented) is not NotImplemented, option


def test_the_nightly_run_has_all_tests_on_clusters_and_beside_the_real_controller() -> None:
    text = next(path for path in WORKFLOWS if path.name == "nightly.yaml").read_text(encoding="utf-8")
    whole = text[text.index("\n  whole:") : text.index("\n  durations:")]
    commands = re.findall(r"^    - run: (make .*)$", whole, re.MULTILINE)
    assert commands == ["make test-clusters ARGS=--require-cluster", "make test-real"]
    assert "SMOKE" not in whole
    for variable in ("KUBEBUILDER_ASSETS=", "HARNESS_KARPENTER="):
        assert f'echo "{variable}' in whole
