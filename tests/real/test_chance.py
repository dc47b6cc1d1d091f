"""What chance decides makes no difference between two runs; what looks like it and is another answer does."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from harness.scenario.comparing.chance import without_chance
from harness.scenario.comparing.draws import Draws
from harness.scenario.language.cases import Case
from harness.scenario.language.files import load
from harness.world.facts import Facts
from harness.world.snapshot import differences

Json = dict[str, Any]

POD = """
---
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec: {containers: [{name: c, image: pause, resources: {requests: {cpu: CPU}}}]}
"""
NOMINATED = "Normal Nominated: Pod should schedule on: nodeclaim/default {}"
POLLED = "Normal Unconsolidatable: {}"


@pytest.fixture
def case_of(tmp_path: Path) -> Callable[..., Case]:
    def build(then: str = "pods: {bound: {atLeast: 1}}", cpu: str = "1", **more: str) -> Case:
        steps = more.get("when", "[settle]")
        pods = "".join(POD.replace("NAME", name).replace("CPU", cpu if name == "c" else "1") for name in "abc")
        text = f"scenario: three pods\nwhen: {steps}\nthen:\n- {then}\n{pods}"
        (tmp_path / "case.yaml").write_text(text)
        (scenario,) = load(tmp_path / "case.yaml", "case.yaml")
        return scenario.cases[0]

    return build


def claim(zone: str, size: str = "Standard_D2s_v5") -> Json:
    requirements = [f"topology.kubernetes.io/zone In {zone}", f"node.kubernetes.io/instance-type In {size}"]
    number = zone.rpartition("-")[2]
    labels = {"topology.kubernetes.io/zone": zone}
    asked = [f'PUT virtualMachines size={size} zones=["{number}"] 201']
    return {"NodeClaim": {"requirements": requirements, "labels": labels}, "Azure": asked, "Events": {}}


def facts(pending: str = "c", zones: tuple[str, ...] = (), per_node: tuple[int, ...] = (1, 1)) -> Json:
    bound = [name for name in "abc" if name != pending]
    return {
        "NodeClaims": {f"default {number}": claim(zone) for number, zone in enumerate(zones, 1)},
        "Pods": {"bound": {f"default/{name}": [name != pending] for name in "abc"}, "per Node": list(per_node)},
        "Events": {f"Pod {name}": {NOMINATED.format(number): "told"} for number, name in enumerate(bound, 1)},
    }


def differing(case: Case, left: Json, right: Json, waves: tuple[int, ...] = ()) -> list[str]:
    before = json.dumps([left, right])
    found = differences(*without_chance(case, Facts(left, (), waves), Facts(right, ())))
    assert json.dumps([left, right]) == before
    return [fact for fact, _, _ in found]


def test_which_of_several_equal_pods_stays_pending(case_of: Callable[..., Case]) -> None:
    left, right = facts("c"), facts("a")
    assert differing(case_of(), left, right) == []
    assert differing(case_of(cpu="2"), left, right), "another size of pod is another pod"
    assert differing(case_of("pods: {pending: [c]}"), left, right), "an expectation names it"
    assert differing(case_of(when="[settle, {delete: Pod/c}]"), left, right), "a step names it"
    none = deepcopy(right)
    none["Pods"]["bound"]["default/b"] = [False]
    assert differing(case_of(), left, none), "another number of them"


def test_which_zones_a_spread_takes(case_of: Callable[..., Case]) -> None:
    left, right = facts(zones=("eastus-1", "eastus-2")), facts(zones=("eastus-3", "eastus-1"))
    assert differing(case_of(), left, right) == []
    assert differing(case_of(), left, facts(zones=("eastus-3", "eastus-3"))), "both in one"
    named = "objects: {kind: Node, labels: {topology.kubernetes.io/zone: eastus-2}, count: 1}"
    assert differing(case_of(named), left, right), "the case names it"
    larger = deepcopy(right)
    larger["NodeClaims"]["default 1"] = claim("eastus-3", "Standard_D4s_v5")
    assert differing(case_of(), left, larger), "another size"


def test_which_node_comes_first_at_the_same_instant(case_of: Callable[..., Case]) -> None:
    left, right = facts(per_node=(6, 6)), facts(per_node=(2, 10))
    assert differing(case_of(), left, right, (2,)) == []
    assert differing(case_of(), left, right, (1, 1)) == ["Pods[per Node]"], "one after the other"
    assert differing(case_of(), left, facts(per_node=(2, 9)), (2,)) == ["Pods[per Node]"], "a pod less"


def test_how_often_disruption_has_looked(case_of: Callable[..., Case]) -> None:
    left, right = facts(), facts()
    left["Events"]["Node a"] = {POLLED.format("one"): "told", POLLED.format("two"): "told"}
    right["Events"]["Node a"] = {POLLED.format("two"): "told"}
    right["Events"]["Node b"] = {POLLED.format("three"): "told"}
    assert differing(case_of(), left, right) == []
    right["Events"]["Node a"] = {POLLED.format("another text"): "told"}
    assert differing(case_of(), left, right), "another text"
    right["Events"]["Node a"] = {"Normal DisruptionTerminating: x": "told"}
    assert differing(case_of(), left, right), "no Event of a look"


@pytest.mark.parametrize(
    ("course", "there", "passes"),
    [(["Unknown", "True"], True, True), (["Unknown"], False, True), (["Unknown"], True, False), ([], True, False)],
    ids=["it was initialized", "it is gone", "it waits", "nothing is known of it"],
)
def test_what_a_node_passes_through(case_of: Callable[..., Case], course: list[str], there: bool, passes: bool) -> None:
    left, right = facts(zones=("eastus-1",)), facts(zones=("eastus-1",))
    for each, told in ((left, "Node isn't initialized"), (right, "Node is nominated for a pending pod")):
        own = each["NodeClaims"]["default 1"]
        own["NodeClaim"] |= {"conditions": {"Initialized": course}, "there": there}
        own["Events of the Node"] = {f"Normal DisruptionBlocked: {told}": "told"}
    assert (differing(case_of(), left, right) == []) is passes
    going = right["NodeClaims"]["default 1"]
    going["Events of the Node"] = {"Normal DisruptionBlocked: Node is deleting or marked for deletion": "told"}
    assert (differing(case_of(), left, right) == []) is passes, "one look fell into its end"


def test_of_a_node_that_nobody_has_any_more_looks_make_no_difference(case_of: Callable[..., Case]) -> None:
    left, right = facts(), facts()
    left["Events"]["Node a"] = {"Normal DisruptionBlocked: Node isn't initialized": "told"}
    right["Events"]["Node a"] = {"Normal DisruptionBlocked: Node is deleting or marked for deletion": "told"}
    assert differing(case_of(), left, right) == []
    for each in (left, right):
        each["Nodes of others"] = {"a": {}}
    assert differing(case_of(), left, right), "it is there"


def test_a_run_is_held_beside_the_draw_that_pinned_the_same_zones() -> None:
    zones = [("eastus-1", "0"), ("eastus-1", "eastus-2"), ("eastus-2", "0"), ("eastus-1",)]
    runs = [Facts(facts(zones=drawn), ()) for drawn in zones]
    asked: list[int] = []

    def again(seed: int) -> tuple[Facts, dict[str, str]]:
        asked.append(seed)
        return runs[seed % 3], {"seed": str(seed)}

    def agrees(run: object) -> bool:
        return False

    draws = Draws((runs[0], {}), again)
    assert draws.like(runs[0], agrees) == (runs[0], {})
    assert asked == []
    assert draws.like(runs[2], agrees) == (runs[2], {"seed": "2"})
    assert asked == [1, 2]
    assert draws.like(runs[1], agrees)[0] is runs[1], "known from before"
    assert draws.like(runs[3], agrees)[0] is runs[0], "another number of NodeClaims is no chance"
    assert asked == [1, 2]
    assert draws.like(Facts(facts(zones=("eastus-3", "eastus-3")), ()), agrees)[0] is runs[0], "nobody draws that"
    assert len(asked) == 16


def test_a_run_that_differs_is_held_beside_the_draw_that_was_launched_into_the_same_zones() -> None:
    runs = [Facts(facts(), (f"default: eastus-{number % 3 + 1}",)) for number in range(3)]
    draws = Draws((runs[0], {}), lambda seed: (runs[seed % 3], {}))
    assert draws.like(Facts(facts(), runs[2].drawn), lambda run: False)[0] is runs[0], "it makes no difference"
    assert draws.like(Facts(facts(), runs[2].drawn), lambda run: run[0] is not runs[2])[0] is runs[2]
    assert draws.like(Facts(facts(), ("default: eastus-9",)), lambda run: True)[0] is runs[0], "nobody draws that"
