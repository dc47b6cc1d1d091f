"""The same case on the memory cluster, on a real API server and with real kubelets leaves traces that say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.clusters.control_plane.cluster import RealCluster
from harness.clusters.remote.attaching import attach
from harness.scenario.language.cases import Case
from harness.scenario.language.files import load
from harness.scenario.running.runner import Runner
from harness.scenario.running.tracing import finished
from harness.trace import Trace
from harness.trace.comparing import Comparison, compare_traces
from harness.trace.facts import LabelWrite, NodeState, Write
from harness.world import default_caches
from tests.clusters.conftest import RealClusters
from tests.trace.conftest import ROOT, SPOT

pytestmark = pytest.mark.real_cluster

OF_EACH_FOLDER = (
    ("admission/crd-updates.yaml", ""),
    ("admission/ratcheting.yaml", "a change beside an old requirement"),
    ("capacity/pods-that-wait.yaml", ""),
    ("capacity/sdk-retries.yaml", "an error of Azure's own"),
    ("disruption/emptiness.yaml", ""),
    ("capacity/refusals.yaml", "the size is not available"),
    ("capacity/refusals.yaml", "nothing that the NodePool allows is left"),
    ("disruption/drift.yaml", ""),
    ("disruption/consolidation.yaml", "two nodes are replaced by one[1.14.0]"),
    ("disruption/queue.yaml", ""),
    ("hosting/limits.yaml", "a NodePool for Windows makes no Nodes[1.14.0]"),
    ("labels/who-wins.yaml", "what the user says beats the base labels[1.14.0]"),
    ("faq/well-known-labels.yaml", "the label of another cluster[1.14.0]"),
    ("labels/first-releases.yaml", "AKS machines on request[1.7.0]"),
    ("lifecycle/from-pod-to-node.yaml", "pods that come within a second share a Node"),
    ("next/core-1.15.yaml", "minValues counts the values that are left[1.14.0-Strict]"),
    ("rejected/over-releases.yaml", ""),
    ("reported/az-v6-amd64-never-provisioned.yaml", "sizes of version 6 for both architectures[1.12.2]"),
    ("scheduling/topology-spread.yaml", "a spread sees only the zones that its pods may use"),
)
WITH_KUBELETS = (
    ("labels/spot-node.yaml", "a spot node boots as regular, karpenter corrects it"),
    ("labels/other-writers.yaml", ""),
    ("labels/kubelet-may-not.yaml", ""),
)


def case_of(file: str, text: str, *had: str) -> Case:
    """The first case of a file whose name contains this, of those that a cluster with what it `had` can run."""
    path = ROOT / "scenarios" / file
    cases = [case for scenario in load(path, path.name) for case in scenario.cases]
    return next(
        case for case in cases if text in case.name and {*case.needs} <= {*had} and case.given.kubernetes is None
    )


def both(case: Case, cluster: RealCluster) -> tuple[Trace, Trace]:
    """The case's traces in memory and on a cluster, under its version of Kubernetes."""

    def traced(**overrides: object) -> Trace:
        runner = Runner(default_caches(), kubernetes=cluster.version(), **overrides)
        run, verdicts = runner.examine(case, recorded=True)
        return finished(run, verdicts, "passed")

    return traced(), traced(cluster=attach(cluster))


def told(found: Comparison) -> list[str]:
    """The differences that are not the cluster's own."""
    return [f"{one.fact}: {one.left} | {one.right}" for one in found.real]


@pytest.mark.smoke
def test_a_trace_of_an_api_server_differs_in_nothing(real_clusters: RealClusters, tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_text(SPOT)
    (case,) = load(path, path.name)[0].cases
    found = compare_traces(*both(case, real_clusters.for_worlds("apiserver")))
    assert [what for what, _, _ in found.situations] == ["cluster"]
    assert list(found.differences) == []


@pytest.mark.parametrize(("file", "name"), OF_EACH_FOLDER)
def test_of_each_folder(file: str, name: str, real_clusters: RealClusters) -> None:
    memory, server = both(case_of(file, name, "simulated-kubelets"), real_clusters.for_worlds("apiserver"))
    found = compare_traces(memory, server)
    assert list(found.differences) == []
    written = {(fact.object, fact.by) for fact in server.facts_of(Write) if fact.object.startswith("Node/")}
    for node in {fact.node for fact in server.facts_of(NodeState)}:
        assert (f"Node/{node}", "kubelet") in written


@pytest.mark.parametrize(("file", "name"), WITH_KUBELETS)
def test_real_kubelets(file: str, name: str, real_clusters: RealClusters) -> None:
    """Their writes have their identity; only what a container cannot be differs."""
    memory, kind = both(case_of(file, name), real_clusters.for_worlds("kind"))
    found = compare_traces(memory, kind)
    assert told(found) == []
    assert {one.kept for one in found.differences} <= {
        "a node container has the capacity of its host",
        "a kubelet writes the architecture of its host",
    }
    nodes = {fact.node for fact in kind.facts_of(NodeState)}
    assert nodes
    for node in nodes:
        made = next(fact for fact in kind.facts_of(Write) if fact.object == f"Node/{node}" and fact.verb == "create")
        assert made.by == "kubelet"
        set_by = {
            fact.key: (fact.by, fact.from_)
            for fact in kind.facts_of(LabelWrite)
            if fact.node == node and fact.kind == "set"
        }
        assert set_by["kubernetes.io/hostname"] == ("kubelet", "kubelet-default")
        assert set_by["topology.kubernetes.io/zone"] == ("cloud-node-manager", "vm")
