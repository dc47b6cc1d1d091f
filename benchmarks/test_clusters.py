"""Object writes per second of the memory cluster beside HTTP and a real API server: one writer, one request after the other.

Wall time, and for what runs in this process alone its CPU time, too.

    KUBEBUILDER_ASSETS=... make bench ARGS='-k writes'
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter, process_time
from typing import Any

import pytest

from harness.clusters.control_plane.pki import MissingTool
from harness.clusters.http.cluster import HttpCluster
from harness.clusters.leases import start
from harness.clusters.memory.cluster import MemoryCluster
from harness.engine.clock import Clock
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN, Writer
from harness.engine.rng import Rng
from harness.karpenter.validation.crds import crd_set
from harness.world.recorder import Recorder

COUNT = 50
CRDS, KUBERNETES = "1.14.0", "1.36.3"
REFERENCE = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
RATES: dict[str, float] = {}


def memory() -> Iterator[Writer]:
    engine, rng = Engine(Clock()), Rng(0)
    yield MemoryCluster(
        engine, rng, Ids(rng), Recorder(engine.clock), crds=crd_set(CRDS), kubernetes=KUBERNETES
    ).writer(ADMIN)


def http() -> Iterator[Writer]:
    with HttpCluster(Recorder(Clock()), crds=crd_set(CRDS), kubernetes=KUBERNETES) as cluster:
        yield cluster.writer(ADMIN)


def apiserver() -> Iterator[Writer]:
    try:
        cluster = start("apiserver")
    except MissingTool as error:
        pytest.skip(str(error))
    try:
        cluster.install(crd_set(CRDS))
        yield cluster.writer(ADMIN)
    finally:
        cluster.stop()


def config(number: int) -> dict[str, Any]:
    meta = {"name": f"c{number}", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"a": "b"}}


def nodepool(number: int) -> dict[str, Any]:
    requirement = {"key": "karpenter.azure.com/sku-family", "operator": "In", "values": ["D", "E"]}
    template = {"spec": {"nodeClassRef": REFERENCE, "requirements": [requirement]}}
    meta = {"name": f"p{number}"}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": meta, "spec": {"template": template}}


def write(writer: Writer, round_: int) -> None:
    """Half plain objects, half NodePools with their rules; each is created, patched and deleted."""
    for number in range(round_ * COUNT, (round_ + 1) * COUNT):
        for made, patch in ((config(number), {"data": {"a": "c"}}), (nodepool(number), {"spec": {"weight": 5}})):
            kind, meta = made["kind"], made["metadata"]
            namespace = meta.get("namespace", "")
            writer.create(made)
            writer.patch(kind, meta["name"], patch, namespace=namespace)
            writer.delete(kind, meta["name"], namespace=namespace)


@pytest.mark.parametrize("make", [memory, http, apiserver], ids=lambda make: make.__name__)
def test_writes(make: Any, capsys: pytest.CaptureFixture[str]) -> None:
    writers = make()
    writer = next(writers)
    write(writer, 0)
    wall, used = [], []
    for round_ in (1, 2, 3):
        begin, started = perf_counter(), process_time()
        write(writer, round_)
        wall.append(perf_counter() - begin)
        used.append(process_time() - started)
    next(writers, None)
    requests = 6 * COUNT
    rate = RATES[make.__name__] = requests / min(wall)
    own = f", {requests / min(used):,.0f} by CPU time" if make is not apiserver else ""
    beside = (
        f"; memory is {RATES['memory'] / rate:.1f} times as fast" if make is not memory and "memory" in RATES else ""
    )
    with capsys.disabled():
        print(f"\n{make.__name__}: {rate:,.0f} object writes/s{own}{beside} (best of 3)")
    assert rate > 0
