"""One suite for every kind of cluster: a cluster is a View, a Writer per identity, and a way to let its controllers run."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from harness.clusters.memory.cluster import MemoryCluster
from harness.engine.clock import Clock
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN, Identity, View, Writer
from harness.engine.rng import Rng
from harness.karpenter.validation.crds import crd_set
from harness.world.recorder import Recorder


@dataclass
class Cluster:
    """What the suite needs. `advances` tells whether the cluster's clock can be moved."""

    view: View
    writer: Callable[[Identity], Writer]
    settle: Callable[[], object]
    advance: Callable[[float], object]
    advances: bool
    engine: Engine
    recorder: Recorder

    @property
    def admin(self) -> Writer:
        return self.writer(ADMIN)


def memory_cluster(kubernetes: str = "1.35.0", seed: int = 0) -> Cluster:
    rng = Rng(seed)
    engine = Engine(Clock())
    recorder = Recorder(engine.clock)
    memory = MemoryCluster(engine, rng, Ids(rng), recorder, crds=crd_set("1.14.0"), kubernetes=kubernetes)
    return Cluster(memory.view, memory.writer, engine.settle, engine.advance, True, engine, recorder)


@pytest.fixture(params=["memory"])
def cluster(request: pytest.FixtureRequest) -> Cluster:
    return {"memory": memory_cluster}[request.param]()
