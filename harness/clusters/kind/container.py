"""KindContainer: a Kubernetes cluster for testcontainers-python, from a kind node image, without the kind program.

    with KindContainer() as cluster:
        kubernetes.config.load_kube_config_from_dict(cluster.kubeconfig())
        cluster.join("worker-1", labels={"agentpool": "spot"})

Needs Docker alone. Works with any kind-compatible image; see harness.clusters.kind.images for the default.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Any

import yaml
from docker.errors import NotFound
from testcontainers.core.exceptions import ContainerStartException
from testcontainers.core.network import Network

from harness.clusters.kind.images import image_for
from harness.clusters.kind.kubeadm import AUDIT_FOLDER, POD_SUBNET, init_config, join_config
from harness.clusters.kind.node import KindNode, NodeError
from harness.clusters.kind.reaper import remove_all
from harness.clusters.real.audit import POLICY
from harness.clusters.waiting import poll, unique
from harness.nodes.kubelet import FlagsRefused

__all__ = ["LABEL", "OWNER", "JoinRefused", "KindContainer"]

OWNER = "karpenter-harness.owner"
"""Docker label with the process that a cluster ends with; 1 for one that is to be reused."""

LABEL = "karpenter-harness.kind"
"""Docker label of everything that these clusters make; its value tells clusters apart."""

_KUBECTL = ("kubectl", "--kubeconfig=/etc/kubernetes/admin.conf")
_FLAGS_REFUSED = "failed to validate kubelet flags"


class JoinRefused(NodeError, FlagsRefused):
    """A kubelet that does not start with the flags it was given; `reason` is its own sentence."""

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(f"the kubelet of {node} refuses its flags: {reason}")
        self.reason = reason


class KindContainer(KindNode):
    """A control plane that also runs pods, in one container; `join` adds further nodes.

    `image`: by default that of `HARNESS_KIND_IMAGE`, or kind's own for `kubernetes`. `name` also names the network.
    `reuse`: a cluster of this name that already runs is used, and `stop` leaves it running. `coredns`: with cluster DNS.
    `schedulable`: whether the control plane takes pods; without it they need further nodes.
    """

    def __init__(
        self,
        image: str | None = None,
        *,
        kubernetes: str = "",
        name: str = "",
        reuse: bool = False,
        coredns: bool = False,
        schedulable: bool = True,
        seconds: float = 180.0,
        **keywords: Any,
    ) -> None:
        if reuse and not name:
            raise ValueError("a cluster that is to be reused needs a name")
        name = name or f"kind-{unique()}"
        owner = "1" if reuse else str(os.getpid())
        super().__init__(
            image or image_for(kubernetes), name=name, labels={LABEL: name, OWNER: owner}, seconds=seconds, **keywords
        )
        self.nodes: dict[str, KindNode] = {}
        self.version = ""
        self._reuse = reuse
        self._coredns = coredns
        self._schedulable = schedulable
        self._own_network: Network | None = None
        self.with_exposed_ports(6443)

    # Life.

    def start(self) -> KindContainer:
        """Starts the cluster; returns when its node is Ready. Raises NodeError with output, journals and console."""
        if self._reuse and self._attach():
            return self
        try:
            self._own_network = Network(docker_network_kw={"labels": self.docker_labels})
            self._own_network.name = self.node_name
            self._own_network.create()
            self.with_network(self._own_network)
            super().start()
            self.version = self.sh("cat", "/kind/version").strip()
            self._init()
        except BaseException:
            self._remove()
            raise
        return self

    def stop(self, force: bool = True, delete_volume: bool = True) -> None:
        """Removes all nodes, their volumes and the network; a reused cluster stays."""
        if self._reuse:
            return
        self._remove(force, delete_volume)

    def __enter__(self) -> KindContainer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # Use.

    def kubeconfig(self, *, inside: bool = False) -> dict[str, Any]:
        """The administrator's kubeconfig: for this process, or (`inside`) for containers in the cluster's network."""
        config: dict[str, Any] = yaml.safe_load(self.sh("cat", "/etc/kubernetes/admin.conf"))
        host, port = (self.node_name, 6443) if inside else self.api_address()
        config["clusters"][0]["cluster"]["server"] = f"https://{host}:{port}"
        return config

    def api_address(self) -> tuple[str, int]:
        """Where this process reaches the API server."""
        return self.get_container_host_ip(), int(self.get_exposed_port(6443))

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Runs kubectl in the control plane as administrator; its output. `stdin` is a manifest for `-f -`."""
        if stdin is None:
            return self.sh(*_KUBECTL, *arguments)
        path = f"/kind/stdin-{unique()}"
        self.write(path, stdin)
        try:
            return self.sh(*_KUBECTL, *(path if each == "-" else each for each in arguments))
        finally:
            self.sh("rm", "-f", path, check=False)

    def load_image(self, image: str) -> None:
        """Loads an image of the Docker daemon into all nodes."""
        super().load_image(image)
        for node in self.nodes.values():
            node.load_image(image)

    def join(
        self,
        name: str,
        *,
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Mapping[str, str]] = (),
        provider_id: str = "",
        max_pods: int | None = None,
        external_cloud_provider: bool = False,
    ) -> KindNode:
        """A further node, whose kubelet registers itself with these labels (`--node-labels`), taints and provider id.

        Returns when the Node exists; it becomes Ready a little later. Raises JoinRefused when the kubelet refuses its flags.
        """
        container = f"{self.node_name}-{name}"
        node = KindNode(self.image, name=name, container=container, labels=self.docker_labels, seconds=self.seconds)
        assert self._network is not None
        node.with_network(self._network)
        self.nodes[name] = node
        try:
            node.start()
            config = join_config(
                self.version,
                name=name,
                address=node.address,
                endpoint=f"{self.node_name}:6443",
                labels=labels or {},
                taints=taints,
                provider_id=provider_id,
                max_pods=max_pods,
                external_cloud_provider=external_cloud_provider,
            )
            node.write("/kind/kubeadm.conf", config)
            self._join(node)
        except BaseException:
            self.leave(name)
            raise
        return node

    def leave(self, name: str) -> None:
        """Removes a node's container (as a deleted VM would go); the Node object stays."""
        node = self.nodes.pop(name)
        try:
            node.get_wrapped_container().remove(force=True, v=True)
        except (NotFound, ContainerStartException):
            return

    def diagnose(self) -> str:
        """What is wrong with the containers, and why the API server does not answer; empty when nothing is."""
        problems = [found for found in (each.state() for each in (self, *self.nodes.values())) if found]
        if problems:
            return "\n".join(problems)
        try:
            logs = self.sh("sh", "-c", "tail -n 15 /var/log/containers/kube-apiserver-*.log | cut -c1-300", check=False)
        except NodeError as error:
            return str(error)
        return f"log of kube-apiserver:\n{logs}\n{self.journal('kubelet', 8)}"

    # Parts.

    def _attach(self) -> bool:
        client = self.get_docker_client().client
        try:
            found = client.containers.get(self.node_name)
        except NotFound:
            return False
        if found.status != "running" or found.labels.get(LABEL) != self.node_name:
            return False
        self._container = found
        network = Network(docker_network_kw={"labels": self.docker_labels})
        network.name = self.node_name
        self.with_network(network)
        self.version = self.sh("cat", "/kind/version").strip()
        for each in client.containers.list(filters={"label": f"{LABEL}={self.node_name}"}):
            if each.name != self.node_name:
                name = each.name.removeprefix(f"{self.node_name}-")
                node = KindNode(self.image, name=name, container=each.name, labels=self.docker_labels)
                node._container = each
                self.nodes[name] = node
        return True

    def _init(self) -> None:
        sans = ["localhost", "127.0.0.1", self.node_name, self.address, self.get_container_host_ip()]
        endpoint = f"{self.node_name}:6443"
        config = init_config(
            self.version, address=self.address, endpoint=endpoint, sans=sorted(set(sans)), schedulable=self._schedulable
        )
        self.write("/kind/kubeadm.conf", config)
        self.write(f"{AUDIT_FOLDER}/policy.json", json.dumps(POLICY))
        phases = "preflight" if self._coredns else "preflight,addon/coredns"
        self.sh("kubeadm", "init", "--config=/kind/kubeadm.conf", f"--skip-phases={phases}")
        cni = self.sh("cat", "/kind/manifests/default-cni.yaml").replace("{{ .PodSubnet }}", POD_SUBNET)
        self.kubectl("apply", "-f", "-", stdin=cni)
        self.sh(*_KUBECTL, "apply", "-f", "/kind/manifests/default-storage.yaml")
        self.wait_ready(self.node_name)

    def wait_ready(self, node: str) -> None:
        """Waits until a node is Ready. Raises TimedOut with its kubelet's journal."""
        path = "jsonpath={.status.conditions[?(@.type=='Ready')].status}"
        holder = self if node == self.node_name else self.nodes[node]
        poll(
            lambda: self.sh(*_KUBECTL, "get", "node", node, "-o", path, check=False).strip() == "True",
            lambda: f"node {node} to be Ready\n{holder.journal()}",
            seconds=self.seconds,
            every=0.3,
        )

    def _join(self, node: KindNode) -> None:
        """Runs kubeadm beside a look at the journal: it would wait for minutes for a kubelet that refuses to start."""
        command = ("kubeadm", "join", "--config=/kind/kubeadm.conf", "--skip-phases=preflight")
        with ThreadPoolExecutor(1) as pool:
            joined = pool.submit(node.sh, *command)

            def done_or_refused() -> str | None:
                if joined.done():
                    return "done"
                return refusal(node.sh("journalctl", "--no-pager", "-o", "cat", "-u", "kubelet", check=False))

            found = poll(
                done_or_refused, lambda: f"{node.node_name} to join\n{node.journal()}", seconds=self.seconds, every=0.5
            )
            if found != "done":
                node.sh("pkill", "kubeadm", check=False)
                raise JoinRefused(node.node_name, found)
            joined.result()

    def _remove(self, force: bool = True, delete_volume: bool = True) -> None:
        for name in list(self.nodes):
            self.leave(name)
        with suppress(NotFound):
            super().stop(force, delete_volume)
        # the network, and whatever an interrupted start left
        remove_all(f"{LABEL}={self.node_name}")
        self._own_network = None


def refusal(journal: str) -> str | None:
    """The kubelet's own sentence in its journal when it refuses its flags, None when it does not."""
    _, found, rest = journal.partition(_FLAGS_REFUSED + ": ")
    if not found:
        return None
    # the sentence has two lines, of which the journal keeps both; klog quotes them in one
    quoted = rest.split('"\n', 1)[0] if '"\n' in rest.split("\n", 1)[0] + "\n" else rest
    lines = quoted.replace("\\n", "\n").replace('\\"', '"').strip().strip('"').splitlines()
    return "\n".join(line.strip() for line in lines[:2])
