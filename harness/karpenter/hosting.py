"""Hosting modes, and what the provider's concepts document says a cluster must not be: each limit checked against releases too.

The document describes node auto-provisioning (NAP) as a preview, with a self-hosted Karpenter beside it. What it says is one thing
(`Limit.broken`), what a release's controller does is another (`Limit.holds`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, MACHINE_MODES, ProvisionMode
from lazyrecords import dataclass

__all__ = [
    "LIMITS",
    "Cluster",
    "Hosting",
    "Limit",
    "Violation",
    "network_options",
    "violations",
]


class Hosting(StrEnum):
    """The way in which Karpenter is run."""

    SELF_HOSTED = "self-hosted"
    NAP = "nap"


@dataclass(frozen=True, slots=True)
class Cluster:
    """An AKS cluster as far as the limits look at it."""

    network_plugin: str = "azure"
    network_plugin_mode: str = "overlay"
    network_dataplane: str = "cilium"
    ip_families: tuple[str, ...] = ("IPv4",)
    node_os: tuple[str, ...] = ("linux",)
    identity: str = "managed"
    custom_kubelet_config: bool = False
    cluster_autoscaler: bool = False
    token_rotation: bool = False


Test = Callable[[Cluster, ProvisionMode], bool]


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of the concepts document.

    ``field`` is the field of the cluster that it is about, ``broken`` whether a cluster breaks it, ``refused`` whether the releases'
    code cannot work with such a cluster either; ``why`` says what the code does.
    """

    id: str
    field: str
    hosting: tuple[Hosting, ...]
    statement: str
    broken: Test
    refused: Test
    why: str


@dataclass(frozen=True, slots=True)
class Violation:
    """A limit that a cluster breaks; ``holds`` tells whether it is still a limit of the releases."""

    limit: Limit
    found: str
    holds: bool

    @property
    def text(self) -> str:
        """One line: what was found, what the document says, and for which releases that holds."""
        first, last = ALL_PROVIDER_RELEASES[0], ALL_PROVIDER_RELEASES[-1]
        state = f"holds for {first} to {last}" if self.holds else f"no longer true of {first} to {last}"
        return f"{self.found}: {self.limit.statement}; {state}: {self.limit.why}"


_BOTH = (Hosting.SELF_HOSTED, Hosting.NAP)


def _never(cluster: Cluster, mode: ProvisionMode) -> bool:
    return False


def _same(test: Callable[[Cluster], bool]) -> Test:
    return lambda cluster, mode: test(cluster)


def _not_overlay_on_cilium(cluster: Cluster) -> bool:
    return (cluster.network_plugin, cluster.network_plugin_mode, cluster.network_dataplane) != (
        "azure",
        "overlay",
        "cilium",
    )


def _network_refused(cluster: Cluster) -> bool:
    plugin, mode = cluster.network_plugin, cluster.network_plugin_mode
    return plugin not in ("azure", "none") or mode not in ("", "overlay") or (plugin == "none" and bool(mode))


def _own_token(cluster: Cluster, mode: ProvisionMode) -> bool:
    return cluster.token_rotation and mode not in MACHINE_MODES


LIMITS: tuple[Limit, ...] = (
    Limit(
        "cilium-overlay",
        "networkPlugin",
        _BOTH,
        "only Azure CNI overlay with the Cilium dataplane is supported",
        _same(_not_overlay_on_cilium),
        _same(_network_refused),
        "the controller takes network plugin azure, with or without overlay, or none, on any dataplane "
        "(kaz pkg/operator/options/options_validation.go)",
    ),
    Limit(
        "linux-only",
        "nodeOs",
        _BOTH,
        "only Linux nodes are supported",
        _same(lambda cluster: "windows" in cluster.node_os),
        _same(lambda cluster: "windows" in cluster.node_os),
        "every size has the operating system linux (kaz pkg/providers/instancetype/instancetype.go)",
    ),
    Limit(
        "no-ipv6",
        "ipFamilies",
        _BOTH,
        "IPv6 clusters are not supported",
        _same(lambda cluster: "IPv6" in cluster.ip_families),
        _same(lambda cluster: "IPv6" in cluster.ip_families),
        "nodes boot without dual stack (kaz pkg/providers/imagefamily/bootstrap/aksbootstrap.go)",
    ),
    Limit(
        "no-kubelet-config",
        "customKubeletConfig",
        _BOTH,
        "custom kubelet configuration is not supported",
        _same(lambda cluster: cluster.custom_kubelet_config),
        _never,
        "an AKSNodeClass has spec.kubelet; an agent pool's own configuration does not reach Karpenter's nodes "
        "(kaz pkg/apis/v1beta1/aksnodeclass.go)",
    ),
    Limit(
        "managed-identity",
        "identity",
        _BOTH,
        "clusters with a service principal are not supported, a managed identity is needed",
        _same(lambda cluster: cluster.identity == "servicePrincipal"),
        _same(lambda cluster: cluster.identity == "servicePrincipal"),
        "nodes are told to use a managed identity (kaz pkg/providers/imagefamily/bootstrap/staticvalues.go)",
    ),
    Limit(
        "nap-without-autoscaler",
        "clusterAutoscaler",
        (Hosting.NAP,),
        "NAP cannot be enabled while node pools have the cluster autoscaler",
        _same(lambda cluster: cluster.cluster_autoscaler),
        _same(lambda cluster: cluster.cluster_autoscaler),
        "a rule of the AKS service, which no release of the provider changes; the feature AllowClusterAutoscalerAndNAP lifts it "
        "(AKS docs of 2026-06-25)",
    ),
    Limit(
        "no-token-rotation",
        "tokenRotation",
        (Hosting.SELF_HOSTED,),
        "a self-hosted Karpenter does not follow the rotation of node tokens",
        _same(lambda cluster: cluster.token_rotation),
        _own_token,
        "the token is an option read at start, in all provision modes but the machine API, where AKS boots the nodes "
        "(kaz pkg/providers/imagefamily)",
    ),
)


def violations(cluster: Cluster, hosting: Hosting, mode: ProvisionMode) -> Iterator[Violation]:
    """The limits of the document that a cluster breaks, whether or not they still hold."""
    for limit in LIMITS:
        if hosting in limit.hosting and limit.broken(cluster, mode):
            yield Violation(limit, _FOUND[limit.field](cluster), limit.refused(cluster, mode))


def _joined(values: Sequence[str]) -> str:
    return ", ".join(values)


_FOUND: Mapping[str, Callable[[Cluster], str]] = {
    "networkPlugin": lambda cluster: (
        f"network plugin {cluster.network_plugin}, mode {cluster.network_plugin_mode or 'none'}, "
        f"dataplane {cluster.network_dataplane}"
    ),
    "nodeOs": lambda cluster: f"node operating systems {_joined(cluster.node_os)}",
    "ipFamilies": lambda cluster: f"IP families {_joined(cluster.ip_families)}",
    "customKubeletConfig": lambda cluster: "custom kubelet configuration",
    "identity": lambda cluster: "a service principal",
    "clusterAutoscaler": lambda cluster: "node pools with the cluster autoscaler",
    "tokenRotation": lambda cluster: "rotation of node tokens",
}


def network_options(cluster: Cluster) -> dict[str, str]:
    """The controller's options for the cluster's network, where it takes them."""
    if _network_refused(cluster):
        return {}
    return {
        "network_plugin": cluster.network_plugin,
        "network_plugin_mode": cluster.network_plugin_mode,
        "network_dataplane": cluster.network_dataplane,
    }
