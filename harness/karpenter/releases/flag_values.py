"""The values that flags of a release have where yes and no are not enough."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from lazyrecords import dataclass

__all__ = [
    "MACHINE_MODES",
    "ArtifactStreamingDefault",
    "ClaimRequirementLabels",
    "DriftImage",
    "EphemeralRule",
    "InPlaceTags",
    "LocalDnsSource",
    "ProvisionMode",
    "RepairPolicy",
    "UnknownRelease",
    "entry_of",
]


class UnknownRelease(ValueError):
    """No such release; ``known`` are those there are."""

    def __init__(self, version: str, releases: tuple[str, ...]) -> None:
        super().__init__(f"unknown Karpenter release {version!r}; known: {', '.join(releases)}")
        self.version = version
        self.known = releases


T = TypeVar("T")


def entry_of(version: str, table: Mapping[str, T]) -> T:
    """Return the entry of a release in a table. Raises UnknownRelease."""
    if version not in table:
        raise UnknownRelease(version, tuple(table))
    return table[version]


class ProvisionMode(StrEnum):
    """The way in which the provider makes a machine join the cluster (kaz ``pkg/consts``)."""

    AKS_SCRIPTLESS = "aksscriptless"
    BOOTSTRAPPING_CLIENT = "bootstrappingclient"
    AKS_MACHINE_API = "aksmachineapi"
    AKS_MACHINE_API_HEADER_BATCH = "aksmachineapiheaderbatch"


MACHINE_MODES = frozenset({ProvisionMode.AKS_MACHINE_API, ProvisionMode.AKS_MACHINE_API_HEADER_BATCH})
"""The modes in which nodes are AKS machines rather than plain virtual machines."""


class EphemeralRule(StrEnum):
    """The rule for the largest ephemeral OS disk of a size."""

    LARGEST_OF_CACHE_AND_RESOURCE = "largest-of-cache-and-resource"
    """The larger of cache and resource disk, as a decimal fraction of GB; the series Dlds_v5 has none."""
    FIRST_UNLESS_LABELLED = "first-unless-labelled"
    """The first of NVMe, cache and resource disk, in whole GB. A launch uses it on any size; the label asks whether the size supports
    ephemeral OS disks, and the series Dlds_v5 has none."""
    FIRST_OF_NVME_CACHE_RESOURCE = "first-of-nvme-cache-resource"
    """The first that exists, in whole GB, of sizes that support ephemeral OS disks."""


class ArtifactStreamingDefault(StrEnum):
    """The default of artifact streaming for an AKSNodeClass; arm64 machines never have it."""

    OFF = "off"
    ON = "on"
    ON_BUT_AZURE_LINUX = "on-but-azure-linux"


class LocalDnsSource(StrEnum):
    """The field that says whether LocalDNS is on."""

    NONE = "none"
    MODE_AND_VERSION = "mode-and-version"
    """``spec.localDNS.mode``; Preferred means on from a Kubernetes version on."""
    STATUS = "status"
    """``status.localDNSState``, which a controller of the provider resolves."""


class DriftImage(StrEnum):
    """The source of a node's image when the provider looks for drift."""

    INSTANCE_FIRST = "instance-first"
    """From the VM, before it looks at the images of the AKSNodeClass."""
    INSTANCE = "instance"
    """From the VM or the AKS machine, once the AKSNodeClass has images."""
    NODECLAIM = "nodeclaim"
    """From the NodeClaim's status."""


class InPlaceTags(StrEnum):
    """Tags that count when Karpenter checks whether a running machine has to be updated."""

    NONE = "none"
    ASKED = "asked"
    """The tags of the options and of the NodeClass, as written there."""
    ALL = "all"
    """All tags that the machine gets, but those that name it."""


class ClaimRequirementLabels(StrEnum):
    """Single-valued requirements of a NodeClaim that become labels of its node."""

    NONE = "none"
    KUBELET_ALLOWED = "kubelet-allowed"
    """The requirements whose key kubelet may set."""
    ALL = "all"


@dataclass(frozen=True, slots=True)
class RepairPolicy:
    """A Node with this condition is replaced once it had it for ``toleration`` seconds."""

    condition: str
    status: str
    toleration: float
