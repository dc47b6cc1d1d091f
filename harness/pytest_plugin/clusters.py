"""Scenarios on real clusters: `--cluster` names them, the process that runs pytest owns them, every worker has a lease of its own.

With several clusters each case runs on all of them, and the first difference of what came of it fails the case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from harness.pytest_plugin.cluster_options import cluster_names
from harness.pytest_plugin.keys import runner_of
from harness.pytest_plugin.options import release_override

if TYPE_CHECKING:
    from harness.clusters.real.cluster import RealCluster
    from harness.scenario.cases import Case
    from harness.scenario.runner import Runner
    from harness.scenario.verdicts import Verdict

__all__ = ["ClusterRunners", "by_definitions", "configure_worker", "runners_of"]

_RUNNERS: pytest.StashKey[ClusterRunners] = pytest.StashKey()
_INPUT = "harness_clusters"


def configure_worker(node: Any) -> None:
    """In the process that starts an xdist worker: starts clusters for it and hands them over as data."""
    config = node.config
    leased = runners_of(config).start_for_worker()
    node.workerinput[_INPUT] = leased


def by_definitions(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts cases with the same CRDs one after the other: real clusters take seconds to replace them."""
    shared = runner_of(config).shared

    def definitions(item: pytest.Item) -> str:
        case = getattr(item, "case", None)
        return "" if case is None else case.given.crds or shared.idle_world(case).release.crds

    items.sort(key=definitions)


def runners_of(config: pytest.Config) -> ClusterRunners:
    """The session's clusters, none of them started before it is needed."""
    if _RUNNERS not in config.stash:
        config.stash[_RUNNERS] = ClusterRunners(config)
        config.add_cleanup(config.stash[_RUNNERS].stop)
    return config.stash[_RUNNERS]


class ClusterRunners:
    """A Runner for each cluster of `--cluster`."""

    def __init__(self, config: pytest.Config) -> None:
        self.names = cluster_names(config)
        self.only_memory = self.names == ("memory",)
        self._config = config
        self._given: Mapping[str, Mapping[str, str]] = getattr(config, "workerinput", {}).get(_INPUT, {})
        self._owned: list[RealCluster] = []
        self._open: list[Any] = []
        self._runners: dict[str, Runner] = {}
        self._missing: dict[str, str] = {}
        self._version = ""
        self._remotes: dict[str, Any] = {}

    def start_for_worker(self) -> dict[str, Mapping[str, str]]:
        """Clusters of one worker, as data; of one that cannot be started, why."""
        leases: dict[str, Mapping[str, str]] = {}
        for name in self.names:
            cluster = self._start(name)
            if cluster is not None:
                leases[name] = cluster.lease()
            elif name in self._missing:
                leases[name] = {"missing": self._missing[name]}
        return leases

    def stop(self) -> None:
        """Ends what was started, and gives back what was borrowed."""
        for each in (*self._open, *self._owned):
            each.stop()
        self._open.clear()
        self._owned.clear()

    def examine(self, case: Case) -> tuple[Verdict, ...]:
        """The verdicts of a case on every cluster, and whether they all came to the same. Skips what a cluster cannot show."""
        import dataclasses

        from harness.world.snapshot import differences, snapshot

        unsupported = self._unsupported(case)
        if unsupported:
            pytest.skip(unsupported)
        verdicts: list[Verdict] = []
        first: tuple[str, dict[str, Any]] | None = None
        for name in self.names:
            run, found = self._runner(name).examine(case)
            labelled = name if len(self.names) > 1 else ""
            verdicts += [
                dataclasses.replace(each, label=f"{labelled}: {each.label}") if labelled else each for each in found
            ]
            if len(self.names) == 1:
                break
            if run.runaways:
                # where a world that goes in circles is stopped depends on the order of events in the same moment
                came = {"runaway": True}
            else:
                # a node container has the host's capacity
                came = snapshot(run.world, capacity="kind" not in self.names)
            if first is None:
                first = name, came
                continue
            place, left, right = next(differences(first[1], came), ("", None, None))
            verdicts.append(_agreement(case, first[0], name, place, left, right, run.world.clock.seconds))
        return tuple(verdicts)

    def _unsupported(self, case: Case) -> str:
        real = [name for name in self.names if name not in ("memory", "http")]
        needs = [need for need in case.header.needs or () if real or (need == "memory" and self.names != ("memory",))]
        if needs:
            return f"needs {', '.join(needs)}, which {', '.join(real or self.names)} does not have"
        for name in self.names:
            self._runner(name)
        wanted = case.given.kubernetes
        if wanted is not None and self._version and wanted.split(".")[:2] != self._version.split(".")[:2]:
            return f"is about Kubernetes {wanted}; the cluster is {self._version}"
        return ""

    def _runner(self, name: str) -> Runner:
        if name not in self._runners:
            from harness.scenario.runner import Runner

            overrides: dict[str, Any] = {"karpenter": release_override(self._config)}
            overrides["crds"] = runner_of(self._config).shared.overrides.get("crds")
            self._reach()
            if name != "memory":
                from harness.clusters.attached.cluster import attach

                overrides["cluster"] = attach(self._remotes[name])
            if self._version:
                overrides["kubernetes"] = self._version
            self._runners[name] = Runner(**overrides)
        return self._runners[name]

    def _reach(self) -> None:
        """Starts or borrows every cluster once; the version of the real ones holds for all, so that they can be compared."""
        if self._remotes:
            return
        for name in self.names:
            self._remotes[name] = self._remote(name)
        versions = {name: each.version() for name, each in self._remotes.items() if each is not None and name != "http"}
        self._version = next(iter(versions.values()), "")

    def _remote(self, name: str) -> Any:
        if name == "memory":
            return None
        if name == "http":
            return self._http()
        lease = self._given.get(name)
        if lease is not None:
            if "missing" in lease:
                self._refuse(lease["missing"])
            from harness.clusters.leases import borrow

            self._open.append(borrow(lease))
            return self._open[-1]
        cluster = self._start(name)
        if cluster is None:
            self._refuse(self._missing[name])
        return cluster

    def _http(self) -> Any:
        from harness.clusters.http.cluster import HttpCluster
        from harness.engine.clock import Clock
        from harness.karpenter.releases import ALL_PROVIDER_RELEASES, provider
        from harness.karpenter.validation.crds import crd_set
        from harness.world.recorder import Recorder

        release = provider(ALL_PROVIDER_RELEASES[-1])
        cluster = HttpCluster(Recorder(Clock()), crds=crd_set(release.crds), kubernetes=release.defaults.kubernetes)
        self._open.append(cluster.start())
        return cluster

    def _start(self, name: str) -> RealCluster | None:
        from harness.clusters.leases import LEASED, start
        from harness.clusters.real.pki import MissingTool

        if name not in LEASED:
            return None
        if name not in self._missing:
            try:
                self._owned.append(start(name, image=self._config.getoption("--kind-image")))
                return self._owned[-1]
            except MissingTool as error:
                self._missing[name] = f"cluster {name}: {error}"
                if self._config.getoption("--require-cluster"):
                    raise pytest.UsageError(f"--require-cluster: {self._missing[name]}") from None
        return None

    def _refuse(self, why: str) -> None:
        if self._config.getoption("--require-cluster"):
            pytest.fail(why, pytrace=False)
        pytest.skip(why)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)


def _agreement(case: Case, one: str, other: str, place: str, left: Any, right: Any, seconds: float) -> Verdict:
    from harness.scenario.verdicts import Verdict

    label = f"{other} comes to the same as {one}"
    if not place:
        return Verdict.of(label, case.mark, ())
    where = f"{place} at {seconds:g} s"
    return Verdict.failed(label, case.mark, f"{where}: {left} ({one})", f"{right} ({other})")
