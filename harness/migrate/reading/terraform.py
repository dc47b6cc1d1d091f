"""Agent pools in what `terraform show -json` prints of a state or a plan: azurerm and azapi."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.kube.api.objects import mapping_in
from harness.migrate.reading.names import camel_case, without_empty

__all__ = ["azapi_body", "is_terraform", "resources_in", "terraform_pool", "undecided_values"]

Path = tuple[str | int, ...]

_NAMES: Mapping[str, str] = {
    "node_count": "count",
    "auto_scaling_enabled": "enableAutoScaling",
    "zones": "availabilityZones",
    "priority": "scaleSetPriority",
    "eviction_policy": "scaleSetEvictionPolicy",
    "fips_enabled": "enableFIPS",
    "host_encryption_enabled": "enableEncryptionAtHost",
    "enable_host_encryption": "enableEncryptionAtHost",
    "ultra_ssd_enabled": "enableUltraSSD",
    "node_public_ip_enabled": "enableNodePublicIP",
    "gpu_instance": "gpuInstanceProfile",
    "node_network_profile": "networkProfile",
}
"""azurerm's names that are not AKS's in another spelling (provider azurerm, kubernetes_cluster_node_pool_resource.go)."""
_KUBELET: Mapping[str, str] = {
    "cpu_cfs_quota_enabled": "cpuCfsQuota",
    "container_log_max_line": "containerLogMaxFiles",
    "pod_max_pid": "podMaxPids",
}
_OWN = frozenset(
    {"id", "kubernetes_cluster_id", "timeouts", "temporary_name_for_rotation", "only_critical_addons_enabled"}
)
"""Fields that Terraform keeps for itself."""
_CRITICAL = "CriticalAddonsOnly=true:NoSchedule"
_PORTS = ("net_ipv4_ip_local_port_range_min", "net_ipv4_ip_local_port_range_max")


def is_terraform(value: Any) -> bool:
    """Return whether a document is what `terraform show -json` prints."""
    return isinstance(value, Mapping) and "format_version" in value and bool({"values", "planned_values"} & set(value))


def resources_in(value: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield each resource with its path: those planned, else those of the state, and those of modules below."""
    root = "planned_values" if value.get("planned_values") else "values"
    yield from _of_module(mapping_in(mapping_in(value.get(root)).get("root_module")), (root, "root_module"))


def undecided_values(value: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return of each resource, by its address, the values that a plan knows after `apply` only: a tree whose leaves are true."""
    undecided: dict[str, Mapping[str, Any]] = {}
    if not value.get("planned_values"):
        return undecided
    for _, change in _numbered(value.get("resource_changes")):
        tree = _true_parts(mapping_in(mapping_in(mapping_in(change).get("change")).get("after_unknown")))
        if isinstance(tree, Mapping):
            undecided[str(mapping_in(change).get("address"))] = {
                key: item for key, item in tree.items() if key not in _OWN
            }
    return undecided


def _true_parts(value: Any) -> Any:
    """The tree without all that is false; None where nothing is left."""
    if isinstance(value, Mapping):
        parts = {key: part for key, item in value.items() if (part := _true_parts(item)) is not None}
        return parts or None
    if isinstance(value, list):
        items = [part for item in value if (part := _true_parts(item)) is not None]
        return items or None
    return True if value is True else None


def _of_module(module: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for index, resource in _numbered(module.get("resources")):
        if isinstance(resource, Mapping) and resource.get("mode", "managed") == "managed":
            yield (*path, "resources", index), resource
    for index, child in _numbered(module.get("child_modules")):
        if isinstance(child, Mapping):
            yield from _of_module(child, (*path, "child_modules", index))


def _numbered(value: Any) -> Iterator[tuple[int, Any]]:
    return iter(enumerate(value if isinstance(value, list) else ()))


def terraform_pool(values: Mapping[str, Any], *, first: bool) -> dict[str, Any]:
    """Return a pool's properties under AKS's names (in any case); `first`: it is a cluster's default node pool."""
    properties: dict[str, Any] = {"mode": "System"} if first else {}
    for key, value in without_empty(values).items():
        if key in _OWN:
            continue
        properties[_NAMES.get(key) or camel_case(key)] = _below(key, value)
    if values.get("only_critical_addons_enabled"):
        properties["nodeTaints"] = [*properties.get("nodeTaints", ()), _CRITICAL]
    if "gpuDriver" in properties:
        properties["gpuProfile"] = {"driver": properties.pop("gpuDriver")}
    if "snapshotId" in properties:
        properties["creationData"] = {"sourceResourceId": properties.pop("snapshotId")}
    return properties


def _below(key: str, value: Any) -> Any:
    """A block, which Terraform writes as a list of one map."""
    block = value[0] if isinstance(value, Sequence) and len(value) == 1 and isinstance(value[0], Mapping) else value
    if key == "kubelet_config" and isinstance(block, Mapping):
        return {_KUBELET.get(name) or camel_case(name): item for name, item in block.items()}
    if key == "linux_os_config" and isinstance(block, Mapping):
        sysctls = _below("", block.get("sysctl_config") or {})
        plain = {camel_case(name): item for name, item in block.items() if name != "sysctl_config"}
        return {**plain, **({"sysctls": _sysctls(sysctls)} if isinstance(sysctls, Mapping) else {})}
    if key in ("tags", "node_labels"):
        return value
    return {camel_case(name): item for name, item in block.items()} if isinstance(block, Mapping) else value


def _sysctls(values: Mapping[str, Any]) -> dict[str, Any]:
    sysctls = {camel_case(name): item for name, item in values.items() if name not in _PORTS}
    if all(values.get(name) for name in _PORTS):
        sysctls["netIpv4IpLocalPortRange"] = " ".join(str(values[name]) for name in _PORTS)
    return sysctls


def azapi_body(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the body of an azapi resource, which older versions of that provider keep as JSON text; empty where it is none."""
    body = values.get("body")
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return {}
    return body if isinstance(body, Mapping) else {}
