"""What stands under an expectation that does not hold: the reason, with times and places, the same in every report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from harness.explain.why import MOST
from harness.reports import Summary, as_json, junit
from harness.reports.terminal import render_verdict
from harness.scenario.language.files import load
from harness.scenario.running.runner import Runner
from harness.scenario.running.verdicts import CaseReport
from tests.trace.conftest import SPOT

REFUSED = (
    "at 1.1 s Azure refused Standard_D4s_v5 on spot in eastus-1: SkuNotAvailable: The requested VM size for resource 'Following SKUs "
    "have failed for Capacity Restrictions: Standard_D4s_v5' is currently not available in location 'eastus'. Please try another "
    "size…; Karpenter leaves it alone until 3,601.1 s"
)
MADE = (
    "NodeClaim default-X of NodePool default, made at 1 s for Pod/web: Standard_D4s_v5 on-demand in eastus-1, launched at 2.2 s, "
    "registered at 42.3 s, initialized at 47.1 s"
)
ALL = "all that happened: harness watch case.yaml -k 'a zone without spot'"


def failing(runner: Runner, folder: Path, then: str, text: str = SPOT) -> CaseReport:
    path = folder / "case.yaml"
    path.write_text(text.replace("[{pods: {bound: 1}}]", f"[{then}]"))
    (case,) = load(path, path.name)[0].cases
    report = runner.run(case)
    assert report.failures, report
    return report


def why(report: CaseReport, number: int = 0) -> list[str]:
    """The lines, without the names that chance draws."""
    return [re.sub(r"(default-)[a-z0-9]{5}\b", r"\1X", line) for line in report.failures[number].why]


@pytest.mark.parametrize(
    ("then", "lines"),
    [
        ("{node: {of: Pod/web, capacityType: spot}}", [REFUSED, MADE, ALL]),
        ("{nodeclaims: {count: 2}}", [REFUSED, MADE, ALL]),
        (
            "{pods: {pending: [web]}}",
            ["Pod/web is on Node aks-default-X since 47.1 s", MADE, ALL],
        ),
        (
            "{events: {of: Pod/web, reason: Nominated, count: 3}}",
            ["at 1 s Normal Nominated of Pod/web: Pod should schedule on: nodeclaim/default-X", ALL],
        ),
        (
            "{azure: {calls: [{method: PUT, resource: virtualMachines, count: 1}]}}",
            [
                "at 1.1 s PUT virtualMachines/aks-default-X Standard_D4s_v5 Spot eastus-1: 409 SkuNotAvailable",
                "at 2.1 s PUT virtualMachines/aks-default-X Standard_D4s_v5 Regular eastus-1: 201",
                ALL,
            ],
        ),
        (
            "{cost: {perHour: 1}}",
            ["VM aks-default-X: Standard_D4s_v5 on-demand in eastus-1, 0.1920 USD/h: on at 12.1 s", ALL],
        ),
        (
            "{node: {of: Pod/web, labels: {kubernetes.azure.com/scalesetpriority: spot}}}",
            ["at 42.1 s kubelet (base) set regular", "at 42.1 s karpenter (vm) same regular", REFUSED, MADE, ALL],
        ),
        ("{log: {message: launched nodeclaim, count: 2}}", None),
        ("{disrupted: {reason: Drifted}}", None),
        ("{requirements: {of: Standard_D4s_v5, are: {karpenter.azure.com/sku-cpu: '5'}}}", [ALL]),
    ],
)
def test_under_each_kind(then: str, lines: list[str] | None, runner: Runner, tmp_path: Path) -> None:
    found = why(failing(runner, tmp_path, then))
    assert found == lines if lines is not None else len(found) >= 2, found
    assert len(found) <= MOST


def test_a_pod_that_waits_has_the_sentence_and_the_smallest_change(runner: Runner, tmp_path: Path) -> None:
    text = SPOT.replace("cpu: 2,", "cpu: 40,")
    found = why(failing(runner, tmp_path, "{pods: {bound: 1}}", text))
    assert found[0] == "Pod/web: pending"
    assert found[1].startswith("  Karpenter says: no instance type")
    assert any("would help to" in line for line in found), found
    assert found[-1] == ALL


def test_what_is_the_same_is_told_once(runner: Runner, tmp_path: Path) -> None:
    report = failing(runner, tmp_path, "{node: {of: Pod/web, capacityType: spot}}, {nodeclaims: {count: 2}}")
    assert why(report, 1) == ["as for then[0].node.capacityType", ALL]


def test_many_items_are_few_lines(runner: Runner, tmp_path: Path) -> None:
    pods = "".join(
        "---\n" + SPOT.rpartition("---\n")[2].replace("name: web}\nspec", f"name: web-{number}}}\nspec")
        for number in range(30)
    )
    text = SPOT.replace("memory: 1Gi", "memory: 9Gi") + pods.replace("memory: 1Gi", "memory: 9Gi")
    report = failing(runner, tmp_path, "{nodeclaims: {count: 2}}", text)
    assert len(report.failures[0].why) <= MOST
    assert any(re.fullmatch(r"… and \d+ more NodeClaims", line) for line in why(report))


def test_the_same_text_everywhere(runner: Runner, tmp_path: Path) -> None:
    report = failing(runner, tmp_path, "{node: {of: Pod/web, capacityType: spot}}")
    lines = report.failures[0].why
    summary = Summary((report,), 0.1)
    shown = render_verdict(report.failures[0])
    told = as_json.summary_value(summary)["cases"][0]["failures"][0]
    assert json.loads(json.dumps(told))["why"] == list(lines)
    document = fromstring(junit.render(summary))
    assert document.find(".//failure").text == shown
    assert f"why       {lines[0]}" in shown
    assert all(line in shown for line in lines[1:])


def test_what_holds_is_run_once(runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import harness.trace

    monkeypatch.setattr(harness.trace, "record", None)  # nobody may ask for it
    path = tmp_path / "case.yaml"
    path.write_text(SPOT)
    (case,) = load(path, path.name)[0].cases
    assert not runner.run(case).failures
