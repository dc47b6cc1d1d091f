"""The `kind` cluster: a KindContainer behind the ports, whose machines are further node containers with real kubelets."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from harness.clusters.real.audit import AuditLog
from harness.clusters.real.cluster import RealCluster
from harness.clusters.real.pki import Authority, MissingTool
from harness.nodes.boot import BootPlan, taints_json

if TYPE_CHECKING:
    from harness.clusters.kind.container import KindContainer

__all__ = ["PREFIX", "BorrowedKind", "KindCluster", "docker_available"]

PREFIX = "karpenter-harness-kind-"
"""How the folders with these clusters' certificates are called, below the system's folder for temporary files."""


def docker_available(environ: Mapping[str, str] = os.environ) -> None:
    """Raises MissingTool, naming what is missing: a package, or a daemon that answers."""
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
            # asked first: the client leaves its socket open when nobody listens there
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(where.removeprefix("unix://"))
        client = docker.from_env()
        client.ping()
        client.close()
    except (DockerException, OSError) as error:
        raise MissingTool(f"no Docker daemon answers at {where}: {str(error).splitlines()[0]}") from error


class _Kind(RealCluster):
    """What a KindContainer gives a cluster: machines with real kubelets, and the audit log."""

    name = "kind"
    container: KindContainer

    def boot(self, plan: BootPlan) -> None:
        """A node container whose kubelet starts with the plan's labels, taints and provider id. Raises JoinRefused, NodeError."""
        self.container.join(
            plan.node_name,
            labels=plan.labels,
            taints=taints_json(plan.taints),
            provider_id=plan.provider_id,
            max_pods=plan.max_pods,
            external_cloud_provider=plan.external_cloud_provider,
        )

    def halt(self, node: str) -> None:
        """Takes the node container away, as a deleted VM would go."""
        if node in self.container.nodes:
            self.container.leave(node)

    def reset(self) -> None:
        """Takes all machines away."""
        for node in list(self.container.nodes):
            self.container.leave(node)

    def _audit_lines(self, text: str) -> str:
        from harness.clusters.kind.kubeadm import AUDIT_LOG

        return self.container.sh("grep", "-F", text, AUDIT_LOG, check=False)


class KindCluster(_Kind):
    """A control plane in a container; `boot` adds a node whose kubelet gets what a BootPlan says.

    `image` and `kubernetes` as KindContainer has them. Everything goes with this process, whatever ends it.
    """

    def __init__(self, *, image: str | None = None, kubernetes: str = "") -> None:
        docker_available()
        from testcontainers.core.config import testcontainers_config

        from harness.clusters.kind.container import LABEL, KindContainer

        # our own reaper needs no image of its own and outlives no worker by accident
        testcontainers_config.ryuk_disabled = True
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        (self.folder / "owner").write_text(str(os.getpid()))
        self.container: KindContainer = KindContainer(image, kubernetes=kubernetes, schedulable=False)
        script = str(Path(__file__).with_name("reaper.py"))
        label = f"{LABEL}={self.container.node_name}"
        self._reaper = subprocess.Popen(
            [sys.executable, script, label, str(self.folder)], stdin=subprocess.PIPE, start_new_session=True
        )
        try:
            self.container.start()
            for file in ("ca.crt", "ca.key"):
                (self.folder / file).write_text(self.container.sh("cat", f"/etc/kubernetes/pki/{file}"))
            host, port = self.container.api_address()
            super().__init__(
                host,
                port,
                Authority(self.folder),
                AuditLog(self._audit_lines),
                diagnose=self.container.diagnose,
            )
            self.wait_ready()
            self.grant()
            self.view.start()
        except BaseException:
            self._remove()
            raise

    def lease(self) -> dict[str, str]:
        """This cluster as data, for harness.clusters.leases.borrow in another process."""
        return {"cluster": self.name, "folder": str(self.folder), "container": self.container.node_name}

    def stop(self) -> None:
        """Ends everything and removes containers, volumes, network and folder."""
        self.close()
        self._remove()

    def __enter__(self) -> KindCluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def kubeconfig(self) -> dict[str, Any]:
        """The administrator's kubeconfig for this process."""
        return self.container.kubeconfig()

    def memory(self) -> dict[str, int]:
        """Memory of each node container in MiB."""
        found = {}
        for node in (self.container, *self.container.nodes.values()):
            stats = node.get_wrapped_container().stats(stream=False)["memory_stats"]
            cache = (
                (stats.get("stats") or {}).get("total_inactive_file")
                or (stats.get("stats") or {}).get("inactive_file")
                or 0
            )
            found[node.node_name] = (int(stats.get("usage") or 0) - int(cache)) >> 20
        return found

    def _remove(self) -> None:
        try:
            self.container.stop()
        finally:
            assert self._reaper.stdin is not None
            with suppress(OSError):
                self._reaper.stdin.close()
            self._reaper.wait(60)
            shutil.rmtree(self.folder, ignore_errors=True)


class BorrowedKind(_Kind):
    """A kind cluster that another process owns; `stop` takes the machines away and leaves the cluster running."""

    def __init__(self, folder: Path, name: str) -> None:
        from testcontainers.core.config import testcontainers_config

        from harness.clusters.kind.container import KindContainer

        testcontainers_config.ryuk_disabled = True
        self.container = KindContainer(name=name, reuse=True)
        self.container.start()
        audit = AuditLog(self._audit_lines)
        host, port = self.container.api_address()
        super().__init__(host, port, Authority(folder), audit, diagnose=self.container.diagnose)
        self.view.start()

    def stop(self) -> None:
        """Takes the machines away and closes the connections."""
        self.reset()
        self.close()
