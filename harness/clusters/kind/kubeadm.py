"""kubeadm's configuration files, as kind writes them, for the control plane and for nodes that join."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.kube.api.versions import Version

__all__ = [
    "AUDIT_FOLDER",
    "AUDIT_LOG",
    "FLAGS_FILE",
    "POD_SUBNET",
    "KubeletFlags",
    "flags_file",
    "init_config",
    "join_config",
]

POD_SUBNET = "10.244.0.0/16"
TOKEN = "abcdef.0123456789abcdef"
AUDIT_FOLDER = "/etc/kubernetes/audit"
AUDIT_LOG = f"{AUDIT_FOLDER}/audit.log"

FLAGS_FILE = "/var/lib/kubelet/kubeadm-flags.env"
"""The path at which kubeadm leaves the flags of the node's kubelet, which reads them whenever it starts."""

_VARIABLE = "KUBELET_KUBEADM_ARGS"
_GIVEN = ("node-labels", "register-with-taints", "provider-id", "max-pods", "cloud-provider")
_PATIENCE = "1h0m0s"
_SOCKET = "unix:///run/containerd/containerd.sock"


@dataclass(frozen=True, slots=True)
class KubeletFlags:
    """The flags with which a node's kubelet registers itself."""

    labels: Mapping[str, str] = field(default_factory=dict)
    """`--node-labels`."""
    taints: Sequence[Mapping[str, str]] = ()
    provider_id: str = ""
    max_pods: int | None = None
    external_cloud_provider: bool = False

    def words(self) -> dict[str, str]:
        """The flags by name, but for taints, which kubeadm takes in a field of its own."""
        flags: dict[str, str] = {}
        if self.labels:
            flags["node-labels"] = ",".join(f"{key}={value}" for key, value in self.labels.items())
        if self.provider_id:
            flags["provider-id"] = self.provider_id
        if self.max_pods is not None:
            flags["max-pods"] = str(self.max_pods)
        if self.external_cloud_provider:
            flags["cloud-provider"] = "external"
        return flags


def init_config(
    version: str,
    *,
    address: str,
    endpoint: str,
    sans: Sequence[str],
    schedulable: bool = True,
    node_labels: Mapping[str, str] | None = None,
) -> str:
    """Return the configuration of `kubeadm init`: `version` of the image (`v1.36.3`), its address, `endpoint`
    (host:port) for nodes.

    Silent nodes are found unready late: nodes of scenarios may be objects without a kubelet. Features that fail on a
    busy machine are off: elections of leaders (there is one of each), waiting for the disk, and kubeadm's own short
    patience.
    """
    cluster = _cluster_configuration(version, endpoint, sans)
    init: dict[str, Any] = {
        "kind": "InitConfiguration",
        "bootstrapTokens": [{"token": TOKEN, "ttl": "0s"}],
        "localAPIEndpoint": {"advertiseAddress": address, "bindPort": 6443},
        "nodeRegistration": {
            "criSocket": _SOCKET,
            "kubeletExtraArgs": _arguments(version, {"node-ip": address, **KubeletFlags(node_labels or {}).words()}),
            # kubeadm taints a control plane unless the configuration names its taints
            **({"taints": []} if schedulable else {}),
        },
    }
    api = {"apiVersion": _api(version)}
    if api["apiVersion"].endswith("v1beta3"):
        cluster["apiServer"]["timeoutForControlPlane"] = _PATIENCE
    else:
        init["timeouts"] = _TIMEOUTS
    return _documents({**api, **cluster}, {**api, **init}, _KUBELET, _PROXY)


def _cluster_configuration(version: str, endpoint: str, sans: Sequence[str]) -> dict[str, Any]:
    """The control plane; its API server writes an audit log."""
    audit = {
        "audit-policy-file": f"{AUDIT_FOLDER}/policy.json",
        "audit-log-path": AUDIT_LOG,
        "audit-log-mode": "blocking",
    }
    volume = {"name": "audit", "hostPath": AUDIT_FOLDER, "mountPath": AUDIT_FOLDER, "pathType": "DirectoryOrCreate"}
    return {
        "kind": "ClusterConfiguration",
        "kubernetesVersion": version,
        "clusterName": "kind",
        "controlPlaneEndpoint": endpoint,
        "apiServer": {
            "certSANs": list(sans),
            "extraArgs": _arguments(version, audit),
            "extraVolumes": [{**volume, "readOnly": False}],
        },
        "controllerManager": {
            "extraArgs": _arguments(
                version,
                {
                    "enable-hostpath-provisioner": "true",
                    "node-monitor-grace-period": "1000h",
                    "leader-elect": "false",
                },
            )
        },
        "scheduler": {"extraArgs": _arguments(version, {"leader-elect": "false"})},
        "etcd": {"local": {"dataDir": "/var/lib/etcd", "extraArgs": _arguments(version, {"unsafe-no-fsync": "true"})}},
        "networking": {"podSubnet": POD_SUBNET, "serviceSubnet": "10.96.0.0/16"},
    }


def join_config(version: str, *, name: str, address: str, endpoint: str, kubelet: KubeletFlags) -> str:
    """Return the configuration of `kubeadm join`: a node of this name whose kubelet gets exactly these labels, taints and provider id."""
    flags = {"node-ip": address, **kubelet.words()}
    join: dict[str, Any] = {
        "apiVersion": _api(version),
        "kind": "JoinConfiguration",
        "nodeRegistration": {
            "name": name,
            "criSocket": _SOCKET,
            "taints": [dict(taint) for taint in kubelet.taints],
            "kubeletExtraArgs": _arguments(version, flags),
        },
        "discovery": {
            "bootstrapToken": {"apiServerEndpoint": endpoint, "token": TOKEN, "unsafeSkipCAVerification": True},
        },
    }
    if join["apiVersion"].endswith("v1beta3"):
        join["discovery"]["timeout"] = _PATIENCE
    else:
        join["timeouts"] = _TIMEOUTS
    return _documents(join)


def flags_file(text: str, kubelet: KubeletFlags) -> str:
    """Return kubeadm's file with a kubelet's flags (FLAGS_FILE), with these in place of the ones that `join_config` got
    for them.

    Raises ValueError for a file that has no flags.
    """
    match_ = re.search(rf'^{_VARIABLE}="(.*)"$', text, re.MULTILINE)
    if match_ is None:
        raise ValueError(f"{FLAGS_FILE} has no {_VARIABLE}: {text[:200]!r}")
    other_words = [word for word in match_[1].split() if word.partition("=")[0].removeprefix("--") not in _GIVEN]
    flags = kubelet.words()
    if kubelet.taints:
        flags["register-with-taints"] = ",".join(
            f"{taint['key']}={taint.get('value') or ''}:{taint['effect']}" for taint in kubelet.taints
        )
    words = [*other_words, *(f"--{name}={value}" for name, value in flags.items())]
    return f'{_VARIABLE}="{" ".join(words)}"\n'


def _api(version: str) -> str:
    """Return the API version of the configuration: v1beta4 since 1.36, as kind does, which exists since 1.31."""
    return "kubeadm.k8s.io/v1beta4" if Version.parse(version).minor >= 36 else "kubeadm.k8s.io/v1beta3"


def _arguments(version: str, flags: Mapping[str, str]) -> Any:
    """Return arguments as a list since v1beta4, as a mapping before."""
    if _api(version).endswith("v1beta3"):
        return dict(flags)
    return [{"name": name, "value": value} for name, value in flags.items()]


_TIMEOUTS: Mapping[str, str] = dict.fromkeys(
    (
        "controlPlaneComponentHealthCheck",
        "discovery",
        "etcdAPICall",
        "kubeletHealthCheck",
        "kubernetesAPICall",
        "tlsBootstrap",
    ),
    _PATIENCE,
)
"""Timeouts of kubeadm, since v1beta4; the code that waits for it has a patience of its own."""

_KUBELET: Mapping[str, Any] = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "kind": "KubeletConfiguration",
    "cgroupDriver": "systemd",
    "cgroupRoot": "/kubelet",
    "failSwapOn": False,
    # the disk is the host's: nothing here may be evicted or collected because of it
    "imageGCHighThresholdPercent": 100,
    "evictionHard": {"nodefs.available": "0%", "nodefs.inodesFree": "0%", "imagefs.available": "0%"},
}
_PROXY: Mapping[str, Any] = {
    "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
    "kind": "KubeProxyConfiguration",
    "iptables": {"minSyncPeriod": "1s"},
    "conntrack": {"maxPerCore": 0},  # a global setting of the host
}


def _documents(*documents: Mapping[str, Any]) -> str:
    return "\n---\n".join(json.dumps(document, indent=1) for document in documents) + "\n"
