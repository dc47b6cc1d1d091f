"""The Node object that a kubelet registers: labels, taints, capacity and what it leaves for pods.

Sources: kubernetes pkg/kubelet/kubelet_node_status.go (initialNode), pkg/kubelet/cm/node_container_manager_linux.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.kube.api.labels import ARCH, BETA_ARCH, BETA_OS, HOSTNAME, OS, UNINITIALIZED
from harness.kube.api.quantity import Quantity
from harness.nodes.boot import BootPlan, taints_json
from harness.nodes.machine import Machine

UNINITIALIZED_TAINT = {"key": UNINITIALIZED, "value": "true", "effect": "NoSchedule"}
_NODEFS_RESERVED = 10  # percent kept by the default eviction threshold nodefs.available<10%


def default_labels(node_name: str, arch: str) -> dict[str, str]:
    """The labels that every kubelet gives its Node before `--node-labels`."""
    return {
        BETA_ARCH: arch,
        BETA_OS: "linux",
        ARCH: arch,
        HOSTNAME: node_name,
        OS: "linux",
    }


def node_labels(plan: BootPlan, arch: str) -> dict[str, tuple[str, str]]:
    """Every label of the new Node with its source: `kubelet-default`, `aks-rp`, or "" for the given `--node-labels`."""
    labels = {key: (value, "kubelet-default") for key, value in default_labels(plan.node_name, arch).items()}
    for key, value in plan.labels.items():
        labels[key] = (value, "aks-rp" if key in plan.aks_labels else "")
    return labels


def capacity(plan: BootPlan, machine: Machine) -> dict[str, str]:
    """What the machine has. GPUs are absent until their device plugin registers them."""
    return {
        "cpu": str(machine.hardware.cpus),
        "ephemeral-storage": f"{machine.os_disk_gb * 10**9 // 1024}Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": f"{machine.hardware.memory_bytes // 1024}Ki",
        "pods": str(plan.max_pods),
    }


def allocatable(plan: BootPlan, total: Mapping[str, str]) -> dict[str, str]:
    """Capacity without kube-reserved, system-reserved and the hard eviction threshold of memory."""
    left: dict[str, str] = {}
    for name, text in total.items():
        quantity = Quantity.parse(text)
        for reserved in plan.reserved.values():
            if name in reserved:
                quantity = quantity - Quantity.parse(reserved[name])
        if name == "memory" and "memory.available" in plan.eviction_hard:
            quantity = quantity - _threshold(plan.eviction_hard["memory.available"], Quantity.parse(text))
        if name == "ephemeral-storage":
            quantity = Quantity.parse(str(quantity.value() * (100 - _NODEFS_RESERVED) // 100))
        left[name] = str(quantity) if not quantity.negative else "0"
    return left


def _threshold(text: str, total: Quantity) -> Quantity:
    if text.endswith("%"):
        return Quantity.parse(str(int(total.value() * float(text[:-1]) / 100)))
    return Quantity.parse(text)


def initial_node(plan: BootPlan, machine: Machine, now: str) -> dict[str, Any]:
    """The Node as the kubelet creates it: not ready yet."""
    taints = taints_json(plan.taints)
    if plan.external_cloud_provider:
        taints.append(dict(UNINITIALIZED_TAINT))
    total = capacity(plan, machine)
    spec: dict[str, Any] = {"taints": taints} if taints else {}
    if plan.provider_id:
        spec["providerID"] = plan.provider_id
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": plan.node_name,
            "labels": {key: value for key, (value, _) in node_labels(plan, machine.hardware.arch).items()},
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": spec,
        "status": {
            "addresses": [{"type": "Hostname", "address": plan.node_name}],
            "allocatable": allocatable(plan, total),
            "capacity": total,
            "conditions": ready_conditions(False, now),
            "nodeInfo": {
                "architecture": machine.hardware.arch,
                "kubeletVersion": "v" + plan.kubernetes_version.removeprefix("v"),
                "operatingSystem": "linux",
            },
        },
    }


def ready_conditions(ready: bool, now: str) -> list[dict[str, str]]:
    """The conditions that a kubelet reports; the heartbeat is not simulated, so its time is that of the last change."""
    pressures = (
        ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    )
    conditions = [
        {"type": kind, "status": "False", "reason": reason, "message": message, "lastTransitionTime": now}
        for kind, reason, message in pressures
    ]
    conditions.append(
        {
            "type": "Ready",
            "status": "True" if ready else "False",
            "reason": "KubeletReady" if ready else "KubeletNotReady",
            "message": "kubelet is posting ready status"
            if ready
            else "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
            "message:Network plugin returns error: cni plugin not initialized",
            "lastTransitionTime": now,
        }
    )
    return conditions
