"""Node images: which one an instance type boots, and their names and ids (kaz ``pkg/providers/imagefamily``)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.labels.azure import SKU_HYPERV
from harness.karpenter.launch.failures.errors import LaunchError
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.requirements import Requirements
from harness.kube.api.labels import ARCH
from harness.kube.api.versions import Version
from lazyrecords import dataclass

__all__ = [
    "ImageDefinition",
    "ImageFamily",
    "community_image_id",
    "gallery_image_id",
    "image_definition_of",
    "image_family",
    "node_image_version",
    "resolve_image",
]


@dataclass(frozen=True, slots=True)
class ImageDefinition:
    """An image of a gallery, and the sizes it boots on: architecture and Hyper-V generation."""

    name: str
    distro: str
    architecture: str = "amd64"
    hyperv: str = "2"

    def requirements(self) -> list[dict[str, Any]]:
        """In the form of ``status.images[].requirements`` of an AKSNodeClass."""
        return [
            {"key": ARCH, "operator": "In", "values": [self.architecture]},
            {"key": SKU_HYPERV, "operator": "In", "values": [self.hyperv]},
        ]


@dataclass(frozen=True, slots=True)
class ImageFamily:
    """An operating system version. ``name`` is the label value os-sku-effective, ``os_sku`` what AKS calls the system.

    Images stand in the order in which they are preferred. FIPS images exist in the shared gallery only. ``trusted_images`` are for
    nodes with Trusted Launch, ``trusted_fips_images`` for those that ask for both.
    """

    name: str
    os_sku: str
    community_gallery: str
    gallery: str
    resource_group: str
    images: tuple[ImageDefinition, ...] = ()
    fips_images: tuple[ImageDefinition, ...] = ()
    trusted_images: tuple[ImageDefinition, ...] = ()
    trusted_fips_images: tuple[ImageDefinition, ...] = ()
    shared_only: frozenset[str] = frozenset()

    def default_images(
        self, spec: Mapping[str, Any], release: ProviderRelease, *, use_sig: bool
    ) -> tuple[ImageDefinition, ...]:
        """Return the images to look for, for an AKSNodeClass's spec, in the managed gallery (``use_sig``) or the community gallery."""
        trusted = release.asks_trusted_launch(spec)
        if release.asks_fips(spec):
            return (self.trusted_fips_images if trusted else self.fips_images) if use_sig else ()
        if trusted:
            return self.trusted_images
        return tuple(image for image in self.images if use_sig or image.name not in self.shared_only)


def _three(prefix: str, suffix: str, distro: str, arm: str) -> tuple[ImageDefinition, ...]:
    return (
        ImageDefinition(f"{prefix}gen2{suffix}", f"{distro}-gen2"),
        ImageDefinition(f"{prefix}{suffix}", distro, hyperv="1"),
        ImageDefinition(f"{prefix}gen2arm64{suffix}", arm, architecture="arm64"),
    )


_UBUNTU = ("Ubuntu", "AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2", "AKSUbuntu", "AKS-Ubuntu")
_AZURE_LINUX = ("AzureLinux", "AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b", "AKSAzureLinux", "AKS-AzureLinux")

# The 20.04 family exists for FIPS alone and calls itself Ubuntu.
_UBUNTU_2004 = ImageFamily(
    "Ubuntu",
    *_UBUNTU,
    fips_images=(
        ImageDefinition("2004gen2fipscontainerd", "aks-ubuntu-fips-containerd-20.04-gen2"),
        ImageDefinition("2004fipscontainerd", "aks-ubuntu-fips-containerd-20.04", hyperv="1"),
    ),
)
_UBUNTU_2204 = ImageFamily(
    "Ubuntu2204",
    *_UBUNTU,
    images=_three("2204", "containerd", "aks-ubuntu-containerd-22.04", "aks-ubuntu-arm64-containerd-22.04-gen2"),
    trusted_images=(ImageDefinition("2204gen2TLcontainerd", "aks-ubuntu-containerd-22.04-tl-gen2"),),
    trusted_fips_images=(ImageDefinition("2204gen2fipsTLcontainerd", "aks-ubuntu-fips-containerd-22.04-tl-gen2"),),
)
_UBUNTU_2404 = ImageFamily(
    "Ubuntu2404",
    *_UBUNTU,
    images=_three("2404", "containerd", "aks-ubuntu-containerd-24.04", "aks-ubuntu-arm64-containerd-24.04-gen2"),
    trusted_images=(ImageDefinition("2404gen2TLcontainerd", "aks-ubuntu-containerd-24.04-tl-gen2"),),
)
_AZURE_LINUX_2_FIPS = (
    ImageDefinition("V2gen2fips", "aks-azurelinux-v2-gen2-fips"),
    ImageDefinition("V2fips", "aks-azurelinux-v2-fips", hyperv="1"),
)
_AZURE_LINUX_2 = ImageFamily(
    "AzureLinux2",
    *_AZURE_LINUX,
    images=_three("V2", "", "aks-azurelinux-v2", "aks-azurelinux-v2-arm64-gen2"),
    fips_images=_AZURE_LINUX_2_FIPS,
    trusted_images=(ImageDefinition("V2gen2TL", "aks-azurelinux-v2-gen2-tl"),),
    trusted_fips_images=_AZURE_LINUX_2_FIPS,
)
_AZURE_LINUX_3_FIPS = (
    ImageDefinition("V3gen2fips", "aks-azurelinux-v3-gen2-fips"),
    ImageDefinition("V3fips", "aks-azurelinux-v3-fips", hyperv="1"),
    ImageDefinition("V3gen2arm64fips", "aks-azurelinux-v3-arm64-gen2-fips", architecture="arm64"),
)
_AZURE_LINUX_3 = ImageFamily(
    "AzureLinux3",
    *_AZURE_LINUX,
    images=_three("V3", "", "aks-azurelinux-v3", "aks-azurelinux-v3-arm64-gen2"),
    fips_images=_AZURE_LINUX_3_FIPS,
    trusted_images=(ImageDefinition("V3gen2TL", "aks-azurelinux-v3-gen2-tl"),),
    trusted_fips_images=_AZURE_LINUX_3_FIPS,
)
_AZURE_LINUX_3_SHARED_ARM = replace(_AZURE_LINUX_3, shared_only=frozenset({"V3gen2arm64"}))

_GALLERY_IMAGE = re.compile(
    r"/subscriptions/\S+/resourceGroups/\S+/providers/Microsoft.Compute/galleries/(\S+)/images/(\S+)/versions/(\S+)",
    re.IGNORECASE,
)

_AZURE_LINUX_3_FROM = (1, 32)
_UBUNTU_2404_FROM = (1, 34)


def image_family(spec: Mapping[str, Any], *, kubernetes: str, release: ProviderRelease) -> ImageFamily:
    """The operating system version that an AKSNodeClass's spec means for a Kubernetes version (GetImageFamily)."""
    version = Version.find(kubernetes) or Version(0)
    name = spec.get("imageFamily") or ""
    if name == "Ubuntu2204":
        return _UBUNTU_2204
    if name == "Ubuntu2404" and release.ubuntu_2404:
        return _UBUNTU_2404
    if name == "AzureLinux":
        if release.only_azure_linux_2 or not version.reaches(_AZURE_LINUX_3_FROM):
            return _AZURE_LINUX_2
        return _AZURE_LINUX_3_SHARED_ARM if release.azure_linux_3_arm_shared_only else _AZURE_LINUX_3
    if release.asks_trusted_launch(spec):
        return _UBUNTU_2204
    if release.asks_fips(spec):
        return _UBUNTU_2004
    return _UBUNTU_2404 if release.ubuntu_2404 and version.reaches(_UBUNTU_2404_FROM) else _UBUNTU_2204


def community_image_id(family: ImageFamily, image: ImageDefinition, version: str) -> str:
    """The id of a community gallery image version."""
    return f"/CommunityGalleries/{family.community_gallery}/images/{image.name}/versions/{version}"


def gallery_image_id(family: ImageFamily, image: ImageDefinition, version: str, *, subscription: str) -> str:
    """The id of an image version in AKS's shared gallery."""
    return (
        f"/subscriptions/{subscription}/resourceGroups/{family.resource_group}/providers/Microsoft.Compute/galleries/{family.gallery}"
        f"/images/{image.name}/versions/{version}"
    )


def image_definition_of(image_id: str) -> str:
    """The image definition's name in an image id of either gallery; empty for other texts."""
    parts = image_id.split("/")
    index = {"subscriptions": 10, "CommunityGalleries": 4}.get(parts[1]) if len(parts) > 1 else None
    return parts[index] if index is not None and index < len(parts) else ""


def resolve_image(images: Sequence[Mapping[str, Any]], item: InstanceType, release: ProviderRelease) -> str | None:
    """The id of the first image of ``status.images`` that boots on the instance type; None when none does."""
    for image in images:
        wanted = Requirements.from_node_selector(image.get("requirements"), vocabulary=release.vocabulary)
        if item.requirements.compatible(wanted, release.allowed_at_create) is None:
            return str(image["id"])
    return None


def node_image_version(image_id: str) -> str:
    """Return AKS's name for an image of its shared gallery: gallery, definition and version. Raises LaunchError for other images."""
    if image_id.startswith("/CommunityGalleries"):
        raise LaunchError(
            "failed to convert VM image ID to NodeImageVersion: CIG images are not supported yet for AKS machines, "
            f"consider not using an AKS Machine API provision mode: {image_id}"
        )
    matched = _GALLERY_IMAGE.search(image_id)
    if matched is None:
        raise LaunchError(f"failed to convert VM image ID to NodeImageVersion: incorrect SIG image ID id={image_id}")
    return "-".join(matched.groups())
