"""`harness reality` on a live cluster: each fact of its Nodes and NodeClaims is in one state, and none is lost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness import testing
from harness.cli import main
from harness.clusters.http.api import Request
from harness.clusters.http.cluster import HttpCluster
from harness.clusters.http.server import ApiServer
from harness.clusters.remote.attaching import attach
from harness.engine.clock import Clock
from harness.karpenter.releases import DEFAULT_RELEASE
from harness.karpenter.validation.crds import crd_set
from harness.world import World
from harness.world.real.binaries import VARIABLE, binaries
from harness.world.real.world import RealWorld
from harness.world.recorder import Recorder
from tests.clusters.conftest import RealClusters
from tests.reality.test_every_fact import STATES, leaves

pytest.importorskip("kubernetes")

REGION = "westeurope"
WORKLOAD = (testing.nodeclass(imageFamily="Ubuntu2204"), testing.nodepool(), testing.deployment("web", 2, "500m", ""))


def kubeconfig(folder: Path, config: Mapping[str, Any], context: str) -> str:
    """Write a kubeconfig whose current context is another one, so that the context has to be named."""
    contexts = [{"name": "elsewhere", "context": config["contexts"][0]["context"]}]
    named = [{**config["contexts"][0], "name": context}]
    path = folder / "config"
    path.write_text(json.dumps({**config, "contexts": [*contexts, *named], "current-context": "elsewhere"}))
    return str(path)


def compared(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["reality", *arguments, "--format", "json"])
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, answer


def present(objects: Mapping[str, Iterable[Mapping[str, Any]]]) -> Counter[tuple[str, str]]:
    """Return the facts that there are in the objects of each kind, counted without the code under test."""
    return Counter(
        (f"{kind}/{obj['metadata']['name']}", field)
        for kind, listed in objects.items()
        for obj in listed
        for field in leaves(json.loads(json.dumps(obj)))
    )


def listed_by_a_client(config: Mapping[str, Any]) -> Mapping[str, Iterable[Mapping[str, Any]]]:
    """Return all Nodes and NodeClaims of a cluster, the Node of its control plane too, as the Kubernetes client has them."""
    from kubernetes import client
    from kubernetes.config import new_client_from_config_dict

    with new_client_from_config_dict(dict(config)) as api:
        nodes = json.loads(client.CoreV1Api(api).list_node(_preload_content=False).data)
        claims = client.CustomObjectsApi(api).list_cluster_custom_object("karpenter.sh", "v1", "nodeclaims")
    return {"Node": nodes["items"], "NodeClaim": claims["items"]}


def require_every_fact(facts: list[dict[str, Any]], there: Counter[tuple[str, str]]) -> None:
    shown = Counter((fact["object"], fact["field"]) for fact in facts)
    assert there - shown == Counter()
    assert max(shown.values()) == 1
    assert {fact["state"] for fact in facts} <= STATES
    assert all(fact["why"] for fact in facts if fact["state"] == "not comparable")
    only_here = [fact for fact in facts if (fact["object"], fact["field"]) not in there]
    assert {fact["theirs"] for fact in only_here} <= {"(absent)"}


@pytest.fixture
def http() -> Iterator[HttpCluster]:
    with HttpCluster(Recorder(Clock()), crds=crd_set(DEFAULT_RELEASE), kubernetes="1.34.0") as cluster:
        world = World(cluster=attach(cluster), region=REGION, kubernetes="1.34.0")
        world.apply(*WORKLOAD)
        world.settle()
        yield cluster


def test_a_context_is_compared_like_a_dump_of_it_and_only_read(
    http: HttpCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    methods: set[str] = set()
    handle = ApiServer.handle

    def noted(self: ApiServer, request: Request) -> Any:
        methods.add(request.method)
        return handle(self, request)

    monkeypatch.setattr(ApiServer, "handle", noted)
    file = kubeconfig(tmp_path, http.server.kubeconfig(), "prod")
    code, live = compared(capsys, "--kubeconfig", file, "--context", "prod")
    require_every_fact(live["facts"], present({kind: http.view.list(kind) for kind in ("Node", "NodeClaim")}))
    assert code == 0
    assert any("read from context prod" in note for note in live["notes"])
    assert methods == {"GET"}
    items = [obj for kind in ("AKSNodeClass", "NodePool", "NodeClaim", "Node") for obj in http.view.list(kind)]
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    _, offline = compared(capsys, str(dump))
    states = [{(fact["object"], fact["field"]): fact["state"] for fact in told["facts"]} for told in (live, offline)]
    assert states[0] == states[1]


@pytest.mark.real_cluster
def test_no_fact_of_a_kind_cluster_with_the_real_controller_is_lost(
    request: pytest.FixtureRequest, azure_authority: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its machines are containers, so facts differ, and rightly; none of them may be lost."""
    if not request.config.getoption("--run-clusters", default=False):
        pytest.skip("kind and the real controller, asked for with --run-clusters")
    if DEFAULT_RELEASE not in binaries():
        pytest.skip(f"{VARIABLE} names no controller of {DEFAULT_RELEASE}")
    clusters: RealClusters = request.getfixturevalue("real_clusters")
    kind = clusters.for_worlds("kind")
    cluster, binary = attach(kind, live=True), binaries()[DEFAULT_RELEASE]
    with RealWorld(binary, azure_authority, region=REGION, kubernetes=kind.version(), cluster=cluster) as world:
        world.apply(*WORKLOAD)
        world.settle()
        assert [node for node in world.list("Node") if "karpenter.sh/nodepool" in node["metadata"]["labels"]]
        config = kind.kubeconfig()
        there = present(listed_by_a_client(config))
        file = kubeconfig(tmp_path, config, "kind-prod")
        _, answer = compared(capsys, "--kubeconfig", file, "--context", "kind-prod", "--region", REGION)
    require_every_fact(answer["facts"], there)
    assert {fact["state"] for fact in answer["facts"]} >= {"equal", "not comparable"}
