"""The controller's options by the names that people know: flag, environment variable, JSON; what each decides, since which release.

From the releases' sources (kaz ``pkg/operator/options/options.go``, ``pkg/auth/config.go``; core ``pkg/operator/options``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.karpenter.releases.order import release_order
from lazyrecords import dataclass

__all__ = ["OPTIONS", "Option", "find_option", "option_of_variable", "options_of"]


@dataclass(frozen=True, slots=True)
class Option:
    """One option. `field` is that of ProviderOptions, `json` its name in the provider's own JSON, empty where it is left out there.

    `flag` is empty for what is only read from the environment. `variable` is set where it is not the flag in capitals.
    `since` is the first release of the provider that has it.
    """

    field: str
    flag: str
    json: str
    decides: str
    variable: str = ""
    since: str = "1.4.0"

    @property
    def name(self) -> str:
        """The flag, or the field written as one."""
        return self.flag or self.field.replace("_", "-")

    @property
    def environment(self) -> str:
        """Name of the environment variable."""
        return self.variable or self.flag.replace("-", "_").upper()

    def is_of(self, release: str) -> bool:
        """Return whether a release of the provider has it."""
        return release_order(release) >= release_order(self.since)


OPTIONS: tuple[Option, ...] = (
    Option("cluster_name", "cluster-name", "clusterName", "the cluster that machines and their tags belong to"),
    Option("cluster_endpoint", "cluster-endpoint", "clusterEndpoint", "the API server that new nodes join"),
    Option(
        "vm_memory_overhead_percent",
        "vm-memory-overhead-percent",
        "vmMemoryOverheadPercent",
        "the share of a size's memory that Karpenter does not count on",
    ),
    Option(
        "network_plugin", "network-plugin", "networkPlugin", "`azure` or `none`: labels and network set-up of new nodes"
    ),
    Option(
        "network_plugin_mode",
        "network-plugin-mode",
        "networkPluginMode",
        "`overlay` or empty: with it nodes get the labels of overlay networks",
    ),
    Option("network_policy", "network-policy", "networkPolicy", "the network policy that nodes are set up for"),
    Option(
        "network_dataplane",
        "network-dataplane",
        "networkDataplane",
        "`cilium`, `azure` or empty: with cilium nodes get its label",
    ),
    Option("dns_service_ip", "dns-service-ip", "dnsServiceIP", "the DNS server of the kubelets", since="1.6.6"),
    Option("vnet_guid", "vnet-guid", "vnetGuid", "the value of a label of nodes on Azure CNI overlay"),
    Option("subnet_id", "vnet-subnet-id", "subnetId", "the subnet of NodeClasses that name none"),
    Option(
        "node_identities",
        "node-identities",
        "nodeIdentities",
        "user-assigned identities of machines, separated by commas",
    ),
    Option(
        "kubelet_identity_client_id",
        "kubelet-identity-client-id",
        "kubeletIdentityClientID",
        "the kubelets' identity, which is a label, too",
    ),
    Option("provision_mode", "provision-mode", "provisionMode", "how machines are made and boot"),
    Option(
        "use_sig", "use-sig", "useSIG", "`true`: node images of AKS's own gallery, as where AKS runs the controller"
    ),
    Option("sig_subscription_id", "sig-subscription-id", "sigSubscriptionId", "the subscription of that gallery"),
    Option(
        "node_resource_group",
        "node-resource-group",
        "nodeResourceGroup",
        "where machines live, and the value of the label kubernetes.azure.com/cluster",
        variable="AZURE_NODE_RESOURCE_GROUP",
    ),
    Option(
        "additional_tags",
        "additional-tags",
        "additionalTags",
        "tags of all machines, as KEY=VALUE,KEY=VALUE",
        since="1.6.1",
    ),
    Option(
        "disk_encryption_set_id",
        "node-osdisk-diskencryptionset-id",
        "diskEncryptionSetId",
        "the disk encryption set of OS disks",
        since="1.6.5",
    ),
    Option(
        "machines_pool",
        "aks-machines-pool-name",
        "aksMachinesPoolName",
        "the agent pool of machines that AKS makes",
        since="1.7.0",
    ),
    Option("bootstrap_token", "kubelet-bootstrap-token", "", "the token with which nodes join"),
    Option("ssh_public_key", "ssh-public-key", "", "the SSH key of machines"),
    Option("admin_username", "linux-admin-username", "", "the administrator's name on machines", since="1.5.0"),
    Option("resource_group", "", "", "the cluster's own resource group", variable="ARM_RESOURCE_GROUP"),
    Option("tenant_id", "", "", "the tenant that nodes are told", variable="ARM_TENANT_ID"),
    Option("subscription_id", "", "", "the subscription that pays", variable="ARM_SUBSCRIPTION_ID"),
    Option(
        "preference_policy",
        "preference-policy",
        "preferencePolicy",
        "`Respect` or `Ignore`: whether the scheduler tries preferences of pods",
    ),
    Option(
        "min_values_policy",
        "min-values-policy",
        "minValuesPolicy",
        "`Strict` or `BestEffort`: whether minValues may be relaxed",
        since="1.6.1",
    ),
    Option(
        "ignore_resource_claims",
        "ignore-dra-requests",
        "",
        "`false`: pods that claim devices get Nodes, too, as if they claimed none",
        since="1.7.0",
    ),
    Option(
        "scheduler_config",
        "scheduler-config",
        "schedulerConfig",
        "a document with `podTopologySpread.defaultConstraints`, the topology spread of pods that ask for none",
        since="next",
    ),
    Option(
        "legacy_node_repair",
        "legacy-node-repair",
        "legacyNodeRepair",
        "with the gate NodeRepair, the older controller repairs nodes instead of disruption",
        since="next",
    ),
    Option(
        "batch_idle_seconds",
        "batch-idle-duration",
        "",
        "how long no new pod must come before Karpenter decides, in seconds",
    ),
    Option("batch_max_seconds", "batch-max-duration", "", "how long Karpenter collects pods at most, in seconds"),
    Option(
        "feature_gates",
        "feature-gates",
        "",
        "core's feature gates, as NAME=true,NAME=true: NodeOverlay, NodeRepair, SpotToSpotConsolidation, StaticCapacity",
    ),
)


def find_option(name: str) -> Option | None:
    """The option of a flag (`network-plugin`), of the name in JSON (`networkPlugin`), or of our field; None when there is none."""
    word = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).replace("-", "_").lower()
    by_json = next((option for option in OPTIONS if option.json and option.json.casefold() == name.casefold()), None)
    return by_json or next(
        (option for option in OPTIONS if word in (option.flag.replace("-", "_"), option.field)), None
    )


def option_of_variable(variable: str) -> Option | None:
    """The option that an environment variable of the controller sets."""
    return next((option for option in OPTIONS if option.environment == variable), None)


def options_of(release: str) -> Iterator[Option]:
    """The options of a release of the provider, in the order of the table."""
    return (option for option in OPTIONS if option.is_of(release))
