"""The cluster's network and certificates, which the provider finds in Azure before it launches."""

from lazyrecords import dataclass

__all__ = ["LaunchEnvironment"]


@dataclass(frozen=True, slots=True)
class LaunchEnvironment:
    """``cluster_id`` is the number in AKS's resource names; ``ca_bundle`` is base64; backend pool ids are ARM ids.

    ``network_security_group_id`` is only used when the subnet is not AKS's own.
    """

    region: str
    cluster_id: str = "12345678"
    ca_bundle: str = "Y2E="
    backend_pool_ids: tuple[str, ...] = ()
    network_security_group_id: str = ""

    @property
    def network_security_group(self) -> str:
        return f"aks-agentpool-{self.cluster_id}-nsg"

    @property
    def route_table(self) -> str:
        return f"aks-agentpool-{self.cluster_id}-routetable"
