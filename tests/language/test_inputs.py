"""Inputs of a scenario are judged in one place, all of them at once, each at its place in the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.cli.worlds import InputError, create_world
from harness.reading.problems import ScenarioError
from harness.scenario.expectations.verdicts import Outcome
from harness.scenario.language.cases import Case
from harness.scenario.language.files import load_text
from harness.scenario.language.inputs import case_problems
from harness.scenario.running import shared
from harness.scenario.running.runner import Runner
from harness.world.inputs import input_mistakes

THEN = "then: [{pods: {bound: 0}}]\n"
WRONG = """\
scenario: x
given:
  region: eastuss
  kubernetes: latest
  provisionMode: aksmachineapi
  karpenter: 1.6.5
  options: {network-plugn: azure, vm-memory-overhead-percent: much}
  azure:
    quota: {coers: 1}
    faults:
    - {what: SkuNotAvailabel}
    - {what: SkuNotAvailable, where: {zone: 9}}
"""


def problems(text: str, release: str | None = None) -> list[str]:
    (scenario,) = load_text(text, file="f.yaml", release=release)
    with pytest.raises(ScenarioError) as caught:
        Runner().check_inputs(scenario.cases)
    return str(caught.value).splitlines()


def test_all_inputs_of_a_case_at_once() -> None:
    assert problems(WRONG + THEN) == [
        "f.yaml:3:3: given.region: unknown region 'eastuss'; did you mean 'eastus' or 'eastus2' or 'westus'?",
        "f.yaml:4:3: given.kubernetes: a version such as 1.34.2 is expected, not 'latest'",
        "f.yaml:5:3: given.provisionMode: provider 1.6.5 has no provision mode 'aksmachineapi'; "
        "it has aksscriptless, bootstrappingclient",
        "f.yaml:7:13: given.options.network-plugn: unknown option 'network-plugn'; "
        "did you mean 'network-plugin' or 'network-plugin-mode' or 'network-policy'?",
        "f.yaml:7:35: given.options.vm-memory-overhead-percent: a number is expected, not 'much'",
        "f.yaml:9:13: given.azure.quota.coers: unknown usage 'coers'; did you mean 'cores'?",
        "f.yaml:11:8: given.azure.faults[0].what: unknown value 'SkuNotAvailabel'; did you mean 'SkuNotAvailable'?",
        "f.yaml:12:39: given.azure.faults[1].where.zone: unknown zone '9'; zones are 1, 2, 3, regional",
    ]


def test_the_command_line_says_the_same() -> None:
    inputs = {"region": "eastuss", "kubernetes": "latest", "karpenter": "1.6.5", "provision_mode": "aksmachineapi"}
    with pytest.raises(InputError) as caught:
        create_world(**inputs)
    said = [line.partition(": ") for line in str(caught.value).splitlines()]
    assert [option for option, _, _ in said] == ["--kubernetes", "--region", "--mode"]
    assert [text for _, _, text in said] == [str(one) for one in input_mistakes(inputs)]


def test_a_release_of_the_command_line_stands_for_a_matrix_of_releases() -> None:
    text = (
        "scenario: x\nmatrix: {karpenter: [1.6.5, 1.7.2, 1.13.1], kubernetes: ['1.30', '1.31']}\n"
        "then: [{pods: {bound: 0, only: {karpenter: [1.6.5]}}}, {pods: {pending: 0}}]\n"
    )
    (scenario,) = load_text(text, file="f.yaml", release="1.14.0")
    assert [case.id for case in scenario.cases] == ["1.14.0-1.30", "1.14.0-1.31"]
    assert {case.given.karpenter for case in scenario.cases} == {"1.14.0"}
    assert [len(case.then) for case in scenario.cases] == [1, 1]


def test_a_release_of_the_command_line_stands_for_that_of_a_case() -> None:
    text = "scenario: x\ngiven: {karpenter: 1.4.0}\ncases: [{case: a, given: {karpenter: 9.9}}, {case: b}]\n" + THEN
    (scenario,) = load_text(text, file="f.yaml", release="1.13.1")
    assert [(case.name, case.given.karpenter) for case in scenario.cases] == [("x[a]", "1.13.1"), ("x[b]", "1.13.1")]
    Runner().check_inputs(scenario.cases)


def test_a_line_of_releases_is_its_newest(tmp_path: Path) -> None:
    (scenario,) = load_text("scenario: x\ngiven: {karpenter: 1.6, crds: v1.7}\n" + THEN, file="f.yaml")
    world = Runner().shared.new_world(scenario.cases[0])
    assert world.release.version == "1.6.8"


DAY = """scenario: x
given: {azure: {asOf: %s}}
then: [{requirements: {of: %s, are: {karpenter.sh/capacity-type: %s}}}]
"""


@pytest.mark.parametrize(("day", "types"), [("2025-05-20", "on-demand"), ("2025-06-02", "{in: [on-demand, spot]}")])
def test_the_lists_of_a_day(day: str, types: str) -> None:
    """F8as_v6 is sold as spot since 2025-05-27."""
    (scenario,) = load_text(DAY % (day, "Standard_F8as_v6", types), file="f.yaml")
    (case,) = scenario.cases
    Runner().check_inputs([case])
    assert Runner().run(case).outcome is Outcome.PASSED


def test_what_a_day_does_not_have() -> None:
    """D4s_v7 was listed later. A header with another mistake says the same."""
    for more in ("", "whem: 1\n"):
        text = DAY + more
        (size,) = problems_at(text % ("2025-06-02", "Standard_D4s_v7", "spot"), "then")
        assert size.startswith("f.yaml:3:24: then[0].requirements.of: unknown size 'Standard_D4s_v7' in eastus")
        day = "f.yaml:2:17: given.azure.asOf: '20250602' is no date; write 2026-06-15"
        assert problems_at(text % ("20250602", "Standard_D4s_v5", "spot"), "asOf") == [day]


def test_the_day_does_not_change_on_the_way() -> None:
    text = "scenario: x\nwhen: [{azure: {asOf: 2025-06-02}}]\n" + THEN
    (line,) = problems_at(text, "asOf")
    assert line.startswith("f.yaml:2:17: when[0].azure.asOf: unknown key 'asOf'")


def problems_at(text: str, word: str) -> list[str]:
    """The lines of all mistakes that name a place."""

    def read() -> None:
        (scenario,) = load_text(text, file="f.yaml")
        Runner().check_inputs(scenario.cases)

    with pytest.raises(ScenarioError) as caught:
        read()
    return [line for line in str(caught.value).splitlines() if word in line]


def test_inputs_of_a_case_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a label table makes a world for each of its cells; under other overrides, and for another case, they are judged anew."""
    judged: list[str] = []

    def counted(case: Case, *rest: Any) -> Any:
        judged.append(str(case.given.seed))
        return case_problems(case, *rest)

    monkeypatch.setattr(shared, "case_problems", counted)
    table = "then: [{labels: {are: {kubernetes.io/arch: {pod: yes}, beta.kubernetes.io/os: {pod: yes}}}}]\n"
    (scenario,) = load_text(f"scenario: x\nseeds: 2\n{table}", file="f.yaml")
    (case,) = scenario.cases
    runner = Runner()
    runner.check_inputs([case])
    assert all(verdict.holds for verdict in runner.judge_once(case).verdicts)
    assert judged == ["None"]
    runner.judge(case)
    assert judged == ["None", "0", "1"]
    with pytest.raises(ScenarioError, match="unknown region 'nowhere'"):
        Runner(region="nowhere").judge(case)
