"""The action as a runner of GitHub does it: each step's script in bash, with its environment, in the order of the file."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from lazyrecords import dataclass
from tests.project.tree import ROOT
from tests.small_world import POOL, SCENARIO

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HEAVY = POOL.replace("spec:\n  template", "spec:\n  weight: 101\n  template", 1)
"""A NodePool whose weight is refused."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job that ran the action: the outcome of each step, what stood in the log, and its summary."""

    outcomes: Mapping[str, str]
    log: str
    summary: str


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A checkout with manifests and scenarios, and the programs of an installed harness beside it."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "harness").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harness "$@"\n')
    (programs / "harness").chmod(0o755)
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    return checkout


def value(expression: str, inputs: Mapping[str, str]) -> str:
    """The value of an `${{ inputs.NAME }}`."""
    (name,) = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", expression).groups()  # type: ignore[union-attr]
    return inputs.get(name, ACTION["inputs"][name].get("default", ""))


def runs(condition: str, outcomes: Mapping[str, str], inputs: Mapping[str, str]) -> bool:
    """Whether a step runs by its `if`; one without runs where no earlier step has failed."""
    if not condition:
        return "failure" not in outcomes.values()
    terms = condition.removeprefix("${{ ").removesuffix(" }}").split(" && ")
    known = {"!cancelled()": True, "steps.install.outcome == 'success'": outcomes.get("Install") == "success"}
    for term in terms:
        given = re.fullmatch(r"inputs\.([\w-]+) != ''", term)
        if not (value(f"${{{{ inputs.{given[1]} }}}}", inputs) != "" if given else known[term]):
            return False
    return True


def job(repository: Path, inputs: Mapping[str, str], installs: bool = True) -> Job:
    """Run the action's scripts, but for the installation, which succeeds or not."""
    outcomes: dict[str, str] = {}
    log, summary = "", ""
    for step in ACTION["runs"]["steps"]:
        name: str = step.get("name", "setup")
        if not runs(step.get("if", ""), outcomes, inputs):
            outcomes[name] = "skipped"
            continue
        if name in {"setup", "Install"}:
            outcomes[name] = "success" if installs or name == "setup" else "failure"
            continue
        outcomes[name], text, part = script(repository, step, inputs)
        log, summary = log + text, summary + part
    return Job(outcomes, log, summary)


def script(repository: Path, step: Mapping[str, Any], inputs: Mapping[str, str]) -> tuple[str, str, str]:
    """Run a step's script (actions/runner: `bash --noprofile --norc -eo pipefail FILE`): its outcome, log and summary."""
    file, written = repository.parent / "script.sh", repository.parent / "summary.md"
    file.write_text(step["run"])
    written.write_text("")
    environment = {
        **{name: value(text, inputs) for name, text in step.get("env", {}).items()},
        "PATH": f"{repository.parent / 'programs'}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(written),
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(file)],
        cwd=repository, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return "failure" if done.returncode else "success", done.stdout + done.stderr, written.read_text()


def test_each_part_runs_whatever_an_earlier_one_has_found(repository: Path) -> None:
    (repository / "pool.yaml").write_text(HEAVY)
    (repository / "test.yaml").write_text(SCENARIO.replace("bound: 1", "bound: 2").replace("pool.yaml", "good.yaml"))
    (repository / "good.yaml").write_text(POOL)
    ran = job(repository, {"files": "pool.yaml", "release": "1.13.1", "upgrade-to": "1.14.0", "scenarios": "test.yaml"})
    assert ran.outcomes["Validate"] == ran.outcomes["Scenarios"] == "failure"
    assert ran.outcomes["Upgrade"] != "skipped"
    assert "::error file=pool.yaml,line=5,col=3,title=crd-schema::" in ran.log
    assert "::error file=test.yaml,line=3,col=16,title=expectation::" in ran.log
    for part in (
        "### Validate\n",
        "### Upgrade from 1.13.1 to 1.14.0\n",
        "### Scenarios\n",
        "`pool.yaml:5:3`",
        "❌ **1 failed**",
    ):
        assert part in ran.summary


def test_all_is_well(repository: Path) -> None:
    (repository / "pool.yaml").write_text(POOL)
    (repository / "test.yaml").write_text(SCENARIO)
    ran = job(repository, {"files": "pool.yaml", "scenarios": "test.yaml"})
    assert ran.outcomes == {
        "setup": "success", "Install": "success", "Validate": "success", "Upgrade": "skipped", "Scenarios": "success",
    }  # fmt: skip
    assert "::error" not in ran.log
    assert "✅ **1 passed**" in ran.summary


def test_nothing_runs_where_the_installation_fails(repository: Path) -> None:
    ran = job(repository, {"files": "pool.yaml", "scenarios": "test.yaml"}, installs=False)
    assert {name for name, outcome in ran.outcomes.items() if outcome == "skipped"} == {
        "Validate",
        "Upgrade",
        "Scenarios",
    }


def test_a_file_that_cannot_be_read_is_in_the_summary(repository: Path) -> None:
    (repository / "pool.yaml").write_text("a: [")
    ran = job(repository, {"files": "pool.yaml"})
    assert ran.outcomes["Validate"] == "failure"
    assert "not YAML" in ran.summary
