"""Sizes that are not offered as instance types, and the reasons (kaz ``pkg/providers/instancetype/instancetypes.go``).

Two sets of filters, each tried in order: those of a region hold for every NodePool, those of a NodeClass depend on its fields.
"""

from collections.abc import Callable, Mapping
from typing import Any

from harness.karpenter.cloudprovider import DroppedSize
from harness.karpenter.instancetypes.nodeclass_settings import NodeClassSettings
from harness.karpenter.instancetypes.sku import Sku
from harness.karpenter.labels.azure import NVIDIA
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.releases.sizes import gpu_sizes, known_skus
from harness.kube.go.text import to_int64
from lazyrecords import dataclass

__all__ = ["FILTERS", "gpu_key", "name_filter", "nodeclass_filter", "region_filter"]

_MIN_VCPUS = 2
_MIN_MEMORY_GIB = 3.5
_LOCAL_DNS_MIN_VCPUS = 4
_LOCAL_DNS_MIN_MIB = 244

Details = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Subject:
    sku: Sku
    release: ProviderRelease
    use_sig: bool
    settings: NodeClassSettings | None

    @property
    def on_gpu_list(self) -> bool:
        return gpu_key(self.sku.name) in gpu_sizes(self.release.gpu_registry)


def gpu_key(name: str) -> str:
    """The name under which the GPU registry lists a size."""
    return name.lower().removesuffix("_promo")


def _not_virtual_machine(subject: _Subject) -> Details | None:
    kind = subject.sku.record.get("resourceType")
    if subject.release.only_known_skus or (kind or "").lower() == "virtualmachines":
        return None
    return {"resource_type": kind}


def _unknown(subject: _Subject) -> Details | None:
    release = subject.release
    if not release.only_known_skus:
        return None
    names = known_skus(release.known_skus)
    return None if subject.sku.name in names else _unknown_to(release)


def _restricted(subject: _Subject) -> Details | None:
    return {} if subject.sku.name in subject.release.restricted_skus else None


def _unparsable(subject: _Subject) -> Details | None:
    return {"size": subject.sku.size} if subject.sku.vm_size is None else None


def _location(subject: _Subject) -> Details | None:
    return {} if subject.sku.location_restricted else None


def _vcpus(subject: _Subject) -> Details | None:
    vcpus = subject.sku.vcpus
    return None if vcpus is not None and vcpus >= _MIN_VCPUS else {"vcpus": vcpus, "minimum": _MIN_VCPUS}


def _memory(subject: _Subject) -> Details | None:
    memory = subject.sku.memory_gib
    return (
        None if memory is not None and memory >= _MIN_MEMORY_GIB else {"memory_gib": memory, "minimum": _MIN_MEMORY_GIB}
    )


def _unsupported_gpu(subject: _Subject) -> Details | None:
    gpus = subject.sku.gpus or 0
    return {"gpus": gpus} if gpus > 0 and not subject.on_gpu_list else None


def _constrained(subject: _Subject) -> Details | None:
    size = subject.sku.vm_size
    return (
        {"constrained_cpus": size.constrained_cpus} if size is not None and size.constrained_cpus is not None else None
    )


def _confidential(subject: _Subject) -> Details | None:
    return {"size": subject.sku.size} if subject.sku.size.startswith(("DC", "EC")) else None


def _no_image(subject: _Subject) -> Details | None:
    sku = subject.sku
    if not subject.release.scsi_required_without_sig or subject.use_sig:
        return None
    if sku.lists("DiskControllerTypes", "SCSI") or not sku.lists("DiskControllerTypes", "NVMe"):
        return None
    return {"disk_controllers": sku.capability("DiskControllerTypes")}


def _no_architecture(subject: _Subject) -> Details | None:
    return {} if subject.sku.architecture is None else None


def _image_family(subject: _Subject) -> Details | None:
    gpu = gpu_sizes(subject.release.gpu_registry).get(gpu_key(subject.sku.name))
    if gpu is None or subject.settings is None:
        return None
    family = subject.settings.image_family
    # Families that the release does not know have no GPU sizes.
    system = subject.release.image_families.get(family, "").lower()
    return None if system in gpu.systems else {"image_family": family, "systems": sorted(gpu.systems)}


def _encryption(subject: _Subject) -> Details | None:
    if subject.settings is None or not subject.release.encryption_filter or not subject.settings.encryption_at_host:
        return None
    return None if subject.sku.flag("EncryptionAtHostSupported") else {"capability": "EncryptionAtHostSupported"}


def _local_dns(subject: _Subject) -> Details | None:
    sku = subject.sku
    if subject.settings is None or not subject.settings.local_dns:
        return None
    memory_mib = to_int64((sku.memory_gib or 0) * 1024)
    if (sku.vcpus or 0) >= _LOCAL_DNS_MIN_VCPUS and memory_mib >= _LOCAL_DNS_MIN_MIB:
        return None
    return {"vcpus": sku.vcpus, "minimum": _LOCAL_DNS_MIN_VCPUS}


def _gpu_driver(subject: _Subject) -> Details | None:
    if subject.settings is None or not subject.release.gpu_driver_filter or not subject.settings.gpu_driver:
        return None
    gpu = gpu_sizes(subject.release.gpu_registry).get(gpu_key(subject.sku.name))
    return None if gpu is None or gpu.manufacturer == NVIDIA else {"manufacturer": gpu.manufacturer}


def _artifact_streaming(subject: _Subject) -> Details | None:
    if (
        subject.settings is None
        or not subject.release.artifact_streaming_filter
        or not subject.settings.artifact_streaming
    ):
        return None
    return {"architecture": "arm64"} if subject.sku.architecture in ("Arm64", "arm64") else None


def _trusted_launch(subject: _Subject) -> Details | None:
    if subject.settings is None or not subject.settings.trusted_launch:
        return None
    if "2" not in subject.sku.hyperv:
        return {"hyperv_generations": subject.sku.hyperv}
    disabled = subject.sku.lists("TrustedLaunchDisabled", "True")
    return {"capability": "TrustedLaunchDisabled"} if disabled else None


_Filter = Callable[[_Subject], Details | None]

_REGION: Mapping[str, _Filter] = {
    "not-a-virtual-machine": _not_virtual_machine,
    "restricted-size": _restricted,
    "unknown-size": _unknown,
    "unparsable-size": _unparsable,
    "location-restriction": _location,
    "too-few-vcpus": _vcpus,
    "too-little-memory": _memory,
    "unsupported-gpu": _unsupported_gpu,
    "constrained-cpus": _constrained,
    "confidential": _confidential,
    "no-image-for-disk-controller": _no_image,
}
_NODECLASS: Mapping[str, _Filter] = {
    "no-architecture": _no_architecture,
    "gpu-image-family": _image_family,
    "encryption-at-host": _encryption,
    "local-dns": _local_dns,
    "gpu-driver-mode": _gpu_driver,
    "artifact-streaming": _artifact_streaming,
    "trusted-launch": _trusted_launch,
}

FILTERS: tuple[str, ...] = (*_REGION, *_NODECLASS)
"""Names of all filters, in the order in which they are tried."""


def name_filter(name: str, release: ProviderRelease) -> DroppedSize | None:
    """The filter that drops a size in every region by its name alone, before its record is read; None when none does."""
    if not release.only_known_skus:
        return None
    if name in release.restricted_skus:
        return DroppedSize(name, "restricted-size", {})
    return None if name in known_skus(release.known_skus) else DroppedSize(name, "unknown-size", _unknown_to(release))


def _unknown_to(release: ProviderRelease) -> Details:
    return {"list": release.known_skus}


def region_filter(sku: Sku, release: ProviderRelease, *, use_sig: bool) -> DroppedSize | None:
    """The filter that drops a size from a region's list; None when none does."""
    return _first(_REGION, _Subject(sku, release, use_sig, None))


def nodeclass_filter(sku: Sku, release: ProviderRelease, settings: NodeClassSettings) -> DroppedSize | None:
    """The filter that drops a size for an AKSNodeClass; None when none does."""
    return _first(_NODECLASS, _Subject(sku, release, False, settings))


def _first(filters: Mapping[str, _Filter], subject: _Subject) -> DroppedSize | None:
    for name, test in filters.items():
        details = test(subject)
        if details is not None:
            return DroppedSize(subject.sku.name, name, details)
    return None
