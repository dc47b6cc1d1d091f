"""Compares flags of the release tables with the provider's source at each tag: `python -m tools.first_tags`.

`KARPENTER_CLONE` names a git clone of Azure/karpenter-provider-azure with its tags. Each probe says by what text in which file the source
of a release shows a flag's value. Prints what differs, one line each; exit status 1 when something does, 3 without a clone.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, ProviderRelease, provider

__all__ = ["PROBES", "Probe", "differences", "main"]

_TYPES = "pkg/providers/instancetype"
_INSTANCE = "pkg/providers/instance"
_LABELS = "pkg/providers/labels/labels.go"
_API = "pkg/apis/v1beta1"


@dataclass(frozen=True, slots=True)
class Probe:
    """`flag` has the value that `means` asks for exactly where `pattern` occurs in `path` (a file, or a folder's Go files)."""

    flag: str
    means: Callable[[ProviderRelease], bool]
    path: str
    pattern: str


def _set(flag: str, path: str, pattern: str) -> Probe:
    return Probe(flag, lambda release: bool(getattr(release, flag)), path, pattern)


def _unset(flag: str, path: str, pattern: str) -> Probe:
    return Probe(flag, lambda release: not getattr(release, flag), path, pattern)


def _key(name: str, key: str, path: str = f"{_API}/labels.go") -> Probe:
    return Probe(f"azure_well_known:{key}", lambda release: key in release.azure_well_known, path, name)


PROBES: tuple[Probe, ...] = (
    _set("encryption_filter", _TYPES, r"isInstanceTypeSupportedByEncryptionAtHost"),
    _set("gpu_driver_filter", _TYPES, r"isInstanceTypeSupportedByGPUMode|GetGPUMode|IsGPUDriverInstallationEnabled"),
    _set("artifact_streaming_filter", _TYPES, r"isInstanceTypeSupportedByArtifactStreaming"),
    _set("zonal_regions_listed", _TYPES, r"func hasZonalSupport"),
    _set("regional_offerings", _TYPES, r"zones\.Regional"),
    _set("no_sizes_is_error", _TYPES, r'"no instance types found"'),
    _set("quota_checked", _TYPES, r"quotaProvider"),
    _set("spot_needs_low_priority", _TYPES, r"LowPriorityCapable"),
    _set("only_known_skus", _TYPES, r"IncludesFilter\(GetKarpenterWorkingSKUs\(\)\)"),
    _set("amd_gpu_capacity", _TYPES, r"amd\.com/gpu|ResourceAMDGPU"),
    _set("scsi_required_without_sig", _TYPES, r"hasSCSI|supportsSCSI|DiskControllerTypes"),
    Probe(
        "ephemeral_rule:placement",
        lambda release: release.ephemeral_rule != "largest-of-cache-and-resource",
        _TYPES,
        r"func FindMaxEphemeralSizeGBAndPlacement",
    ),
    Probe(
        "ephemeral_rule:supported",
        lambda release: release.ephemeral_rule == "first-of-nvme-cache-resource",
        _TYPES,
        r"if !sku\.IsEphemeralOSDiskSupported\(\) \{",
    ),
    Probe(
        "instance_type_key_leaves_out",
        lambda release: (
            not release.instance_type_key_leaves_out and "kubernetes.azure.com/fips_enabled" in release.computed_keys
        ),
        _TYPES,
        r"FIPSMode +v1beta1\.FIPSMode",
    ),
    _set("ranks_offerings", "pkg/providers", r"package allocationstrategy"),
    _set(
        "filters_overlaid_types",
        "pkg/cloudprovider/cloudprovider.go",
        r"ApplyAll\(nodePoolName, instanceTypes\)\s+if err != nil \{\s+return nil, fmt\.Errorf\(\"applying",
    ),
    _set(
        "managed_subnets_refused",
        "pkg/controllers/nodeclass/status",
        r"custom subnet cannot be in the same VNet as cluster managed VNet",
    ),
    _set("nodeclass_lookup_told", "pkg/utils", r'"getting AKSNodeClass %s: %w"'),
    _set(
        "machine_refusals_handled",
        f"{_INSTANCE}/aksmachineinstance.go",
        r"failed to begin create AKS machine %q, unhandled error",
    ),
    _set("additional_tags", "pkg/operator/options/options.go", r"additional-tags"),
    _set("cluster_dns_option", "pkg/providers/imagefamily", r"DNSServiceIP"),
    _set("billing_tag", "pkg/providers/launchtemplate", r"compute\.aks\.billing"),
    _set("machine_creation_tag", "pkg/providers/launchtemplate", r"KarpenterAKSMachineCreationTimestampTagKey"),
    _set("spot_system_machines", "pkg/providers", r"AllowSpotVMSystemNode"),
    _set("machine_node_profiles", _INSTANCE, r"func configureArtifactStreamingProfile"),
    _set("drift_of_machines", "pkg/cloudprovider/drift.go", r"c\.isMachineDrifted,"),
    _set("drift_of_subnets", "pkg/cloudprovider/drift.go", r"c\.isSubnetDrifted,"),
    Probe(
        "drift_image:nodeclaim",
        lambda release: release.drift_image == "nodeclaim",
        "pkg/cloudprovider/drift.go",
        r"no image ID found in nodeClaim status",
    ),
    Probe(
        "repair_policies:unhealthy",
        lambda release: len(release.repair_policies) > 2,
        "pkg/cloudprovider/cloudprovider.go",
        r"kubernetes\.azure\.com/NodeHealthy",
    ),
    Probe(
        "repair_policies:preempted",
        lambda release: len(release.repair_policies) > 3,
        "pkg/cloudprovider/cloudprovider.go",
        r"SpotConditionPreemptionScheduled,",
    ),
    _set("ubuntu_2404", "pkg/providers/imagefamily", r"Ubuntu2404"),
    _unset("only_azure_linux_2", "pkg/providers/imagefamily", r"type AzureLinux3 struct"),
    Probe(
        "artifact_streaming_default:azure-linux",
        lambda release: release.artifact_streaming_default == "on-but-azure-linux",
        f"{_API}/aksnodeclass.go",
        r"IsEnabled\(arch string, imageFamily string\)",
    ),
    Probe(
        "artifact_streaming_default:on",
        lambda release: release.artifact_streaming_default == "on",
        f"{_API}/aksnodeclass.go",
        r"For AMD64, returns the explicit value if set, otherwise defaults to true\.",
    ),
    Probe(
        "local_dns:any",
        lambda release: release.local_dns != "none",
        f"{_API}/aksnodeclass.go",
        r"func \(in \*AKSNodeClass\) IsLocalDNSEnabled",
    ),
    Probe(
        "local_dns:status",
        lambda release: release.local_dns == "status",
        f"{_API}/aksnodeclass.go",
        r"ResolvedLocalDNSForWire",
    ),
    Probe(
        "base_keys:do-not-sync-taints",
        lambda release: "karpenter.sh/do-not-sync-taints" in release.base_keys,
        _LABELS,
        r"DoNotSyncTaints",
    ),
    Probe(
        "base_keys:localdns-state",
        lambda release: "kubernetes.azure.com/localdns-state" in release.base_keys,
        _LABELS,
        r"/localdns-state",
    ),
    Probe(
        "base_keys:artifactstreaming-enabled",
        lambda release: "kubernetes.azure.com/artifactstreaming-enabled" in release.base_keys,
        _LABELS,
        r"/artifactstreaming-enabled",
    ),
    Probe(
        "base_keys:os-sku-effective",
        lambda release: "kubernetes.azure.com/os-sku-effective" in release.base_keys,
        "pkg",
        r"os-sku-effective",
    ),
    _key(r"LabelSKUSeries", "karpenter.azure.com/sku-series"),
    _key(r"/fips_enabled", "kubernetes.azure.com/fips_enabled"),
    _key(r"placement-scope", "karpenter.azure.com/placement-scope"),
    _key(r"sku-storage-ultra-ssd", "karpenter.azure.com/sku-storage-ultra-ssd"),
    Probe(
        "provision_modes:aksmachineapi",
        lambda release: "aksmachineapi" in release.provision_modes,
        "pkg/consts",
        r"aksmachineapi\b",
    ),
    Probe(
        "provision_modes:batch",
        lambda release: "aksmachineapiheaderbatch" in release.provision_modes,
        "pkg/consts",
        r"aksmachineapiheaderbatch",
    ),
    Probe(
        "nodeclass_hash_version:v3",
        lambda release: release.nodeclass_hash_version == "v3",
        f"{_API}/aksnodeclass.go",
        r'AKSNodeClassHashVersion = "v3"',
    ),
    Probe("machine_name_limit:34", lambda release: release.machine_name_limit == 34, _INSTANCE, r"= 34\b|> 34\b"),
)


def differences(clone: Path) -> Iterator[str]:
    """One line for each flag and release of which the source says something else than the table. Raises CalledProcessError."""
    for probe in PROBES:
        for version in ALL_PROVIDER_RELEASES:
            shown = re.search(probe.pattern, _source(clone, version, probe.path)) is not None
            if shown != probe.means(provider(version)):
                yield f"{probe.flag} of {version}: the source {'has' if shown else 'lacks'} {probe.pattern!r} in {probe.path}"


@cache
def _source(clone: Path, version: str, path: str) -> str:
    found = (text for name, text in _files(clone, version).items() if name == path or name.startswith(f"{path}/"))
    return "\n".join(found)


@cache
def _files(clone: Path, version: str) -> Mapping[str, str]:
    """The Go files of a tag but for tests, by name."""
    command = ["git", "-C", str(clone), "archive", "--format=tar", f"v{version}", "pkg"]
    packed = subprocess.run(command, check=True, capture_output=True).stdout
    found: dict[str, str] = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            if member.name.endswith(".go") and not member.name.endswith("_test.go"):
                content = archive.extractfile(member)
                found[member.name] = content.read().decode() if content is not None else ""
    return found


def main() -> int:
    """Prints the differences. Returns 1 when there are any, 3 without a clone."""
    named = os.environ.get("KARPENTER_CLONE")
    if not named:
        print("KARPENTER_CLONE names no clone of karpenter-provider-azure", file=sys.stderr)
        return 3
    found = list(differences(Path(named)))
    print(
        "\n".join([*found, f"{len(PROBES)} flags of {len(ALL_PROVIDER_RELEASES)} releases, {len(found)} differences"])
    )
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
