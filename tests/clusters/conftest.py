"""The clusters that the contract holds for. `memory` and `http` always run; `--run-clusters` adds the real ones."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator

import pytest

from harness.clusters.http.cluster import HttpCluster
from harness.clusters.memory.cluster import MemoryCluster
from harness.clusters.memory.journal import Entry
from harness.clusters.real.cluster import RealCluster
from harness.clusters.real.pki import MissingTool
from harness.engine.clock import Clock
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import Sink
from harness.engine.rng import Rng
from harness.karpenter.validation.crds import crd_set
from harness.kube.objects import Key
from harness.kube.status import ApiError
from harness.world.recorder import Recorder
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
        return cluster.journal.of(Key("Node", "", node))

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

    def __init__(self) -> None:
        self._started: dict[str, RealCluster] = {}
        self._missing: dict[str, str] = {}

    def get(self, name: str) -> RealCluster:
        if name in self._missing:
            pytest.skip(self._missing[name])
        if name not in self._started:
            try:
                cluster = REAL[name]()
            except MissingTool as error:
                self._missing[name] = f"{name}: {error}"
                pytest.skip(self._missing[name])
            cluster.install(crd_set(CRDS))
            self._started[name] = cluster
        return self._started[name]

    def stop(self) -> None:
        for each in self._started.values():
            each.stop()


@pytest.fixture(scope="session")
def real_clusters() -> Iterator[RealClusters]:
    clusters = RealClusters()
    yield clusters
    clusters.stop()
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith(("watch-", "supervisor"))]
    assert left == []


def subject_of(name: str, request: pytest.FixtureRequest) -> Iterator[Subject]:
    if name in SIMULATED:
        yield from SIMULATED[name]()
        return
    if not request.config.getoption("--run-clusters", default=False):
        pytest.skip(f"{name}: a real cluster, asked for with --run-clusters")
    cluster = request.getfixturevalue("real_clusters").get(name)

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
