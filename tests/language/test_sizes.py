"""Sizes are bounded before anything is made: a line names the limit and how to raise it."""

from pathlib import Path

import pytest

from harness.limits import VARIABLE, LimitsError, check_limits
from harness.reading.documents import documents
from harness.reading.problems import ScenarioError
from harness.scenario.language.files import load_text
from harness.scenario.running.runner import Runner

RAISE = "HARNESS_LIMITS=pods=N in the environment raises that"


def _workload(kind: str, spec: str, name: str = "d") -> str:
    group = {"Job": "batch/v1", "NodePool": "karpenter.sh/v1"}.get(kind, "apps/v1")
    policy = "Never" if kind == "Job" else "Always"
    template = f"template: {{metadata: {{labels: {{a: b}}}}, spec: {{restartPolicy: {policy}, containers: [{{name: c, image: x}}]}}}}"
    rest = f"selector: {{matchLabels: {{a: b}}}}, {template}" if kind != "NodePool" else "template: {}"
    return f"---\napiVersion: {group}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  {{{spec}, {rest}}}\n"


def _refused(text: str) -> list[str]:
    with pytest.raises(ScenarioError) as found:
        load_text(text, file="s.yaml")
    return [str(problem) for problem in found.value.problems]


HEAD = "scenario: s\nthen: [{pods: {pending: 0}}]\n"


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet"])
@pytest.mark.parametrize("number", [10**9, 2**63 - 1])
def test_replicas(kind: str, number: int) -> None:
    told = f"s.yaml:8:4: spec.replicas: {number:,} pods are more than the 200,000 that a file may ask for; {RAISE}"
    assert told in _refused(HEAD + _workload(kind, f"replicas: {number}"))


def test_pods_that_a_job_runs_at_one_time() -> None:
    many = HEAD + _workload("Job", "parallelism: 1000000000, completions: 1000000000")
    assert (
        f"s.yaml:8:4: spec.parallelism: 1,000,000,000 pods are more than the 200,000 that a file may ask for; {RAISE}"
        in _refused(many)
    )
    load_text(
        HEAD
        + _workload("Job", "parallelism: 1, completions: 1000000000").replace("selector: {matchLabels: {a: b}}, ", ""),
        file="s.yaml",
    )


def test_nodes_of_a_static_nodepool() -> None:
    (told,) = [line for line in _refused(HEAD + _workload("NodePool", "replicas: 100000000")) if "nodes are" in line]
    assert told.endswith(
        "100,000,000 nodes are more than the 10,000 that a file may ask for; HARNESS_LIMITS=nodes=N in the environment raises that"
    )


def test_what_workloads_make_is_counted_together() -> None:
    """The one with which there are too many is named; a hundred thousand pods are none too many."""
    load_text(HEAD + _workload("Deployment", "replicas: 100000"), file="s.yaml")
    text = HEAD + "".join(_workload("Deployment", "replicas: 150000", name) for name in "abc")
    assert _refused(text) == [
        f"s.yaml:14:4: spec.replicas: 300,000 pods are more than the 200,000 that a file may ask for; {RAISE}"
    ]


def test_steps_that_scale_and_patch() -> None:
    steps = "scenario: s\nwhen: [{scale: {of: Deployment/d, replicas: 1000000000}}]\nthen: [{pods: {pending: 0}}]\n"
    assert _refused(steps + _workload("Deployment", "replicas: 1")) == [
        f"s.yaml:2:35: when[0].scale.replicas: 1,000,000,000 pods are more than the 200,000 that a step may ask for; {RAISE}"
    ]
    patch = "scenario: s\nwhen: [{patch: {of: Deployment/d, to: {spec: {replicas: 1000000000}}}}]\nthen: [{pods: {pending: 0}}]\n"
    (scenario,) = load_text(patch + _workload("Deployment", "replicas: 1"), file="s.yaml")
    with pytest.raises(ScenarioError, match=r"^s\.yaml:2:8: when: 1,000,000,000 pods are more than the 200,000"):
        Runner().run(scenario.cases[0])


@pytest.mark.parametrize(
    "steps",
    [
        "{scale: {of: Deployment/a, replicas: 4}}, {scale: {of: Deployment/b, replicas: 4}}",
        "{patch: {of: Deployment/*, to: {spec: {replicas: 4}}}}",
    ],
    ids=["scale", "patch"],
)
def test_what_steps_ask_for_is_counted_together(steps: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"scenario: s\nwhen: [{steps}]\nthen: [{{pods: {{pending: 7}}}}]\n"
    text += "".join(_workload("Deployment", "replicas: 1", name) for name in "ab")
    (scenario,) = load_text(text, file="s.yaml")
    monkeypatch.setenv(VARIABLE, "pods=7")
    with pytest.raises(
        ScenarioError, match=r"^s\.yaml:2:\d+: when: 8 pods are more than the 7 that a step may ask for"
    ):
        Runner().run(scenario.cases[0])
    monkeypatch.setenv(VARIABLE, "pods=8")
    Runner().run(scenario.cases[0])


def test_files_that_steps_apply_are_counted_with_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "more.yaml").write_text(_workload("Deployment", "replicas: 4", "b"))
    text = "scenario: s\nwhen: [{apply: [more.yaml]}]\nthen: [{pods: {pending: 8}}]\n"
    (scenario,) = load_text(text + _workload("Deployment", "replicas: 4"), file="s.yaml", directory=tmp_path)
    monkeypatch.setenv(VARIABLE, "pods=7")
    with pytest.raises(ScenarioError, match="8 pods are more than the 7 that a step may ask for"):
        Runner().run(scenario.cases[0])


def test_cases() -> None:
    axes = "".join(f"  x{number}: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n" for number in range(10))
    used = "".join(f"$(x{number})" for number in range(10))
    hint = "HARNESS_LIMITS=cases=N in the environment raises that"
    text = f"scenario: s\nmatrix:\n{axes}then:\n- pods: {{pending: '{used}'}}\n"
    assert (
        f"s.yaml:2:1: matrix: 10,000,000,000 cases are more than the 10,000 that a scenario may have; {hint}"
        in _refused(text)
    )
    named = ", ".join(f"{{case: c{number}}}" for number in range(10_001))
    assert f"s.yaml:2:1: cases: 10,001 cases are more than the 10,000 that a scenario may have; {hint}" in _refused(
        f"scenario: s\ncases: [{named}]\nthen: [{{pods: {{pending: 0}}}}]\n"
    )


def test_the_environment_raises_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + _workload("Deployment", "replicas: 300000")
    assert _refused(text)
    monkeypatch.setenv(VARIABLE, "cases=5,pods=300000")
    load_text(text, file="s.yaml")


@pytest.mark.parametrize("text", ["pods", "pods=", "pods=-1", "pods=1e9", "pots=1", "pods=" + "9" * 5000])
def test_a_limit_that_is_none(text: str) -> None:
    with pytest.raises(LimitsError, match=r"^HARNESS_LIMITS: NAME=N is expected, with a name of pods, nodes, cases, "):
        check_limits({VARIABLE: text})


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        ("steps=5", "too many steps: still moving after 5 steps within .*HARNESS_LIMITS=steps=N"),
        ("all-steps=300", "ended early: still moving after 300 steps in .*HARNESS_LIMITS=all-steps=N"),
    ],
)
def test_time_that_cannot_pass_in_full_is_told(limit: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A schedule may have an event in each minute of ten years; time that stood still gave a verdict about an earlier moment."""
    pool = _workload(
        "NodePool", "disruption: {consolidateAfter: 30s, budgets: [{nodes: '1', schedule: '* * * * *', duration: 1m}]}"
    ).replace(
        "template: {}",
        "template: {spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}, requirements: []}}",
    )
    steps = "scenario: s\nwhen: [{advance: 240h}]\nthen: [{pods: {pending: 0}}]\n"
    (scenario,) = load_text(
        steps
        + pool
        + "---\napiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: default}\nspec: {}\n",
        file="s.yaml",
    )
    monkeypatch.setenv(VARIABLE, limit)
    with pytest.raises(ScenarioError, match=rf"^s\.yaml:2:8: when: {text}"):
        Runner().run(scenario.cases[0])


def test_many_documents_are_read_in_one_pass_over_the_lines() -> None:
    """Each line is counted once, of empty documents and of mistaken ones; else this takes hours."""
    assert documents("---\n" * 500_000, "s.yaml") == ([], [])
    found, problems = documents("a: 1\n---\n" * 50_000 + "b: [\n", "s.yaml")
    assert len(found) == 50_000
    assert [problem.mark.line for problem in problems] == [100_002]
    assert [found[number].position().line for number in (0, 1, 49_999)] == [1, 3, 99_999]


def test_lines_of_a_list_s_items() -> None:
    items = "".join(f"- apiVersion: v1\n  kind: Pod\n  metadata: {{name: p{number}}}\n" for number in range(3))
    (document,), _ = documents(f"---\napiVersion: v1\nkind: List\nitems:\n{items}", "s.yaml")
    assert [item.position(("metadata", "name")).line for item in document.items()] == [7, 10, 13]
