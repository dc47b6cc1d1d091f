"""The `apiserver` cluster: real programs from `KUBEBUILDER_ASSETS` on loopback ports, up in seconds, gone with the process."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from harness.clusters.apiserver.processes import Processes, free_ports
from harness.clusters.control_plane.audit import POLICY, AuditLog
from harness.clusters.control_plane.cluster import RealCluster
from harness.clusters.control_plane.pki import Authority, MissingTool
from harness.clusters.folders import own_folder
from harness.clusters.waiting import poll, stopwatch
from harness.engine.ports import CLOUD_NODE_MANAGER, CONTROLLER_MANAGER, KARPENTER, SCHEDULER, Identity

__all__ = ["ApiServerCluster", "assets", "borrowed"]

_PROGRAMS = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager")
_FOREVER = "1000h"
_TRIES = 3
_PORT_TAKEN = "address already in use"
"""The words of a program whose port was taken after it was found free; then all of it is tried again."""
_NEVER_ROTATED = 1 << 20  # MB; the log starts anew at 100 MB otherwise, and evidence would be lost


def assets(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of the programs. Raises MissingTool, naming what is missing."""
    text = environ.get("KUBEBUILDER_ASSETS")
    if not text:
        raise MissingTool(
            "KUBEBUILDER_ASSETS is not set: it names a folder with etcd, kube-apiserver, kube-scheduler and "
            "kube-controller-manager (`setup-envtest use`, and the Kubernetes release's server tarball)"
        )
    missing = [name for name in _PROGRAMS if not os.access(Path(text, name), os.X_OK)]
    if missing:
        raise MissingTool(f"KUBEBUILDER_ASSETS={text} has no {', '.join(missing)}")
    return Path(text)


def borrowed(folder: Path, port: int) -> RealCluster:
    """An apiserver cluster that another process owns, by its folder; `close` leaves it running."""
    cluster = RealCluster("127.0.0.1", port, Authority(folder), _audit_log(folder))
    cluster.name = ApiServerCluster.name
    cluster.view.start()
    return cluster


def _audit_log(folder: Path) -> AuditLog:
    path = folder / "audit.log"
    start = 0

    def lines(text: str) -> str:
        if not path.exists():
            return ""
        with path.open(encoding="utf-8") as log:
            log.seek(start)
            return "".join(line for line in log if text in line)

    def skip() -> None:
        nonlocal start
        start = path.stat().st_size if path.exists() else 0

    return AuditLog(lines, skip)


class ApiServerCluster(RealCluster):
    """etcd, kube-apiserver, kube-scheduler and kube-controller-manager. Nodes are objects: nothing runs on them."""

    name = "apiserver"

    def __init__(self, *, binaries: Path | None = None) -> None:
        self._binaries = binaries or assets()
        time = stopwatch()
        for left in reversed(range(_TRIES)):
            self.folder = own_folder("apiserver")
            self.processes = Processes(self.folder)
            try:
                self._bring_up(*free_ports(5))
                self.start_seconds = time()
                return
            except BaseException as error:
                taken = left and _PORT_TAKEN in self.processes.logs()
                self.processes.stop()
                if not (taken and isinstance(error, Exception)):
                    raise

    def _bring_up(self, etcd: int, peer: int, api: int, scheduler: int, manager: int) -> None:
        self._start_store(etcd, peer)
        authority = Authority(self.folder)
        self._start_server(authority, etcd, api)
        # the steps up to the waiting cost nothing: the server takes longer to come up
        super().__init__(
            "127.0.0.1",
            api,
            authority,
            _audit_log(self.folder),
            diagnose=self.processes.diagnose,
            deaths=self.processes.diagnose,
        )
        configs = [self._kubeconfig_of(identity) for identity in (SCHEDULER, CONTROLLER_MANAGER)]
        for identity in (KARPENTER, CLOUD_NODE_MANAGER):
            authority.client(identity)
        self.wait_ready()
        self._start_controllers(scheduler, manager, *configs)
        self.grant()
        self.view.start()
        poll(
            lambda: self.admin.raw("GET", "/api/v1/namespaces/default/serviceaccounts/default")[0] == 200,
            lambda: f"kube-controller-manager to make the first service account\n{self.processes.diagnose()}",
            seconds=60,
        )

    def stop(self) -> None:
        """End everything and remove the folder."""
        self.close()
        self.processes.stop()

    def __enter__(self) -> ApiServerCluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def lease(self) -> dict[str, str]:
        """This cluster as data, for harness.clusters.leases.borrow in another process."""
        return {"cluster": self.name, "folder": str(self.folder), "port": str(self.port)}

    def memory(self) -> dict[str, int]:
        """Resident memory of each program in MiB."""
        megabytes = {}
        for name, pid in self.processes.pids.items():
            for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
                if line.startswith("VmRSS:"):
                    megabytes[name] = int(line.split()[1]) // 1024
        return megabytes

    def _start_store(self, etcd: int, peer: int) -> None:
        client_url, peer_url = f"http://127.0.0.1:{etcd}", f"http://127.0.0.1:{peer}"
        self.processes.start(
            "etcd",
            str(self._binaries / "etcd"),
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={client_url}",
            f"--advertise-client-urls={client_url}",
            f"--listen-peer-urls={peer_url}",
            f"--initial-advertise-peer-urls={peer_url}",
            f"--initial-cluster=default={peer_url}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        )

    def _start_server(self, authority: Authority, etcd: int, api: int) -> None:
        certificate = authority.server("apiserver", ["127.0.0.1", "localhost", "kubernetes", "10.96.0.1"])
        private, public = authority.service_account_keys()
        (self.folder / "audit-policy.json").write_text(json.dumps(POLICY), encoding="utf-8")
        self.processes.start(
            "kube-apiserver",
            str(self._binaries / "kube-apiserver"),
            f"--etcd-servers=http://127.0.0.1:{etcd}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={api}",
            f"--cert-dir={self.folder}",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={authority.key}",
            f"--client-ca-file={authority.ca}",
            f"--service-account-key-file={public}",
            f"--service-account-signing-key-file={private}",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged",
            f"--audit-policy-file={self.folder / 'audit-policy.json'}",
            f"--audit-log-path={self.folder / 'audit.log'}",
            "--audit-log-mode=blocking",
            f"--audit-log-maxsize={_NEVER_ROTATED}",
            "--endpoint-reconciler-type=none",
            "--profiling=false",
        )

    def _kubeconfig_of(self, identity: Identity) -> Path:
        path = self.folder / f"{identity.user.replace(':', '_')}.kubeconfig"
        path.write_text(json.dumps(self.kubeconfig(identity)), encoding="utf-8")
        return path

    def _start_controllers(self, scheduler: int, manager: int, for_scheduler: Path, for_manager: Path) -> None:
        """Start kube-controller-manager, which never finds a silent Node unready: simulated kubelets send no heartbeats."""
        private = self.folder / "sa.key"
        for name, port, config, flags in (
            ("kube-scheduler", scheduler, for_scheduler, ()),
            (
                "kube-controller-manager",
                manager,
                for_manager,
                (
                    f"--service-account-private-key-file={private}",
                    f"--node-monitor-grace-period={_FOREVER}",
                    "--use-service-account-credentials",
                ),
            ),
        ):
            self.processes.start(
                name,
                str(self._binaries / name),
                f"--kubeconfig={config}",
                "--bind-address=127.0.0.1",
                f"--secure-port={port}",
                f"--cert-dir={self.folder / name}",
                "--leader-elect=false",
                "--profiling=false",
                "--kube-api-qps=200",
                "--kube-api-burst=400",
                *flags,
            )
