"""Scenarios on clusters under pytest: grouping for xdist, leases, and a cluster that does not start."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import harness.world  # noqa: F401  imported once here: some of the tests below run pytest in this process
from harness.clusters import leases
from harness.clusters.client.connection import ClusterLost
from harness.clusters.control_plane.pki import MissingTool
from harness.clusters.errors import ClusterFailed
from harness.karpenter.releases import DEFAULT_RELEASE
from harness.pytest_plugin.clusters import ClusterRunners, MemoryRehearsal, first_difference
from harness.pytest_plugin.selection import Groups
from harness.scenario.language.files import load
from harness.scenario.language.models.header import Seeds
from harness.scenario.running.run import Judged
from harness.scenario.running.runner import Runner
from tests.project.tree import ROOT

# four groups, whose cases stand in turns in two files
FILE = """
scenario: {name} sizes
matrix: {{karpenter: [1.10.2, 1.13.1, 1.14.0]}}
then: [{{requirements: {{of: Standard_D4s_v5, are: {{karpenter.azure.com/sku-cpu: 4}}}}}}]
---
scenario: {name} series
matrix: {{karpenter: [1.10.2, 1.13.1, 1.14.0]}}
then: [{{requirements: {{of: Standard_D4s_v5, are: {{karpenter.azure.com/sku-family: D}}}}}}]
---
scenario: {name} machines
given: {{provisionMode: aksmachineapi}}
matrix: {{size: [Standard_D2s_v5, Standard_D4s_v5]}}
then: [{{requirements: {{of: $(size), are: {{karpenter.azure.com/sku-family: D}}}}}}]
"""


@pytest.fixture
def project(project: pytest.Pytester) -> pytest.Pytester:
    for name in ("a", "b"):
        (project.path / f"{name}.yaml").write_text(FILE.format(name=name))
    return project


def test_cases_of_a_release_and_mode_run_on_one_worker(project: pytest.Pytester) -> None:
    """Also the proof that pytest-xdist's hook does what `xdist_group` no longer does."""
    pytest.importorskip("xdist")
    result = project.runpytest_subprocess("--cluster", "http", "-n", "2", "-v", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=16)
    workers: dict[str, set[str]] = {}
    groups = Groups(project.path)
    for line in result.outlines:
        found = re.match(r"\[(gw\d)\] \[ *\d+%\] PASSED (.*?) *$", line)
        if found is not None:
            workers.setdefault(groups.group_of(found[2]), set()).add(found[1])
    assert set(workers) == {"1.10.2", "1.13.1", "1.14.0", f"{DEFAULT_RELEASE} aksmachineapi"}
    assert all(len(each) == 1 for each in workers.values()), workers
    assert len(set.union(*workers.values())) == 2


def test_groups(project: pytest.Pytester) -> None:
    groups = Groups(project.path)
    assert groups.group_of("a.yaml::a sizes[1.13.1]") == groups.group_of("b.yaml::b series[1.13.1]") == "1.13.1"
    assert groups.group_of("a.yaml::a machines[Standard_D2s_v5]") == f"{DEFAULT_RELEASE} aksmachineapi"
    assert groups.group_of("tests/test_x.py::test_y") == "tests/test_x.py"
    assert groups.group_of("missing.yaml::x") == "missing.yaml"
    one_release = Groups(project.path, "1.14.0")
    assert one_release.group_of("a.yaml::a sizes[1.13.1]") == "a.yaml"


class FakeCluster:
    """As much of a cluster as leases need."""

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.start_seconds = 1.0
        self.number = number
        self.stopped = False

    def lease(self) -> dict[str, str]:
        return {"cluster": self.name, "number": str(self.number)}

    def memory(self) -> dict[str, int]:
        return {"node": 100}

    def machine_counts(self) -> tuple[int, int]:
        return 0, 0

    def stop(self) -> None:
        self.stopped = True
        if self.number == 1:
            raise ClusterFailed("one does not stop")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[FakeCluster]:
    clusters: list[FakeCluster] = []

    def start(name: str, *, image: str | None = None) -> Any:
        clusters.append(FakeCluster(name, len(clusters) + 1))
        return clusters[-1]

    monkeypatch.setattr(leases, "start", start)
    return clusters


def runners(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> ClusterRunners:
    monkeypatch.setattr(pytestconfig.option, "scenarios_cluster", "kind")
    return ClusterRunners(pytestconfig)


def test_a_worker_that_replaces_a_dead_one_gets_its_clusters(
    started: list[FakeCluster], pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    clusters = runners(pytestconfig, monkeypatch)
    first, second = clusters.start_for_worker("gw0"), clusters.start_for_worker("gw1")
    assert first != second
    clusters.release("gw0", [{"name": "kind", "joins": 3, "registrations": 4, "too_big": 0}])
    assert clusters.start_for_worker("gw2") == first
    assert len(started) == 2
    assert clusters.summary() == [
        "kind: started in 1.0 s, 100 MiB (node 100); nodes joined: 3, registrations of real kubelets: 4",
        "kind: started in 1.0 s, 100 MiB (node 100)",
    ]


def test_one_that_does_not_stop_keeps_no_other_running(
    started: list[FakeCluster], pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    clusters = runners(pytestconfig, monkeypatch)
    clusters.start_for_worker("gw0")
    clusters.start_for_worker("gw1")
    with pytest.raises(ClusterFailed, match="one does not stop"):
        clusters.stop()
    assert [each.stopped for each in started] == [True, True]


@pytest.mark.parametrize("names", ["kind", "memory,kind", "apiserver,kind"])
@pytest.mark.parametrize(
    ("error", "arguments", "outcome", "text"),
    [
        (
            ClusterFailed("node x is exited\n    its last words"),
            (),
            "failed",
            "cluster kind did not start: node x is exited",
        ),
        (MissingTool("no image; name one"), (), "skipped", "cluster kind: no image; name one"),
        (MissingTool("no image; name one"), ("--require-cluster",), "failed", "cluster kind: no image; name one"),
    ],
    ids=["it fails", "something is missing", "and must not be"],
)
def test_a_cluster_that_cannot_be_had_is_one_message_and_no_second_attempt(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    arguments: tuple[str, ...],
    outcome: str,
    text: str,
    names: str,
) -> None:
    attempts: list[str] = []

    def start(name: str, *, image: str | None = None) -> Any:
        attempts.append(name)
        if name == "apiserver":
            return FakeCluster(name, 0)
        raise error

    monkeypatch.setattr(leases, "start", start)
    result = project.runpytest_inprocess(
        "a.yaml", "--cluster", names, "-rs", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments
    )
    result.assert_outcomes(**{outcome: 8})
    assert text in result.stdout.str()
    assert "Traceback" not in result.stdout.str()
    assert str(Path(leases.__file__).name) not in result.stdout.str()
    assert attempts == [name for name in names.split(",") if name != "memory"]


OLD = """
scenario: a pod gets a Node
matrix: {karpenter: [1.6.5, 1.14.0]}
then: [{pods: {bound: {web: default}}}]
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
"""


@pytest.mark.parametrize("steps", ["", "when: [settle, {patch: {of: Node/*, to: {metadata: {labels: {a: b}}}}}]"])
def test_a_case_that_the_clusters_kubernetes_breaks_is_skipped_and_others_are_not(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, steps: str
) -> None:
    """A kubelet 1.36 does not start with the flags that release 1.6.5 gives it; newer releases work with any version."""
    (tmp_path / "old.yaml").write_text(OLD.replace("then:", f"{steps}\nthen:"))
    old, new = load(tmp_path / "old.yaml", "old.yaml")[0].cases
    clusters = runners(pytestconfig, monkeypatch)
    monkeypatch.setattr(clusters, "_runner", lambda name: None)
    monkeypatch.setattr(clusters, "_version", "1.36.3")
    assert "on 1.36.3, which the cluster is, something else comes of it" in clusters._unsupported(old)
    assert clusters._unsupported(new) == ""


@pytest.mark.parametrize(("count", "held"), [(4, True), (1, False)])
def test_a_case_that_holds_for_some_seeds_runs_under_one_for_which_it_does(count: int, held: bool) -> None:
    path = ROOT / "scenarios/reported/core-affinity-with-pvc-zone.yaml"
    case = next(one for one in load(path, path.name)[0].cases if "1.14.2" in one.name)
    case = replace(case, header=case.header.model_copy(update={"seeds": Seeds(count=str(count), hold="some")}))
    runner = Runner()
    assert not all(verdict.holds for verdict in runner.examine(case)[1])
    chosen = MemoryRehearsal(lambda: runner).of_one_seed(case)
    assert all(verdict.holds for verdict in runner.examine(chosen)[1]) == held


class Losing:
    """A Runner whose cluster dies and is there again, as told."""

    def __init__(self, *ends: Exception | None) -> None:
        self._ends = iter(ends)

    def judge_once(self, case: Any) -> Judged:
        end = next(self._ends)
        if end is not None:
            raise end
        return Judged(())


def test_what_died_is_told_at_length_once(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "old.yaml").write_text(OLD)
    first, second = load(tmp_path / "old.yaml", "old.yaml")[0].cases
    clusters = runners(pytestconfig, monkeypatch)
    lost = ClusterLost(
        "https://127.0.0.1:1 does not answer: refused\nkube-apiserver was killed by signal 9\n    last words"
    )
    runner: Any = Losing(lost, lost, None, lost, ClusterFailed("not lost\nlong"))
    told: list[str] = []
    for case in (first, second, second, second, first):
        try:
            clusters._run("kind", runner, case)
        except ClusterFailed as error:
            told.append(str(error))
    again = (
        "https://127.0.0.1:1 does not answer: refused; cluster kind is lost since old.yaml::a pod gets a Node[1.6.5]"
    )
    assert told == [str(lost), f"{again}, which tells what died", str(lost), "not lost\nlong"]


def test_an_outcome_that_chance_may_come_to_is_no_difference():
    expected, real, another = ({"Pod": {"per Node": counts}} for counts in ([2, 4], [3, 3], [1, 5]))
    assert first_difference(expected, real, [(1, another), (2, real)]) == (2, None)
    assert first_difference(expected, real, [(1, another)]) == (0, ("Pod[per Node]", [2, 4], [3, 3]))
    assert first_difference(expected, real, ()) == (0, ("Pod[per Node]", [2, 4], [3, 3]))


def test_nothing_is_drawn_where_nothing_differs():
    draws = iter([(1, {"Pod": {}})])
    assert first_difference({"Pod": {"web": "Node 1"}}, {"Pod": {"web": "Node 1"}}, draws) == (0, None)
    assert next(draws)[0] == 1
