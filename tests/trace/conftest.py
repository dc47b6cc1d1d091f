"""Cases of the corpus and of small texts, run with a recording."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.scenario.language.files import load
from harness.scenario.running.runner import Runner
from harness.scenario.running.tracing import finished
from harness.trace import Trace

ROOT = Path(__file__).parents[2]

SPOT = """\
scenario: a zone without spot
given:
  azure: {capacity: [{size: Standard_D4s_v5, priority: spot, vms: 0, error: SkuNotAvailable, at: start}]}
when: [settle, {advance: 2m}]
then: [{pods: {bound: 1}}]
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
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
      - {key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D4s_v5]}
      - {key: topology.kubernetes.io/zone, operator: In, values: [eastus-1]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 2, memory: 1Gi}}}]}
"""
"""One spot launch that Azure refuses, then the same size on demand."""


@pytest.fixture(scope="session")
def runner() -> Runner:
    return Runner()


@pytest.fixture
def traced(runner: Runner, tmp_path: Path) -> Callable[[str], Trace]:
    def run(text: str) -> Trace:
        path = tmp_path / "case.yaml"
        path.write_text(text)
        return trace_of(runner, path)

    return run


def trace_of(runner: Runner, path: Path, number: int = 0) -> Trace:
    """The trace of one case of a file, by its number."""
    cases = [case for scenario in load(path, path.name) for case in scenario.cases]
    run, verdicts = runner.examine(cases[number], recorded=True)
    return finished(run, verdicts, "passed")
