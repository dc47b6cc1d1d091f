"""KindContainer: a Kubernetes cluster for testcontainers-python, from a kind node image, without the kind program.

    with KindContainer() as cluster:
        nodes = kubernetes.client.CoreV1Api(cluster.get_client()).list_node()
        cluster.join("worker-1", KubeletFlags(labels={"agentpool": "spot"}))

Needs Docker alone. Works with any kind-compatible image; see harness.clusters.kind.images for the default. Patience (`seconds`)
is that of an idle machine: on a busy one everything may take longer. The remains of a killed process are removed by
harness.clusters.leases.remove_leftovers.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any

import yaml
from docker.errors import APIError, NotFound
from testcontainers.core.network import Network

from harness.clusters.control_plane.audit import POLICY
from harness.clusters.kind.daemon import READ_SECONDS, patiently, sentence
from harness.clusters.kind.images import image_for
from harness.clusters.kind.joining import JoinRefused, await_kubelet, run_kubeadm_join
from harness.clusters.kind.journals import DEATHS, exhaustion
from harness.clusters.kind.kubeadm import (
    AUDIT_FOLDER,
    FLAGS_FILE,
    POD_SUBNET,
    KubeletFlags,
    flags_file,
    init_config,
    join_config,
)
from harness.clusters.kind.node import ImageMissing, KindNode, NodeError
from harness.clusters.kind.reaper import remove_all
from harness.clusters.owner import NOBODY, this_process
from harness.clusters.waiting import poll, unique

__all__ = ["LABEL", "OWNER", "ImageMissing", "JoinRefused", "KindContainer", "KubeletFlags", "NodeError"]

NO_FLAGS = KubeletFlags()
OWNER = "karpenter-harness.owner"
"""Docker label with the process that a cluster ends with (harness.clusters.owner); NOBODY for one that is to be reused."""

LABEL = "karpenter-harness.kind"
"""Docker label of everything that these clusters make; its value tells clusters apart."""

_KUBECTL = ("kubectl", "--kubeconfig=/etc/kubernetes/admin.conf")


class KindContainer(KindNode):
    """A control plane that also runs pods, in one container; `join` adds further nodes.

    `image`: by default that of `HARNESS_KIND_IMAGE`, or kind's own for `kubernetes`. `name` also names the network.
    `reuse`: a cluster of this name that already runs is used, and `stop` leaves it running. `coredns`: with cluster DNS.
    `schedulable`: whether the control plane takes pods; without it they need further nodes. `joins` counts the nodes that joined.
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
        owner = NOBODY if reuse else this_process()
        super().__init__(
            image or image_for(kubernetes), name=name, labels={LABEL: name, OWNER: owner}, seconds=seconds, **keywords
        )
        self.nodes: dict[str, KindNode] = {}
        self.joins = 0
        self.version = ""
        self._reuse = reuse
        self._coredns = coredns
        self._schedulable = schedulable
        self._own_network: Network | None = None
        self.with_exposed_ports(6443)

    # Life.

    def start(self) -> KindContainer:
        """Start the cluster, and return when its node is Ready.

        Raises ImageMissing, NodeError with output, journals and console, TimedOut.
        """
        if self._reuse and self.attach():
            return self
        try:
            self._make_network()
            super().start()
            self.version = self.read("/kind/version").strip()
            self._init()
        except BaseException:
            self.remove()
            raise
        return self

    def attach(self) -> bool:
        """Take a running cluster of this name, whoever started it, with its nodes; False when there is none."""
        client = self.get_docker_client().client
        try:
            container = patiently(lambda: client.containers.get(self.node_name))
        except NotFound:
            return False
        if container.status != "running" or container.labels.get(LABEL) != self.node_name:
            return False
        self._container = container
        self.docker_labels = {key: container.labels[key] for key in (LABEL, OWNER) if key in container.labels}
        self.image = container.attrs["Config"]["Image"]
        self.with_network(self._network_of_ours())
        self.version = self.read("/kind/version").strip()
        selector = {"label": f"{LABEL}={self.node_name}"}
        for node in patiently(lambda: client.containers.list(filters=selector, ignore_removed=True)):
            if node.name != self.node_name:
                name = node.name.removeprefix(f"{self.node_name}-")
                self.nodes[name] = self._node(name)
                self.nodes[name]._container = node
        return True

    def stop(self, force: bool = True, delete_volume: bool = True) -> None:
        """Remove all nodes, their volumes and the network; a cluster for reuse stays, see `remove`."""
        if not self._reuse:
            self.remove()

    def remove(self) -> None:
        """Remove all nodes, their volumes and the network, also of a cluster for reuse. Raises TimedOut, naming the remains."""
        left: list[str] = []
        for name in list(self.nodes):
            self.leave(name)
        self.discard()

        def gone() -> bool:
            # the network, and the remains of an interrupted start: a network goes once nothing is in it any more
            left[:] = remove_all(f"{LABEL}={self.node_name}")
            return not left

        poll(gone, lambda: f"Docker to remove {', '.join(left)}", seconds=self.seconds, every=0.2)
        if self._own_network is not None:
            self._own_network._docker.client.close()
            self._own_network = None

    def __enter__(self) -> KindContainer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # Use.

    def kubeconfig(self, *, inside: bool = False) -> dict[str, Any]:
        """Return the administrator's kubeconfig: for this process, or (`inside`) for containers in the cluster's network."""
        config: dict[str, Any] = yaml.safe_load(self.read("/etc/kubernetes/admin.conf"))
        host, port = (self.node_name, 6443) if inside else self.api_address()
        config["clusters"][0]["cluster"]["server"] = f"https://{host}:{port}"
        return config

    def get_client(self) -> Any:
        """A `kubernetes.client.ApiClient` that speaks to the cluster as administrator; the process's default client stays as it is."""
        from kubernetes import config

        return config.new_client_from_config_dict(self.kubeconfig())

    def api_address(self) -> tuple[str, int]:
        """Return the address at which this process reaches the API server."""
        return self.get_container_host_ip(), int(self.get_exposed_port(6443))

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Run kubectl in the control plane as administrator, and return its output. `stdin` is a manifest for `-f -`."""
        if stdin is None:
            return self.sh(*_KUBECTL, *arguments)
        path = f"/kind/stdin-{unique()}"
        self.write(path, stdin)
        try:
            return self.sh(*_KUBECTL, *(path if argument == "-" else argument for argument in arguments))
        finally:
            self.sh("rm", "-f", path, check=False)

    def memory(self) -> dict[str, int]:
        """Memory of each node container in MiB, without the page cache that the kernel would give back."""
        client = self.get_docker_client().client
        selector = {"label": f"{LABEL}={self.node_name}"}
        megabytes = {}
        for container in patiently(lambda: client.containers.list(filters=selector, ignore_removed=True)):
            stats = container.stats(stream=False)["memory_stats"]
            details = stats.get("stats") or {}
            cache = details.get("total_inactive_file") or details.get("inactive_file") or 0
            megabytes[container.name] = (int(stats.get("usage") or 0) - int(cache)) >> 20
        return megabytes

    def load_image(self, image: str) -> None:
        """Load an image of the Docker daemon into all nodes."""
        super().load_image(image)
        for node in self.nodes.values():
            node.load_image(image)

    def join(self, name: str, kubelet: KubeletFlags = NO_FLAGS) -> KindNode:
        """Start a further node, whose kubelet registers itself with these flags.

        Return when the Node exists; it becomes Ready a little later. Raises JoinRefused when the kubelet refuses its
        flags.
        """
        node = self._node(name)
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
                kubelet=kubelet,
            )
            node.write("/kind/kubeadm.conf", config)
            run_kubeadm_join(node, self, lambda: self._has_node(name))
        except BaseException:
            self.leave(name)
            raise
        self.joins += 1
        return node

    def rejoin(self, name: str, kubelet: KubeletFlags = NO_FLAGS) -> KindNode:
        """Let a node that has joined register itself anew: its Node object must be gone, its kubelet starts again with
        other flags.

        Return and raise as `join` does, in a fraction of the time.
        """
        node = self.nodes[name]
        node.write(FLAGS_FILE, flags_file(node.read(FLAGS_FILE), kubelet))
        cursor = node.restart_kubelet()
        await_kubelet(node, self, lambda: self._has_node(name), cursor)
        return node

    def leave(self, name: str) -> None:
        """Remove a node's container (as a deleted VM would go); the Node object stays."""
        self.nodes.pop(name).discard()

    def deaths(self) -> str:
        """Return the dead parts: containers that stopped, parts of the control plane that ended, each with its last
        lines.

        Empty when nothing died.
        """
        problems = [problem for problem in (node.state() for node in (self, *self.nodes.values())) if problem]
        if problems:
            return "\n".join(problems)
        try:
            return self.sh("sh", "-c", DEATHS, check=False).strip()
        except NodeError as error:
            return str(error)

    def diagnose(self) -> str:
        """Return the dead parts; when nothing died, the last lines of the API server and of its kubelet."""
        return self.deaths() or self._last_words()

    # Parts.

    def _last_words(self) -> str:
        try:
            log = self.sh("sh", "-c", "tail -qn 15 /var/log/containers/kube-apiserver-*.log | cut -c1-300", check=False)
        except NodeError as error:
            return str(error)
        return f"log of kube-apiserver:\n{log}\n{self.journal('kubelet', 8)}"

    def _node(self, name: str) -> KindNode:
        container = f"{self.node_name}-{name}"
        return KindNode(self.image, name=name, container=container, labels=self.docker_labels, seconds=self.seconds)

    def _make_network(self) -> None:
        self._own_network = self._network_of_ours()
        try:
            patiently(self._own_network.create)
        except APIError as error:
            raise NodeError(
                f"Docker makes no network for {self.node_name}: {sentence(error)}; `make clean-clusters` removes networks that "
                "killed runs left"
            ) from None
        self.with_network(self._own_network)

    def _network_of_ours(self) -> Network:
        network = Network({"timeout": READ_SECONDS}, {"labels": self.docker_labels})
        network.name = self.node_name
        return network

    def _init(self) -> None:
        sans = ["localhost", "127.0.0.1", self.node_name, self.address, self.get_container_host_ip()]
        endpoint = f"{self.node_name}:6443"
        config = init_config(
            self.version, address=self.address, endpoint=endpoint, sans=sorted(set(sans)), schedulable=self._schedulable
        )
        self.write("/kind/kubeadm.conf", config)
        self.write(f"{AUDIT_FOLDER}/policy.json", json.dumps(POLICY))
        phases = "preflight" if self._coredns else "preflight,addon/coredns"
        try:
            self.sh("kubeadm", "init", "--config=/kind/kubeadm.conf", f"--skip-phases={phases}")
        except NodeError as error:
            lacking = exhaustion(str(error))
            raise NodeError(f"{self.node_name} does not come up: {lacking}\n{error}") if lacking else error from None
        cni = self.read("/kind/manifests/default-cni.yaml").replace("{{ .PodSubnet }}", POD_SUBNET)
        self.kubectl("apply", "-f", "-", stdin=cni)
        self.sh(*_KUBECTL, "apply", "-f", "/kind/manifests/default-storage.yaml")
        self.wait_ready(self.node_name)

    def wait_ready(self, node: str) -> None:
        """Wait until a node is Ready. Raises TimedOut with its kubelet's journal."""
        path = "jsonpath={.status.conditions[?(@.type=='Ready')].status}"
        holder = self if node == self.node_name else self.nodes[node]
        poll(
            lambda: self.sh(*_KUBECTL, "get", "node", node, "-o", path, check=False).strip() == "True",
            lambda: f"node {node} to be Ready\n{holder.journal()}",
            seconds=self.seconds,
            every=0.3,
        )

    def _has_node(self, name: str) -> bool:
        return self.sh(*_KUBECTL, "get", "node", name, "-o", "name", check=False).strip() == f"node/{name}"
