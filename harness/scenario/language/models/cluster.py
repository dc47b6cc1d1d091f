"""`given.cluster`: the AKS cluster that Karpenter runs in."""

from typing import Literal

from pydantic import Field

from harness.scenario.language.models.base import Flag, Model

__all__ = ["Cluster"]


class Cluster(Model):
    """The AKS cluster. What breaks a documented limit is a mistake, unless `then: limits` expects it."""

    network_plugin: Literal["azure", "kubenet", "none"] | None = Field(
        None, description="Network plugin; azure when absent."
    )
    network_plugin_mode: Literal["overlay", "none"] | None = Field(None, description="Its mode; overlay when absent.")
    network_dataplane: Literal["azure", "cilium"] | None = Field(None, description="Dataplane; cilium when absent.")
    ip_families: list[Literal["IPv4", "IPv6"]] | None = Field(
        None, min_length=1, description="IP families; IPv4 when absent."
    )
    node_os: list[Literal["linux", "windows"]] | None = Field(
        None, min_length=1, description="Operating systems of the nodes; linux when absent."
    )
    identity: Literal["managed", "servicePrincipal"] | None = Field(None, description="Identity; managed when absent.")
    custom_kubelet_config: Flag | None = Field(None, description="Kubelet settings on node pools.")
    cluster_autoscaler: Flag | None = Field(None, description="Cluster autoscaler on node pools.")
    token_rotation: Flag | None = Field(None, description="Rotation of bootstrap tokens.")
