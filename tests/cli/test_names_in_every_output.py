"""An object outside of namespace default is `namespace/name` in every output, one in it has its name alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.sweep.simulation import simulate
from tests.cli.command import call


def _workload(kind: str, name: str, cpu: str, namespace: str = "") -> str:
    place = f", namespace: {namespace}" if namespace else ""
    return f"""\
---
apiVersion: apps/v1
kind: {kind}
metadata: {{name: {name}{place}}}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: c, image: c, resources: {{requests: {{cpu: {cpu}, memory: 64Mi}}}}}}]}}
"""


POOL = """\
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
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D2s_v5]}]
"""
OUTSIDE = {"node-exporter": "DaemonSet", "grafana": "Deployment", "prometheus": "Deployment"}
INSIDE = {"node-agent": "DaemonSet", "frontend": "Deployment", "checkout": "Deployment"}
CPU = {
    "node-exporter": "100m",
    "node-agent": "50m",
    "grafana": "1",
    "frontend": "1",
    "prometheus": "1850m",
    "checkout": "1850m",
}
"""The last ones do not fit beside the DaemonSets, so that reports say who takes of the size."""

MANIFESTS = (
    POOL
    + "".join(_workload(kind, name, CPU[name], "monitoring") for name, kind in OUTSIDE.items())
    + "".join(_workload(kind, name, CPU[name]) for name, kind in INSIDE.items())
)
SCENARIO = """\
scenario: two namespaces
then:
- pods: {pending: 0}
- nodeclaims: {count: 9}
- node: {of: Deployment/monitoring/grafana, size: Standard_D8s_v5}
---
"""

COMMANDS = {
    "explain": ("explain", "pods.yaml"),
    "explain all": ("explain", "pods.yaml", "-v"),
    "simulate": ("simulate", "pods.yaml", "-v"),
    "watch": ("watch", "pods.yaml"),
    "run": ("run", "case.yaml"),
    "run -v": ("run", "case.yaml", "-v"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_texts(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pods.yaml").write_text(MANIFESTS)
    (here / "case.yaml").write_text(SCENARIO + MANIFESTS)
    _, out, err = call(capsys, *COMMANDS[name])
    assert err == ""
    assert any(f"monitoring/{bare}" in out for bare in OUTSIDE)
    assert any(bare in out for bare in INSIDE)
    for bare in OUTSIDE:
        assert not re.findall(rf".*(?<!monitoring/)\b{bare}\b.*", _ours(out))
    for bare in INSIDE:
        assert not re.findall(rf".*default/{bare}.*", _ours(out))


def _ours(text: str) -> str:
    """Without what a manifest's labels and Karpenter's own sentences have."""
    return re.sub(r'app[ =:]+"?[\w-]+|matching pods? [\w-]+', "", text)


def test_daemonsets_of_one_name_in_two_namespaces_are_two(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pods.yaml").write_text(
        POOL
        + _workload("DaemonSet", "agent", "100m", "monitoring")
        + _workload("DaemonSet", "agent", "50m")
        + _workload("Deployment", "large", "1850m")
    )
    _, out, _ = call(capsys, "explain", "pods.yaml")
    assert "(of it 100m for DaemonSets monitoring/agent, 50m for agent)" in out


def test_rows_of_a_simulation_name_the_workload_with_its_namespace(here: Path) -> None:
    (here / "pods.yaml").write_text(MANIFESTS)
    owners = {pod.owner for pod in simulate(here / "pods.yaml").pods}
    assert owners == {
        *(f"{kind}/monitoring/{name}" for name, kind in OUTSIDE.items()),
        *(f"{kind}/{name}" for name, kind in INSIDE.items()),
    }


def test_a_page_has_both_forms_of_a_pod(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its tables are written by script from the trace's names; its sentences are ours."""
    (here / "pods.yaml").write_text(MANIFESTS)
    call(capsys, "explain", "pods.yaml", "--html", "page.html")
    page = (here / "page.html").read_text()
    assert "monitoring/prometheus" in page
    assert not re.findall(r"Pod/default/\S+", page)
