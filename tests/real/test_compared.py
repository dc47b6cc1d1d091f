"""Which cases are compared: prices that change nothing, and loops without end."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.engine.clock import SECOND
from harness.scenario.comparing.comparison import Comparison, Result
from harness.scenario.comparing.kept import KeptDifferences
from harness.scenario.comparing.prices import OWN_PRICES, without_steps_prices
from harness.scenario.comparing.real_runs import RealRuns
from harness.scenario.comparing.runaways import BESIDE_RUNAWAY, beside_runaway
from harness.scenario.language.cases import Case
from harness.scenario.language.files import load
from harness.world import default_caches
from tests.real.conftest import NewWorld

PRICED = """
scenario: a size with a price
given: {{azure: {{prices: {{{size}: {{on-demand: {price}}}}}}}}}
when: [settle{step}]
then: [pods: {{bound: [web]}}]
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {{name: default}}
spec: {{}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: default}}
spec:
  disruption: {{consolidateAfter: Never}}
  template:
    spec:
      nodeClassRef: {{group: karpenter.azure.com, kind: AKSNodeClass, name: default}}
      requirements:
      - {{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}}
      - {{key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D2s_v5, Standard_D4s_v5]}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web}}
spec: {{containers: [{{name: web, image: registry.k8s.io/pause, resources: {{requests: {{cpu: "1"}}}}}}]}}
"""


def case_of(folder: Path, size: str = "Standard_D2s_v5", price: float = 0.05, step: str = "") -> Case:
    path = folder / "priced.yaml"
    path.write_text(PRICED.format(size=size, price=price, step=step))
    ((case,),) = (scenario.cases for scenario in load(path, "priced.yaml"))
    return case


def result_of(case: Case) -> tuple[Result, str]:
    runs = RealRuns(default_caches(), {"1.14.0": Path("/no/controller")}, KeptDifferences())
    try:
        found = runs.compare(case)
    finally:
        runs.close()
    return found.result, found.reason


def test_a_step_that_decides_something_by_prices_is_not_compared(tmp_path: Path) -> None:
    at_once = "{patch: {of: NodePool/default, to: {spec: {disruption: {consolidateAfter: 0s}}}}}, {advance: 1m}"
    case = case_of(tmp_path, step=f", {{azure: {{prices: {{Standard_D4s_v5: 0.001}}}}}}, {at_once}")
    assert result_of(case) == (Result.NOT_APPLICABLE, OWN_PRICES)


@pytest.mark.parametrize("step", ["", ", {azure: {prices: {Standard_D64s_v5: 9}}}"], ids=["given", "in a step"])
def test_prices_that_the_controller_reads_or_that_decide_nothing_are_compared(step: str, tmp_path: Path) -> None:
    """Then the real controller would run, which is not there."""
    with pytest.raises(Exception, match="no/controller"):
        result_of(case_of(tmp_path, step=step))


def test_what_a_step_sets_is_left_out(tmp_path: Path) -> None:
    case = case_of(tmp_path, step=", {azure: {prices: {Standard_D4s_v5: {on-demand: 0.001}}}}")
    plain = without_steps_prices(case)
    assert plain is not None
    steps: list[Any] = [step for step in plain.header.when if not isinstance(step, str)]
    assert plain.given == case.given
    assert [step.azure.prices for step in steps] == [{}]
    assert without_steps_prices(plain) is None


def comparison(*moments: float) -> Comparison:
    """Of a real run that made NodeClaims so many seconds after its start, at second 5 of its clock."""
    journal: list[Any] = [
        SimpleNamespace(verb="create", key=SimpleNamespace(kind="NodeClaim"), error=None, at=int((moment + 5) * SECOND))
        for moment in moments
    ]
    journal.append(SimpleNamespace(verb="create", key=SimpleNamespace(kind="Pod"), error=None, at=60 * SECOND))
    journal.append(SimpleNamespace(verb="create", key=SimpleNamespace(kind="NodeClaim"), error="x", at=60 * SECOND))
    about = Comparison("a.yaml::a", "1.14.0", "aksscriptless", Result.AGREE)
    return beside_runaway(about, "again and again", journal, 5.0, 61.0)


def test_a_real_controller_that_goes_on_agrees_and_is_told() -> None:
    found = comparison(1, 12, 23, 34, 45, 56)
    assert (found.result, found.differences) == (Result.AGREE, ())
    assert (
        found.reason == "goes on without end, as does the real one: 6 NodeClaims in 60 s, 3 of them in the second half"
    )


def test_a_real_controller_that_comes_to_rest_differs() -> None:
    found = comparison(1, BESIDE_RUNAWAY / 2)
    assert found.result is Result.DIFFER
    assert found.first is not None
    assert (found.first.fact, found.first.simulated) == ("runaway", "again and again")
    assert found.first.real == "comes to rest: 2 NodeClaims in 60 s, 0 of them in the second half"


def test_a_world_whose_time_is_over_waits_for_nothing(idle_world: NewWorld) -> None:
    world = idle_world()
    world.end_after(0.2)
    began = world.clock.seconds
    world.advance(600)
    assert world.over
    world.settle()
    assert world.clock.seconds - began < 60
