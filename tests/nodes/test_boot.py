"""From custom data and machine bodies to kubelet flags."""

import base64

import pytest

from harness.nodes.boot import BootError, Taint, boot_plan
from harness.nodes.machine import Hardware, Machine
from harness.nodes.node_object import allocatable, capacity, initial_node, node_labels

# The two lines that decide, as provider 1.14.0 wrote them for a Standard_D2as_v6 (flags shortened, labels chosen).
_FLAGS = (
    "--cloud-provider=external --max-pods=250 --eviction-hard=memory.available<750Mi "
    "--register-with-taints=example.com/dedicated=x:NoSchedule,example.com/starting=true:NoSchedule,"
    "karpenter.sh/unregistered:NoExecute --system-reserved=cpu=0,memory=0 --kube-reserved=cpu=100m,memory=1843Mi"
)
RECORDED = f"""#!/bin/bash
KUBERNETES_VERSION=1.36.3
KUBELET_CLIENT_CONTENT=""
KUBELET_FLAGS="{_FLAGS}"
KUBELET_NODE_LABELS="kubernetes.azure.com/scalesetpriority=regular,team=alpha,kubernetes.io/arch=amd64,kubernetes.azure.com/kubelet-identity-client-id="
"""


def machine(script: str = RECORDED, **fields: object) -> Machine:
    facts: dict[str, object] = {
        "vm_id": "/vm",
        "name": "aks-Default-6vl6h",
        "provider_id": "azure:///vm",
        "region": "southcentralus",
        "size": "Standard_D2as_v6",
        "zone": "3",
        "priority": "Regular",
        "hardware": Hardware(cpus=2, memory_gib=8),
        "custom_data": base64.b64encode(script.encode()).decode(),
        **fields,
    }
    return Machine(**facts)  # type: ignore[arg-type]


def test_custom_data_as_recorded():
    plan = boot_plan(machine(), kubernetes_version="1.0.0")
    assert plan.node_name == "aks-default-6vl6h"
    assert plan.kubernetes_version == "1.36.3"
    assert plan.max_pods == 250
    assert plan.error is None
    assert plan.labels == {
        "kubernetes.azure.com/scalesetpriority": "regular",
        "team": "alpha",
        "kubernetes.io/arch": "amd64",
        "kubernetes.azure.com/kubelet-identity-client-id": "",
    }
    assert plan.taints == (
        Taint("example.com/dedicated", "x", "NoSchedule"),
        Taint("example.com/starting", "true", "NoSchedule"),
        Taint("karpenter.sh/unregistered", "", "NoExecute"),
    )


def test_what_is_left_for_pods():
    plan = boot_plan(machine(), kubernetes_version="1.0.0")
    total = capacity(plan, machine())
    left = allocatable(plan, total)
    assert left["cpu"] == "1900m"
    assert left["pods"] == "250"
    ki = int(total["memory"].removesuffix("Ki")) - (1843 + 750) * 1024
    assert left["memory"] == f"{ki}Ki"


@pytest.mark.parametrize(
    ("kubernetes", "flags", "unknown"),
    [
        ("1.33.9", "--cloud-config=/etc/kubernetes/azure.json --max-pods=30", None),
        ("1.34.0", "--cloud-config=/etc/kubernetes/azure.json --max-pods=30", "--cloud-config"),
        ("1.34.9", "--pod-infra-container-image=pause:3.6", None),
        ("v1.35.0", "--pod-infra-container-image=pause:3.6", "--pod-infra-container-image"),
        ("1.31.0", "--keep-terminated-pod-volumes=false", "--keep-terminated-pod-volumes"),
        ("1.36.3", "--max-pods=30 --protect-kernel-defaults=true", None),
    ],
)
def test_flags_that_a_kubelet_no_longer_knows(kubernetes: str, flags: str, unknown: str | None) -> None:
    """A real kubelet 1.36.3 ends with `failed to parse kubelet flag: unknown flag: --cloud-config`, and so for each of them."""
    text = f'KUBERNETES_VERSION={kubernetes}\nKUBELET_FLAGS="{flags}"\nKUBELET_NODE_LABELS="a=b"\n'
    assert boot_plan(machine(text), kubernetes_version="1.0.0").unknown_flag == unknown


def test_a_one_line_cloud_config():
    text = '#cloud-config bootstrap KUBELET_NODE_LABELS="a=b" KUBELET_FLAGS="--max-pods=30"'
    plan = boot_plan(machine(text), kubernetes_version="1.30.0")
    assert plan.labels == {"a": "b"}
    assert plan.max_pods == 30
    assert plan.kubernetes_version == "1.30.0"


BROKEN = [
    "not base64!",
    base64.b64encode(b"KUBELET_FLAGS=").decode() + "!",
    base64.b64encode(b'KUBELET_FLAGS="--a=b').decode(),
    base64.b64encode(b"\xff\xfe").decode(),
]


@pytest.mark.parametrize("custom_data", BROKEN)
def test_custom_data_that_cannot_be_read(custom_data):
    with pytest.raises(BootError):
        boot_plan(machine(custom_data=custom_data), kubernetes_version="1.30.0")


def test_the_kubelets_own_label_rule():
    plan = boot_plan(
        machine('KUBELET_NODE_LABELS="node-role.kubernetes.io/foo=,agentpool=x,k8s.io/b=1"'),
        kubernetes_version="1.30.0",
    )
    assert plan.error == (
        "unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: "
        "[k8s.io/b node-role.kubernetes.io/foo]\n"
        "--node-labels in the 'kubernetes.io' namespace must begin with an allowed prefix "
        "(kubelet.kubernetes.io, node.kubernetes.io) or be in the specifically allowed set "
        "(beta.kubernetes.io/arch, beta.kubernetes.io/instance-type, beta.kubernetes.io/os, "
        "failure-domain.beta.kubernetes.io/region, failure-domain.beta.kubernetes.io/zone, kubernetes.io/arch, "
        "kubernetes.io/hostname, kubernetes.io/os, node.kubernetes.io/instance-type, topology.kubernetes.io/region, "
        "topology.kubernetes.io/zone)"
    )


def test_a_machine_of_aks():
    """AKS writes the script of its machines itself; what the machine's body asked for is not AKS's own."""
    text = (
        "KUBERNETES_VERSION=1.36.3\n"
        'KUBELET_FLAGS="--kube-reserved=cpu=140m,memory=850Mi --max-pods=40 '
        '--register-with-taints=example.com/a=x:NoSchedule,karpenter.sh/unregistered:NoExecute"\n'
        'KUBELET_NODE_LABELS="agentpool=mine,kubernetes.azure.com/mode=user,team=alpha"\n'
    )
    body = {"properties": {"kubernetes": {"nodeLabels": {"team": "alpha", "agentpool": "mine"}}}}
    aks = {"agentpool": "pool", "kubernetes.azure.com/mode": "user"}
    plan = boot_plan(machine(text, body=body, aks_labels=aks), kubernetes_version="1.0.0")
    assert plan.labels == {"agentpool": "mine", "kubernetes.azure.com/mode": "user", "team": "alpha"}
    assert [taint.key for taint in plan.taints] == ["example.com/a", "karpenter.sh/unregistered"]
    assert (plan.kubernetes_version, plan.max_pods) == ("1.36.3", 40)
    assert plan.reserved["kube"] == {"cpu": "140m", "memory": "850Mi"}
    labels = node_labels(plan, "amd64")
    assert labels["kubernetes.azure.com/mode"] == ("user", "aks-rp")
    assert labels["agentpool"] == ("mine", "")
    assert labels["kubernetes.io/hostname"] == ("aks-default-6vl6h", "kubelet-default")


def test_the_new_node():
    plan = boot_plan(machine(), kubernetes_version="1.0.0")
    node = initial_node(plan, machine(), "2026-01-01T00:00:00Z")
    assert node["metadata"]["labels"]["beta.kubernetes.io/os"] == "linux"
    assert [taint["key"] for taint in node["spec"]["taints"]] == [
        "example.com/dedicated",
        "example.com/starting",
        "karpenter.sh/unregistered",
        "node.cloudprovider.kubernetes.io/uninitialized",
    ]
    assert "providerID" not in node["spec"]
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.36.3"
    assert node["status"]["conditions"][-1]["status"] == "False"


@pytest.mark.parametrize(("zone", "name"), [("2", "southcentralus-2"), ("", "0")])
def test_zones_as_the_cloud_provider_names_them(zone, name):
    assert machine(zone=zone).topology_zone == name


@pytest.mark.parametrize(
    ("threshold", "left"),
    [("memory.available<10%", "7730941120"), ("memory.available<12.5%", "7Gi"), ("memory.available<1Gi", "7Gi")],
)
def test_a_threshold_of_eviction_may_be_a_share_of_the_memory(threshold, left):
    plan = boot_plan(machine(f'KUBELET_FLAGS="--eviction-hard={threshold}"'), kubernetes_version="1.34.0")
    assert allocatable(plan, {"memory": "8Gi"}) == {"memory": left}


@pytest.mark.parametrize("quote", ["'", '"'])
def test_variables_of_the_script_stand_in_either_quotes(quote):
    script = f"KUBELET_FLAGS={quote}--max-pods=31{quote}\nKUBERNETES_VERSION={quote}1.34.2{quote}"
    plan = boot_plan(machine(script), kubernetes_version="1.0.0")
    assert (plan.max_pods, plan.kubernetes_version) == (31, "1.34.2")


def test_a_kubelet_of_unknown_version_refuses_no_flag():
    script = 'KUBELET_FLAGS="--cloud-config=/x --azure-container-registry-config=/y"'
    assert boot_plan(machine(script), kubernetes_version="").unknown_flag is None


def test_a_kubelet_that_is_not_told_takes_110_pods():
    """Source: kubernetes pkg/kubelet/apis/config/v1beta1/defaults.go."""
    assert boot_plan(machine('KUBELET_FLAGS="--cloud-provider=external"'), kubernetes_version="1.34.0").max_pods == 110


@pytest.mark.parametrize(
    ("flag", "memory", "disk"),
    [
        # a kubelet that is not told keeps a tenth of the disk, as AKS's own script asks
        ("", "919600Ki", "972799996035"),
        ("--eviction-hard=memory.available<100Mi,nodefs.available<10%", "919600Ki", "972799996035"),
        # the flag replaces the kubelet's own thresholds
        ("--eviction-hard=memory.available<100Mi", "919600Ki", "1055555553Ki"),
    ],
)
def test_thresholds_of_the_kubelet_hold_where_no_flag_names_any(flag: str, memory: str, disk: str) -> None:
    plan = boot_plan(machine(f'KUBELET_FLAGS="--max-pods=30 {flag}"'), kubernetes_version="1.34.0")
    total = {"memory": "1022000Ki", "ephemeral-storage": "1055555553Ki"}
    assert allocatable(plan, total) == {"memory": memory, "ephemeral-storage": disk}


@pytest.mark.parametrize(
    ("image", "system", "runtime"),
    [
        ("2204gen2containerd", "Ubuntu 22.04.5 LTS", "containerd://1.7.28-1"),
        ("2404gen2TLcontainerd", "Ubuntu 24.04.4 LTS", "containerd://2.1.6-2"),
        ("V3gen2arm64", "Microsoft Azure Linux 3.0", "containerd://2.2.4"),
        ("", None, None),
    ],
)
def test_a_node_says_what_runs_on_it(image: str, system: str | None, runtime: str | None) -> None:
    booted = machine(image=image, address="10.224.0.5")
    status = initial_node(boot_plan(booted, kubernetes_version="1.34.0"), booted, "2026-01-01T00:00:00Z")["status"]
    assert (status["nodeInfo"].get("osImage"), status["nodeInfo"].get("containerRuntimeVersion")) == (system, runtime)
    assert status["addresses"] == [
        {"type": "InternalIP", "address": "10.224.0.5"},
        {"type": "Hostname", "address": "aks-default-6vl6h"},
    ]
