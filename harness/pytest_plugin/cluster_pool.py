"""The real clusters of a session: started once, lent to the workers of xdist as data, ended with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.clusters.control_plane.cluster import RealCluster

__all__ = ["ClusterPool"]


class ClusterPool:
    """The clusters of these names. `leased` are those that another process lends this one."""

    def __init__(self, config: pytest.Config, names: Sequence[str], leased: Mapping[str, Mapping[str, str]]) -> None:
        self.names = tuple(names)
        self._config = config
        self._leased = leased
        self._owned: list[RealCluster] = []
        self._open: list[Any] = []
        self._free: list[Mapping[str, Mapping[str, str]]] = []
        self._lent: dict[str, Mapping[str, Mapping[str, str]]] = {}
        self._used: list[Mapping[str, Any]] = []
        self._missing: dict[str, str] = {}
        self._broken: dict[str, str] = {}
        self._version = ""
        self._remotes: dict[str, Any] = {}
        self._reached = False
        self.too_big = 0
        """The number of cases whose pods may ask one Node for more than a real kubelet here has."""

    def start_for_worker(self, worker: str) -> Mapping[str, Mapping[str, str]]:
        """Return clusters for one worker, as data; for one that cannot be started, the reason. Those of an ended worker are used again."""
        leases = self._free.pop() if self._free else self._start_leases()
        self._lent[worker] = leases
        return leases

    def _start_leases(self) -> dict[str, Mapping[str, str]]:
        leases: dict[str, Mapping[str, str]] = {}
        for name in self.names:
            cluster = self._start(name)
            if cluster is not None:
                leases[name] = cluster.lease()
            elif name in self._broken:
                leases[name] = {"broken": self._broken[name]}
            elif name in self._missing:
                if self._config.getoption("scenarios_require_cluster"):
                    raise pytest.UsageError(f"--require-cluster: {self._missing[name]}")
                leases[name] = {"missing": self._missing[name]}
        return leases

    def release(self, worker: str, used: Iterable[Mapping[str, Any]]) -> None:
        """Take back the clusters of a worker; `used` is its report about them."""
        self._used += used
        leases = self._lent.pop(worker, None)
        if leases is not None:
            self._free.append(leases)

    def used(self) -> list[Mapping[str, Any]]:
        """Return this process's use of clusters that it borrowed."""
        from harness.clusters.control_plane.cluster import RealCluster
        from harness.clusters.usage import Usage

        usages = [Usage.of_cluster(cluster) for cluster in self._open if isinstance(cluster, RealCluster)]
        for usage in usages:
            usage.too_big = self.too_big if usage.name == "kind" else 0
        return [usage.to_json() for usage in usages]

    def summary(self) -> list[str]:
        """Return one line for each cluster that this process started; the use of borrowers is added to the first of its name."""
        if not self._owned:
            return []
        from harness.clusters.usage import Usage

        usages = [Usage.of_cluster(cluster) for cluster in self._owned]
        for name in dict.fromkeys(usage.name for usage in usages):
            first = next(usage for usage in usages if usage.name == name)
            first.add_borrowed(self._used)
            first.too_big += self.too_big if name == "kind" else 0
        return [str(usage) for usage in usages]

    def stop(self) -> None:
        """End the started clusters, and give back the borrowed ones. Raises the first error when all is done."""
        with ExitStack() as all_of_them:
            for cluster in (*self._owned, *self._open):
                all_of_them.callback(cluster.stop)
        self._open.clear()
        self._owned.clear()

    def _reach(self) -> None:
        """Start or borrow every cluster once; the version of the real ones holds for all, so that they can be compared."""
        if self._reached:
            return
        for name in self.names:
            if name not in self._remotes:
                self._remotes[name] = self._remote(name)
        self._reached = True
        versions = {
            name: remote.version() for name, remote in self._remotes.items() if remote is not None and name != "http"
        }
        self._version = next(iter(versions.values()), "")

    def _remote(self, name: str) -> Any:
        if name == "memory":
            return None
        if name == "http":
            return self._http()
        lease = self._leased.get(name)
        if lease is not None:
            if "broken" in lease:
                pytest.fail(lease["broken"], pytrace=False)
            if "missing" in lease:
                self._refuse(lease["missing"])
            from harness.clusters.leases import borrow

            self._open.append(borrow(lease))
            return self._open[-1]
        cluster = self._start(name)
        if name in self._broken:
            pytest.fail(self._broken[name], pytrace=False)
        if cluster is None:
            self._refuse(self._missing[name])
        return cluster

    def _http(self) -> Any:
        from harness.clusters.http.cluster import HttpCluster
        from harness.engine.clock import Clock
        from harness.karpenter.releases import DEFAULT_RELEASE, provider
        from harness.karpenter.validation.crds import crd_set
        from harness.world.recorder import Recorder

        release = provider(DEFAULT_RELEASE)
        cluster = HttpCluster(Recorder(Clock()), crds=crd_set(release.crds), kubernetes=release.defaults.kubernetes)
        self._open.append(cluster.start())
        return cluster

    def _start(self, name: str) -> RealCluster | None:
        from harness.clusters.control_plane.pki import MissingTool
        from harness.clusters.leases import LEASED, start

        if name not in LEASED:
            return None
        if name in self._missing or name in self._broken:
            return None
        try:
            self._owned.append(start(name, image=self._config.getoption("scenarios_kind_image")))
        except MissingTool as error:
            self._missing[name] = f"cluster {name}: {error}"
        except (RuntimeError, OSError) as error:
            # the error has its last lines; the next case would only wait for the same
            self._broken[name] = f"cluster {name} did not start: {error}"
        else:
            return self._owned[-1]
        return None

    def _refuse(self, why: str) -> None:
        if self._config.getoption("scenarios_require_cluster"):
            pytest.fail(why, pytrace=False)
        pytest.skip(why)
