"""The names that the same field of an agent pool has: AKS's API, the Azure CLI's JSON, Terraform's azurerm provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["AUTOSCALER", "POOL", "api_names", "autoscaler_names", "camel_case", "maps_in", "without_empty"]

POOL = (
    "artifactStreamingProfile",
    "availabilityZones",
    "capacityReservationGroupID",
    "count",
    "creationData",
    "currentOrchestratorVersion",
    "diskEncryptionSetID",
    "eTag",
    "enableAutoScaling",
    "enableEncryptionAtHost",
    "enableFIPS",
    "enableNodePublicIP",
    "enableUltraSSD",
    "gatewayProfile",
    "gpuInstanceProfile",
    "gpuProfile",
    "hostGroupID",
    "kubeletConfig",
    "kubeletDiskType",
    "linuxOSConfig",
    "localDNSProfile",
    "maxCount",
    "maxPods",
    "messageOfTheDay",
    "minCount",
    "mode",
    "name",
    "networkProfile",
    "nodeCustomizationProfile",
    "nodeImageVersion",
    "nodeInitializationTaints",
    "nodeLabels",
    "nodePublicIPPrefixID",
    "nodeTaints",
    "orchestratorVersion",
    "osDiskSizeGB",
    "osDiskType",
    "osSKU",
    "osType",
    "podIPAllocationMode",
    "podSubnetID",
    "powerState",
    "provisioningState",
    "proximityPlacementGroupID",
    "scaleDownMode",
    "scaleSetEvictionPolicy",
    "scaleSetPriority",
    "securityProfile",
    "spotMaxPrice",
    "status",
    "tags",
    "type",
    "upgradeSettings",
    "upgradeSettingsBlueGreen",
    "upgradeStrategy",
    "virtualMachineNodesStatus",
    "virtualMachinesProfile",
    "vmSize",
    "vnetSubnetID",
    "windowsProfile",
    "workloadRuntime",
)
"""The properties of an agent pool (Microsoft.ContainerService/managedClusters/agentPools, API versions up to 2025-08-02-preview)."""

_BELOW: Mapping[str, tuple[str, ...]] = {
    "kubeletConfig": (
        "allowedUnsafeSysctls",
        "containerLogMaxFiles",
        "containerLogMaxSizeMB",
        "cpuCfsQuota",
        "cpuCfsQuotaPeriod",
        "cpuManagerPolicy",
        "failSwapOn",
        "imageGcHighThreshold",
        "imageGcLowThreshold",
        "podMaxPids",
        "seccompDefault",
        "topologyManagerPolicy",
    ),
    "linuxOSConfig": ("swapFileSizeMB", "sysctls", "transparentHugePageDefrag", "transparentHugePageEnabled"),
    "localDNSProfile": ("kubeDNSOverrides", "mode", "state", "vnetDNSOverrides"),
    "securityProfile": ("enableSecureBoot", "enableVTPM", "sshAccess"),
    "gpuProfile": ("driver", "driverType", "nvidia"),
}

AUTOSCALER = (
    "balance-similar-node-groups",
    "daemonset-eviction-for-empty-nodes",
    "daemonset-eviction-for-occupied-nodes",
    "expander",
    "ignore-daemonsets-utilization",
    "max-empty-bulk-delete",
    "max-graceful-termination-sec",
    "max-node-provision-time",
    "max-total-unready-percentage",
    "new-pod-scale-up-delay",
    "ok-total-unready-count",
    "scale-down-delay-after-add",
    "scale-down-delay-after-delete",
    "scale-down-delay-after-failure",
    "scale-down-unneeded-time",
    "scale-down-unready-time",
    "scale-down-utilization-threshold",
    "scan-interval",
    "skip-nodes-with-local-storage",
    "skip-nodes-with-system-pods",
)
"""The keys of `autoScalerProfile` of a managed cluster."""

_TERRAFORM_AUTOSCALER: Mapping[str, str] = {
    "scaledownunneeded": "scale-down-unneeded-time",
    "scaledownunready": "scale-down-unready-time",
    "emptybulkdeletemax": "max-empty-bulk-delete",
    "maxnodeprovisioningtime": "max-node-provision-time",
    "maxunreadynodes": "ok-total-unready-count",
    "maxunreadypercentage": "max-total-unready-percentage",
    "daemonsetevictionforemptynodesenabled": "daemonset-eviction-for-empty-nodes",
    "daemonsetevictionforoccupiednodesenabled": "daemonset-eviction-for-occupied-nodes",
    "ignoredaemonsetsutilizationenabled": "ignore-daemonsets-utilization",
}


def maps_in(value: Any) -> list[Mapping[str, Any]]:
    """Return the maps of a list; none of what is no list, since a file may hold anything."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def without_empty(value: Any) -> Any:
    """Return a value without what is null, an empty text, list or map, at any depth: writers of JSON print each field that there is."""
    if isinstance(value, Mapping):
        pairs = ((key, without_empty(item)) for key, item in value.items())
        return {key: item for key, item in pairs if item not in (None, "", [], {})}
    if isinstance(value, list):
        return [item for item in map(without_empty, value) if item not in (None, "", [], {})]
    return value


def api_names(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pool's properties under AKS's names, whatever case they are written in; what nobody knows keeps its name."""
    return {_named(key, POOL): _below(_named(key, POOL), value) for key, value in without_empty(properties).items()}


def _below(name: str, value: Any) -> Any:
    names = _BELOW.get(name)
    if names is None or not isinstance(value, Mapping):
        return value
    return {_named(key, names): item for key, item in value.items()}


def _named(key: str, names: tuple[str, ...]) -> str:
    return next((name for name in names if name.lower() == key.lower()), key)


def autoscaler_names(profile: Mapping[str, Any]) -> dict[str, str]:
    """Return an autoscaler profile under AKS's names; `scaleDownUnneededTime` and `scale_down_unneeded` are the same key."""
    plain = {name.replace("-", ""): name for name in AUTOSCALER} | dict(_TERRAFORM_AUTOSCALER)
    settings = without_empty(profile)
    return {
        plain.get(key.replace("-", "").replace("_", "").lower(), key): _text(value) for key, value in settings.items()
    }


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def camel_case(name: str) -> str:
    """Return `node_count` as `nodeCount`."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
