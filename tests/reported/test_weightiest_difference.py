"""Of what differs between two Karpenters the deciding fact is told, and of its value the place where both come apart."""

from __future__ import annotations

from typing import Any

import pytest

from harness.reading.problems import Mark
from harness.reports.agreement import render_difference
from harness.scenario.comparing.attached_runs import weightiest_first
from harness.scenario.comparing.comparison import Comparison, Difference, Result
from harness.scenario.expectations.verdicts import Verdict
from harness.world.snapshot import differences

SIZES = [f"Standard_D{number}s_v5" for number in range(40)]


def snapshot(sizes: list[str]) -> dict[str, Any]:
    """The facts of a world in which one NodeClaim may become some sizes."""
    requirements = [f"node.kubernetes.io/instance-type In {', '.join(sizes)}", "kubernetes.io/arch In amd64"]
    claim = {"requirements": requirements, "labels": {}, "conditions": {"Launched": [f"True {len(sizes)}"]}}
    return {
        "Events": {"Pod web": {f"Normal Nominated: {len(sizes)} sizes": "told"}},
        "NodeClaims": {"default 1": {"NodeClaim": claim, "Events": {f"Launched {sizes[0]}": "told"}}},
        "Pods": {"web": [len(sizes) > 1]},
        "expectations": {"then[0].pods": str(len(sizes))},
    }


def compared(left: dict[str, Any], right: dict[str, Any]) -> Comparison:
    found = tuple(Difference(*each) for each in differences(left, right))
    return Comparison("f.yaml::case", "1.14.0", "aksscriptless", Result.DIFFER, differences=found)


def test_the_nodeclaim_comes_before_events() -> None:
    comparison = compared(snapshot(SIZES), snapshot(SIZES[:1]))
    assert comparison.differences[0].fact.startswith("Events")  # as they are found
    assert comparison.first is not None
    assert comparison.first.fact == "NodeClaims[default 1][NodeClaim][requirements]"


@pytest.mark.parametrize("place", [39, 25, 0])
def test_a_long_value_begins_where_it_differs(place: int) -> None:
    other = [*SIZES]
    other[place] = "Standard_E99s_v5"
    text = render_difference(compared(snapshot(SIZES), snapshot(other)))
    assert f"Standard_D{place}s_v5" in text
    assert "Standard_E99s_v5" in text


def test_short_values_are_whole() -> None:
    text = render_difference(compared(snapshot(SIZES[:2]), snapshot(SIZES[:3])))
    assert "node.kubernetes.io/instance-type In Standard_D0s_v5, Standard_D1s_v5, Standard_D2s_v5" in text


def test_an_attached_run_tells_messages_last() -> None:
    mark = Mark("f.yaml", 1, 1)
    labels = ("then[0].events", "then[1].log", "then[2].nodeclaims.count", "then[3].node.size")
    failed = [Verdict.failed(label, mark, "a", "b") for label in labels]
    assert [each.label for each in weightiest_first(failed)] == [*labels[2:], *labels[:2]]
