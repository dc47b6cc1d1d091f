"""The bootstrap script that AKS gives a node: kubelet flags and labels, in what becomes the VM's custom data.

Only the assignments that decide how the Node registers are there (`KUBELET_NODE_LABELS`, `KUBELET_FLAGS`, version, API server),
in the form that AgentBaker writes them; `{{.TokenID}}.{{.TokenSecret}}` stands where the bootstrap token belongs.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping

from fakeazure.aks.kubernetes import minor_version
from lazyrecords import dataclass

TOKEN = "{{.TokenID}}.{{.TokenSecret}}"

_MEMORY_BRACKETS = ((4.0, 0.25), (4.0, 0.20), (8.0, 0.10), (112.0, 0.06), (math.inf, 0.02))
_CPU_MILLICORES = (60.0, 40.0)

FIXED_FLAGS: Mapping[str, str] = {
    "--address": "0.0.0.0",
    "--anonymous-auth": "false",
    "--authentication-token-webhook": "true",
    "--authorization-mode": "Webhook",
    "--cgroups-per-qos": "true",
    "--client-ca-file": "/etc/kubernetes/certs/ca.crt",
    "--cloud-provider": "external",
    "--cluster-domain": "cluster.local",
    "--enforce-node-allocatable": "pods",
    "--event-qps": "0",
    "--image-gc-high-threshold": "85",
    "--image-gc-low-threshold": "80",
    "--kubeconfig": "/var/lib/kubelet/kubeconfig",
    "--node-status-update-frequency": "10s",
    "--pod-manifest-path": "/etc/kubernetes/manifests",
    "--pod-max-pids": "-1",
    "--protect-kernel-defaults": "true",
    "--read-only-port": "0",
    "--resolv-conf": "/run/systemd/resolve/resolv.conf",
    "--rotate-certificates": "true",
    "--streaming-connection-idle-timeout": "4h",
    "--system-reserved": "cpu=0,memory=0",
}
"""Flags that do not depend on the node."""


@dataclass(frozen=True, slots=True)
class KubeletText:
    """The inputs of a node's kubelet: `labels` in the order in which they are written, `taints` as `key=value:Effect`."""

    labels: Mapping[str, str]
    taints: tuple[str, ...]
    max_pods: int
    vcpus: int
    memory_gib: float
    kubernetes: str
    cluster_dns: str = "10.0.0.10"
    api_server: str = ""

    def flags(self) -> str:
        """The kubelet's flags, sorted by name."""
        flags = {
            **FIXED_FLAGS,
            "--cluster-dns": self.cluster_dns,
            "--eviction-hard": f"memory.available<{'100Mi' if self._newer else '750Mi'},nodefs.available<10%,nodefs.inodesFree<5%",
            "--kube-reserved": f"cpu={reserved_cpu(self.vcpus)}m,memory={self._reserved_memory()}Mi",
            "--max-pods": str(self.max_pods),
        }
        if self.taints:
            flags["--register-with-taints"] = ",".join(self.taints)
        return " ".join(f"{name}={value}" for name, value in sorted(flags.items()))

    @property
    def _newer(self) -> bool:
        """Kubernetes 1.29 and later, where AKS reserves by number of pods; the same for an unknown version."""
        return minor_version(self.kubernetes) >= (1, 29) or minor_version(self.kubernetes) == (0, 0)

    def _reserved_memory(self) -> int:
        return (
            reserved_memory_by_pods(self.memory_gib, self.max_pods)
            if self._newer
            else reserved_memory_by_size(self.memory_gib)
        )

    def node_labels(self) -> str:
        """`k=v,k=v`, the value of `--node-labels`."""
        return ",".join(f"{key}={value}" for key, value in self.labels.items())

    def script(self) -> str:
        """The assignments as a shell script."""
        return "\n".join(
            (
                "#!/bin/bash",
                f"KUBERNETES_VERSION={self.kubernetes}",
                f"API_SERVER_NAME={self.api_server}",
                f'TLS_BOOTSTRAP_TOKEN="{TOKEN}"',
                f'KUBELET_FLAGS="{self.flags()}"',
                f'KUBELET_NODE_LABELS="{self.node_labels()}"',
                "",
            )
        )

    def custom_data(self) -> str:
        """The script in base64, as ARM takes it."""
        return base64.b64encode(self.script().encode("utf-8", "surrogatepass")).decode()


def reserved_memory_by_pods(gib: float, max_pods: int) -> int:
    """kube-reserved memory in MiB from 1.29 on: 20 per pod and 50 more, a quarter of the memory at most (AKS docs)."""
    return min(20 * max_pods + 50, int(gib * 1024 // 4))


def reserved_memory_by_size(gib: float) -> int:
    """kube-reserved memory in MiB before 1.29: marginal brackets over the size's memory (AKS docs)."""
    total, left = 0.0, gib
    for width, share in _MEMORY_BRACKETS:
        part = min(left, width)
        total += part * share
        left -= part
    return int(1024 * total)


def reserved_cpu(vcpus: int) -> int:
    """kube-reserved CPU in millicores: 60 for the first core, 40 for the second, 20 each up to four, 10 each above."""
    total = sum(_CPU_MILLICORES[:vcpus])
    total += max(0, min(vcpus, 4) - 2) * 20.0
    total += max(0, vcpus - 4) * 10.0
    return int(total)


def unique(taints: Iterable[str]) -> tuple[str, ...]:
    """Taints without repetition, in order."""
    return tuple(dict.fromkeys(taints))
