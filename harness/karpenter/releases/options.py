"""The provider's start-up options as far as behaviour depends on them (kaz ``pkg/operator/options/options.go``)."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from harness.karpenter.releases.flag_values import MACHINE_MODES, ProvisionMode
from harness.karpenter.releases.model import Defaults
from harness.karpenter.releases.option_table import OPTIONS
from lazyrecords import dataclass

__all__ = ["BEST_EFFORT", "GALLERY_SUBSCRIPTION", "SHARED_GALLERY", "STRICT", "ProviderOptions"]

STRICT, BEST_EFFORT = "Strict", "BestEffort"
"""Core's policies for minValues."""

GALLERY_SUBSCRIPTION = "10945678-1234-1234-1234-123456789012"
"""A subscription for AKS's own image gallery, which only a controller that AKS runs may read (the one of kaz pkg/test/nodeclass.go)."""

SHARED_GALLERY: Mapping[str, Any] = {"use_sig": True, "sig_subscription_id": GALLERY_SUBSCRIPTION}
"""The options of a controller whose nodes boot from AKS's own gallery."""

_DEFAULTS = Defaults()


@dataclass(frozen=True, slots=True)
class ProviderOptions:
    """Options of one controller. ``resource_group``, ``subscription_id`` and ``tenant_id`` come from its Azure configuration.

    ``preference_policy`` (Respect, Ignore), ``min_values_policy`` (Strict, BestEffort), ``scheduler_config`` (what is read of its
    document) and the batch window are core's own.
    """

    cluster_name: str = _DEFAULTS.cluster_name
    cluster_endpoint: str = "https://harness.hcp.local:443"
    vm_memory_overhead_percent: float = _DEFAULTS.vm_memory_overhead_percent
    network_plugin: str = "azure"
    network_policy: str = ""
    network_plugin_mode: str = "overlay"
    network_dataplane: str = "cilium"
    dns_service_ip: str = "10.0.0.10"
    node_identities: tuple[str, ...] = ()
    kubelet_identity_client_id: str = ""
    vnet_guid: str = ""
    subnet_id: str = ""
    provision_mode: str = ProvisionMode.AKS_SCRIPTLESS
    use_sig: bool = False
    sig_subscription_id: str = ""
    node_resource_group: str = ""
    additional_tags: Mapping[str, str] = field(default_factory=dict)
    disk_encryption_set_id: str = ""
    machines_pool: str = _DEFAULTS.machines_pool
    bootstrap_token: str = "abcdef.0123456789abcdef"
    ssh_public_key: str = "ssh-rsa AAAA"
    admin_username: str = "azureuser"
    resource_group: str = _DEFAULTS.resource_group
    tenant_id: str = "55555555-6666-7777-8888-999999999999"
    subscription_id: str = "00000000-1111-2222-3333-444444444444"
    preference_policy: str = "Respect"
    min_values_policy: str = STRICT
    ignore_resource_claims: bool = True
    scheduler_config: Mapping[str, Any] = field(default_factory=dict)
    legacy_node_repair: bool = False
    batch_idle_seconds: float = 1.0
    batch_max_seconds: float = 10.0
    feature_gates: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, defaults: Defaults, *, region: str = "", **changes: Any) -> "ProviderOptions":
        """Options of a world with these defaults; ``changes`` by field name win."""
        name = str(changes.get("cluster_name", defaults.cluster_name))
        node_group = defaults.node_resource_group.format(cluster=name, region=region or defaults.region)
        base = cls(
            cluster_name=name,
            vm_memory_overhead_percent=defaults.vm_memory_overhead_percent,
            network_plugin=defaults.network_plugin,
            network_policy=defaults.network_policy,
            network_plugin_mode=defaults.network_plugin_mode,
            network_dataplane=defaults.network_dataplane,
            provision_mode=defaults.provision_mode,
            machines_pool=defaults.machines_pool,
            resource_group=defaults.resource_group,
            kubelet_identity_client_id="61f71907-753f-4802-a901-47361c3664f2",
            vnet_guid="a519e60a-cac0-40b2-b883-084477fe6f5c",
        )
        base = replace(base, **{"node_resource_group": node_group, **changes})
        if base.subnet_id:
            return base
        return replace(
            base,
            subnet_id=f"{base.node_group_id}/providers/Microsoft.Network/virtualNetworks/aks-vnet-12345678/subnets/aks-subnet",
        )

    def with_json(self, changes: Mapping[str, Any] | None) -> "ProviderOptions":
        """Return these options with those of a JSON object in the provider's own names (``networkPlugin``, …); unknown names are ignored.

        Raises TypeError when a value has the wrong type.
        """
        if not changes:
            return self
        values = {name.casefold(): value for name, value in changes.items() if value is not None}
        fields: dict[str, Any] = {}
        for option in OPTIONS:
            if option.json and option.json.casefold() in values:
                value = values[option.json.casefold()]
                fields[option.field] = _typed(option.field, value, getattr(self, option.field))
        return replace(self, **fields)

    def gate(self, name: str) -> bool:
        """Return whether one of core's feature gates is open; those that matter here are closed unless said otherwise."""
        return str(self.feature_gates.get(name, "false")).lower() == "true"

    @property
    def node_group_id(self) -> str:
        """The ARM id of the resource group of the nodes."""
        return f"/subscriptions/{self.subscription_id}/resourceGroups/{self.node_resource_group}"

    @property
    def cluster_id(self) -> str:
        """The ARM id of the managed cluster."""
        return (
            f"/subscriptions/{self.subscription_id}/resourceGroups/{self.resource_group}"
            f"/providers/Microsoft.ContainerService/managedClusters/{self.cluster_name}"
        )

    @property
    def machines_id(self) -> str:
        """The ARM id of the collection of the AKS machines."""
        return f"{self.cluster_id}/agentPools/{self.machines_pool}/machines"

    @property
    def azure_cni_overlay(self) -> bool:
        return self.network_plugin == "azure" and self.network_plugin_mode == "overlay"

    @property
    def machine_api(self) -> bool:
        """Return whether nodes are AKS machines rather than plain virtual machines."""
        return self.provision_mode in MACHINE_MODES


def _typed(name: str, value: Any, current: Any) -> Any:
    if isinstance(current, bool):
        ok = isinstance(value, bool)
    elif isinstance(current, float):
        ok = isinstance(value, int | float) and not isinstance(value, bool)
        value = float(value) if ok else value
    elif isinstance(current, str):
        ok = isinstance(value, str)
    elif isinstance(current, tuple):
        ok = isinstance(value, list) and all(isinstance(entry, str) for entry in value)
        value = tuple(value) if ok else value
    else:
        ok = isinstance(value, Mapping)
    if not ok:
        raise TypeError(f"option {name} cannot be {value!r}")
    return value
