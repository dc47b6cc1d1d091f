"""Warnings of `validate` and `explain`: at their place, in every form, silenced by a code, without a say in the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.command import POOL, as_json, call

WARNED = POOL.replace(
    "spec:\n  template", 'spec:\n  disruption: {consolidateAfter: 1m, budgets: [{nodes: "0"}]}\n  template', 1
)
PLACE = "pools.yaml:6:49"
SAID = "NodePool/default: nodes 0 without a schedule: no node is ever disrupted for Underutilized or Empty or Drifted"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pools.yaml").write_text(WARNED)
    return tmp_path


def test_validate(capsys: pytest.CaptureFixture[str]) -> None:
    text = f"{PLACE}: warning budget-never: {SAID}\nprovider 1.14.0: 1 object, nothing refused, 1 warning\n"
    assert call(capsys, "validate", "pools.yaml") == (0, text, "")
    assert as_json(capsys, "validate", "pools.yaml")["warnings"] == [
        {"place": PLACE, "code": "budget-never", "text": SAID}
    ]
    code, out, _ = call(capsys, "validate", "pools.yaml", "--format", "github")
    assert (code, out) == (0, f"::warning file=pools.yaml,line=6,col=49,title=budget-never::{SAID}\n")
    _, out, _ = call(capsys, "validate", "pools.yaml", "--format", "sarif")
    assert json.loads(out)["runs"][0]["results"][0]["level"] == "warning"
    _, out, _ = call(capsys, "validate", "pools.yaml", "--format", "junit")
    suite = ElementTree.fromstring(out).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.findtext("testcase/system-out")) == ("1", "0", SAID)


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "explain", "pools.yaml")
    assert (code, out.splitlines()[-1]) == (0, f"{PLACE}: warning budget-never: {SAID}")
    assert as_json(capsys, "explain", "pools.yaml")["warnings"][0]["code"] == "budget-never"


@pytest.mark.parametrize("command", ["validate", "explain"])
def test_silenced(command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "warning" not in call(capsys, command, "pools.yaml", "--allow", "arm64-unasked,budget-never")[1]
    annotated = WARNED.replace(
        "{name: default}", "{name: default, annotations: {karpenter-azure-harness/allow: budget-never}}", 1
    )
    (here / "pools.yaml").write_text(annotated)
    assert "warning" not in call(capsys, command, "pools.yaml")[1]


def test_an_unknown_code(capsys: pytest.CaptureFixture[str]) -> None:
    said = "harness validate: --allow taint-untolerate: unknown code; did you mean 'taint-untolerated'?\n"
    assert call(capsys, "validate", "pools.yaml", "--allow", "taint-untolerate") == (2, "", said)
