"""What a dump says of its cluster is read and told with its place; options win, and two regions are a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import POOL, as_json, call

NODE = """
apiVersion: v1
kind: Node
metadata:
  name: aks-1
  labels:
    topology.kubernetes.io/region: westeurope
    kubernetes.azure.com/podnetwork-type: overlay
    kubernetes.azure.com/ebpf-dataplane: cilium
status: {nodeInfo: {kubeletVersion: v1.33.2}}
"""
CONTROLLER = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system}
spec:
  replicas: 0
  selector: {matchLabels: {app: karpenter}}
  template:
    metadata: {labels: {app: karpenter}}
    spec:
      containers:
      - name: controller
        image: mcr.microsoft.com/aks/karpenter/controller:1.10.2@sha256:de13
        args: [--network-policy=calico, "--vm-memory-overhead-percent=$(SHARE)"]
        env:
        - {name: LOCATION, value: westeurope}
        - {name: NETWORK_DATAPLANE, value: azure}
        - {name: SSH_PUBLIC_KEY, value: ssh-rsa secret}
"""
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodepools.karpenter.sh, labels: {helm.sh/chart: karpenter-crd-1.7.2}}
"""
POD = "\napiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: pause}]}\n"
COMMANDS = ("explain", "simulate")


def files(here: Path, *objects: str) -> None:
    (here / "a.yaml").write_text("---".join([*objects, POOL, POD]))


@pytest.mark.parametrize("command", COMMANDS)
def test_read_with_its_place(here: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    files(here, NODE, CONTROLLER)
    code, out, _ = call(capsys, command, "a.yaml")
    assert code == 0
    head, line = out.splitlines()[:2]
    assert head == "westeurope, provider 1.10.2"
    assert line.startswith("read from the files: ")
    assert set(line.removeprefix("read from the files: ").split("; ")) == {
        "self-hosted (a.yaml:23, Deployment/kube-system/karpenter)",
        "provider 1.10.2 (a.yaml:23, Deployment/kube-system/karpenter)",
        "region westeurope (a.yaml:26, Deployment/kube-system/karpenter)",
        "network-dataplane azure (a.yaml:27, Deployment/kube-system/karpenter)",
        "network-policy calico (a.yaml:24, Deployment/kube-system/karpenter)",
        "Kubernetes 1.33.2 (a.yaml:10, Node/aks-1)",
        "network-plugin azure (a.yaml:8, Node/aks-1)",
        "network-plugin-mode overlay (a.yaml:8, Node/aks-1)",
    }
    assert "assumed" not in out
    assert "secret" not in out


def test_what_is_read_is_what_is_simulated(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files(here, NODE, CONTROLLER)
    value = as_json(capsys, "simulate", "a.yaml")
    assert (value["region"], value["release"], value["kubernetes"]) == ("westeurope", "1.10.2", "1.33.2")
    labels = next(node["labels"] for node in value["nodes"] if node["nodepool"])
    assert "kubernetes.azure.com/ebpf-dataplane" not in labels
    assert {
        "name": "karpenter",
        "value": "1.10.2",
        "place": "a.yaml:23:9",
        "object": "Deployment/kube-system/karpenter",
    } in (value["read"])


def test_karpenters_own_crds_are_not_what_is_left_out(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each cluster with Karpenter has them; somebody else's are named."""
    files(here, CRD, CRD.replace("nodepools.karpenter.sh", "backups.example.com"))
    code, out, _ = call(capsys, "simulate", "a.yaml")
    assert "not simulated: CustomResourceDefinition backups.example.com\n" in out
    files(here, CRD)
    _, out, _ = call(capsys, "simulate", "a.yaml", "--fail-on", "not-simulated")
    assert (code, "not simulated" in out) == (0, False)
    assert as_json(capsys, "simulate", "a.yaml", "--fail-on", "not-simulated")


def test_options_win(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files(here, NODE, CONTROLLER)
    given = ("--release", "1.14.0", "--option", "networkDataplane=cilium", "--kubernetes", "1.33.2")
    _, out, _ = call(capsys, "simulate", "a.yaml", *given)
    assert out.splitlines()[2:4] == [
        "--release 1.14.0 is taken, not provider 1.10.2 (a.yaml:23, Deployment/kube-system/karpenter)",
        "--option networkDataplane=cilium is taken, not network-dataplane azure (a.yaml:27, Deployment/kube-system/karpenter)",
    ]
    value = as_json(capsys, "simulate", "a.yaml", *given)
    assert value["release"] == "1.14.0"
    labels = next(node["labels"] for node in value["nodes"] if node["nodepool"])
    assert labels["kubernetes.azure.com/ebpf-dataplane"] == "cilium"


def test_what_is_assumed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files(here, CRD)
    _, out, _ = call(capsys, "simulate", "a.yaml")
    assert out.splitlines()[:3] == [
        "eastus, provider 1.7.2",
        "read from the files: provider 1.7.2 (a.yaml:4, CustomResourceDefinition/nodepools.karpenter.sh)",
        "assumed: region eastus, Kubernetes 1.34.0, self-hosted, network-plugin azure, network-plugin-mode overlay, "
        "network-dataplane cilium",
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_assumed_where_the_files_say_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    files(here)
    _, out, _ = call(capsys, command, "a.yaml", "--region", "westeurope", "--option", "network-dataplane=")
    assert out.splitlines()[:2] == [
        "westeurope, provider 1.14.0",
        "assumed: provider 1.14.0, Kubernetes 1.34.0, self-hosted, network-plugin azure, network-plugin-mode overlay",
    ]


GATES = "- {name: FEATURE_GATES, value: 'NodeRepair=false,NodeOverlay=true,StaticCapacity=false'}"
SETTINGS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: kube-system}
data: {DATAPLANE: azure, FROM_NETWORK_PLUGIN_MODE: overlay, FROM_LOCATION: westus2}
"""
SOURCES = """
        - {name: NETWORK_DATAPLANE, valueFrom: {configMapKeyRef: {name: settings, key: DATAPLANE}}}
        envFrom:
        - {configMapRef: {name: settings}, prefix: FROM_}
        - {configMapRef: {name: settings}, prefix: UNUSED_}
"""


def test_feature_gates(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    adjusted = "{priceAdjustment: '-10%', requirements: [{key: kubernetes.io/arch, operator: Exists}]}"
    overlay = f"\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {{name: o}}\nspec: {adjusted}\n"
    files(here, CONTROLLER.replace("- {name: LOCATION", f"{GATES}\n        - {{name: LOCATION"), overlay)
    _, out, _ = call(capsys, "explain", "a.yaml")
    assert "; feature-gates NodeOverlay=true (a.yaml:16, Deployment/kube-system/karpenter)" in out
    assert "in a simulation" not in out
    assert "as by default" not in out


def test_environment_from_config_maps(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    controller = CONTROLLER.replace("- {name: NETWORK_DATAPLANE, value: azure}", "")
    controller = controller.replace("- {name: LOCATION, value: westeurope}", "").rstrip() + SOURCES
    plain = SOURCES.replace("        - {configMapRef: {name: settings}, prefix: FROM_}\n", "")
    files(here, SETTINGS.replace("FROM_", ""), controller.replace("prefix: FROM_", 'prefix: ""'))
    line = call(capsys, "explain", "a.yaml")[1].splitlines()[1]
    for told in ("network-dataplane azure", "network-plugin-mode overlay", "region westus2"):
        assert f"{told} (a.yaml:5, ConfigMap/kube-system/settings for Deployment/kube-system/karpenter)" in line
    files(here, CONTROLLER.rstrip() + plain)
    out = call(capsys, "explain", "a.yaml")[1]
    assert "\nDeployment/kube-system/karpenter takes options from ConfigMap settings, which no file has\n" in out


def test_node_auto_provisioning(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files(here)
    name = "metadata: {name: default}"
    text = (here / "a.yaml").read_text()
    annotated = "metadata: {name: default, annotations: {meta.helm.sh/release-name: aks-managed-karpenter-overlay}}"
    (here / "a.yaml").write_text(text.replace(name, annotated, 1))
    _, out, _ = call(capsys, "explain", "a.yaml")
    assert out.splitlines()[1] == "read from the files: node auto-provisioning (a.yaml:4, NodePool/default)"


@pytest.mark.parametrize(
    "command", [("explain",), ("simulate",), ("upgrade-check", "--from", "1.7.2", "--to", "1.10.2")]
)
def test_contradictions(here: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]) -> None:
    other = NODE.replace("aks-1", "aks-2").replace("westeurope", "eastus")
    files(here, NODE, other)
    said = "a.yaml:17:5: Node/aks-2 is in region 'eastus', but Node/aks-1 in 'westeurope' (a.yaml:7:5)\n"
    assert call(capsys, *command, "a.yaml") == (2, "", said)
    files(here, NODE)
    said = "a.yaml:7:5: Node/aks-1 is in region 'westeurope', but the command line says --region eastus\n"
    assert call(capsys, *command, "a.yaml", "--region", "eastus") == (2, "", said)
    files(here, NODE.replace("westeurope", "westeuropa"))
    code, _, err = call(capsys, *command, "a.yaml")
    assert code == 2
    assert err.startswith("a.yaml:7:5: Node/aks-1: unknown region 'westeuropa'; did you mean 'westeurope'")


def test_upgrade_check_reads_region_and_kubernetes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files(here, NODE)
    value = as_json(capsys, "upgrade-check", "--from", "1.7.2", "--to", "1.10.2", "a.yaml")
    assert (value["region"], value["kubernetes"]) == ("westeurope", "1.33.2")
    network = ["network_plugin", "network_plugin_mode", "network_dataplane"]
    assert [one["name"] for one in value["read"]] == ["region", "kubernetes", *network]
