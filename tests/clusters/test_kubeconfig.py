"""A user's own cluster, read through their kubeconfig: the same answers as for a dump of it, and nothing is written."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import testing
from harness.cli import main
from harness.clusters.apiserver.cluster import ApiServerCluster
from harness.clusters.http.api import Answer, Request
from harness.clusters.http.cluster import HttpCluster
from harness.clusters.http.server import ApiServer
from harness.clusters.kubeconfig import READ, KubeconfigError, LiveCluster
from harness.clusters.remote.attaching import attach
from harness.engine.clock import Clock, parse
from harness.engine.ports import ADMIN
from harness.karpenter.validation.crds import crd_set
from harness.world import World
from harness.world.recorder import Recorder
from tests.clusters.conftest import RealClusters

pytest.importorskip("kubernetes")

Output = pytest.CaptureFixture[str]
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "name": "aks-system-1",
        "labels": {
            "topology.kubernetes.io/region": "westeurope",
            "node.kubernetes.io/instance-type": "Standard_D2s_v5",
        },
    },
    "status": {
        "allocatable": {"cpu": "1", "memory": "4Gi", "pods": "30"},
        "capacity": {"cpu": "2", "memory": "8Gi", "pods": "30"},
        "conditions": [{"type": "Ready", "status": "True"}],
        "nodeInfo": {"kubeletVersion": "v1.33.2"},
    },
}
NODECLASS = {
    "apiVersion": "karpenter.azure.com/v1beta1",
    "kind": "AKSNodeClass",
    "metadata": {"name": "default"},
    "spec": {},
}
POOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "default"},
    "spec": {
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}],
            }
        }
    },
}
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s", "namespace": "default"},
    "data": {"password": "aHVudGVyMg=="},
}


def deployment(replicas: int, **selector: str) -> dict[str, Any]:
    return testing.deployment("web", replicas, "500m", "", nodeSelector=selector)


OBJECTS = (NODECLASS, POOL, SECRET, NODE, deployment(4))


@pytest.fixture
def http() -> Iterator[HttpCluster]:
    with HttpCluster(Recorder(Clock()), crds=crd_set("1.14.0"), kubernetes="1.33.2") as cluster:
        for obj in OBJECTS:
            cluster.writer(ADMIN).create(obj)
        yield cluster


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Every request that a server got since."""
    found: list[Request] = []
    handle = ApiServer.handle

    def noted(self: ApiServer, request: Request) -> Any:
        found.append(request)
        return handle(self, request)

    monkeypatch.setattr(ApiServer, "handle", noted)
    return found


def kubeconfig(folder: Path, config: dict[str, Any], **user: Any) -> str:
    """Writes a kubeconfig, whose user is another one if `user` says something."""
    path = folder / "config"
    path.write_text(json.dumps({**config, "users": [{"name": "admin", "user": user}]} if user else config))
    return str(path)


def call(capsys: Output, *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    return (code, *capsys.readouterr())


@pytest.mark.parametrize("command", ["simulate", "explain"])
def test_a_live_cluster_is_read_and_left_as_it_is(
    http: HttpCluster, asked: list[Request], tmp_path: Path, capsys: Output, command: str
) -> None:
    file = kubeconfig(tmp_path, http.server.kubeconfig())
    code, out, err = call(capsys, command, "--kubeconfig", file, "-v")
    assert (code, err) == (0, "")
    differ, head, read, *_ = out.splitlines()
    assert differ.startswith("dump and simulation differ: 2 pods are pending in the dump and bound here")
    assert head == "westeurope, provider 1.14.0"
    assert "region westeurope (http/Node/aks-system-1:" in read
    assert "Kubernetes 1.33.2 (http/Node/aks-system-1:" in read
    assert re.search(r"\nread from context http: \d+ objects \((?:\w+ \d+, )*NodePool 1(?:, \w+ \d+)*\)\n", out)
    assert "aks-system-1" in out
    assert "NodePool default" in out
    assert {request.method for request in asked} == {"GET"}
    assert not [request.path for request in asked if "secrets" in request.path]


def test_the_same_answer_as_for_a_dump(http: HttpCluster, tmp_path: Path, capsys: Output) -> None:
    file = kubeconfig(tmp_path, http.server.kubeconfig())
    cluster = LiveCluster(Path(file))
    (tmp_path / "dump.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": list(cluster.objects())})
    )
    cluster.close()
    live = json.loads(call(capsys, "simulate", "--kubeconfig", file, "--format", "json")[1])
    dump = json.loads(call(capsys, "simulate", str(tmp_path / "dump.json"), "--format", "json")[1])
    for different in ("read", "live"):
        live.pop(different, None), dump.pop(different, None)
    assert live == dump
    assert (live["pods"], live["prices"]["existing_nodes"]) == ({"bound": 4, "pending": 0}, 1)


def test_an_answer_is_shown_again_when_it_is_another_one(
    http: HttpCluster, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = kubeconfig(tmp_path, http.server.kubeconfig())
    turns: list[float] = []

    def sleep(seconds: float) -> None:
        turns.append(seconds)
        if len(turns) == 2:
            http.writer(ADMIN).create({**LONELY, "metadata": {"name": "lonely", "namespace": "default"}})
        if len(turns) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr("harness.cli.repeating.time.sleep", sleep)
    code, out, _ = call(capsys, "explain", "--kubeconfig", file, "--watch", "3s")
    assert code == 0
    assert turns == [3.0] * 4
    assert len(re.findall(r"^at \d\d:\d\d:\d\d$", out, re.MULTILINE)) == 2
    first, _, second = out.partition("\n\nat ")
    assert "lonely" not in first
    assert "Pod/lonely: pending" in second
    said = "harness explain: --watch is for a live cluster: --context NAME\n"
    assert call(capsys, "explain", "pools.yaml", "--watch") == (2, "", said)


def test_a_file_beside_it_changes_an_object(http: HttpCluster, tmp_path: Path, capsys: Output) -> None:
    file = kubeconfig(tmp_path, http.server.kubeconfig())
    (tmp_path / "web.json").write_text(json.dumps(deployment(6)))
    value = json.loads(
        call(
            capsys,
            "simulate",
            str(tmp_path / "web.json"),
            "--context",
            "http",
            "--kubeconfig",
            file,
            "--format",
            "json",
        )[1]
    )
    assert value["pods"] == {"bound": 6, "pending": 0}


def test_a_plugin_gives_the_token(
    http: HttpCluster, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As kubelogin does for AKS."""
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "of-a-plugin"},
    }
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": ["-c", f"print('{json.dumps(credential)}')"],
        "interactiveMode": "Never",
    }
    import urllib3

    sent: list[str] = []
    request = urllib3.PoolManager.request

    def noted(self: Any, method: str, url: str, *arguments: Any, **keywords: Any) -> Any:
        sent.append({name.lower(): value for name, value in keywords["headers"].items()}["authorization"])
        return request(self, method, url, *arguments, **keywords)

    monkeypatch.setattr(urllib3.PoolManager, "request", noted)
    file = kubeconfig(tmp_path, http.server.kubeconfig(), exec=plugin)
    assert call(capsys, "simulate", "--kubeconfig", file)[0] == 0
    assert set(sent) == {"Bearer of-a-plugin"}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Method and address of every request that this process sends."""
    import urllib3

    found: list[tuple[str, str]] = []
    request = urllib3.PoolManager.request

    def noted(self: Any, method: str, url: str, *arguments: Any, **keywords: Any) -> Any:
        found.append((method, url))
        return request(self, method, url, *arguments, **keywords)

    monkeypatch.setattr(urllib3.PoolManager, "request", noted)
    return found


def may_list(cluster: ApiServerCluster, user: str) -> None:
    """Lets a user list everything."""
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    named = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": user}}
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["list"]}]
    cluster.admin.request("POST", f"{rbac}/clusterroles", body={**named, "kind": "ClusterRole", "rules": rules})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user}
    subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]
    body = {**named, "kind": "ClusterRoleBinding", "roleRef": reference, "subjects": subjects}
    cluster.admin.request("POST", f"{rbac}/clusterrolebindings", body=body)


def test_a_user_who_acts_as_another_one(http: HttpCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """client-go's `as`, which the package does not know: what that one may not read is not read."""
    import urllib3

    sent: list[Any] = []
    request = urllib3.PoolManager.request

    def noted(self: Any, *arguments: Any, **keywords: Any) -> Any:
        sent.append(keywords["headers"])
        return request(self, *arguments, **keywords)

    monkeypatch.setattr(urllib3.PoolManager, "request", noted)
    other = {"as": "system:serviceaccount:shop:reader", "as-groups": ["a", "b"], "as-user-extra": {"why": ["x"]}}
    cluster = LiveCluster(Path(kubeconfig(tmp_path, http.server.kubeconfig(), **other)))
    assert list(cluster.objects())
    cluster.close()
    assert all(headers["Impersonate-User"] == "system:serviceaccount:shop:reader" for headers in sent)
    assert sent[0].getlist("Impersonate-Group") == ["a", "b"]
    assert sent[0]["Impersonate-Extra-why"] == "x"


def test_when_it_was_read(http: HttpCluster, tmp_path: Path) -> None:
    """By the cluster's clock: budgets have hours, and `consolidateAfter` is over at some moment."""
    cluster = LiveCluster(Path(kubeconfig(tmp_path, http.server.kubeconfig())))
    assert cluster.moment == ""
    assert list(cluster.objects())
    cluster.close()
    assert parse(cluster.moment) > 0


def test_pages(http: HttpCluster, asked: list[Request], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.clusters.kubeconfig._PAGE", 3)
    cluster = LiveCluster(Path(kubeconfig(tmp_path, http.server.kubeconfig())))
    pods = [one["metadata"]["name"] for one in cluster.objects() if one["kind"] == "Pod"]
    cluster.close()
    assert len(pods) == len(set(pods)) == 4
    assert len([request for request in asked if request.path == "/api/v1/pods"]) == 2


def test_what_may_not_be_read_is_named(
    http: HttpCluster, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = ApiServer.handle

    def guarded(self: ApiServer, request: Request) -> Any:
        if request.path.endswith(("/poddisruptionbudgets", "/jobs")):
            return Answer(403, {"kind": "Status", "code": 403, "reason": "Forbidden"})
        return Answer(404, {"kind": "Status"}) if "nodeoverlays" in request.path else handle(self, request)

    monkeypatch.setattr(ApiServer, "handle", guarded)
    code, out, _ = call(capsys, "simulate", "--kubeconfig", kubeconfig(tmp_path, http.server.kubeconfig()))
    assert code == 0
    assert "\nnot read, because context http may not: Job, PodDisruptionBudget\n" in out


def test_mistakes(http: HttpCluster, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    file = kubeconfig(tmp_path, http.server.kubeconfig())
    wrong = {
        ("--kubeconfig", file, "--context", "htpp"): f"{file}: there is no context htpp; did you mean 'http'?",
        ("--kubeconfig", f"{tmp_path}/absent"): f"{tmp_path}/absent: Invalid kube-config file. No configuration found.",
    }
    for given, said in wrong.items():
        code, out, err = call(capsys, "explain", *given)
        assert (code, out, err) == (2, "", f"harness explain: --kubeconfig: {said}\n")
    assert call(capsys, "explain") == (
        2,
        "",
        "harness explain: FILE is expected, or --context NAME for a live cluster\n",
    )
    (tmp_path / "config").write_text("clusters: [")
    code, out, err = call(capsys, "simulate", "--kubeconfig", file)
    assert (code, out, err.count("\n")) == (2, "", 1)
    kubeconfig(tmp_path, http.server.kubeconfig())
    http.server.stop()
    code, out, err = call(capsys, "simulate", "--kubeconfig", file)
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert err.startswith("harness simulate: --kubeconfig: context http does not answer: ")
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    lacks = "reading a cluster needs the package kubernetes: pip install 'karpenter-azure-harness[clusters]'"
    assert call(capsys, "simulate", "--context", "http") == (3, "", f"harness simulate: --context: {lacks}\n")


def test_kinds() -> None:
    assert "Pod" in READ
    assert "NodePool" in READ
    assert {"NodeClaim", "CSINode"} <= set(READ)  # whether Karpenter made a Node, and how many disks it takes
    assert not {"Secret", "ServiceAccount", "Lease"} & set(READ)


@pytest.fixture
def real(request: pytest.FixtureRequest) -> ApiServerCluster:
    if not request.config.getoption("--run-clusters", default=False):
        pytest.skip("a real API server, asked for with --run-clusters")
    clusters: RealClusters = request.getfixturevalue("real_clusters")
    cluster = clusters.for_worlds("apiserver")
    assert isinstance(cluster, ApiServerCluster)
    return cluster


@pytest.mark.real_cluster
def test_a_real_api_server(real: ApiServerCluster, tmp_path: Path, capsys: Output) -> None:
    admin = real.writer(ADMIN)
    pool = {**POOL, "metadata": {"name": "live"}}
    admin.create(pool)
    try:
        file = kubeconfig(tmp_path, real.kubeconfig())
        context = real.kubeconfig()["current-context"]
        (tmp_path / "web.json").write_text(json.dumps(deployment(2)))
        code, out, err = call(capsys, "simulate", "--kubeconfig", file, str(tmp_path / "web.json"))
        assert err == ""
        assert code == 0
        assert f"\nread from context {context}: " in out
        assert "NodePool live" in out
    finally:
        admin.delete("NodePool", "live")
    with pytest.raises(KubeconfigError, match="there is no context"):
        LiveCluster(Path(file), "other")


LONELY = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "acme-lonely", "namespace": "acme-shop"},
    "spec": {
        "nodeSelector": {"acme.example/rack": "acme-9"},
        "containers": [{"name": "acme", "image": "acme.example/x", "env": [{"name": "TOKEN", "value": "acme-s3cret"}]}],
    },
}


@pytest.mark.real_cluster
def test_a_real_cluster_captured_shrunk_and_explained(
    real: ApiServerCluster, tmp_path: Path, capsys: Output, sent: list[tuple[str, str]]
) -> None:
    """What Karpenter made is there: NodeClaims, Nodes, bound pods; a user who may list, and nothing else, is enough."""
    world = World(kubernetes=real.version(), cluster=attach(real), region="westeurope")
    world.apply(NODECLASS, {**POOL, "metadata": {"name": "acme-pool"}}, deployment(3), LONELY)
    world.settle()
    (node,) = (one["metadata"]["name"] for one in world.list("Node"))
    pod = next(one["metadata"]["name"] for one in world.list("Pod") if one["metadata"]["name"].startswith("web-"))
    may_list(real, "acme-reader")
    certificate = real.kubeconfig()["users"][0]["user"]
    file = kubeconfig(
        tmp_path, {**real.kubeconfig(), "users": [{"name": "user", "user": {**certificate, "as": "acme-reader"}}]}
    )

    code, out, _ = call(capsys, "explain", "--kubeconfig", file, "--node", node)
    assert code == 1
    assert "Node isn't managed by karpenter" not in out
    assert "it is not empty: 3 pods have to move" in out
    assert "Deployment/web, 3 pods: bound" in call(capsys, "explain", "--kubeconfig", file, "--about", pod)[1]
    case, small = tmp_path / "case.yaml", tmp_path / "small.yaml"
    for question in ((), ("--keep-placement",), ("--node", node), ("--pod", "acme-shop/acme-lonely")):
        assert call(capsys, "capture", "--kubeconfig", file, "--anonymise", *question, "-o", str(case))[::2] == (0, "")
        assert not [word for word in ("acme", "s3cret", node) if word in case.read_text()]
        assert call(capsys, "run", str(case))[0] == 0
    assert call(capsys, "shrink", str(case), "--keep", "pending", "-o", str(small))[0] == 0
    assert len(small.read_text()) < 1024
    assert call(capsys, "run", str(small))[0] == 0

    assert sent
    assert {method for method, _ in sent} == {"GET"}
    assert not [url for _, url in sent if "secrets" in url]
