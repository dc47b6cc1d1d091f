"""What stands under an expectation that does not hold: the reason, with times and places, the same in every report."""

from __future__ import annotations

import json
import re
from importlib import import_module
from inspect import signature
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
import yaml
from pydantic.alias_generators import to_camel

from harness.cli import main
from harness.explain.traces.why import MOST
from harness.reports import Summary, as_json, junit
from harness.reports.terminal import render_verdict
from harness.scenario.expectations.verdicts import CaseReport
from harness.scenario.language.files import load
from harness.scenario.language.models.expectations import ExpectationMap
from harness.scenario.running.runner import Runner
from tests.trace.conftest import SPOT
from tests.trace.whys import found, stored

REFUSED = (
    "at 1.1s Azure refused Standard_D4s_v5 on spot in eastus-1: SkuNotAvailable: The requested VM size for resource 'Following SKUs "
    "have failed for Capacity Restrictions: Standard_D4s_v5' is currently not available in location 'eastus'. Please try another "
    "size or …; Karpenter leaves it alone until 1h1.1s"
)
MADE = (
    "NodeClaim default-X of NodePool default, made at 1s for Pod/web: Standard_D4s_v5 on-demand in eastus-1, launched at 2.2s, "
    "registered at 42.3s, initialized at 47.1s"
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
            ["Pod/web is on Node aks-default-X since 47.1s", MADE, ALL],
        ),
        (
            "{events: {of: Pod/web, reason: Nominated, count: 3}}",
            ["at 1s Normal Nominated of Pod/web: Pod should schedule on: nodeclaim/default-X", ALL],
        ),
        (
            "{azure: {calls: [{method: PUT, resource: virtualMachines, count: 1}]}}",
            [
                "at 1.1s PUT virtualMachines/aks-default-X Standard_D4s_v5 Spot eastus-1: 409 SkuNotAvailable",
                "at 2.1s PUT virtualMachines/aks-default-X Standard_D4s_v5 Regular eastus-1: 201",
                ALL,
            ],
        ),
        (
            "{cost: {perHour: 1}}",
            [
                "from 12.1s 0.1920 USD/h for 1 machine",
                "VM aks-default-X: Standard_D4s_v5 on-demand in eastus-1, 0.1920 USD/h: on at 12.1s",
                REFUSED,
                ALL,
            ],
        ),
        (
            "{node: {of: Pod/web, labels: {kubernetes.azure.com/scalesetpriority: spot}}}",
            ["at 42.1s kubelet (base) set regular", "at 42.1s karpenter (vm) same regular", REFUSED, MADE, ALL],
        ),
        ("{log: {message: launched nodeclaim, count: 2}}", None),
        ("{disrupted: {reason: Drifted}}", None),
        (
            "{requirements: {of: Standard_D4s_v5, are: {karpenter.azure.com/sku-cpu: '5'}}}",
            [
                "Standard_D4s_v5 has karpenter.azure.com/sku-cpu In [4], by Azure's record: vCPUs 4",
                "all that is computed: harness requirements --size Standard_D4s_v5 --region eastus --release 1.14.0",
                ALL,
            ],
        ),
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


@pytest.mark.parametrize("key", ExpectationMap.model_fields)
def test_one_module_has_the_model_of_a_key_its_check_and_its_reasons(key: str) -> None:
    module = import_module(ExpectationMap.model_construct({key}, **{key: None}).home)
    assert signature(module.check).parameters.keys() == {"body", "entry", "run"}
    assert signature(module.failure_lines).parameters.keys() == {"failure"}


def test_every_kind_says_why() -> None:
    """A new kind of expectation has its reasons, and a row in the table."""
    kinds = {to_camel(kind) for kind in ExpectationMap.model_fields}
    asked = {next(iter(yaml.safe_load(entry))) for entry in stored()}
    assert asked == kinds
    for entry, parts in stored().items():
        assert parts, entry
        assert all(parts.values()), f"nothing stands under {entry}"


def test_what_stands_under_each() -> None:
    kept = stored()
    for entry, lines in found(list(kept)):
        assert lines == kept[entry], f"{entry}: if it is meant, python -m tests.trace.whys writes it anew"
        assert all(len(each) < MOST for each in lines.values())


SEEDS = SPOT.replace("given:", "seeds: 4\ngiven:").replace(
    "      - {key: topology.kubernetes.io/zone, operator: In, values: [eastus-1]}\n", ""
)


def test_of_several_seeds_the_first_that_fails_says_why(runner: Runner, tmp_path: Path) -> None:
    report = failing(runner, tmp_path, "{node: {of: Pod/web, zone: eastus-1}}", SEEDS)
    place, share = report.failures
    seed = re.fullmatch(r"then\[0\]\.node\.zone \(seed (\d)\)", place.label)
    assert seed is not None
    number = int(seed.group(1))
    assert any(line.startswith("NodeClaim default-") for line in place.why), place.why
    assert place.why[-1] == f"{ALL} --seed {number}"
    assert share.differences[0].actual.partition("not ")[2].split(", ")[0] == str(number)
    assert all(
        re.match(r"seeds? \d(, \d)*: then\[0\]\.node\.zone: expected eastus-1, found eastus-", one) for one in share.why
    )
    shown = render_verdict(share)
    assert f"why       {share.why[0]}" in shown


def test_of_seeds_of_which_none_holds_the_first_says_why(runner: Runner, tmp_path: Path) -> None:
    text = SEEDS.replace("seeds: 4", "seeds: {count: 2, hold: some}")
    report = failing(runner, tmp_path, "{nodeclaims: {count: 9}}", text)
    assert report.failures[0].label == "then[0].nodeclaims.count (seed 0)"
    assert report.failures[0].why[-1] == f"{ALL} --seed 0"
    assert report.failures[1].why == ("seeds 0, 1: then[0].nodeclaims.count: expected 9, found 1",)


def test_the_story_of_one_seed_is_one_command_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "case.yaml"
    path.write_text(SEEDS)

    def zone(seed: str) -> str:
        assert main(["watch", str(path), "--seed", seed]) == 0
        found = re.search(r"launched .*(eastus-\d)", capsys.readouterr().out)
        assert found is not None
        return found.group(1)

    assert len({zone(str(seed)) for seed in range(4)}) > 1
    assert main(["watch", str(path), "--seed", "x"]) == 2
    assert capsys.readouterr().err == "harness watch: --seed x: a whole number is expected\n"


def test_a_fault_that_never_happens_says_what_was_asked(runner: Runner, tmp_path: Path) -> None:
    fault = "azure: {faults: [{what: AllocationFailed, where: {size: Standard_D8s_v5}}], capacity:"
    report = failing(runner, tmp_path, "{pods: {bound: 1}}", SPOT.replace("azure: {capacity:", fault))
    (verdict,) = report.failures
    assert verdict.label == "given.azure.faults[0]"
    assert any("PUT virtualMachines/aks-default-" in line for line in verdict.why), verdict.why


def test_a_fault_of_a_cloud_that_nobody_asks_says_so(runner: Runner, tmp_path: Path) -> None:
    text = """\
scenario: a fault that no call meets
given: {azure: {faults: [{what: AllocationFailed, where: {size: Standard_D8s_v5}}]}}
then: [{pods: {bound: 1}}]
"""
    report = failing(runner, tmp_path, "{nodeclaims: {count: 0}}", text)
    assert why(report) == [
        "Azure was asked to change nothing",
        "all that happened: harness watch case.yaml -k 'a fault that no call meets'",
    ]
