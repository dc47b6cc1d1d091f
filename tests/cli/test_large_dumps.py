"""Dumps of any size: how much memory a command takes for each byte of its file."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.cli.manifests import apply_manifests
from harness.reading.manifests import manifests_of_text, read_manifests
from harness.scenario.language.dumps import as_new
from harness.world import World

POD = """\
- apiVersion: v1
  kind: Pod
  metadata:
    annotations:
      checksum/config: "{number:064d}"
      prometheus.io/scrape: "true"
    creationTimestamp: "2026-01-01T00:00:00Z"
    labels:
      app: web-{service}
      app.kubernetes.io/name: web-{service}
    name: web-{number}
    namespace: default
    resourceVersion: "{number}"
    uid: 00000000-0000-0000-0000-{number:012d}
  spec:
    containers:
    - env:
      - name: NUMBER
        value: value-{number}
      - name: POD_IP
        valueFrom:
          fieldRef:
            apiVersion: v1
            fieldPath: status.podIP
      image: registry.example.com/team/web-{service}:1.0.0
      imagePullPolicy: IfNotPresent
      livenessProbe:
        failureThreshold: 3
        httpGet:
          path: /healthz
          port: 8080
          scheme: HTTP
        periodSeconds: 10
      name: web
      resources:
        limits:
          memory: 256Mi
        requests:
          cpu: 100m
          memory: 256Mi
      terminationMessagePath: /dev/termination-log
      terminationMessagePolicy: File
      volumeMounts:
      - mountPath: /var/run/secrets/kubernetes.io/serviceaccount
        name: kube-api-access-{number}
        readOnly: true
    dnsPolicy: ClusterFirst
    nodeName: aks-1
    serviceAccountName: default
    volumes:
    - name: kube-api-access-{number}
      projected:
        defaultMode: 420
        sources:
        - serviceAccountToken:
            expirationSeconds: 3607
            path: token
        - configMap:
            items:
            - key: ca.crt
              path: ca.crt
            name: kube-root-ca.crt
  status:
    conditions:
    - lastProbeTime: null
      lastTransitionTime: "2026-01-01T00:00:00Z"
      status: "True"
      type: Ready
    phase: Running
"""
NODE = """\
- apiVersion: v1
  kind: Node
  metadata:
    name: aks-1
    labels:
      kubernetes.io/hostname: aks-1
      node.kubernetes.io/instance-type: Standard_D96s_v5
      topology.kubernetes.io/region: eastus
      topology.kubernetes.io/zone: eastus-1
  status:
    allocatable: {cpu: "95", memory: 370Gi, pods: "2000"}
    capacity: {cpu: "96", memory: 384Gi, pods: "2000"}
"""


def dump(pods: int) -> str:
    listed = "".join(POD.format(number=number, service=number % 40) for number in range(1, pods + 1))
    return f"apiVersion: v1\nitems:\n{NODE}{listed}kind: List\n"


@pytest.mark.parametrize("command", ["simulate", "explain"])
def test_a_command_takes_less_than_ten_times_its_file(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small, large = tmp_path / "small.yaml", tmp_path / "large.yaml"
    small.write_text(dump(1))
    large.write_text(dump(400))
    assert main([command, str(small)]) == 0  # what is loaded once is no part of it
    capsys.readouterr()
    tracemalloc.start()
    try:
        assert main([command, str(large)]) == 0
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "400 pods bound" in (out := capsys.readouterr().out) or "400 pods: 400 bound" in out
    assert peak < 10 * large.stat().st_size, f"{peak / large.stat().st_size:.1f} × the file"


def test_a_world_keeps_what_was_read_from_a_file_without_a_copy(tmp_path: Path) -> None:
    file = tmp_path / "dump.yaml"
    file.write_text(dump(2))
    manifests = read_manifests(file)
    world = World()
    apply_manifests(world, manifests)
    world.settle(allow_rejections=True)
    read = next(one.object for one in manifests if one.name == "web-1")
    stored = world.cluster.view.get("Pod", "web-1", "default")
    assert stored is not None
    assert stored["spec"]["volumes"] is read["spec"]["volumes"]
    assert next(one for one in world.applied if one["kind"] == "Pod")["spec"]["volumes"] is read["spec"]["volumes"]
    assert [one.object for one in manifests] == [one.object for one in manifests_of_text(file.read_text(), "again")]


def test_a_world_keeps_a_copy_of_what_a_caller_may_change() -> None:
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web-1", "labels": {"app": "web-1"}},
        "spec": {"containers": [{"name": "web", "image": "web:1"}]},
    }
    world = World()
    assert not world.apply(pod)
    pod["spec"]["containers"][0]["image"] = "changed"
    pod["metadata"]["labels"]["app"] = "changed"
    stored = world.get("Pod", "web-1", "default")
    assert stored is not None
    assert stored["spec"]["containers"][0]["image"] == "web:1"
    assert stored["metadata"]["labels"]["app"] == "web-1"


def test_an_object_of_a_file_is_not_changed_by_making_it_new() -> None:
    (pod,) = (one.object for one in manifests_of_text(dump(1), "dump") if one.kind == "Pod")
    assert "resourceVersion" not in as_new(pod)["metadata"]
    assert pod["metadata"]["resourceVersion"] == "1"
