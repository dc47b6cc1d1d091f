"""The action as a runner of GitHub does it: each step's script in bash, with its environment, in the order of the file."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from lazyrecords import dataclass
from tests.project.tree import ROOT
from tests.small_world import POD, POOL, SCENARIO

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HEAVY = POOL.replace("spec:\n  template", "spec:\n  weight: 101\n  template", 1)
"""A NodePool whose weight is refused."""


GH = """\
folder=$(dirname "$0")
for word; do case $word in body=@*) cp "${word#body=@}" "$folder/body";; esac; done
if [ -f "$folder/forbidden" ]; then echo 'gh: Resource not accessible by integration (HTTP 403)' >&2; exit 1; fi
case "$*" in *--jq*) if [ -f "$folder/comments" ]; then cat "$folder/comments"; fi;; *) echo "$*" >> "$folder/written";; esac
"""
"""GitHub's own command line, of a repository whose comments are in files."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job that ran the action: the outcome of each step, what stood in the log, its summary, and the commands that ran."""

    outcomes: Mapping[str, str]
    log: str
    summary: str
    commands: Sequence[str]


@pytest.fixture
def repository(tmp_path: Path, shell: Mapping[str, str]) -> Path:
    """A checkout with manifests and scenarios, and the programs of an installed harness beside it."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, command in (("harness", f'exec "{shutil.which("harness", path=shell["PATH"])}" "$@"'), ("gh", GH)):
        (programs / name).write_text(f'#!/bin/sh\necho {name} "$1" "$2" >> "$(dirname "$0")/commands"\n{command}\n')
        (programs / name).chmod(0o755)
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
        if "uses" in step or name == "Install":
            outcomes[name] = "success" if installs or name != "Install" else "failure"
            continue
        outcomes[name], text, part = script(repository, step, inputs)
        log, summary = log + text, summary + part
    commands = (repository.parent / "programs" / "commands").read_text().splitlines() if log or summary else []
    return Job(outcomes, log, summary, commands)


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
        "GITHUB_REPOSITORY": "owner/shop",
        "GITHUB_REF": "refs/pull/7/merge",
        "RUNNER_TEMP": str(repository.parent),
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
    assert [command.split()[1] for command in ran.commands] == ["validate", "upgrade-check", "run"]
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
        "Compare": "skipped", "Page of the comparison": "skipped",
    }  # fmt: skip
    assert "::error" not in ran.log
    assert "✅ **1 passed**" in ran.summary


def test_nothing_runs_where_the_installation_fails(repository: Path) -> None:
    ran = job(repository, {"files": "pool.yaml", "scenarios": "test.yaml"}, installs=False)
    assert {name for name, outcome in ran.outcomes.items() if outcome == "skipped"} == {
        "Validate",
        "Upgrade",
        "Scenarios",
        "Compare",
        "Page of the comparison",
    }


def test_a_file_that_cannot_be_read_is_in_the_summary(repository: Path) -> None:
    (repository / "pool.yaml").write_text("a: [")
    ran = job(repository, {"files": "pool.yaml"})
    assert ran.outcomes["Validate"] == "failure"
    assert "not YAML" in ran.summary


def test_a_command_that_breaks_off_is_in_the_summary(repository: Path) -> None:
    ran = job(repository, {"files": "pool.yaml", "release": "9.9.9"})
    assert ran.outcomes["Validate"] == "failure"
    assert "exit code 2" in ran.summary
    assert "    harness validate: --release: unknown release '9.9.9'" in ran.summary


def commit(repository: Path, files: Mapping[str, str]) -> None:
    """Commit files as a developer does."""
    for name, text in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    author = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    for command in (["init", "--quiet"], ["add", "-A"], [*author, "commit", "--quiet", "-m", "change"]):
        subprocess.run(["git", *command], cwd=repository, check=True, capture_output=True)


CHANGE = {"files": "pools apps/web.yaml", "base": "HEAD^1", "token": "secret"}
SMALL = POOL.replace(
    "requirements: []", "requirements: [{key: karpenter.azure.com/sku-cpu, operator: In, values: ['4']}]"
)


@pytest.fixture
def change(repository: Path) -> Path:
    """A pull request that allows larger sizes, for a rendered platform with a CronJob."""
    pod = "{restartPolicy: Never, containers: [{name: c, image: c}]}"
    cron = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly}\nspec:\n  schedule: 0 3 * * *\n"
    cron += f"  jobTemplate: {{spec: {{template: {{spec: {pod}}}}}}}\n"
    commit(repository, {"pools/pool.yaml": SMALL, "apps/web.yaml": f"{POD}---\n{cron}"})
    commit(repository, {"pools/pool.yaml": SMALL.replace("'4'", "'8'")})
    return repository


def test_a_comparison_is_a_summary_a_page_and_one_comment(change: Path) -> None:
    programs = change.parent / "programs"
    ran = job(change, CHANGE)
    assert ran.outcomes["Compare"] == "success"
    told = ran.summary.partition("### Compared with HEAD^1")[2]
    visible = told.partition("<details>")[0].strip().splitlines()
    assert len(visible) <= 10
    assert visible[2].startswith("- `cost: 0.0136 → 0.0273 USD per hour")
    assert any("pods come when they are due: CronJob nightly" in line for line in visible)
    assert (change.parent / "karpenter-azure-comparison.html").stat().st_size
    assert (programs / "written").read_text().split()[2:5] == ["--method", "POST", "repos/owner/shop/issues/7/comments"]
    first = (programs / "body").read_text()
    assert first.endswith(told)
    (programs / "comments").write_text("41\n")
    job(change, CHANGE)
    assert (programs / "written").read_text().splitlines()[1].split()[2:5] == [
        "--method", "PATCH", "repos/owner/shop/issues/comments/41",
    ]  # fmt: skip
    assert (programs / "body").read_text() == first


def test_without_a_token_that_may_write_the_summary_is_left(change: Path) -> None:
    (change.parent / "programs" / "forbidden").touch()
    ran = job(change, CHANGE)
    assert ran.outcomes["Compare"] == "success"
    assert "::notice title=comparison::the token may not comment here" in ran.log
    assert "- `cost: 0.0136" in ran.summary
    assert not [command for command in job(change, CHANGE | {"token": ""}).commands[-1:] if command.startswith("gh")]


def test_files_that_only_one_commit_has_are_not_compared(change: Path) -> None:
    commit(change, {"new/pool.yaml": POOL})
    ran = job(change, {"files": "new", "base": "HEAD^1"})
    assert ran.outcomes["Compare"] == "success"
    assert "Nothing to compare" in ran.summary


def test_files_that_cannot_be_compared_say_why(change: Path) -> None:
    commit(change, {"pools/pool.yaml": SMALL.replace("values: ['4']", "values: [4]")})
    ran = job(change, {"files": "pools", "base": "HEAD^1"})
    assert ran.outcomes["Compare"] == "failure"
    assert "`head/pools/pool.yaml:8:" in ran.summary
