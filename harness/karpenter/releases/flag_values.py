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

    def __init__(self, version: str, known: tuple[str, ...]) -> None:
        super().__init__(f"unknown Karpenter release {version!r}; known: {', '.join(known)}")
        self.version = version
        self.known = known


T = TypeVar("T")


def entry_of(version: str, table: Mapping[str, T]) -> T:
    """What a table by release has of this one. Raises UnknownRelease."""
    if version not in table:
        raise UnknownRelease(version, tuple(table))
    return table[version]


class ProvisionMode(StrEnum):
    """How the provider makes a machine join the cluster (kaz ``pkg/consts``)."""

    AKS_SCRIPTLESS = "aksscriptless"
    BOOTSTRAPPING_CLIENT = "bootstrappingclient"
    AKS_MACHINE_API = "aksmachineapi"
    AKS_MACHINE_API_HEADER_BATCH = "aksmachineapiheaderbatch"


MACHINE_MODES = frozenset({ProvisionMode.AKS_MACHINE_API, ProvisionMode.AKS_MACHINE_API_HEADER_BATCH})
"""The modes in which nodes are AKS machines rather than plain virtual machines."""


class EphemeralRule(StrEnum):
    """How the largest ephemeral OS disk of a size is found."""

    LARGEST_OF_CACHE_AND_RESOURCE = "largest-of-cache-and-resource"
    """The larger of cache and resource disk, as a decimal fraction of GB; the series Dlds_v5 has none."""
    FIRST_UNLESS_LABELLED = "first-unless-labelled"
    """The first of NVMe, cache and resource disk, in whole GB. A launch uses it on any size; the label asks whether the size supports
    ephemeral OS disks, and the series Dlds_v5 has none."""
    FIRST_OF_NVME_CACHE_RESOURCE = "first-of-nvme-cache-resource"
    """The first that exists, in whole GB, of sizes that support ephemeral OS disks."""


class ArtifactStreamingDefault(StrEnum):
    """Whether artifact streaming is on for an AKSNodeClass that does not say; arm64 machines never have it."""

    OFF = "off"
    ON = "on"
    ON_BUT_AZURE_LINUX = "on-but-azure-linux"


class LocalDnsSource(StrEnum):
    """Where the provider reads whether LocalDNS is on."""

    NONE = "none"
    MODE_AND_VERSION = "mode-and-version"
    """``spec.localDNS.mode``; Preferred means on from a Kubernetes version on."""
    STATUS = "status"
    """``status.localDNSState``, which a controller of the provider resolves."""


class DriftImage(StrEnum):
    """Where the provider reads which image a node has when it looks for drift."""

    INSTANCE_FIRST = "instance-first"
    """From the VM, before it looks at the images of the AKSNodeClass."""
    INSTANCE = "instance"
    """From the VM or the AKS machine, once the AKSNodeClass has images."""
    NODECLAIM = "nodeclaim"
    """From the NodeClaim's status."""


class InPlaceTags(StrEnum):
    """Which tags count when Karpenter checks whether a running machine has to be updated."""

    NONE = "none"
    ASKED = "asked"
    """Those of the options and of the NodeClass, as written there."""
    ALL = "all"
    """All tags that the machine gets, but those that name it."""


class ClaimRequirementLabels(StrEnum):
    """Which single-valued requirements of a NodeClaim become labels of its node."""

    NONE = "none"
    KUBELET_ALLOWED = "kubelet-allowed"
    """Those whose key kubelet may set."""
    ALL = "all"


@dataclass(frozen=True, slots=True)
class RepairPolicy:
    """A Node with this condition is replaced once it had it for ``toleration`` seconds."""

    condition: str
    status: str
    toleration: float
