"""Recorded Nodes: what their kubelets made of the size, its disk and the flags that AKS or Karpenter give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.aks.kubelet import KubeletText
from fakeazure.catalog.images import DEFINITIONS, recorded_version, released
from harness.engine.names import ProviderId, VmId
from harness.nodes.boot import BootPlan, boot_plan
from harness.nodes.disk_driver import ZONE, disk_zone
from harness.nodes.machine import Hardware, Machine
from harness.nodes.node_object import allocatable, capacity
from harness.reality.rules import memory_bound
from tests.recorded.rows import Row, entries

_NEW, _OLD = "1.32.7", "1.28.9"
_OTHER_SYSTEM = "Ubuntu 18.04, whose disks are divided otherwise"
_TOO_OLD = "older than the versions that are known"


def machine_rows() -> Iterator[Row]:
    """Every figure of every recorded Node."""
    for entry in entries("machines.yaml"):
        name = f"{entry.get('size', 'a Node')}, {entry.get('date', 'no date')}"
        for field, recorded in entry["facts"].items():
            ours, bound, why = _ours(entry, field)
            yield Row(entry["where"], name, field, str(recorded), ours, bound, entry.get("proves", "") or why)
        if image := entry.get("image"):
            _, definition, version = image.split("-", 2)
            versions = {recorded_version(definition), *released(definition)} if definition in DEFINITIONS else set()
            why = "" if version >= "202501" else _TOO_OLD
            yield Row(entry["where"], name, "image", image, image if version in versions else "unknown", why=why)


def _ours(entry: Mapping[str, Any], field: str) -> tuple[str, float, str]:
    """Our value, its bound, and why it cannot be compared."""
    if field.startswith("labels."):
        return _label(entry, field.removeprefix("labels.")), 0.0, ""
    plan, machine = _machine(entry)
    total = capacity(plan, machine)
    side, _, resource = field.partition(".")
    bound = memory_bound(entry["gib"]) if resource == "memory" else 0.0
    why = _OTHER_SYSTEM if resource == "ephemeral-storage" and "1804" in entry.get("image", "") else ""
    if resource == "ephemeral-storage" and entry.get("date") == "2022-11":
        why = _OTHER_SYSTEM
    if side == "capacity":
        return total[resource], bound, why
    if f"capacity.{resource}" in entry["facts"]:  # what is kept is exact, whatever there was
        return allocatable(plan, {resource: entry["facts"][f"capacity.{resource}"]})[resource], 0.0, why
    return allocatable(plan, total)[resource], bound, why


def _machine(entry: Mapping[str, Any]) -> tuple[BootPlan, Machine]:
    hardware = Hardware(cpus=entry.get("vcpu", 2), memory_gib=entry["gib"])
    text = KubeletText(
        labels={},
        taints=(),
        max_pods=entry.get("max_pods", 110),
        vcpus=hardware.cpus,
        memory_gib=entry["gib"],
        kubernetes=_OLD if "era" in entry or _by_karpenter(entry) else _NEW,
    )
    machine = Machine(
        vm_id=VmId("vm"),
        name="node",
        provider_id=ProviderId("azure:///vm"),
        region="eastus",
        size=str(entry.get("size", "")),
        zone="",
        priority="Regular",
        hardware=hardware,
        custom_data=text.custom_data(),
        os_disk_gb=entry.get("os_disk", 128),
        image=entry.get("image", "x-2204gen2containerd-1").split("-")[1],
    )
    plan = boot_plan(machine, kubernetes_version=_NEW)
    if _by_karpenter(entry):  # its scripts name a threshold of memory alone
        plan = BootPlan(
            node_name=plan.node_name,
            kubernetes_version=plan.kubernetes_version,
            labels={},
            taints=(),
            max_pods=plan.max_pods,
            reserved=plan.reserved,
            eviction_hard={"memory.available": "750Mi"},
        )
    return plan, machine


def _by_karpenter(entry: Mapping[str, Any]) -> bool:
    return str(entry.get("pool", "")).startswith("karpenter")


def _label(entry: Mapping[str, Any], key: str) -> str:
    """Our value of a label, as the disk driver gives it to a Node in that place."""
    return {ZONE: disk_zone(entry["region"], entry.get("zone", ""))}[key]
