"""Warnings of `validate` and `explain`: at their place, in every form, silenced by a code, without a say in the exit code."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness import testing
from tests.cli.command import POOL, as_json, call
from tests.small_world import POD

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


def leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the place of each value, of lists and maps too."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in children:
        yield (*path, name)
        yield from leaves(child, (*path, name))


def replaced(obj: Mapping[str, Any], path: Sequence[str | int], value: object, name: str) -> dict[str, Any]:
    """Return a copy of an object with another value at a place, and a name of its own."""
    other: Any = copy.deepcopy(obj)
    parent = other
    for part in path[:-1]:
        parent = parent[part]
    parent[path[-1]] = value
    other["metadata"]["name"] = name
    return dict(other)


WRONG: tuple[object, ...] = (None, 33, 1.5, "128Gi", ["x"], [{}], {})


def test_an_object_that_is_refused_is_no_object_to_warn_of(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whichever of its fields has which wrong value: what it says is nobody's to reckon with."""
    pool = testing.nodepool(
        {"key": "karpenter.azure.com/sku-cpu", "operator": "Lt", "values": ["33"]},
        {"key": "karpenter.azure.com/sku-family", "operator": "In", "values": ["D"], "minValues": 1},
        taints=[{"key": "a.example/b", "value": "c", "effect": "NoSchedule"}],
        limits={"cpu": "100"},
        disruption={"consolidateAfter": "1m", "budgets": [{"nodes": "10%", "schedule": "0 9 * * *", "duration": "8h"}]},
    )
    nodeclass = testing.nodeclass(
        imageFamily="Ubuntu", osDiskSizeGB=128, maxPods=50, kubelet={"cpuManagerPolicy": "none"}
    )
    objects: list[dict[str, Any]] = []
    for path, value in itertools.product(leaves(pool["spec"]), WRONG):
        objects.append(replaced(pool, ("spec", *path), value, f"pool-{len(objects)}"))
    for path, value in itertools.product(leaves(nodeclass["spec"]), WRONG):
        name = f"class-{len(objects)}"
        objects.append(replaced(nodeclass, ("spec", *path), value, name))
        objects.append(
            testing.nodepool(
                name=f"of-{name}", nodeClassRef=pool["spec"]["template"]["spec"]["nodeClassRef"] | {"name": name}
            )
        )
    (here / "pools.yaml").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    code, out, err = call(capsys, "validate", "pools.yaml", "--format", "json")
    assert (code, err) == (1, "")
    told = json.loads(out)
    assert len(told["refused"]) > 100
    assert not [
        one
        for one in told["warnings"]
        if one["code"] == "nodeclass-missing" and "names AKSNodeClass class-" in one["text"]
    ]


def test_pods_that_are_refused_are_not_missing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Show by a pod whether the taint is tolerated."""
    tainted = WARNED.replace("    spec:\n", "    spec:\n      taints: [{key: a.example/b, effect: NoSchedule}]\n", 1)
    api = POD.replace("{name: web}", "{name: api, labels: {-: x}}")
    (here / "pools.yaml").write_text(f"{tainted}---\n{POD}---\n{api}")
    out = call(capsys, "validate", "pools.yaml", "--allow", "budget-never")[1]
    assert "Pod/api" in out
    assert "taint-untolerated" not in out
    (here / "pools.yaml").write_text(f"{tainted}---\n{POD}")
    assert "taint-untolerated" in call(capsys, "validate", "pools.yaml", "--allow", "budget-never")[1]


def test_an_unknown_code(capsys: pytest.CaptureFixture[str]) -> None:
    said = "harness validate: --allow taint-untolerate: unknown code; did you mean 'taint-untolerated'?\n"
    assert call(capsys, "validate", "pools.yaml", "--allow", "taint-untolerate") == (2, "", said)
