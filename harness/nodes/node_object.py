"""The Node object that a kubelet registers: labels, taints, capacity and allocatable.

Sources: kubernetes pkg/kubelet/kubelet_node_status.go (initialNode), pkg/kubelet/cm/node_container_manager_linux.go.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from harness.kube.api.labels import ARCH, BETA_ARCH, BETA_OS, HOSTNAME, OS, UNINITIALIZED
from harness.kube.api.quantity import Quantity
from harness.nodes.boot import BootPlan, taints_json
from harness.nodes.machine import Machine
from harness.nodes.operating_system import disk_capacity_ki, node_software

UNINITIALIZED_TAINT = {"key": UNINITIALIZED, "value": "true", "effect": "NoSchedule"}
_EVICTION_SIGNALS: Mapping[str, str] = {"memory": "memory.available", "ephemeral-storage": "nodefs.available"}
"""Resource → the signal whose hard threshold is kept from pods (kubernetes pkg/kubelet/cm, hardEvictionReservation)."""


KUBELET_CONDITIONS = frozenset({"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"})
"""Conditions that become Unknown when a kubelet is silent (kubernetes pkg/controller/nodelifecycle, nodeConditionTypes)."""

_PROBLEMS = (
    ("FrequentKubeletRestart", "NoFrequentKubeletRestart", "kubelet is functioning properly"),
    ("FrequentDockerRestart", "NoFrequentDockerRestart", "docker is functioning properly"),
    ("FrequentContainerdRestart", "NoFrequentContainerdRestart", "containerd is functioning properly"),
    ("FrequentUnregisterNetDevice", "NoFrequentUnregisterNetDevice", "node is functioning properly"),
    ("KernelDeadlock", "KernelHasNoDeadlock", "kernel has no deadlock"),
    ("ReadonlyFilesystem", "FilesystemIsNotReadOnly", "Filesystem is not read-only"),
    ("FilesystemCorruptionProblem", "FilesystemIsOK", "Filesystem is healthy"),
    ("KubeletProblem", "KubeletIsUp", "kubelet service is up"),
    ("ContainerRuntimeProblem", "ContainerRuntimeIsUp", "container runtime service is up"),
    ("VMEventScheduled", "NoVMEventScheduled", "VM has no scheduled event"),
)
"""Type, reason and message of each, as Nodes of AKS show them (Azure/AKS docs, node-problem-detector)."""


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
    """Return the capacity of the machine. GPUs are absent until their device plugin registers them."""
    return {
        "cpu": str(machine.hardware.cpus),
        "ephemeral-storage": f"{disk_capacity_ki(machine.os_disk_gb)}Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": f"{machine.hardware.memory_bytes // 1024}Ki",
        "pods": str(plan.max_pods),
    }


def addresses(plan: BootPlan, machine: Machine) -> list[dict[str, str]]:
    """Return the Node's addresses; AKS's script gives the kubelet of 1.29 and later its own (AgentBaker cse_config.sh,
    setKubeletNodeIPFlag).

    An older one learns it from the cloud provider; this is not simulated apart.
    """
    internal = [{"type": "InternalIP", "address": machine.address}] if machine.address else []
    return [*internal, {"type": "Hostname", "address": plan.node_name}]


def allocatable(plan: BootPlan, total: Mapping[str, str]) -> dict[str, str]:
    """Capacity without kube-reserved, system-reserved and the hard eviction thresholds of memory and disk.

    The scripts that Karpenter writes name a threshold of memory alone, so that such a Node has all of its disk (recorded:
    tests/recorded/machines.yaml); AKS's own name a tenth of the disk too.
    """
    left: dict[str, str] = {}
    for name, text in total.items():
        quantity = Quantity.parse(text)
        for reserved in plan.reserved.values():
            if name in reserved:
                quantity = quantity - Quantity.parse(reserved[name])
        threshold = plan.eviction_hard.get(_EVICTION_SIGNALS.get(name, ""))
        if threshold is not None:
            quantity = quantity - _threshold(threshold, Quantity.parse(text))
        left[name] = str(quantity) if not quantity.negative else "0"
    return left


def _threshold(text: str, total: Quantity) -> Quantity:
    """A threshold in bytes; the kubelet keeps shares as float32 (kubernetes pkg/kubelet/eviction/api, GetThresholdQuantity)."""
    if text.endswith("%"):
        share = _float32(_float32(float(text[:-1])) / _float32(100))
        return Quantity.parse(str(int(total.value() * share)))
    return Quantity.parse(text)


def _float32(number: float) -> float:
    narrow: float = struct.unpack("f", struct.pack("f", number))[0]
    return narrow


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
            "addresses": addresses(plan, machine),
            "allocatable": allocatable(plan, total),
            "capacity": total,
            "conditions": ready_conditions(False, now),
            "nodeInfo": {
                **node_software(machine.image),
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


def detected_problems(now: str) -> list[dict[str, str]]:
    """The conditions that AKS's node problem detector reports of a Node without problems."""
    return [
        {"type": kind, "status": "False", "reason": reason, "message": message, "lastTransitionTime": now}
        for kind, reason, message in _PROBLEMS
    ]
