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
"""Where kubeadm leaves the flags of the node's kubelet, which reads them whenever it starts."""

_VARIABLE = "KUBELET_KUBEADM_ARGS"
_GIVEN = ("node-labels", "register-with-taints", "provider-id", "max-pods", "cloud-provider")
_PATIENCE = "1h0m0s"
_SOCKET = "unix:///run/containerd/containerd.sock"


@dataclass(frozen=True, slots=True)
class KubeletFlags:
    """How a node's kubelet registers itself."""

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
    """For `kubeadm init`: `version` of the image (`v1.36.3`), its address, `endpoint` (host:port) under which nodes reach it.

    Silent nodes are found unready late: nodes of scenarios may be objects without a kubelet. What makes a busy machine fail is
    off: elections of leaders (there is one of each), waiting for the disk, and kubeadm's own short patience.
    """
    cluster = _cluster_configuration(version, endpoint, sans)
    init: dict[str, Any] = {
        "kind": "InitConfiguration",
        "bootstrapTokens": [{"token": TOKEN, "ttl": "0s"}],
        "localAPIEndpoint": {"advertiseAddress": address, "bindPort": 6443},
        "nodeRegistration": {
            "criSocket": _SOCKET,
            "kubeletExtraArgs": _arguments(version, {"node-ip": address, **KubeletFlags(node_labels or {}).words()}),
            # kubeadm taints a control plane unless it is told which taints to set
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
    """For `kubeadm join`: a node of this name whose kubelet gets exactly these labels, taints and provider id."""
    flags = {"node-ip": address, **kubelet.words()}
    join: dict[str, Any] = {
        "apiVersion": _api(version),
        "kind": "JoinConfiguration",
        "nodeRegistration": {
            "name": name,
            "criSocket": _SOCKET,
            "taints": [dict(each) for each in kubelet.taints],
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
    """kubeadm's file with a kubelet's flags (FLAGS_FILE), with these in place of what `join_config` was given for them.

    Raises ValueError for a file that has no flags.
    """
    found = re.search(rf'^{_VARIABLE}="(.*)"$', text, re.MULTILINE)
    if found is None:
        raise ValueError(f"{FLAGS_FILE} has no {_VARIABLE}: {text[:200]!r}")
    kept = [word for word in found[1].split() if word.partition("=")[0].removeprefix("--") not in _GIVEN]
    flags = kubelet.words()
    if kubelet.taints:
        flags["register-with-taints"] = ",".join(
            f"{each['key']}={each.get('value') or ''}:{each['effect']}" for each in kubelet.taints
        )
    words = [*kept, *(f"--{name}={value}" for name, value in flags.items())]
    return f'{_VARIABLE}="{" ".join(words)}"\n'


def _api(version: str) -> str:
    """v1beta4 exists since 1.31; kind uses v1beta3 before 1.36."""
    return "kubeadm.k8s.io/v1beta4" if Version.of(version).minor >= 36 else "kubeadm.k8s.io/v1beta3"


def _arguments(version: str, flags: Mapping[str, str]) -> Any:
    """A list since v1beta4, a mapping before."""
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
"""Of kubeadm, since v1beta4; who waits for it has a patience of its own."""

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
    return "\n---\n".join(json.dumps(each, indent=1) for each in documents) + "\n"
