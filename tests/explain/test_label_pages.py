"""The pages about label keys are what the code says today, and the story of a key is told from its trials."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from fakeazure.aks.node_labels import reasons
from harness import World
from harness.cli import main
from harness.explain.labels.comparison import Cell, TriedSide
from harness.explain.labels.design_documents import Answer
from harness.explain.labels.mismatches import lacking, mismatches
from harness.explain.labels.pages import (
    agent_pool_labels,
    all_keys,
    claims_page,
    column_of,
    differences_page,
    evolution_page,
    machine_cells,
    policies_page,
    table_page,
    turning_points,
)
from harness.explain.labels.story import tell
from tests.project.tree import ROOT

PAGES = ROOT / "docs" / "labels"
AKS = "kubernetes.azure.com"


def new_world(**more: Any) -> World:
    return World(region="eastus", **more)


def committed(name: str) -> str:
    return (PAGES / name).read_text(encoding="utf-8")


def rows(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("| `")]


def test_pages_without_trials() -> None:
    assert committed("policies.md") == policies_page()
    assert committed("differences.md") == differences_page()


@pytest.mark.slow
def test_the_table_and_the_claims_of_a_release() -> None:
    column = column_of("1.14.0", all_keys(), new_world)
    assert committed("1.14.0.md") == table_page("1.14.0", column, agent_pool_labels(new_world))
    page = claims_page({"1.14.0": column}, machine_cells("1.14.0", new_world), reasons())
    found = rows(page)
    assert found == [line for line in rows(committed("claims.md")) if "| 1.6.5 |" not in line]
    assert any(f"{AKS}/mode" in line for line in found)
    assert page.partition("## ")[2] == committed("claims.md").partition("## ")[2]


@pytest.mark.slow
def test_the_evolution_of_some_keys() -> None:
    releases = ["1.6.5", "1.6.6", "1.6.7"]
    points = turning_points()
    assert list(points[points.index("1.6.5") :][:3]) == releases
    keys = [f"{AKS}/cluster", f"{AKS}/mode", "karpenter.azure.com/sku-series"]
    found = rows(evolution_page({name: column_of(name, keys, new_world) for name in releases}, "1.34.0"))
    assert len(found) == 3
    assert set(found) <= set(rows(committed("evolution.md")))


def test_what_is_on_the_node_anyway_is_not_written_by_karpenter() -> None:
    side = TriedSide(partial(new_world, karpenter="1.14.0"))
    written = {key: side.written(key) for key in ("beta.kubernetes.io/os", "kubernetes.io/os", f"{AKS}/cluster")}
    assert [(str(cell.answer), cell.by_karpenter) for cell in written.values()] == [
        ("yes", False),
        ("yes", True),
        ("yes", True),
    ]
    [found] = mismatches("beta.kubernetes.io/os", Cell(Answer.YES, "", ""), written["beta.kubernetes.io/os"])
    assert (found.column, str(found.said)) == ("written", "yes")
    assert found.found == "no, by kubelet (kubelet-default): linux"
    assert not list(mismatches("kubernetes.io/os", Cell(Answer.YES, "", ""), written["kubernetes.io/os"]))


def test_labels_of_aks_that_a_machine_lacks_have_a_reason() -> None:
    absent, conditional = Cell(Answer.NO, "", ""), Cell(Answer.YES, "", "", elsewhere=True)
    cells = {f"{AKS}/hobovm": absent, f"{AKS}/fips_enabled": conditional, f"{AKS}/role": Cell(Answer.YES, "", "")}
    found = list(lacking({**cells, "karpenter.sh/capacity-type": absent}, reasons()))
    assert [(one.key, one.documented, one.observed) for one in found] == [
        (f"{AKS}/hobovm", False, True),
        (f"{AKS}/fips_enabled", True, True),
    ]
    assert all(one.why for one in found)


def test_the_story_of_a_key() -> None:
    story = tell(
        f"{AKS}/cluster", lambda **more: World(**{"karpenter": "1.14.0", **more}), ["1.6.5", "1.6.6", "1.14.0"]
    )
    assert "well-known" in story.roles
    assert story.computed is not None
    assert (story.computed.several, story.computed.none, story.computed.values) == (0, 0, ("MC_rg_harness_eastus",))
    assert [(era.first, era.last) for era in story.eras] == [("1.6.5", "1.6.5"), ("1.6.6", "1.14.0")]
    assert "another value: runaway" in story.eras[0].pod
    assert story.conflict is not None
    assert story.conflict.node is None
    assert "filtered out all" in story.conflict.sentence
    assert story.modes["aksscriptless"].detail == "kubelet (base): MC_rg_harness_eastus"
    assert story.modes["aksmachineapi"].detail == "kubelet (aks-rp): MC_rg_harness_eastus"
    assert story.claim is not None
    assert story.claim.schedulable is False
    assert [row.id for row in story.differences] == ["D6"]


def test_a_label_of_ones_own_wins_over_the_base() -> None:
    story = tell(f"{AKS}/ebpf-dataplane", lambda **more: World(**{"karpenter": "1.14.0", **more}), ["1.14.0"])
    assert story.computed is None
    assert story.conflict is not None
    assert story.conflict.labels[f"{AKS}/ebpf-dataplane"] == "other"


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tell, "__defaults__", (("1.14.0",),))
    assert main(["labels", "explain", "storageprofile"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("storageprofile, provider 1.14.0, region eastus\n")
    assert '  a NodePool   no: crd-cel key:storageprofile: label "storageprofile" is restricted\n' in text
    assert "  D15: " in text
    assert len(text.splitlines()) < 40
    assert main(["labels", "explain", "storageprofile", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["differences"] == ["D15"]


@pytest.mark.parametrize(
    "arguments", [["explain"], ["explain", "a b"], ["explain", "x/y/z"], ["pages"], ["pages", "/dev/null/x"]]
)
def test_bad_input(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["labels", *arguments]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
