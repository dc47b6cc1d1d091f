"""AKSNodeClass settings in the form that AKS takes them (kaz ``aksmachineinstancehelpers.go``, ``customscriptsbootstrap/utils.go``)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from harness.karpenter.releases import LocalDnsSource, ProviderRelease
from harness.kube.api.quantity import Quantity, QuantityError
from harness.kube.go.durations import parse_duration, print_duration

__all__ = ["kubelet_config", "linux_os_config", "local_dns_profile"]

_MIB = 1 << 20
_MAX_INT32 = (1 << 31) - 1
_DNS_TEXTS = ("queryLogging", "protocol", "forwardDestination", "forwardPolicy", "serveStale")


def kubelet_config(spec: Mapping[str, Any]) -> dict[str, Any] | None:
    """``spec.kubelet`` as an AKS kubelet configuration; None when it is not set."""
    kubelet = spec.get("kubelet")
    if kubelet is None:
        return None
    pids = kubelet.get("podPidsLimit")
    values = {
        "allowedUnsafeSysctls": kubelet.get("allowedUnsafeSysctls") or None,
        "containerLogMaxFiles": kubelet.get("containerLogMaxFiles"),
        "containerLogMaxSizeMB": _mebibytes(kubelet.get("containerLogMaxSize")),
        "cpuCfsQuota": kubelet.get("cpuCFSQuota"),
        "cpuCfsQuotaPeriod": _duration(kubelet.get("cpuCFSQuotaPeriod")),
        "cpuManagerPolicy": kubelet.get("cpuManagerPolicy") or None,
        "failSwapOn": kubelet.get("failSwapOn"),
        "imageGcHighThreshold": kubelet.get("imageGCHighThresholdPercent"),
        "imageGcLowThreshold": kubelet.get("imageGCLowThresholdPercent"),
        "podMaxPids": None if pids is None else max(-1, min(int(pids), _MAX_INT32)),
        "topologyManagerPolicy": kubelet.get("topologyManagerPolicy") or None,
    }
    return {key: value for key, value in values.items() if value is not None}


def linux_os_config(spec: Mapping[str, Any]) -> dict[str, Any] | None:
    """``spec.linuxOSConfig`` as an AKS machine's Linux profile; None when it is not set."""
    config = spec.get("linuxOSConfig")
    if config is None:
        return None
    values = {
        "swapFileSizeMB": _mebibytes(config.get("swapFileSize")),
        "sysctls": config.get("sysctls"),
        "transparentHugePageDefrag": config.get("transparentHugePageDefrag"),
        "transparentHugePageEnabled": config.get("transparentHugePageEnabled"),
    }
    return {"linuxOSConfig": {key: value for key, value in values.items() if value is not None}}


def local_dns_profile(nodeclass: Mapping[str, Any], release: ProviderRelease) -> dict[str, Any] | None:
    """``spec.localDNS``, with Preferred decided by ``status.localDNSState`` where the release has it; None when it is not set."""
    dns = (nodeclass.get("spec") or {}).get("localDNS")
    if dns is None:
        return None
    mode = dns.get("mode")
    if mode == "Preferred" and release.local_dns is LocalDnsSource.STATUS:
        mode = "Required" if (nodeclass.get("status") or {}).get("localDNSState") == "Enabled" else "Disabled"
    values = {
        "mode": mode or None,
        "vnetDNSOverrides": _overrides(dns.get("vnetDNSOverrides") or ()),
        "kubeDNSOverrides": _overrides(dns.get("kubeDNSOverrides") or ()),
    }
    return {key: value for key, value in values.items() if value}


def _overrides(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    overrides: dict[str, Any] = {}
    for item in items:
        override: dict[str, Any] = {name: item[name] for name in _DNS_TEXTS if item.get(name)}
        if item.get("maxConcurrent") is not None:
            override["maxConcurrent"] = item["maxConcurrent"]
        for name in ("cacheDuration", "serveStaleDuration"):
            if item.get(name) not in (None, "Never"):
                override[f"{name}InSeconds"] = parse_duration(item[name]) // 10**9
        overrides[item.get("zone") or ""] = override
    return overrides


def _mebibytes(text: str | None) -> int | None:
    if not text:
        return None
    try:
        return math.floor(Quantity.parse(text).value() / _MIB + 0.5)  # Go rounds halves up
    except QuantityError:
        return None


def _duration(text: str | None) -> str | None:
    return None if not text or parse_duration(text) == 0 else print_duration(parse_duration(text))
