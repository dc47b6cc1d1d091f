"""The HTTP cluster under clients that were written for real API servers; and what it refuses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.clusters.client.connection import Connection
from harness.clusters.http.cluster import HttpCluster
from harness.engine.clock import Clock
from harness.engine.ports import ADMIN
from harness.karpenter.validation.crds import crd_set
from harness.kube.api.status import ApiError
from harness.world.recorder import Recorder

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
REFERENCE = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
POOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "default"},
    "spec": {"template": {"spec": {"nodeClassRef": REFERENCE, "requirements": []}}},
}


@pytest.fixture
def http() -> Iterator[HttpCluster]:
    with HttpCluster(Recorder(Clock()), crds=crd_set("1.14.0"), kubernetes="1.36.3") as cluster:
        yield cluster


def raw(http: HttpCluster, *arguments: Any, **keywords: Any) -> Any:
    connection = Connection(http.server.endpoint())
    try:
        return connection.request(*arguments, **keywords)
    finally:
        connection.close()


REFUSED = [
    (
        "GET",
        "/api/v1/namespaces/default/pods/web/log",
        404,
        "the server could not find the requested resource (pods/log)",
    ),
    (
        "GET",
        "/apis/example.com/v1/things",
        404,
        "the server could not find the requested resource (/apis/example.com/v1/things)",
    ),
    ("POST", "/api/v1/nodes/n", 405, "the server does not allow POST on /api/v1/nodes/n"),
    ("GET", "/api/v1/pods?fieldSelector=spec.hostname%3Dx", 400, "field label not supported: spec.hostname"),
    ("DELETE", "/api/v1/nodes/n?dryRun=Some", 400, 'dryRun: Unsupported value: "Some": supported values: "All"'),
]


@pytest.mark.parametrize(("method", "path", "code", "message"), REFUSED, ids=[row[1] for row in REFUSED])
def test_what_is_not_there_is_refused_clearly(
    http: HttpCluster, method: str, path: str, code: int, message: str
) -> None:
    with pytest.raises(ApiError) as caught:
        raw(http, method, path, body={} if method == "POST" else None)
    assert (caught.value.code, caught.value.message) == (code, message)


def test_server_side_apply_is_refused(http: HttpCluster) -> None:
    with pytest.raises(ApiError) as caught:
        raw(http, "PATCH", "/api/v1/nodes/n", body={}, content_type="application/apply-patch+yaml")
    assert caught.value.code == 415


def test_lists_come_in_pages(http: HttpCluster) -> None:
    for number in range(5):
        http.writer(ADMIN).create({**POD, "metadata": {"name": f"p{number}"}})
    names, token = [], ""
    for _ in range(3):
        query = {"limit": "2", **({"continue": token} if token else {})}
        page = raw(http, "GET", "/api/v1/namespaces/default/pods", query=query)
        names += [each["metadata"]["name"] for each in page["items"]]
        token = page["metadata"].get("continue", "")
    assert (names, token) == ([f"p{number}" for number in range(5)], "")


def test_the_kubernetes_package(http: HttpCluster) -> None:
    kubernetes = pytest.importorskip("kubernetes", reason="the kubernetes package is not installed")
    configuration = kubernetes.client.Configuration()
    kubernetes.config.load_kube_config_from_dict(http.server.kubeconfig(), client_configuration=configuration)
    with kubernetes.client.ApiClient(configuration) as api:
        core, custom = kubernetes.client.CoreV1Api(api), kubernetes.client.CustomObjectsApi(api)
        core.create_node(NODE)
        core.create_namespaced_pod("default", POD)
        assert core.read_namespaced_pod("web", "default").spec.node_name == "n"
        pool = custom.create_cluster_custom_object("karpenter.sh", "v1", "nodepools", POOL)
        assert pool["metadata"]["generation"] == 1
        bad = json.loads(json.dumps(POOL))
        bad["metadata"]["name"] = "bad"
        bad["spec"]["template"]["metadata"] = {"labels": {"kubernetes.azure.com/foo": "x"}}
        with pytest.raises(kubernetes.client.ApiException) as caught:
            custom.create_cluster_custom_object("karpenter.sh", "v1", "nodepools", bad)
        assert caught.value.status == 422
        assert 'label domain "kubernetes.azure.com" is restricted' in json.loads(caught.value.body)["message"]
        events = kubernetes.watch.Watch().stream(core.list_namespaced_pod, "default", timeout_seconds=1)
        assert [(event["type"], event["object"].metadata.name) for event in events] == [("ADDED", "web")]
        core.delete_namespaced_pod("web", "default", grace_period_seconds=0)
        assert core.list_namespaced_pod("default").items == []


@pytest.fixture
def kubectl(http: HttpCluster, tmp_path: Path) -> Callable[..., str]:
    found = shutil.which("kubectl", path=os.environ.get("KUBEBUILDER_ASSETS", "") + os.pathsep + os.environ["PATH"])
    if found is None:
        pytest.skip("kubectl is neither in KUBEBUILDER_ASSETS nor in PATH")
    config = tmp_path / "kubeconfig"
    config.write_text(json.dumps(http.server.kubeconfig()))
    environment = {"KUBECONFIG": str(config), "HOME": str(tmp_path), "PATH": os.environ["PATH"]}

    def run(*arguments: str, stdin: str = "", fails: bool = False) -> str:
        done = subprocess.run(
            [found, *arguments], input=stdin, env=environment, capture_output=True, text=True, check=False
        )
        assert bool(done.returncode) is fails, done.stderr
        return done.stderr if fails else done.stdout

    return run


def test_kubectl(http: HttpCluster, kubectl: Callable[..., str]) -> None:
    manifests = "\n".join(map(json.dumps, (NODE, POD, POOL)))  # kubectl 1.32 reads no "---" between JSON
    assert kubectl("apply", "-f", "-", stdin=manifests).splitlines() == [
        "node/n created",
        "pod/web created",
        "nodepool.karpenter.sh/default created",
    ]
    again = kubectl("apply", "-f", "-", stdin=manifests)
    assert "nodepool.karpenter.sh/default unchanged" in again
    kubectl("wait", "--for=condition=PodScheduled", "pod/web", "--timeout=5s")
    assert "labeled" in kubectl("label", "pod", "web", "tier=1")
    assert kubectl("get", "pods", "-l", "tier=1", "-o", "name") == "pod/web\n"
    assert "patched" in kubectl("patch", "nodepool", "default", "--type=merge", "-p", '{"spec": {"weight": 3}}')
    refused = kubectl("patch", "nodepool", "default", "--type=merge", "-p", '{"spec": {"weight": 0}}', fails=True)
    assert "spec.weight in body should be greater than or equal to 1" in refused
    kubectl("delete", "pod", "web", "--grace-period=0", "--force", "--timeout=5s")
    assert "NotFound" in kubectl("get", "pod", "web", fails=True)


def test_get_client_of_a_kind_container(http: HttpCluster) -> None:
    """Its kubeconfig is all that a client of the `kubernetes` package is made from."""
    client = pytest.importorskip("kubernetes.client")
    container = pytest.importorskip("harness.clusters.kind.container")
    http.writer(ADMIN).create(NODE)

    class Started(container.KindContainer):  # type: ignore[misc,name-defined]
        def __init__(self) -> None: ...

        def __del__(self) -> None: ...

        def kubeconfig(self, *, inside: bool = False) -> dict[str, Any]:
            return http.server.kubeconfig()

    with_client = Started().get_client()
    assert [node.metadata.name for node in client.CoreV1Api(with_client).list_node().items] == ["n"]
    with_client.close()
