"""The kubelet's command line on a scriptless node (kaz ``pkg/providers/imagefamily/bootstrap/{aksbootstrap,staticvalues}.go``)."""

from collections.abc import Iterable, Mapping
from typing import Any

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.instancetypes.nodeclass_settings import kubernetes_version, max_pods
from harness.karpenter.launch.labels.taints import render
from harness.karpenter.releases import ProviderOptions, ProviderRelease
from harness.kube.api.resources import ResourceList
from harness.kube.api.resources import render as render_resources
from harness.kube.api.versions import Version

__all__ = ["kubelet_flags"]

_CIPHERS = (
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
)
_BASE: Mapping[str, str] = {
    "--address": "0.0.0.0",
    "--anonymous-auth": "false",
    "--authentication-token-webhook": "true",
    "--authorization-mode": "Webhook",
    "--cgroups-per-qos": "true",
    "--client-ca-file": "/etc/kubernetes/certs/ca.crt",
    "--cloud-config": "/etc/kubernetes/azure.json",
    "--cloud-provider": "external",
    "--cluster-dns": "10.0.0.10",
    "--cluster-domain": "cluster.local",
    "--enforce-node-allocatable": "pods",
    "--event-qps": "0",
    "--eviction-hard": "memory.available<750Mi,nodefs.available<10%,nodefs.inodesFree<5%",
    "--image-gc-high-threshold": "85",
    "--image-gc-low-threshold": "80",
    "--keep-terminated-pod-volumes": "false",
    "--kubeconfig": "/var/lib/kubelet/kubeconfig",
    "--max-pods": "110",
    "--node-status-update-frequency": "10s",
    "--pod-infra-container-image": "mcr.microsoft.com/oss/kubernetes/pause:3.6",
    "--pod-manifest-path": "/etc/kubernetes/manifests",
    "--pod-max-pids": "-1",
    "--protect-kernel-defaults": "true",
    "--read-only-port": "0",
    "--resolv-conf": "/run/systemd/resolve/resolv.conf",
    "--rotate-certificates": "true",
    "--streaming-connection-idle-timeout": "4h",
    "--tls-cert-file": "/etc/kubernetes/certs/kubeletserver.crt",
    "--tls-cipher-suites": ",".join(_CIPHERS),
    "--tls-private-key-file": "/etc/kubernetes/certs/kubeletserver.key",
}
_CREDENTIALS = {
    "--image-credential-provider-config": "/var/lib/kubelet/credential-provider-config.yaml",
    "--image-credential-provider-bin-dir": "/var/lib/kubelet/credential-provider",
}
_OLD_CREDENTIALS = {
    "--feature-gates": "DisableKubeletCloudCredentialProviders=false",
    "--azure-container-registry-config": "/etc/kubernetes/azure.json",
}

# AKSNodeClass spec.kubelet fields that become flags.
_FIELDS: Mapping[str, str] = {
    "imageGCHighThresholdPercent": "--image-gc-high-threshold",
    "imageGCLowThresholdPercent": "--image-gc-low-threshold",
    "cpuCFSQuota": "--cpu-cfs-quota",
    "cpuManagerPolicy": "--cpu-manager-policy",
    "topologyManagerPolicy": "--topology-manager-policy",
    "containerLogMaxSize": "--container-log-max-size",
    "containerLogMaxFiles": "--container-log-max-files",
    "podPidsLimit": "--pod-max-pids",
    "allowedUnsafeSysctls": "--allowed-unsafe-sysctls",
}


def kubelet_flags(
    item: InstanceType,
    nodeclass: Mapping[str, Any],
    taints: Iterable[Mapping[str, Any]],
    options: ProviderOptions,
    release: ProviderRelease,
) -> dict[str, str]:
    """Flags by name, sorted; Go writes them in random order. What the release still passes, a newer kubelet may not know."""
    minor = (Version.find(kubernetes_version(nodeclass)) or Version(1)).minor
    left_out = {flag for flag, since in release.kubelet_flags_left_out.items() if minor >= since}
    flags = {flag: value for flag, value in _BASE.items() if flag not in left_out}
    flags |= _CREDENTIALS if minor >= 30 else _OLD_CREDENTIALS
    rendered = ",".join(render(taint) for taint in taints)
    if rendered:
        flags["--register-with-taints"] = rendered
    spec = nodeclass.get("spec") or {}
    flags["--max-pods"] = str(max_pods(spec, options))
    flags |= _reserved("--system-reserved", item.overhead.system_reserved)
    flags |= _reserved("--kube-reserved", item.overhead.kube_reserved)
    memory = item.overhead.eviction_threshold.get("memory")
    if memory is not None:
        flags["--eviction-hard"] = f"memory.available<{memory}"
    for field, flag in _FIELDS.items():
        value = (spec.get("kubelet") or {}).get(field)
        if field in release.kubelet_fields and value not in (None, "", []):
            flags[flag] = _text(value)
    if options.dns_service_ip and release.cluster_dns_option:
        flags["--cluster-dns"] = options.dns_service_ip
    return dict(sorted(flags.items()))


def _reserved(flag: str, resources: ResourceList) -> dict[str, str]:
    texts = render_resources(resources)
    return {flag: ",".join(f"{name}={texts[name]}" for name in sorted(texts))} if texts else {}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value)
