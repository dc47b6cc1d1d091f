"""Scenarios on real clusters: `--cluster` names them, the process that runs pytest owns them, every worker has a lease of its own.

With several clusters each case runs on all of them, and the first difference of what came of it fails the case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from harness.pytest_plugin.cluster_options import cluster_names
from harness.pytest_plugin.foreseen import Foreseen
from harness.pytest_plugin.keys import runner_of

if TYPE_CHECKING:
    from harness.clusters.control_plane.cluster import RealCluster
    from harness.clusters.remote.cluster import Attaching
    from harness.scenario.language.cases import Case
    from harness.scenario.running.run import Run
    from harness.scenario.running.runner import Runner
    from harness.scenario.running.verdicts import Verdict

__all__ = [
    "ClusterRunners",
    "by_definitions",
    "configure_worker",
    "release_worker",
    "report_home",
    "runners_of",
    "summary",
]

_RUNNERS: pytest.StashKey[ClusterRunners] = pytest.StashKey()
_INPUT = "harness_clusters"
_OUTPUT = "harness_clusters_used"


def configure_worker(node: Any) -> None:
    """In the process that starts an xdist worker: starts clusters for it and hands them over as data."""
    node.workerinput[_INPUT] = runners_of(node.config).start_for_worker(node.gateway.id)


def release_worker(node: Any) -> None:
    """In the process that started an xdist worker: the worker has ended, well or not."""
    used = getattr(node, "workeroutput", {}).get(_OUTPUT, ())
    runners_of(node.config).release(node.gateway.id, used)


def report_home(config: pytest.Config) -> None:
    """In a worker: what it did with its clusters, for `release_worker`."""
    config.workeroutput[_OUTPUT] = runners_of(config).used()  # type: ignore[attr-defined]


def summary(config: pytest.Config) -> list[str]:
    """One line for each cluster that this process started."""
    return runners_of(config).summary() if _RUNNERS in config.stash else []


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
        self._free: list[Mapping[str, Mapping[str, str]]] = []
        self._lent: dict[str, Mapping[str, Mapping[str, str]]] = {}
        self._used: list[Mapping[str, Any]] = []
        self._runners: dict[str, Runner] = {}
        self._missing: dict[str, str] = {}
        self._broken: dict[str, str] = {}
        self._lost: dict[str, str] = {}
        self._version = ""
        self._remotes: dict[str, Any] = {}
        self._reached = False
        self._foreseen = Foreseen(lambda: self._new_runner("memory"))
        self._attaching: dict[str, Attaching] = {}
        self.too_big = 0
        """Cases of which pods may ask one Node for more than a real kubelet here has."""

    def start_for_worker(self, worker: str) -> Mapping[str, Mapping[str, str]]:
        """Clusters of one worker, as data; of one that cannot be started, why. Those of a worker that has ended are used again."""
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
                if self._config.getoption("--require-cluster"):
                    raise pytest.UsageError(f"--require-cluster: {self._missing[name]}")
                leases[name] = {"missing": self._missing[name]}
        return leases

    def release(self, worker: str, used: Iterable[Mapping[str, Any]]) -> None:
        """A worker needs its clusters no longer; `used` is what it reported of them."""
        self._used += used
        leases = self._lent.pop(worker, None)
        if leases is not None:
            self._free.append(leases)

    def used(self) -> list[Mapping[str, Any]]:
        """What this process did with clusters that it borrowed."""
        from harness.clusters.control_plane.cluster import RealCluster
        from harness.clusters.usage import Usage

        usages = [Usage.of(each) for each in self._open if isinstance(each, RealCluster)]
        for each in usages:
            each.too_big = self.too_big if each.name == "kind" else 0
        return [each.to_json() for each in usages]

    def summary(self) -> list[str]:
        """One line for each cluster that this process started; what borrowers did is added to the first of its name."""
        if not self._owned:
            return []
        from harness.clusters.usage import Usage

        usages = [Usage.of(each) for each in self._owned]
        for name in dict.fromkeys(each.name for each in usages):
            first = next(each for each in usages if each.name == name)
            first.add(self._used)
            first.too_big += self.too_big if name == "kind" else 0
        return [str(each) for each in usages]

    def stop(self) -> None:
        """Ends what was started, and gives back what was borrowed. Raises the first error when all is done."""
        with ExitStack() as all_of_them:
            for each in (*self._owned, *self._open):
                all_of_them.callback(each.stop)
        self._open.clear()
        self._owned.clear()

    def examine(self, case: Case) -> tuple[Verdict, ...]:
        """The verdicts of a case on every cluster, and whether they all came to the same. Skips what a cluster cannot show."""
        import dataclasses

        from harness.world.snapshot import differences, snapshot

        unsupported = self._unsupported(case)
        if unsupported:
            pytest.skip(unsupported)
        case = self._foreseen.of_one_seed(case)
        verdicts: list[Verdict] = []
        first: tuple[str, dict[str, Any]] | None = None
        for name in self.names:
            runner = self._runner(name)
            self._choose_machines(name, case)
            run, found = self._run(name, runner, case)
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

    def _run(self, name: str, runner: Runner, case: Case) -> tuple[Run, tuple[Verdict, ...]]:
        """A case on one cluster. Raises ClusterLost: at length for the first case that lost it, in one line for those that find it lost."""
        try:
            came = runner.examine(case)
        except RuntimeError as error:
            from harness.clusters.client.connection import ClusterLost

            if not isinstance(error, ClusterLost):
                raise
            here = f"{case.file}::{case.name}"
            first = self._lost.setdefault(name, here)
            if first == here:
                raise
            said = str(error).partition("\n")[0]
            raise ClusterLost(f"{said}; cluster {name} is lost since {first}, which tells what died") from None
        self._lost.pop(name, None)
        return came

    def explains(self, error: BaseException) -> bool:
        """Whether an error is a cluster's own account of what died or does not come to rest, to which a traceback adds nothing."""
        if self.only_memory:
            return False
        from harness.clusters.errors import ClusterFailed

        return isinstance(error, ClusterFailed)

    def _unsupported(self, case: Case) -> str:
        real = [name for name in self.names if name not in ("memory", "http")]
        from harness.kube.api.versions import Version

        needs = [need for need in case.needs if real or (need == "memory" and self.names != ("memory",))]
        if needs:
            return f"needs {', '.join(needs)}, which {', '.join(real or self.names)} does not have"
        for name in self.names:
            self._runner(name)
        wanted = runner_of(self._config).shared.idle_world(case).kubernetes
        if not self._version or Version.of(wanted).line == Version.of(self._version).line:
            return ""
        if self._foreseen.holds(case):
            return ""
        return f"is about Kubernetes {wanted}; on {self._version}, which the cluster is, something else comes of it in memory, too"

    def _runner(self, name: str) -> Runner:
        if name not in self._runners:
            self._reach()
            self._runners[name] = self._new_runner(name)
        return self._runners[name]

    def _choose_machines(self, name: str, case: Case) -> None:
        """Where pods may ask one Node for more than this host has, Nodes are objects of the size of their machines."""
        room = self._remotes[name].room() if name == "kind" else None
        if room is None:
            return
        from harness.kube.api.resources import fits
        from harness.scenario.language.demand import demand

        real = fits(demand(case), room)
        self._attaching[name].machines = real
        self.too_big += not real

    def _new_runner(self, name: str) -> Runner:
        from harness.scenario.running.runner import Runner

        overrides: dict[str, Any] = {"crds": runner_of(self._config).shared.overrides.get("crds")}
        if name != "memory":
            from harness.clusters.remote.cluster import attach

            overrides["cluster"] = self._attaching[name] = attach(self._remotes[name])
        if self._version:
            overrides["kubernetes"] = self._version
        return Runner(caches=runner_of(self._config).shared.caches, **overrides)

    def _reach(self) -> None:
        """Starts or borrows every cluster once; the version of the real ones holds for all, so that they can be compared."""
        if self._reached:
            return
        for name in self.names:
            if name not in self._remotes:
                self._remotes[name] = self._remote(name)
        self._reached = True
        versions = {name: each.version() for name, each in self._remotes.items() if each is not None and name != "http"}
        self._version = next(iter(versions.values()), "")

    def _remote(self, name: str) -> Any:
        if name == "memory":
            return None
        if name == "http":
            return self._http()
        lease = self._given.get(name)
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
            self._owned.append(start(name, image=self._config.getoption("--kind-image")))
        except MissingTool as error:
            self._missing[name] = f"cluster {name}: {error}"
        except (RuntimeError, OSError) as error:
            # it has said what died, with its last lines; the next case would only wait for the same
            self._broken[name] = f"cluster {name} did not start: {error}"
        else:
            return self._owned[-1]
        return None

    def _refuse(self, why: str) -> None:
        if self._config.getoption("--require-cluster"):
            pytest.fail(why, pytrace=False)
        pytest.skip(why)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)


def _agreement(case: Case, one: str, other: str, place: str, left: Any, right: Any, seconds: float) -> Verdict:
    from harness.scenario.running.verdicts import Verdict

    label = f"{other} comes to the same as {one}"
    if not place:
        return Verdict.of(label, case.mark, ())
    where = f"{place} at {seconds:g} s"
    return Verdict.failed(label, case.mark, f"{where}: {left} ({one})", f"{right} ({other})")
