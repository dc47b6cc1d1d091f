"""The defaults of AKS for a managed cluster: network, upgrades, storage, security.

Source: answers of `az aks create` that people show in public, October 2025 (1.32) and March 2026 (1.33); defaults of networks and pods per
node from learn.microsoft.com, "Plan IP addressing for AKS".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fakeazure.arm.bodies import section, text, texts

__all__ = ["network_of", "pods_per_node", "profiles_of"]

_NETWORK: Mapping[str, Any] = MappingProxyType(
    {
        "networkPolicy": "none",
        "networkDataplane": "azure",
        "loadBalancerSku": "standard",
        "serviceCidr": "10.0.0.0/16",
        "dnsServiceIP": "10.0.0.10",
        "outboundType": "loadBalancer",
        "ipFamilies": ["IPv4"],
    }
)
_PROFILES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "autoUpgradeProfile": {"nodeOSUpgradeChannel": "NodeImage"},
        "bootstrapProfile": {"artifactSource": "Direct"},
        "metricsProfile": {"costAnalysis": {"enabled": False}},
        "nodeProvisioningProfile": {"defaultNodePools": "Auto", "mode": "Manual"},
        "oidcIssuerProfile": {"enabled": False},
        "storageProfile": {
            name: {"enabled": True} for name in ("diskCSIDriver", "fileCSIDriver", "snapshotController")
        },
        "workloadAutoScalerProfile": {},
        "securityProfile": {},
    }
)


def network_of(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the network profile of a cluster that sent this one: Azure's plugin as an overlay, unless a plugin is named."""
    plugin = text(sent, "networkPlugin")
    mode = {"networkPluginMode": "overlay"} if not plugin else {}
    profile = {"networkPlugin": "azure", **mode, **_NETWORK, **{key: value for key, value in sent.items() if value}}
    if profile.get("networkPluginMode") == "overlay" or plugin == "kubenet":
        profile.setdefault("podCidr", "10.244.0.0/16")
    for single, several in (("podCidr", "podCidrs"), ("serviceCidr", "serviceCidrs")):
        if single in profile and not texts(profile, several):
            profile[several] = [profile[single]]
    return profile


def profiles_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the profiles of a cluster, each with what it did not say filled in."""
    profiles: dict[str, Any] = {name: {**default, **section(properties, name)} for name, default in _PROFILES.items()}
    return {**profiles, "networkProfile": network_of(section(properties, "networkProfile"))}


def pods_per_node(network: Mapping[str, Any]) -> int:
    """Return how many pods a node of a pool has place for, if the pool does not say: by the plugin of the cluster's network."""
    plugin = text(network, "networkPlugin", "azure")
    if plugin == "azure":
        return 250 if text(network, "networkPluginMode") == "overlay" else 30
    return 110 if plugin == "kubenet" else 250
