"""The reason under an expectation is about the objects of that expectation: those of another NodePool or workload are not in it."""

from __future__ import annotations

import re

import pytest

from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.files import load
from harness.scenario.running.runner import Runner

ENTRIES = {
    "a NodePool's count": "{nodeclaims: {nodepool: red, count: 3}}",
    "the nearest NodeClaim": "{nodeclaims: {nodepool: red, are: [{size: Standard_D8s_v5}]}}",
    "a condition of the nearest NodeClaim": "{nodeclaims: {are: [{nodepool: red, conditions: {Drifted: 'True'}}]}}",
    "a Node of a NodePool": "{node: {of: NodePool/red, size: Standard_D8s_v5}}",
    "an object that a NodePool made": "{objects: {of: Pod/red-pod, match: {spec: {priority: 7}}}}",
    "who is disrupted": "{disrupted: {node: NodePool/red, reason: Drifted}}",
    "why a Node stays": "{notDisrupted: {node: NodePool/red, because: nothing at all}}",
    "how long a pod took": "{elapsed: {to: {bound: Pod/red-pod}, takes: {below: 1s}}}",
    "when a NodeClaim came": "{elapsed: {from: {created: NodeClaim/red-*}, to: {bound: Pod/red-pod}, takes: {below: 1s}}}",
    "something that never holds": "{never: {nodeclaims: {nodepool: red, count: 1}}}",
    "a pod": "{pods: {pending: [red-pod]}}",
}
"""Expectations about NodePool red or its pod that do not hold."""

EVERY = "{node: {of: Deployment/blue, every: true, zone: eastus-1}}"


def _pool(name: str) -> str:
    return f"""\
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  template:
    metadata: {{labels: {{team: {name}}}}}
    spec:
      nodeClassRef: {{group: karpenter.azure.com, kind: AKSNodeClass, name: default}}
      requirements: [{{key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D4s_v5]}}]
"""


SCENARIO = f"""\
scenario: red and blue
when: [settle, {{advance: 2m}}]
then: THEN
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {{name: default}}
spec: {{}}
{_pool("red")}{_pool("blue")}---
apiVersion: v1
kind: Pod
metadata: {{name: red-pod}}
spec: {{nodeSelector: {{team: red}}, containers: [{{name: c, image: c, resources: {{requests: {{cpu: 2}}}}}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: blue}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: blue}}}}
  template:
    metadata: {{labels: {{app: blue}}}}
    spec:
      nodeSelector: {{team: blue}}
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {{matchLabels: {{app: blue}}}}
      containers: [{{name: c, image: c, resources: {{requests: {{cpu: 2}}}}}}]
"""


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Verdict]:
    """The first verdict of each entry that does not hold, by the entry's number."""
    path = tmp_path_factory.mktemp("why") / "case.yaml"
    then = "".join(f"\n- {entry}" for entry in (*ENTRIES.values(), EVERY))
    path.write_text(SCENARIO.replace("THEN", then))
    (case,) = load(path, path.name)[0].cases
    found: dict[int, Verdict] = {}
    for verdict in Runner().run(case).failures:
        number = re.match(r"then\[(\d+)\]", verdict.label)
        assert number is not None, verdict
        found.setdefault(int(number[1]), verdict)
    return found


@pytest.mark.parametrize("name", ENTRIES)
def test_only_objects_of_the_expectation_are_named(name: str, failures: dict[int, Verdict]) -> None:
    text = "\n".join(failures[list(ENTRIES).index(name)].why)
    assert re.search(r"\bred\b|as for", text), text
    assert not re.search(r"\bblue\b", text), text


def test_of_several_nodes_those_that_differ_are_named(failures: dict[int, Verdict]) -> None:
    verdict = failures[len(ENTRIES)]
    named = {name for line in verdict.why for name in re.findall(r"NodeClaim (blue-\w+)", line)}
    assert {f"aks-{name}" for name in named} == set(verdict.about)
    assert len(verdict.about) == 2  # of three, one is in eastus-1
    assert not any("eastus-1" in line for line in verdict.why if line.startswith("NodeClaim"))
