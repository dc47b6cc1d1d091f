"""What CI, the image, the action and a release run is what somebody has looked at: commits, digests and hashes, and no text of others."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.project.tree import ROOT
from tools.requirements import EXTRAS, project, wanted

WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
FILES = [*WORKFLOWS, ROOT / "action.yml"]
LISTS = (*EXTRAS, "release")
ACTION = re.compile(r"uses: (?:\./|[\w.-]+(?:/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+)")
HASH = re.compile(r" +--hash=sha256:[0-9a-f]{64}(?: \\)?")
PINNED = re.compile(r"(?P<name>[a-z0-9][a-z0-9.-]*)==(?P<version>[^ ;]+)(?: ; [^\\]+?)? \\")


def steps(path: Path) -> Iterator[Mapping[str, Any]]:
    """Each step of a workflow or of an action."""
    document = yaml.safe_load(path.read_text())
    for job in [*document.get("jobs", {}).values(), document.get("runs", {})]:
        yield from job.get("steps", ())


def problems(path: Path) -> Iterator[str]:
    """What is wrong with the steps of a file."""
    for line in path.read_text().splitlines():
        if "uses:" in line and ACTION.fullmatch(line.strip().removeprefix("- ")) is None:
            yield f"no commit: {line.strip()}"
    for step in steps(path):
        script = step.get("run", "")
        if "${{" in script:
            yield f"text of others in a script: {script}"
        for line in script.splitlines():
            if re.search(r"pip3? install", line) and not re.search(r"--require-hashes|--no-deps|\"\$VERSION\"", line):
                yield f"no hashes: {line}"
        if re.search(r"\b(curl|wget)\b", script) and not re.search(r"sha(256|512)sum --check", script):
            yield f"no checksum: {script}"
        if re.search(r"curl[^\n]*\|\s*(tar|sh|bash)\b", script):
            yield f"used before it is checked: {script}"
        if (
            str(step.get("uses", "")).startswith("actions/checkout")
            and step["with"].get("persist-credentials") is not False
        ):
            yield "a token stays on the disk"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_runs_that_nobody_has_looked_at(path: Path) -> None:
    assert list(problems(path)) == []
    assert list(steps(path))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_only(path: Path) -> None:
    """What more a job needs it says itself."""
    assert yaml.safe_load(path.read_text())["permissions"] == {"contents": "read"}


@pytest.mark.parametrize(
    ("step", "part"),
    [
        ("uses: actions/checkout@v4", "no commit"),
        ("uses: actions/checkout@11d5960a326750d5838078e36cf38b85af677262", "no commit"),
        ("run: make SEED=${{ github.run_number }}", "text of others"),
        ("run: pip install twine", "no hashes"),
        ("run: curl -fsSLO https://dl.k8s.io/x.tar.gz", "no checksum"),
        ("run: curl https://dl.k8s.io/x | tar -x; sha512sum --check y", "used before"),
        ("{uses: actions/checkout@11d5960a326750d5838078e36cf38b85af677262, with: {}}", "a token"),
    ],
)
def test_the_test_sees(step: str, part: str, tmp_path: Path) -> None:
    path = tmp_path / "workflow.yaml"
    path.write_text(f"jobs:\n  a:\n    steps:\n    - {step}\n")
    assert any(problem.startswith(part) for problem in problems(path))


def entries(name: str) -> dict[str, tuple[str, int]]:
    """Package → version and how many hashes it has, of a requirements file. AssertionError for any line that is none of these."""
    found: dict[str, tuple[str, int]] = {}
    package = ""
    for line in (ROOT / "requirements" / f"{name}.txt").read_text().splitlines()[1:]:
        if (pinned := PINNED.fullmatch(line)) is not None:
            package = pinned["name"]
            found[package] = (pinned["version"], 0)
        else:
            assert HASH.fullmatch(line), f"neither a version nor a hash, so perhaps an index: {line}"
            found[package] = (found[package][0], found[package][1] + 1)
    return found


def named(requirement: str) -> str:
    """The name of a package as its index has it."""
    match = re.match(r"[\w.-]+", requirement)
    assert match is not None
    return re.sub(r"[-_.]+", "-", match[0]).lower()


@pytest.mark.parametrize("name", LISTS)
def test_each_file_that_is_installed_has_its_hash(name: str) -> None:
    found = entries(name)
    assert {package for package, (_, hashes) in found.items() if not hashes} == set()
    stale = "make requirements writes requirements/*.txt anew"
    assert {named(requirement) for requirement in wanted(name, project())} <= found.keys(), stale
    lines = (line for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    constraints = {named(line): line.partition("==")[2] for line in lines}
    differing = {package for package, (version, _) in found.items() if constraints.get(package, version) != version}
    assert differing == set(), stale


def test_there_is_no_other_list() -> None:
    assert {path.stem for path in (ROOT / "requirements").iterdir()} == set(LISTS)
    with pytest.raises(KeyError):
        wanted("nothing", project())


def test_the_image_is_built_on_a_digest_and_from_hashes() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    bases = [line for line in lines if line.startswith("FROM ")]
    assert bases
    assert all(re.match(r"FROM [\w./:-]+@sha256:[0-9a-f]{64}( AS \w+)?$", line) for line in bases)
    installs = re.findall(r"pip (?:install|wheel) [^&\n]*", "\n".join(lines))
    assert installs
    assert all("--require-hashes" in install or "--no-deps" in install for install in installs)
    kept = (ROOT / ".dockerignore").read_text().splitlines()
    assert "!requirements" in kept


@pytest.mark.parametrize(
    ("locked", "expected"),
    [("1", "--require-hashes -r requirements/test.txt && "), ("", "PIP_CONSTRAINT=constraints.txt ")],
)
def test_make_installs_from_any_index_unless_it_is_told_to_look_at_hashes(
    locked: str, expected: str, tmp_path: Path
) -> None:
    command = ["make", "-n", f"VENV={tmp_path}", f"LOCKED={locked}", f"{tmp_path}/.installed"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert expected in printed
    assert ("--no-deps --no-build-isolation --editable ." in printed) == bool(locked)
    assert ("--editable '.[crds,dev]'" in printed) != bool(locked)


def test_a_release_is_built_once_and_published_with_attestations_and_no_password() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yaml").read_text())
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads `on` so
    jobs = workflow["jobs"]
    publish = jobs["publish"]
    assert [name for name, job in jobs.items() if "build" in str([step.get("run") for step in job["steps"]])] == [
        "build"
    ]
    assert publish["needs"] == "build"
    assert publish["permissions"]["id-token"] == "write"
    used = {step["uses"].partition("@")[0]: step.get("with", {}) for step in publish["steps"] if "uses" in step}
    assert used["actions/attest-build-provenance"] == {"subject-path": "dist/*"}
    assert used["pypa/gh-action-pypi-publish"] == {"attestations": True}
    assert "secrets." not in (ROOT / ".github" / "workflows" / "release.yaml").read_text()


def test_dependabot_looks_after_what_is_pinned() -> None:
    document = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text())
    assert {"github-actions", "docker", "npm"} <= {update["package-ecosystem"] for update in document["updates"]}
