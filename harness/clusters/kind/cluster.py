"""The `kind` cluster: a KindContainer behind the ports, whose machines are further node containers with real kubelets."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from harness.clusters.client.connection import ClusterLost
from harness.clusters.cluster import RealMachines
from harness.clusters.control_plane.audit import AuditLog
from harness.clusters.control_plane.cluster import RealCluster
from harness.clusters.control_plane.pki import Authority, MissingTool
from harness.clusters.folders import own_folder
from harness.clusters.kind.kubeadm import KubeletFlags
from harness.clusters.waiting import poll, stopwatch
from harness.kube.api.labels import ARCH
from harness.kube.api.objects import Object
from harness.kube.api.resources import ResourceList, parse_list, subtract
from harness.kube.scheduling.pods import requests_for_pods
from harness.nodes.boot import BootPlan, taints_json
from harness.nodes.kubelet import OtherHardware

if TYPE_CHECKING:
    from harness.clusters.kind.container import KindContainer

__all__ = ["BorrowedKind", "KindCluster", "docker_available"]


def docker_available(environ: Mapping[str, str] = os.environ) -> None:
    """Raise MissingTool, naming what is missing: a package, or a daemon that answers."""
    missing = [name for name in ("docker", "testcontainers", "yaml") if find_spec(name) is None]
    if missing:
        raise MissingTool(
            f"Python packages are missing: {', '.join(missing)} (pip install 'karpenter-azure-harness[clusters]')"
        )
    import docker
    from docker.errors import DockerException

    where = environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    try:
        if where.startswith("unix://"):
            # tried first: the client leaves its socket open when nobody listens there
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(where.removeprefix("unix://"))
        client = docker.from_env()
        client.ping()
        client.close()
    except (DockerException, OSError) as error:
        raise MissingTool(f"no Docker daemon answers at {where}: {str(error).splitlines()[0]}") from error


class _Kind(RealCluster):
    """The abilities of a KindContainer behind a cluster: machines with real kubelets, and the audit log.

    A machine that is taken away is kept aside with its kubelet stopped. The next machine with its name gets it: the
    kubelet starts with the new plan's flags and registers the Node again, as after a join, which takes ten times as
    long.
    """

    name = "kind"
    container: KindContainer
    _KEPT = 6
    """The number of machines that are kept aside: each takes 100 MiB."""

    def _begin(self) -> None:
        """Count the nodes that are there already as machines that somebody left running."""
        self._running: set[str] = set(self.container.nodes)
        self._aside: list[str] = []
        self._room: ResourceList | None = None
        self._node: Object | None = None
        self.registrations = 0

    @property
    def real_machines(self) -> RealMachines | None:
        """Node containers."""
        return self

    @property
    def machines(self) -> Collection[str]:
        """The Nodes whose kubelets run now."""
        return self._running

    def room(self) -> ResourceList:
        """Return the host's processors and memory, which a node container has, less the requests of the cluster's own DaemonSets."""
        if self._room is None:
            node = self._control_plane()
            daemons = self.admin.request("GET", "/apis/apps/v1/namespaces/kube-system/daemonsets")["items"]
            used = requests_for_pods(daemon["spec"]["template"] for daemon in daemons)
            self._room = subtract(parse_list(node["status"]["allocatable"]), used)
        return self._room

    def arch(self) -> str:
        """The processor architecture of all node containers."""
        arch: str = self._control_plane()["status"]["nodeInfo"]["architecture"]
        return arch

    def _control_plane(self) -> Object:
        if self._node is None:
            self._node = self.admin.request("GET", f"/api/v1/nodes/{self.container.node_name}")
        return self._node

    def machine_counts(self) -> tuple[int, int]:
        """Return the number of nodes that joined, and of registrations of Nodes by their kubelets."""
        return self.container.joins, self.registrations

    def boot(self, plan: BootPlan) -> None:
        """Call `join`, and return when the view has the Node. Raises as `join`."""
        self.join(plan)
        self._await_node(plan.node_name)

    def join(self, plan: BootPlan) -> None:
        """Start a node whose kubelet starts with the plan's labels, taints and provider id.

        Raises JoinRefused, NodeError, TimedOut, and OtherHardware for a machine with another processor architecture
        than this host, unless its own labels say so: then its Node differs only in what the kubelet reports of the
        processor.
        """
        if plan.labels.get(ARCH, self.arch()) != plan.arch:
            raise OtherHardware(f"{plan.node_name} is {plan.arch}, node containers here are {self.arch()}")
        name = plan.node_name
        kubelet = KubeletFlags(
            labels=plan.labels,
            taints=taints_json(plan.taints),
            provider_id=plan.provider_id,
            max_pods=plan.max_pods,
            external_cloud_provider=plan.external_cloud_provider,
        )
        if name in self._aside and self.container.nodes[name].state():
            self._aside.remove(name)
            self.container.leave(name)
        if name in self._aside:
            self._aside.remove(name)
            self._running.add(name)
            try:
                self.container.rejoin(name, kubelet)
            except BaseException:
                self._put_aside(name)
                raise
        else:
            self.container.join(name, kubelet)
            self._running.add(name)
        self.registrations += 1

    def halt(self, node: str) -> None:
        """Stop a node's kubelet, so that it falls silent as a deleted VM does."""
        if node in self._running:
            self._put_aside(node)

    def reset(self) -> None:
        """Stop all machines."""
        for node in list(self._running):
            self._put_aside(node)

    def _put_aside(self, node: str) -> None:
        self._running.discard(node)
        if self.container.nodes[node].state():
            self.container.leave(node)  # it has died: the next machine of this name joins anew
            return
        self.container.nodes[node].sh("systemctl", "stop", "kubelet", check=False)
        self._aside.append(node)
        while len(self._aside) > self._KEPT:
            self.container.leave(self._aside.pop(0))

    def _await_node(self, name: str) -> None:
        """Wait until the view has the Node: before that nothing shows that its machine came up, and virtual time would go on without it."""

        def known() -> bool:
            self.view.pump()
            return self.view.get("Node", name) is not None

        poll(known, lambda: f"the watch to tell of Node/{name}\n{self.container.diagnose()}", seconds=self._seconds)

    def _audit_lines(self, text: str) -> str:
        from harness.clusters.kind.kubeadm import AUDIT_LOG

        return self.container.sh("grep", "-F", text, AUDIT_LOG, check=False)


class KindCluster(_Kind):
    """A control plane in a container; `boot` adds a node whose kubelet gets a BootPlan's flags.

    `image` and `kubernetes` as KindContainer has them. Everything goes with this process, whatever ends it. Raises
    MissingTool without Docker or node image, NodeError and TimedOut when the cluster does not start.
    """

    def __init__(self, *, image: str | None = None, kubernetes: str = "") -> None:
        docker_available()
        from testcontainers.core.config import testcontainers_config

        from harness.clusters.kind.container import LABEL, ImageMissing, KindContainer
        from harness.clusters.kind.images import UnknownImage

        # our own reaper needs no image of its own and outlives no worker by accident
        testcontainers_config.ryuk_disabled = True
        time = stopwatch()
        try:
            self.container: KindContainer = KindContainer(image, kubernetes=kubernetes, schedulable=False)
        except UnknownImage as error:
            raise MissingTool(str(error)) from None
        self.folder = own_folder("kind")
        self._begin()
        script = str(Path(__file__).with_name("reaper.py"))
        label = f"{LABEL}={self.container.node_name}"
        self._reaper = subprocess.Popen(
            [sys.executable, script, label, str(self.folder)], stdin=subprocess.PIPE, start_new_session=True
        )
        try:
            self.container.start()
            for file in ("ca.crt", "ca.key"):
                (self.folder / file).write_text(self.container.read(f"/etc/kubernetes/pki/{file}"), encoding="utf-8")
            host, port = self.container.api_address()
            super().__init__(
                host,
                port,
                Authority(self.folder),
                AuditLog(self._audit_lines),
                diagnose=self.container.diagnose,
                deaths=self.container.deaths,
            )
            self.wait_ready()
            self.grant()
            self.view.start()
        except ImageMissing as error:
            self._remove()
            raise MissingTool(str(error)) from None
        except BaseException:
            self._remove()
            raise
        self.start_seconds = time()

    def lease(self) -> dict[str, str]:
        """This cluster as data, for harness.clusters.leases.borrow in another process."""
        return {"cluster": self.name, "folder": str(self.folder), "container": self.container.node_name}

    def stop(self) -> None:
        """End everything and remove containers, volumes, network and folder. Raises TimedOut, naming the remains."""
        try:
            self.close()
        finally:
            self._remove()

    def __enter__(self) -> KindCluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def memory(self) -> dict[str, int]:
        """Memory of each node container in MiB, also of those that borrowers joined."""
        return self.container.memory()

    def _remove(self) -> None:
        """Remove everything; Docker's remains are left to the reaper, which goes on after this process."""
        assert self._reaper.stdin is not None
        try:
            self.container.remove()
        except BaseException:
            with suppress(OSError):
                self._reaper.stdin.close()
            raise
        self._reaper.kill()
        self._reaper.wait()
        with suppress(OSError):
            self._reaper.stdin.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class BorrowedKind(_Kind):
    """A kind cluster that another process owns; `stop` takes the machines away and leaves the cluster running.

    Raises ClusterLost when it does not run any more.
    """

    def __init__(self, folder: Path, name: str) -> None:
        from testcontainers.core.config import testcontainers_config

        from harness.clusters.kind.container import KindContainer

        testcontainers_config.ryuk_disabled = True
        self.container = KindContainer(name=name, reuse=True)
        if not self.container.attach():
            raise ClusterLost(f"the kind cluster {name} does not run any more\n{self.container.state()}")
        self._begin()
        audit = AuditLog(self._audit_lines)
        host, port = self.container.api_address()
        super().__init__(
            host,
            port,
            Authority(folder),
            audit,
            diagnose=self.container.diagnose,
            deaths=self.container.deaths,
        )
        self.reset()
        self.view.start()

    def stop(self) -> None:
        """Stop the machines and close the connections."""
        try:
            self.reset()
        finally:
            self.close()
            for node in (self.container, *self.container.nodes.values()):
                node.get_docker_client().client.close()
