"""Label tables on a cluster elsewhere: one Node for all rows, and the cluster's own word on what NodePools may set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.clusters.http.cluster import HttpCluster
from harness.clusters.remote.attaching import Attaching
from harness.clusters.remote.cluster import RemoteCluster
from harness.engine.clock import Clock
from harness.karpenter.validation.crds import crd_set
from harness.scenario.language.demand import demand
from harness.scenario.language.files import load
from harness.scenario.running.runner import Runner
from harness.world.recorder import Recorder

TABLE = """
scenario: a table
given: {karpenter: 1.14.0}
then:
- labels:
    are:
      kubernetes.io/os: {value: linux, pod: yes, nodepool: yes, written: {value: linux, by: kubelet}}
      kubernetes.azure.com/mode: {value: user, pod: yes, nodepool: yes, written: {value: user}}
      kubernetes.azure.com/agentpool: {nodepool: {settable: no, layer: crd-cel}}
      team: {nodepool: yes, written: no}
- labels: {are: {kubernetes.io/arch: {written: yes}}}
"""

PODS = """
scenario: pods
when: [settle, {scale: {of: Deployment/web, replicas: 5}}, settle]
then: [{pods: {bound: {web: default}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: other}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
"""


class Counting(Attaching):
    """Keeps the clusters of all worlds."""

    def __init__(self, remote: Any) -> None:
        super().__init__(remote, 60.0)
        self.worlds: list[RemoteCluster] = []

    def __call__(self, *arguments: Any, **keywords: Any) -> RemoteCluster:
        self.worlds.append(super().__call__(*arguments, **keywords))
        return self.worlds[-1]


def case_of(text: str, folder: Path) -> Any:
    path = folder / "file.yaml"
    path.write_text(text)
    return load(path, "file.yaml")[0].cases[0]


def test_one_node_of_the_cluster_for_all_rows(tmp_path: Path) -> None:
    with HttpCluster(Recorder(Clock()), crds=crd_set("1.14.0"), kubernetes="1.36.3") as remote:
        factory = Counting(remote)
        verdicts = Runner(cluster=factory, kubernetes="1.36.3").verdicts(case_of(TABLE, tmp_path))
        assert [str(each.differences) for each in verdicts if not each.holds] == []
        writes = [entry for world in factory.worlds for entry in world.journal.entries]
        nodes = [each for each in writes if (each.verb, each.key.kind) == ("create", "Node")]
        assert len(nodes) == 1
        judged = [each for each in writes if each.key.kind == "NodePool" and each.error is not None]
        assert [each.error.reason for each in judged if each.error] == ["Invalid"]


def test_what_pods_ask_for_altogether(tmp_path: Path) -> None:
    asked = demand(case_of(PODS, tmp_path))
    assert {name: str(amount) for name, amount in asked.items()} == {"cpu": "3500m", "memory": "5Gi", "pods": "6"}
