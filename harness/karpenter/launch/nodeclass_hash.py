"""The hash of an AKSNodeClass's spec, by which Karpenter notices that nodes have drifted.

Kaz ``pkg/apis/v1beta1/aksnodeclass.go`` Hash.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.karpenter import hashstructure
from harness.kube.go.durations import parse_duration

__all__ = ["nodeclass_hash"]

_Hasher = Callable[[Any], int]
_Fields = Sequence[tuple[str, _Hasher]]
"""Go field names in Go's order with how their values hash; the JSON name follows from the Go name."""

_FAIL_SWAP_ON = "Kubelet.FailSwapOn"
_TRUSTED_LAUNCH_FIELD = "Security.TrustedLaunch"


def _int32(value: Any) -> int:
    return hashstructure.of_int(int(value), 32)


def _int64(value: Any) -> int:
    return hashstructure.of_int(int(value), 64)


def _strings(value: Any) -> int:
    return hashstructure.of_set(hashstructure.of_string(item) for item in value)


def _tags(value: Any) -> int:
    return hashstructure.of_map({key: hashstructure.of_string(text) for key, text in value.items()})


def _duration(value: Any) -> int:
    return hashstructure.of_struct("Duration", [("Duration", _int64(parse_duration(value)))])


def _nillable_duration(value: Any) -> int:
    return hashstructure.of_struct("NillableDuration", [("Duration", _int64(parse_duration(value)))])


_str, _bool = hashstructure.of_string, hashstructure.of_bool

_ZONE_OVERRIDE: _Fields = (
    ("Zone", _str),
    ("QueryLogging", _str),
    ("Protocol", _str),
    ("ForwardDestination", _str),
    ("ForwardPolicy", _str),
    ("MaxConcurrent", _int32),
    ("CacheDuration", _nillable_duration),
    ("ServeStaleDuration", _nillable_duration),
    ("ServeStale", _str),
)
_KUBELET: _Fields = (
    ("CPUManagerPolicy", _str),
    ("CPUCFSQuota", _bool),
    ("CPUCFSQuotaPeriod", _duration),
    ("ImageGCHighThresholdPercent", _int32),
    ("ImageGCLowThresholdPercent", _int32),
    ("TopologyManagerPolicy", _str),
    ("AllowedUnsafeSysctls", _strings),
    ("ContainerLogMaxSize", _str),
    ("ContainerLogMaxFiles", _int32),
    ("PodPidsLimit", _int64),
    ("FailSwapOn", _bool),
)
_SYSCTL_NAMES = (
    "FsAioMaxNr FsFileMax FsInotifyMaxUserWatches FsNrOpen KernelThreadsMax NetCoreNetdevMaxBacklog NetCoreOptmemMax NetCoreRmemDefault "
    "NetCoreRmemMax NetCoreSomaxconn NetCoreWmemDefault NetCoreWmemMax NetIPv4IPLocalPortRange NetIPv4NeighDefaultGcThresh1 "
    "NetIPv4NeighDefaultGcThresh2 NetIPv4NeighDefaultGcThresh3 NetIPv4TCPFinTimeout NetIPv4TCPKeepaliveProbes NetIPv4TCPKeepaliveTime "
    "NetIPv4TCPMaxSynBacklog NetIPv4TCPMaxTwBuckets NetIPv4TCPTwReuse NetIPv4TCPKeepaliveIntvl NetNetfilterNfConntrackBuckets "
    "NetNetfilterNfConntrackMax VMMaxMapCount VMSwappiness VMVfsCachePressure"
)
_SYSCTLS: _Fields = tuple(
    (name, _str if name == "NetIPv4IPLocalPortRange" else _bool if name == "NetIPv4TCPTwReuse" else _int32)
    for name in _SYSCTL_NAMES.split()
)

_JSON_NAMES = {
    "VNETSubnetID": "vnetSubnetID",
    "OSDiskSizeGB": "osDiskSizeGB",
    "FIPSMode": "fipsMode",
    "GPU": "gpu",
    "VTPM": "vtpm",
    "CPUManagerPolicy": "cpuManagerPolicy",
    "CPUCFSQuota": "cpuCFSQuota",
    "CPUCFSQuotaPeriod": "cpuCFSQuotaPeriod",
    "VMMaxMapCount": "vmMaxMapCount",
    "VMSwappiness": "vmSwappiness",
    "VMVfsCachePressure": "vmVfsCachePressure",
    "KubeDNSOverrides": "kubeDNSOverrides",
}


def _struct(name: str, fields: _Fields, value: Mapping[str, Any], empty_is_zero: frozenset[str] = frozenset()) -> int:
    return hashstructure.of_struct(name, _present(fields, value, empty_is_zero))


def _present(fields: _Fields, value: Mapping[str, Any], empty_is_zero: frozenset[str]) -> Iterator[tuple[str, int]]:
    for name, hasher in fields:
        field = value.get(_JSON_NAMES.get(name, name[0].lower() + name[1:]))
        # An empty list or map is no zero value in Go: the API server keeps it, so a change from none to an empty one is drift.
        if field is None or (field == "" and name in empty_is_zero):
            continue
        if field == "Never" and hasher is _nillable_duration:
            continue  # Go reads it as no duration
        if hasher is _duration and not parse_duration(field):
            continue  # no pointer, so that none counts as absent
        yield name, hasher(field)


def _overrides(value: Any) -> int:
    # Strings of this struct are no pointers, so an empty one counts as absent.
    strings = frozenset({"Zone", "QueryLogging", "Protocol", "ForwardDestination", "ForwardPolicy", "ServeStale"})
    return hashstructure.of_set(_struct("LocalDNSZoneOverride", _ZONE_OVERRIDE, item, strings) for item in value)


_LOCAL_DNS: _Fields = (("Mode", _str), ("VnetDNSOverrides", _overrides), ("KubeDNSOverrides", _overrides))
_LINUX: _Fields = (
    ("SwapFileSize", _str),
    ("Sysctls", lambda value: _struct("SysctlConfiguration", _SYSCTLS, value)),
    ("TransparentHugePageDefrag", _str),
    ("TransparentHugePageEnabled", _str),
)
_SECURITY: _Fields = (
    ("EncryptionAtHost", _bool),
    ("TrustedLaunch", lambda value: _struct("TrustedLaunch", (("VTPM", _bool), ("SecureBoot", _bool)), value)),
)
_SPEC: _Fields = (
    ("VNETSubnetID", _str),
    ("OSDiskSizeGB", _int32),
    ("ImageFamily", _str),
    ("FIPSMode", _str),
    ("Tags", _tags),
    ("Kubelet", lambda value: _struct("KubeletConfiguration", _KUBELET, value)),
    ("MaxPods", _int32),
    ("Security", lambda value: _struct("Security", _SECURITY, value)),
    ("LocalDNS", lambda value: _struct("LocalDNS", _LOCAL_DNS, value, frozenset({"Mode"}))),
    ("GPU", lambda value: _struct("GPU", (("Mode", _str),), value)),
    ("ArtifactStreaming", lambda value: _struct("ArtifactStreaming", (("Enabled", _bool),), value)),
    ("LinuxOSConfig", lambda value: _struct("LinuxOSConfiguration", _LINUX, value)),
)


def nodeclass_hash(nodeclass: Mapping[str, Any], fields: frozenset[str]) -> str:
    """The decimal hash of the spec fields (Go names) that the release's AKSNodeClass has and does not leave out.

    ``Kubelet.FailSwapOn`` and ``Security.TrustedLaunch`` stand for those fields of structs, which came later than the others.
    """
    spec = dict(nodeclass.get("spec") or {})
    if spec.get("kubelet") is not None and _FAIL_SWAP_ON not in fields:
        spec["kubelet"] = {key: value for key, value in spec["kubelet"].items() if key != "failSwapOn"}
    if spec.get("security") is not None and _TRUSTED_LAUNCH_FIELD not in fields:
        spec["security"] = {key: value for key, value in spec["security"].items() if key != "trustedLaunch"}
    return str(_struct("AKSNodeClassSpec", [item for item in _SPEC if item[0] in fields], spec))
