"""The hooks as pre-commit runs them: by the names of the files that a commit changes (pre-commit.com, "Creating new hooks")."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.project.tree import ROOT
from tests.small_world import POOL, SCENARIO

HOOKS: Mapping[str, Any] = {
    hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}
NARROW = POOL.replace(
    "requirements: []", "requirements: [{key: karpenter.azure.com/sku-cpu, operator: In, values: ['1']}]"
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with scenarios that name manifests of another folder."""
    for folder, name, text in (
        ("platform", "pool.yaml", POOL),
        ("scenarios", "web.yaml", SCENARIO.replace("pool.yaml", "../platform/pool.yaml")),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text)
    (tmp_path / ".git").mkdir()
    return tmp_path


def hook(name: str, checkout: Path, *changed: str) -> subprocess.CompletedProcess[str] | None:
    """Run a hook for some changed files; None where it is not run for any of them."""
    row = HOOKS[name]
    files = [file for file in changed if re.search(row.get("files", ""), file)]
    if not files:
        return None
    words = [*row["entry"].split()[1:], *row.get("args", ()), *(files if row.get("pass_filenames", True) else ())]
    command = [sys.executable, "-c", "from harness.__main__ import command; command()", *words]
    return subprocess.run(
        command, cwd=checkout, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )


def test_scenarios_run_when_a_manifest_changes_that_they_name(checkout: Path) -> None:
    name = "karpenter-azure-scenarios"
    assert hook(name, checkout, "README.md") is None
    for changed in ("platform/pool.yaml", "scenarios/web.yaml"):
        ran = hook(name, checkout, changed)
        assert ran is not None
        assert (ran.returncode, ran.stdout.startswith("1 passed")) == (0, True), ran.stdout + ran.stderr
    (checkout / "platform" / "pool.yaml").write_text(NARROW)
    ran = hook(name, checkout, "platform/pool.yaml")
    assert ran is not None
    assert ran.returncode == 1
    assert "scenarios/web.yaml:3:16: then[0].pods.bound" in ran.stdout


def test_manifests_are_judged_that_change(checkout: Path) -> None:
    (checkout / "nodepools").mkdir()
    (checkout / "nodepools" / "pool.yaml").write_text(
        POOL.replace("spec:\n  template", "spec:\n  weight: 101\n  template", 1)
    )
    assert hook("karpenter-azure-validate", checkout, "apps/web.yaml") is None
    ran = hook("karpenter-azure-validate", checkout, "nodepools/pool.yaml")
    assert ran is not None
    assert ran.returncode == 1
    assert "nodepools/pool.yaml:5:3: crd-schema: " in ran.stdout
