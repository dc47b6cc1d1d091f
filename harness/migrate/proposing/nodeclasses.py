"""The AKSNodeClass of an agent pool: what its machines are, as far as the release has a field for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.karpenter.labels import azure
from harness.karpenter.releases import ALL_PROVIDER_RELEASES, ProviderRelease, ProvisionMode
from harness.karpenter.validation.crds import field_paths, has_field
from harness.migrate.agent_pools import AgentPool
from harness.migrate.proposing.rows import Row, Verdict, value_text
from lazyrecords import dataclass

__all__ = ["API_VERSION", "RESOURCE", "Carried", "carried_fields", "image_family", "nodeclass_of"]

API_VERSION = f"{azure.GROUP}/v1beta1"
RESOURCE = f"{API_VERSION}/AKSNodeClass"
_SPEC = "AKSNodeClass spec"
_SYSCTLS = "linuxOSConfig.sysctls"
_FAMILIES: Mapping[str, str] = {
    "ubuntu": "Ubuntu",
    "ubuntu2204": "Ubuntu2204",
    "ubuntu2404": "Ubuntu2404",
    "azurelinux": "AzureLinux",
    "azurelinux3": "AzureLinux",
    "mariner": "AzureLinux",
    "cblmariner": "AzureLinux",
}
"""osSKU in small letters → imageFamily (kaz ``pkg/providers/imagefamily``)."""
_OF_AKS_ONLY = ("linuxOSConfig", "kubelet.seccompDefault")
"""Fields that only AKS's own scripts and machines act upon: the release's own script has no place for them."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A value of a pool's field for a field of the AKSNodeClass; `path` is without `spec`."""

    field: str
    value: Any
    path: tuple[str, ...]
    becomes: Any


def _same(value: Any) -> Any:
    return value


def _mebibytes(value: Any) -> str:
    return f"{value}Mi"


def _enabled(value: Any) -> str | None:
    return "FIPS" if value is True else None


def _true(value: Any) -> Any:
    return True if value is True else None


def _driver(value: Any) -> str | None:
    return {"none": "None", "install": "Driver"}.get(str(value).lower())


Convert = Callable[[Any], Any]
_FIELDS: Mapping[str, tuple[str, Convert]] = {
    "osDiskSizeGB": ("osDiskSizeGB", lambda value: value or None),
    "maxPods": ("maxPods", _same),
    "vnetSubnetID": ("vnetSubnetID", _same),
    "tags": ("tags", _same),
    "enableFIPS": ("fipsMode", _enabled),
    "enableEncryptionAtHost": ("security.encryptionAtHost", _true),
    "securityProfile.enableVTPM": ("security.trustedLaunch.vtpm", _true),
    "securityProfile.enableSecureBoot": ("security.trustedLaunch.secureBoot", _true),
    "gpuProfile.driver": ("gpu.mode", _driver),
    "artifactStreamingProfile.enabled": ("artifactStreaming.enabled", _same),
    "localDNSProfile.mode": ("localDNS.mode", _same),
    "localDNSProfile.vnetDNSOverrides": ("localDNS.vnetDNSOverrides", lambda value: _overrides(value)),
    "localDNSProfile.kubeDNSOverrides": ("localDNS.kubeDNSOverrides", lambda value: _overrides(value)),
    "kubeletConfig.allowedUnsafeSysctls": ("kubelet.allowedUnsafeSysctls", _same),
    "kubeletConfig.containerLogMaxFiles": ("kubelet.containerLogMaxFiles", _same),
    "kubeletConfig.containerLogMaxSizeMB": ("kubelet.containerLogMaxSize", _mebibytes),
    "kubeletConfig.cpuCfsQuota": ("kubelet.cpuCFSQuota", _same),
    "kubeletConfig.cpuCfsQuotaPeriod": ("kubelet.cpuCFSQuotaPeriod", _same),
    "kubeletConfig.cpuManagerPolicy": ("kubelet.cpuManagerPolicy", _same),
    "kubeletConfig.failSwapOn": ("kubelet.failSwapOn", _same),
    "kubeletConfig.imageGcHighThreshold": ("kubelet.imageGCHighThresholdPercent", _same),
    "kubeletConfig.imageGcLowThreshold": ("kubelet.imageGCLowThresholdPercent", _same),
    "kubeletConfig.podMaxPids": ("kubelet.podPidsLimit", _same),
    "kubeletConfig.topologyManagerPolicy": ("kubelet.topologyManagerPolicy", _same),
    "linuxOSConfig.swapFileSizeMB": ("linuxOSConfig.swapFileSize", _mebibytes),
    "linuxOSConfig.transparentHugePageEnabled": ("linuxOSConfig.transparentHugePageEnabled", _same),
    "linuxOSConfig.transparentHugePageDefrag": ("linuxOSConfig.transparentHugePageDefrag", _same),
}
"""A pool's field → the AKSNodeClass's, and its value there; None where it says what holds without a field."""
_BLOCKS = (
    "kubeletConfig",
    "linuxOSConfig",
    "securityProfile",
    "gpuProfile",
    "artifactStreamingProfile",
    "localDNSProfile",
)


def image_family(pool: AgentPool, release: ProviderRelease) -> str | None:
    """Return the imageFamily of the pool's osSKU; None where the release has no images of it."""
    family = _FAMILIES.get(pool.text("osSKU", "Ubuntu").lower())
    return family if family in release.image_families else None


def plain_fields(pool: AgentPool) -> Iterator[tuple[str, Any]]:
    """Yield every field with its value, those of blocks one by one, each sysctl too."""
    for field, value in pool.properties.items():
        if field not in _BLOCKS or not isinstance(value, Mapping):
            yield field, value
            continue
        for name, inner in value.items():
            if f"{field}.{name}" == _SYSCTLS and isinstance(inner, Mapping):
                yield from ((f"{_SYSCTLS}.{key}", item) for key, item in inner.items())
            else:
                yield f"{field}.{name}", inner


def carried_fields(pool: AgentPool, release: ProviderRelease) -> Iterator[Carried | Row]:
    """Yield the fields that an AKSNodeClass knows, or a row for one that the release lacks or need not be told."""
    for field, value in plain_fields(pool):
        path, convert = _FIELDS.get(field, ("", _same))
        if field.startswith(f"{_SYSCTLS}."):
            path = _sysctl_path(field.rpartition(".")[2])
        if not path:
            continue
        becomes = convert(value)
        if becomes is None:
            text = "so it is without a field, too"
            yield Row(
                pool.name, field, value_text(value), Verdict.NO_EFFECT, text, "kaz pkg/apis/v1beta1/aksnodeclass.go"
            )
        elif not has_field(release.crds, RESOURCE, f"spec.{path}"):
            yield _lacking(pool.name, field, value, path, release)
        else:
            yield Carried(field, value, tuple(path.split(".")), becomes)


def _sysctl_path(name: str) -> str:
    """The AKSNodeClass's name of a sysctl, which differs from AKS's in case only."""
    prefix = f"spec.{_SYSCTLS}."
    paths = (path for path in field_paths(RESOURCE) if path.startswith(prefix))
    return next((path.removeprefix("spec.") for path in paths if path.lower() == f"{prefix}{name}".lower()), "")


def _lacking(pool: str, field: str, value: Any, path: str, release: ProviderRelease) -> Row:
    since = next((name for name in ALL_PROVIDER_RELEASES if has_field(name, RESOURCE, f"spec.{path}")), "")
    when = f"there is since {since}" if since else "no release has so far, only the provider's main branch"
    text = f"{release.version} has no spec.{path}, which {when}"
    return Row(pool, field, value_text(value), Verdict.NO_EQUIVALENT, text, f"CRD of {release.version}")


def mapped_row(pool: str, carried: Carried, mode: str) -> Row:
    """Return the row of a field that the AKSNodeClass has now; `mode` is the controller's provision mode."""
    path = ".".join(carried.path)
    same = carried.becomes == carried.value
    text = f"{_SPEC}.{path}" if same else f"{_SPEC}.{path}: {value_text(carried.becomes)}"
    if path.startswith(_OF_AKS_ONLY) and mode == ProvisionMode.AKS_SCRIPTLESS:
        text += "; Nodes of the provision mode aksscriptless are not told of it"
    return Row(
        pool, carried.field, value_text(carried.value), Verdict.MAPPED, text, "kaz pkg/apis/v1beta1/aksnodeclass.go"
    )


def nodeclass_of(name: str, family: str, carried: Sequence[Carried]) -> dict[str, Any]:
    """Return the AKSNodeClass of these fields."""
    spec: dict[str, Any] = {"imageFamily": family}
    for carried_field in carried:
        place = spec
        for part in carried_field.path[:-1]:
            place = place.setdefault(part, {})
        place[carried_field.path[-1]] = carried_field.becomes
    return {"apiVersion": API_VERSION, "kind": "AKSNodeClass", "metadata": {"name": name}, "spec": spec}


def _overrides(value: Any) -> list[dict[str, Any]] | None:
    """The overrides of a local DNS, a map by zone at AKS, as the list that an AKSNodeClass has; durations are texts there."""
    if not isinstance(value, Mapping):
        return None
    overrides = []
    for zone, override in value.items():
        rules = override if isinstance(override, Mapping) else {}
        row: dict[str, Any] = {"zone": str(zone)}
        for key, item in rules.items():
            plain = key.removesuffix("InSeconds")
            row[plain] = f"{item}s" if plain != key else item
        overrides.append(row)
    return overrides
