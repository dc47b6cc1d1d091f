"""The clusters that the contract holds for. `memory` and `http` always run; `--run-clusters` adds the real ones."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from harness.clusters.client.connection import Connection
from harness.clusters.control_plane.cluster import RealCluster
from harness.clusters.control_plane.pki import MissingTool
from harness.clusters.errors import ClusterFailed
from harness.clusters.http.cluster import HttpCluster
from harness.clusters.memory.cluster import MemoryCluster
from harness.clusters.memory.journal import Entry
from harness.clusters.remote.attaching import attach
from harness.clusters.usage import Usage
from harness.engine.clock import Clock
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import Sink
from harness.engine.rng import Rng
from harness.karpenter.validation.crds import crd_set
from harness.kube.api.objects import Key
from harness.kube.api.status import ApiError
from harness.world import World
from harness.world.recorder import Recorder
from tests.clusters.attached import Place
from tests.clusters.subject import Subject

KUBERNETES = "1.36.3"
CRDS = "1.14.0"
COUNT = itertools.count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-clusters", action="store_true", help="run the contract on real API servers and kind, too")


def silent() -> Sink:
    return Recorder(Clock())


def memory() -> Iterator[Subject]:
    engine, rng = Engine(Clock()), Rng(0)
    cluster = MemoryCluster(engine, rng, Ids(rng), silent(), crds=crd_set(CRDS), kubernetes=KUBERNETES)

    def step() -> None:
        assert engine.settle().quiescent

    def evidence(node: str) -> tuple[Entry, ...]:
        return cluster.journal.entries_about(Key("Node", "", node))

    yield Subject("memory", cluster.view, cluster.writer, evidence, step, str(next(COUNT)))


def http() -> Iterator[Subject]:
    with HttpCluster(silent(), crds=crd_set(CRDS), kubernetes=KUBERNETES) as cluster:

        def step() -> None:
            cluster.view.pump()

        yield Subject("http", cluster.view, cluster.writer, cluster.evidence, step, str(next(COUNT)), 5.0)


def start_apiserver() -> RealCluster:
    from harness.clusters.apiserver.cluster import ApiServerCluster

    return ApiServerCluster()


def start_kind() -> RealCluster:
    from harness.clusters.kind.cluster import KindCluster

    return KindCluster()


SIMULATED = {"memory": memory, "http": http}
REAL: dict[str, Callable[[], RealCluster]] = {"apiserver": start_apiserver, "kind": start_kind}


class RealClusters:
    """Each is started when the first test asks for it, and kept until the end."""

    def __init__(self, required: bool) -> None:
        self._started: dict[str, RealCluster] = {}
        self._missing: dict[str, str] = {}
        self._broken: dict[str, str] = {}
        self._required = required
        self._used: list[str] = []
        self._had_worlds: set[str] = set()

    def get(self, name: str) -> RealCluster:
        if name not in {*self._started, *self._missing, *self._broken}:
            try:
                self._started[name] = REAL[name]()
            except MissingTool as error:
                self._missing[name] = f"{name}: {error}"
            except ClusterFailed as error:
                self._broken[name] = f"{name} did not start: {error}"
            else:
                self._started[name].install(crd_set(CRDS))
        if name in self._broken:
            pytest.fail(self._broken[name], pytrace=False)
        if name in self._missing:
            absent(self._missing[name], self._required)
        return self._started[name]

    def for_worlds(self, name: str) -> RealCluster:
        """Return a cluster for tests whose World leaves behind what it made."""
        self._had_worlds.add(name)
        return self.get(name)

    def for_subjects(self, name: str) -> RealCluster:
        """Return a cluster without what worlds have left there: whole sentences of the scheduler count every Node."""
        cluster = self.get(name)
        if name in self._had_worlds:
            World(cluster=attach(cluster))  # which begins by emptying it
            self._had_worlds.remove(name)
        return cluster

    def end(self, name: str) -> None:
        """Ends one, which the next test that asks for it starts again: for tests that need the room of the machine."""
        cluster = self._started.pop(name, None)
        self._had_worlds.discard(name)
        if cluster is not None:
            self._used.append(str(Usage.of_cluster(cluster)))
            cluster.stop()

    def stop(self) -> list[str]:
        """Ends all. Returns what they took."""
        self._used += [str(Usage.of_cluster(each)) for each in self._started.values()]
        with ExitStack() as all_of_them:
            for each in self._started.values():
                all_of_them.callback(each.stop)
        return self._used


def absent(why: str, required: bool) -> NoReturn:
    """Skips a test for want of something, or fails it when that must not be."""
    if required:
        pytest.fail(f"--require-cluster: {why}", pytrace=False)
    pytest.skip(why)


USED: pytest.StashKey[list[str]] = pytest.StashKey()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if USED in config.stash:
        terminalreporter.section("clusters")
        terminalreporter.write("\n".join(config.stash[USED]) + "\n")


@pytest.fixture(scope="session")
def real_clusters(pytestconfig: pytest.Config) -> Iterator[RealClusters]:
    clusters = RealClusters(pytestconfig.getoption("--require-cluster"))
    yield clusters
    pytestconfig.stash[USED] = clusters.stop()
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith(("watch-", "supervisor"))]
    assert left == []


def subject_of(name: str, request: pytest.FixtureRequest) -> Iterator[Subject]:
    if name in SIMULATED:
        yield from SIMULATED[name]()
        return
    if not request.config.getoption("--run-clusters", default=False):
        pytest.skip(f"{name}: a real cluster, asked for with --run-clusters")
    cluster = request.getfixturevalue("real_clusters").for_subjects(name)

    def step() -> None:
        cluster.view.pump()

    yield Subject(name, cluster.view, cluster.writer, cluster.evidence, step, str(next(COUNT)), 30.0)


@pytest.fixture(params=[*SIMULATED, *(pytest.param(name, marks=pytest.mark.real_cluster) for name in REAL)])
def cluster(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """A cluster with a namespace of the test's own."""
    subjects = subject_of(request.param, request)
    subject = next(subjects)
    subject.admin.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": subject.namespace}})
    if subject.name in REAL:
        subject.eventually(
            lambda: subject.view.get("ServiceAccount", "default", subject.namespace), "the namespace's service account"
        )
    yield subject
    clean(subject)
    next(subjects, None)


def clean(subject: Subject) -> None:
    """Removes what the test made outside its namespace, and what is in it."""
    admin = subject.admin
    for kind, name in subject.made:
        try:
            admin.patch(kind, name, {"metadata": {"finalizers": None}})
            admin.delete(kind, name)
        except ApiError as error:
            if error.code != 404:
                raise
    admin.delete("Namespace", subject.namespace)


@pytest.fixture(scope="session")
def azure_authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of Azure's certificates, which all runs of `harness attach` share."""
    return tmp_path_factory.mktemp("authority")


@pytest.fixture(
    params=[
        "http",
        pytest.param("apiserver", marks=(pytest.mark.real_cluster, pytest.mark.needs_kube)),
    ]
)
def place(
    request: pytest.FixtureRequest, tmp_path: Path, azure_authority: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    """A user's cluster with a kubeconfig, which is read without the package `kubernetes` where that is not installed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    if request.param == "http":
        with HttpCluster(silent(), crds=crd_set(CRDS), kubernetes=KUBERNETES) as cluster:
            connection = Connection(cluster.server.endpoint())
            user = Place(connection, cluster.server.kubeconfig(), tmp_path, azure_authority)
            if find_spec("kubernetes") is None:
                monkeypatch.setattr("harness.clusters.remote.reached.reach", lambda path, context: user.reached)
            yield user
            connection.close()
        return
    pytest.importorskip("kubernetes")
    if not request.config.getoption("--run-clusters", default=False):
        pytest.skip("apiserver: a real cluster, asked for with --run-clusters")
    real = request.getfixturevalue("real_clusters").get("apiserver")
    World(cluster=attach(real))  # finds it empty
    user = Place(real.admin, real.kubeconfig(), tmp_path, azure_authority)
    yield user
    user.forget()
    World(cluster=attach(real))
