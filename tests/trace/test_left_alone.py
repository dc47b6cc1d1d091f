"""What Karpenter leaves alone after a refusal is said as its cache keeps it: by size, family, capacity type and zone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from shutil import which
from subprocess import run
from typing import Any

import pytest

from harness.reports.picture.answers import refusals
from harness.reports.picture.left_alone import left_alone
from harness.reports.picture.story import Story
from harness.scenario.language.models.base import parse_duration
from harness.trace import Trace
from harness.trace.facts import ArmCall, Blocked
from harness.trace.files import trace_of_lines
from harness.wording import duration_text

DURATIONS = [
    (0, "0s"), (0.04, "0s"), (0.4, "0.4s"), (1.1, "1.1s"), (59.6, "59.6s"), (59.96, "1m"), (200, "3m20s"), (3601.3, "1h1.3s"),
    (3720, "1h2m"), (30_600, "8h30m"), (90_000, "1d1h"), (-1.5, "-1.5s"),
]  # fmt: skip
"""Virtual seconds, and how every text and page writes them."""

ZONES = ("eastus-1", "eastus-2", "0")


def mark(
    zone: str, capacity_type: str = "on-demand", *, t: float = 1.0, lasts: float = 3600.0, **what: Any
) -> dict[str, Any]:
    return {"t": t, "fact": "blocked", "zone": zone, "capacity_type": capacity_type, "until": t + lasts, "reason": "", **what}  # fmt: skip


SIZE = {"size": "Standard_D2s_v5"}
FAMILY = {"family": "standardDSv5Family", "vcpus": 2}


@pytest.mark.parametrize(
    ("marks", "time", "what"),
    [
        ([mark("", "spot")], "for 1h, until 1h1s", "all spot, of every size in every zone"),
        ([mark("eastus-1", **SIZE)], "for 1h, until 1h1s", "D2s_v5: on-demand in eastus-1"),
        ([mark("0", **SIZE)], "for 1h, until 1h1s", "D2s_v5: on-demand without a zone"),
        (
            [mark(zone, **SIZE) for zone in ZONES], "for 1h, until 1h1s",
            "D2s_v5: on-demand in eastus-1, eastus-2 and without a zone",
        ),
        (
            [mark(zone, kind, **SIZE) for zone in ZONES for kind in ("on-demand", "spot")], "for 1h, until 1h1s",
            "D2s_v5: on-demand and spot in eastus-1, eastus-2 and without a zone",
        ),
        (
            [mark("eastus-1", **SIZE), mark("eastus-1", **FAMILY)], "for 1h, until 1h1s",
            "D2s_v5 and family standardDSv5Family from 2 vCPUs on: on-demand in eastus-1",
        ),
        (
            [mark("eastus-1", lasts=180, **{**FAMILY, "vcpus": -1})], "for 3m, until 3m1s",
            "all of family standardDSv5Family: on-demand in eastus-1",
        ),
        (
            [mark("eastus-1", **SIZE), mark("eastus-2", "spot", **SIZE)], "for 1h, until 1h1s",
            "D2s_v5: on-demand in eastus-1; spot in eastus-2",
        ),
        ([mark("", **SIZE)], "for 1h, until 1h1s", "D2s_v5: on-demand without a zone"),
    ],
)  # fmt: skip
def test_a_mark_in_words(marks: list[dict[str, Any]], time: str, what: str) -> None:
    assert left_alone(marks) == [{"time": time, "what": what}]


def test_marks_that_end_at_different_times_are_told_apart() -> None:
    found = left_alone([mark("eastus-1", **SIZE), mark("eastus-1", lasts=82800, **FAMILY)])
    assert [one["time"] for one in found] == ["for 1h, until 1h1s", "for 23h, until 23h1s"]


@pytest.mark.parametrize(("seconds", "text"), DURATIONS)
def test_durations(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(("seconds", "text"), DURATIONS[:-1])
def test_a_scenario_may_write_a_time_as_a_report_does(seconds: float, text: str) -> None:
    assert parse_duration(text) == pytest.approx(seconds, abs=0.05)


@pytest.mark.skipif(which("node") is None, reason="runs the pages' script: needs Node in PATH")
def test_pages_write_times_as_texts_do() -> None:
    module = Path(__file__).parents[2] / "picture" / "src" / "text.js"
    script = (
        f"import {{ duration }} from {json.dumps(module.as_uri())}; console.log(JSON.stringify(INPUT.map(duration)));"
    )
    moments = [*(seconds for seconds, _ in DURATIONS), *(number * 0.05 for number in range(0, 90_000, 487))]
    done = run(
        [str(which("node")), "--input-type=module", "-e", script.replace("INPUT", json.dumps(moments))],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == [duration_text(seconds) for seconds in moments]


TWO = """\
scenario: two pods are refused at the same moment
given:
  karpenter: 1.14.0
  region: southcentralus
  azure:
    capacity:
    - {size: Standard_D2as_v6, vms: 0, error: OverconstrainedZonalAllocationRequest, at: start}
    - {size: Standard_F2s_v2, vms: 0, error: SkuNotAvailable, at: start}
then:
- azure: {vms: 0}
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {}
""" + "".join(
    f"""---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  template:
    metadata: {{labels: {{team: {name}}}}}
    spec:
      nodeClassRef: {{group: karpenter.azure.com, kind: AKSNodeClass, name: default}}
      requirements:
      - {{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}}
      - {{key: node.kubernetes.io/instance-type, operator: In, values: [{size}]}}
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec: {{nodeSelector: {{team: {name}}}, containers: [{{name: web, image: web, resources: {{requests: {{cpu: "1"}}}}}}]}}
"""
    for name, size in (("d", "Standard_D2as_v6"), ("f", "Standard_F2s_v2"))
)


@pytest.fixture
def two(traced: Callable[[str], Trace]) -> Trace:
    return traced(TWO)


def test_a_mark_names_the_call_that_led_to_it(two: Trace) -> None:
    calls = {call.number: call for call in two.facts_of(ArmCall)}
    assert two.facts_of(Blocked)
    for one in two.facts_of(Blocked):
        call = calls[one.call]
        assert (call.method, call.status, call.t) == ("PUT", 409, one.t)
        assert one.size in ("", call.size)
    first = [call for call in calls.values() if call.status == 409][:2]
    assert first[0].t == first[1].t
    assert {call.size for call in first} == {"Standard_D2as_v6", "Standard_F2s_v2"}


def test_refusals_of_one_moment_have_marks_of_their_own(two: Trace) -> None:
    for one in refusals(Story.of(two.to_json())):
        said = " ".join(words["what"] for words in one["blocked"])
        assert one["size"].removeprefix("Standard_") in said
        assert not ("D2as_v6" in said and "F2s_v2" in said)


def test_a_trace_without_the_number_goes_by_the_time(two: Trace) -> None:
    older = [{key: value for key, value in line.items() if key != "call"} for line in two.to_json()]
    said = " ".join(words["what"] for words in refusals(Story.of(older))[0]["blocked"])
    assert "D2as_v6" in said
    assert "F2s_v2" in said


def test_a_reader_that_does_not_know_the_number_reads_on(two: Trace) -> None:
    import json

    lines = [json.dumps({**line, "of-a-later-version": 1}) for line in two.to_json()]
    assert trace_of_lines(lines).facts_of(Blocked) == two.facts_of(Blocked)
