"""Two traces side by side: what differs is told, and what chance draws is no difference."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.scenario.language.files import load
from harness.scenario.running.runner import Runner
from harness.scenario.running.tracing import finished
from harness.trace import Trace, read_trace, write_trace
from harness.trace.comparing import compare_traces
from harness.trace.decisions import decisions_of_events
from harness.trace.facts import Disruption, EventTold, Expectation, LabelWrite, NodeState, PodState
from tests.cli.command import call
from tests.trace.conftest import SPOT

THREE = SPOT.replace("values: [eastus-1]", "values: [eastus-1, eastus-2, eastus-3]")


def traced(runner: Runner, folder: Path, text: str, seed: int = 0) -> Trace:
    path = folder / "case.yaml"
    path.write_text(text)
    (case,) = load(path, path.name)[0].cases
    case = replace(case, given=case.given.model_copy(update={"seed": seed}))
    run, verdicts = runner.examine(case, recorded=True)
    return finished(run, verdicts, "passed")


def test_a_trace_is_the_same_as_itself(runner: Runner, tmp_path: Path) -> None:
    trace = traced(runner, tmp_path, SPOT)
    found = compare_traces(trace, trace)
    assert (list(found.differences), list(found.situations)) == ([], [])
    assert found.same > 100


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_chance_draws_is_no_difference(seed: int, runner: Runner, tmp_path: Path) -> None:
    """Another seed draws other names, ids and zones."""
    left, right = traced(runner, tmp_path, THREE), traced(runner, tmp_path, THREE, seed)
    found = compare_traces(left, right)
    assert list(found.differences) == []
    assert [what for what, _, _ in found.situations] == ["seed"]


def test_a_zone_that_was_asked_for_is_a_difference(runner: Runner, tmp_path: Path) -> None:
    left = traced(runner, tmp_path, SPOT)
    right = traced(runner, tmp_path, SPOT.replace("eastus-1]", "eastus-2]"))
    facts = {one.fact: (one.left, one.right) for one in compare_traces(left, right).differences}
    assert facts["NodeClaims[default 1][zone]"] == ("eastus-1", "eastus-2")


def test_the_weightiest_difference_comes_first(runner: Runner, tmp_path: Path) -> None:
    left = traced(runner, tmp_path, SPOT)
    right = traced(runner, tmp_path, SPOT.replace("cpu: 2,", "cpu: 40,"))
    found = compare_traces(left, right).differences
    assert [one.fact.partition("[")[0] for one in found][:3] == ["expectations", "pods", "pods"]
    assert (found[0].left, found[0].right) == (True, False)


def test_beside_a_real_controller_counts_what_both_tell(runner: Runner, tmp_path: Path) -> None:
    """It does not tell where a label comes from, which sizes were left, or what it was refused inside of itself."""
    left = traced(runner, tmp_path, SPOT)
    kept = ("sizes", "funnel", "decision", "rejection", "disruption")
    facts = [fact for fact in left.facts if fact.fact not in kept]
    plain = [replace(fact, from_="") if isinstance(fact, LabelWrite) else fact for fact in facts]
    seen = [fact for fact in plain if not (isinstance(fact, LabelWrite) and fact.kind in ("same", "withheld"))]
    decided = decisions_of_events(fact for fact in left.facts if isinstance(fact, EventTold))
    found = sorted([*seen, *decided], key=lambda fact: fact.t)
    right = replace(left, header=replace(left.header, karpenter="real"), facts=tuple(found))
    assert list(compare_traces(left, right).differences) == []


def test_an_expectation_that_need_not_hold_beside_the_real_one_is_no_difference(runner: Runner, tmp_path: Path) -> None:
    left = traced(runner, tmp_path, SPOT)
    otherwise = [
        replace(fact, held=False, kept="told by its log") if isinstance(fact, Expectation) else fact
        for fact in left.facts
    ]
    assert compare_traces(left, replace(left, facts=tuple(otherwise))).real == []
    failed = [replace(fact, held=False) if isinstance(fact, Expectation) else fact for fact in left.facts]
    assert len(compare_traces(left, replace(left, facts=tuple(failed))).real) == 1


def test_what_belongs_to_a_cluster_is_kept_with_its_reason(runner: Runner, tmp_path: Path) -> None:
    left = traced(runner, tmp_path, SPOT)
    facts = [
        replace(fact, allocatable={**fact.allocatable, "cpu": 2}) if isinstance(fact, NodeState) else fact
        for fact in left.facts
    ]
    on_kind = replace(left, header=replace(left.header, cluster="kind"), facts=tuple(facts))
    found = compare_traces(left, on_kind)
    assert [(one.fact, one.kept) for one in found.differences] == [
        ("NodeClaims[default 1][Nodes][0][allocatable][cpu]", "a node container has the capacity of its host")
    ]
    assert found.real == []
    assert len(compare_traces(left, replace(on_kind, header=left.header)).real) == 1


def test_what_somebody_else_decided_is_told_by_its_events() -> None:
    def event(name: str, reason: str, message: str) -> EventTold:
        return EventTold(1.0, name, "Normal", reason, message, "karpenter")

    events = [
        event("Pod/a", "Nominated", "Pod should schedule on: nodeclaim/default-1"),
        event("Pod/other/b", "Nominated", "Pod should schedule on: nodeclaim/default-1"),
        event("Pod/c", "Nominated", "Pod should schedule on: node/aks-1"),
        event("Pod/e", "Nominated", "Pod should schedule on: nodeclaim/default-2, node/aks-2"),
        event("Pod/d", "FailedScheduling", "Failed to schedule pod, no"),
        event("Node/x", "Nominated", "x"),
    ]
    assert [(one.pods, one.result, one.target, one.why) for one in decisions_of_events(events)] == [
        (("default/a", "other/b"), "nodeclaim", "NodeClaim/default-1", ""),
        (("default/c",), "existing", "Node/aks-1", ""),
        (("default/e",), "existing", "Node/aks-2", ""),
        (("default/d",), "refused", "", "no"),
    ]


BEFORE = SPOT.partition("---\n")[2]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "before.yaml").write_text(BEFORE)
    (tmp_path / "after.yaml").write_text(BEFORE.replace("Standard_D4s_v5", "Standard_D8s_v5"))
    (tmp_path / "case.yaml").write_text(SPOT)
    return tmp_path


def test_before_and_after(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "compare", "before.yaml", "after.yaml")
    assert code == 1
    lines = out.splitlines()
    assert lines[0].startswith("cost: ")
    assert " differences: " in summary(out)
    assert summary(out).endswith("facts are the same")
    assert "  size: Standard_D4s_v5 → Standard_D8s_v5  [NodeClaim default 1]" in lines
    assert not [line for line in lines if line.startswith("  ") and "instance-type" in line]  # follows from the size
    assert any("another size" in line for line in lines)
    lines = call(capsys, "compare", "before.yaml", "after.yaml", "-v")[1].splitlines()
    place = lines.index("NodeClaims: default 1: size")
    assert lines[place + 1 : place + 3] == ["    A  Standard_D4s_v5", "    B  Standard_D8s_v5"]


def summary(out: str) -> str:
    """The line that counts what differs, below the cost."""
    return next(line for line in out.splitlines() if "facts are the same" in line)


def test_only_what_is_asked_for_differs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both sides have one Kubernetes where the releases are to differ, as an upgrade of Karpenter leaves it."""
    _, out, _ = call(capsys, "compare", "case.yaml", "--release", "1.4.0,1.14.0", "--format", "json")
    found = json.loads(out)
    assert [one["what"] for one in found["comparisons"][0]["situations"]] == ["release"]
    assert found["note"] == "Kubernetes 1.33.0 on both sides; 1.14.0 by itself has 1.34.0"
    _, out, _ = call(capsys, "compare", "case.yaml", "--release", "1.4.0,1.14.0", "--kubernetes", "1.34.1")
    assert "by itself has" not in out
    assert "kubernetes" not in summary(out)


def test_what_the_file_says_of_kubernetes_stays(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "own.yaml").write_text(SPOT.replace("given:\n", "given:\n  kubernetes: 1.34.2\n"))
    _, out, _ = call(capsys, "compare", "own.yaml", "--release", "1.4.0,1.14.0", "-v")
    assert "kubernetes" not in summary(out)
    assert "1.33" not in out


def test_the_same_is_the_same(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "compare", "before.yaml", "before.yaml", "--release", "1.14.0")
    assert (code, summary(out).startswith("no difference; ")) == (0, True)


def test_two_regions_have_one_word(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = BEFORE.replace("      - {key: topology.kubernetes.io/zone, operator: In, values: [eastus-1]}\n", "")
    (here / "any.yaml").write_text(text)
    code, out, _ = call(capsys, "compare", "any.yaml", "--region", "eastus,westeurope", "--format", "json")
    (one,) = json.loads(out)["comparisons"]
    assert code == 1
    assert {"what": "region", "left": "eastus", "right": "westeurope"} in one["situations"]
    assert {each["fact"].partition("[")[0] for each in one["differences"]} <= {
        "price",
        "NodeClaims",
        "sizes",
        "decisions",
    }
    assert not [each for each in one["differences"] if "topology" in each["fact"]]
    (here / "larger.yaml").write_text(text.replace("Standard_D4s_v5", "Standard_D8s_v5"))
    _, out, _ = call(capsys, "compare", "any.yaml", "larger.yaml", "-v")
    assert "    A  only in A: PUT virtualMachines Standard_D4s_v5 any zone Spot 201" in out.splitlines()


def test_traces_as_files(here: Path, runner: Runner, capsys: pytest.CaptureFixture[str]) -> None:
    trace = traced(runner, here, SPOT)
    write_trace(trace, here / "a.jsonl")
    write_trace(trace, here / "b.jsonl.gz")
    assert call(capsys, "compare", "a.jsonl", "b.jsonl.gz")[0] == 0
    assert call(capsys, "compare", "a.jsonl", "case.yaml")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["case.yaml"], "one file, and nothing that differs"),
        (["case.yaml", "none.yaml"], "none.yaml: there is no such file"),
        (["a", "b", "c"], "3 files; one or two are compared"),
        (["case.yaml", "--release", "1.14.0,1.99.0"], "--release: unknown"),
        (["case.yaml", "--region", "eastus,"], "--region eastus,: A or A,B is expected"),
        (["case.yaml", "--cluster", "memory,apiservr"], "--cluster apiservr: unknown; did you mean 'apiserver'?"),
        (["case.yaml", "--region", "eastus,westus2", "-k", "x"], "no cases whose name contains 'x' in case.yaml"),
        (["before.yaml", "--karpenter", "simulated,real"], "--karpenter simulated,real is about one scenario file"),
    ],
)
def test_mistakes(words: list[str], said: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = call(capsys, "compare", *words)
    assert (code, error.count("\n")) == (2, 1)
    assert error.startswith("harness compare: ")
    assert said in error


def test_names_that_a_workload_draws_are_no_difference_in_what_karpenter_says(runner: Runner, tmp_path: Path) -> None:
    trace = traced(runner, tmp_path, THREE)
    pods = [fact for fact in trace.facts if isinstance(fact, PodState)]

    def drawn(name: str) -> Trace:
        """As if the pod were of a workload and had another name, and Karpenter had named it in a sentence."""
        facts = tuple(
            replace(fact, pod=f"default/{name}", owner="Deployment/web") if isinstance(fact, PodState) else fact
            for fact in trace.facts[:-1]
        )
        told = "Not all pods would schedule, default/{} => would schedule against uninitialized nodeclaim/x"
        event = EventTold(pods[-1].t, "NodePool/default", "Normal", "Unconsolidatable", told.format(name), "karpenter")
        return Trace(trace.header, (*facts, event, trace.facts[-1]))

    assert list(compare_traces(drawn("web-6dc99-zcfr8"), drawn("web-5c64j-gs9dj")).differences) == []
    other = drawn("web-5c64j-gs9dj")
    changed = replace(
        other, facts=(*other.facts[:-2], replace(other.facts[-2], message="Not all pods"), other.facts[-1])
    )
    assert [one.fact for one in compare_traces(other, changed).differences] == ["Events[NodePool/default]"]


def test_what_a_real_controller_decided_is_compared_as_far_as_it_says() -> None:
    """Its log has neither method nor drift, and savings with two decimals; which nodes go and why is the same."""
    trace = read_trace(Path(__file__).with_name("version-1.jsonl.gz"))
    assert trace.facts_of(Disruption)

    def real(**changes: Any) -> Trace:
        facts = tuple(
            replace(fact, method="", drift="", savings=round(fact.savings, 2), ended=None, **changes)
            if isinstance(fact, Disruption)
            else fact
            for fact in trace.facts
        )
        return Trace(replace(trace.header, karpenter="real"), facts)

    assert not [one for one in compare_traces(trace, real()).differences if one.fact.startswith("disruptions")]
    (found,) = [
        one for one in compare_traces(trace, real(reason="Empty")).differences if one.fact.startswith("disruptions")
    ]
    assert "Empty" in str(found.right)


SCALER = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {maxReplicas: 9, scaleTargetRef: {kind: Deployment, name: web}}
"""
LEFT_OUT = "not simulated: HorizontalPodAutoscaler web (replicas stay as written)"


def test_kinds_that_are_not_simulated_are_left_out_as_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "platform.yaml").write_text(f"{BEFORE}\n---\n{SCALER}")
    releases = ("--release", "1.13.1,1.14.0")
    _, out, _ = call(capsys, "compare", "platform.yaml", *releases)
    assert LEFT_OUT in out.splitlines()
    _, out, _ = call(capsys, "compare", "platform.yaml", *releases, "--format", "json")
    assert LEFT_OUT in json.loads(out)["notes"]
    code, out, _ = call(capsys, "watch", "platform.yaml", "--plain")
    assert (code, LEFT_OUT in out.splitlines()) == (0, True)
