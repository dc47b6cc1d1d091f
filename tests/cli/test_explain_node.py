"""`harness explain --node` answers about a node of a dump, pods bound as they are."""

import json
from pathlib import Path

import pytest
import yaml

from harness.engine.ports import ADMIN
from harness.testing import deployment
from tests.cli.command import call
from tests.disruption.test_world import pool, world


@pytest.fixture
def dump(tmp_path):
    def write(of):
        kinds = (
            "NodePool",
            "AKSNodeClass",
            "Node",
            "NodeClaim",
            "Pod",
            "PodDisruptionBudget",
            "Deployment",
            "ReplicaSet",
        )
        path = tmp_path / "dump.yaml"
        path.write_text(yaml.safe_dump_all([each for kind in kinds for each in of.list(kind)]))
        return str(path), of.list("Node")[0]["metadata"]["name"]

    return write


def shrunk(disruption=None):
    of = world(pool(disruption), deployment("big", 4), deployment("small", 1, "500m"))
    of.apply(deployment("big", 0))
    of.settle()
    of.advance(25)
    return of


def test_a_node_that_can_go(capsys, dump):
    path, node = dump(shrunk())
    code, out, _ = call(capsys, "explain", path, "--node", node)
    assert code == 0
    assert (
        f"It can go: Underutilized, replace: [{node}] -> [1 replacement], saves 0.37344 USD/h" in out
    )  # core counts spot, too


def test_what_is_in_the_way_as_json(capsys, dump):
    path, node = dump(shrunk({"consolidateAfter": "Never"}))
    code, out, _ = call(capsys, "explain", path, "--node", node, "--format", "json")
    assert code == 1
    found = json.loads(out)
    assert found["blocked"] == ['NodePool "default" has consolidation disabled']
    assert found["others"] == ["it is not empty: 1 pod has to move", "it has not drifted"]


def static(replicas=2, **spec):
    """A world with a NodePool that keeps up a number of nodes, and one pod."""
    kept = pool()
    kept["spec"] |= {"replicas": replicas, **spec}
    return world(kept, deployment("web", 1), options={"feature_gates": {"StaticCapacity": True}})


def test_a_node_of_a_static_nodepool_stays_whether_it_is_empty_or_not(capsys, dump):
    of = static()
    of.advance(600)
    path, node = dump(of)
    code, out, _ = call(capsys, "explain", path, "--node", node)
    assert code == 1
    assert 'It stays: NodePool "default" keeps up a number of nodes (2 replicas), which are never consolidated' in out
    assert "consolidateAfter" not in out


def test_a_drifted_node_of_a_static_nodepool(capsys, dump):
    of = static(disruption={"consolidateAfter": "Never", "budgets": [{"nodes": "0"}]})

    def told(**spec):
        of.cluster.writer(ADMIN).patch("NodePool", "default", {"spec": spec})
        path, node = dump(of)
        return node, *call(capsys, "explain", path, "--node", node)[:2]

    _, code, out = told(template={"metadata": {"labels": {"team": "blue"}}})
    of.settle()
    _, code, out = told()
    assert code == 1
    assert "No allowed disruptions for disruption reason Drifted due to blocking budget" in out
    node, code, out = told(disruption={"budgets": [{"nodes": "1"}]})
    assert code == 0
    assert f"It can go: Drifted, replace: [{node}] -> [1 replacement]" in out
    _, code, out = told(limits={"nodes": "2"})
    assert code == 1
    assert 'NodePool "default" has 2 NodeClaims, and its limit of 2 nodes leaves no room for a replacement' in out


def test_a_node_that_is_not_there(capsys, dump):
    path, node = dump(shrunk())
    code, _, err = call(capsys, "explain", path, "--node", f"{node}x")
    assert code == 2
    assert err == f"harness explain: there is no Node {node}x; did you mean '{node}'?\n"


def test_a_hand_written_nodeclaim_without_its_age(capsys, dump, tmp_path):
    path, node = dump(shrunk())
    objects = list(yaml.safe_load_all(Path(path).read_text()))
    for one in objects:
        if one["kind"] == "NodeClaim":
            del one["metadata"]["creationTimestamp"]
    (tmp_path / "dump.yaml").write_text(yaml.safe_dump_all(objects))
    code, out, _ = call(capsys, "explain", path, "--node", node)
    assert code == 0
    assert "It can go: Underutilized" in out


@pytest.mark.parametrize(
    ("kind", "path", "value", "said"),
    [
        ("NodeClaim", ("spec", "expireAfter"), "soon", "crd-schema: NodeClaim/"),
        ("NodeClaim", ("status", "conditions"), [None], "status.conditions[0]: a map is expected"),
        ("NodeClaim", ("status",), "up", "status: a map is expected"),
        (
            "Node",
            ("metadata", "creationTimestamp"),
            "then",
            "a moment is expected, as 2026-03-01T10:00:00Z, not 'then'",
        ),
        ("Pod", ("status", "startTime"), "then", "a moment is expected"),
    ],
)
def test_what_no_cluster_says(capsys, dump, tmp_path, kind, path, value, said):
    file, node = dump(shrunk())
    objects = list(yaml.safe_load_all(Path(file).read_text()))
    changed = next(one for one in objects if one["kind"] == kind)
    for name in path[:-1]:
        changed = changed[name]
    changed[path[-1]] = value
    (tmp_path / "dump.yaml").write_text(yaml.safe_dump_all(objects))
    code, out, err = call(capsys, "explain", file, "--node", node)
    assert (code, out) == (2, "")
    assert err.startswith(f"{file}:")
    assert said in err.splitlines()[0]


def test_a_heartbeat_is_the_latest_moment(capsys, dump, tmp_path):
    """A quiet cluster changes nothing for days, and budgets have hours."""
    file, node = dump(shrunk())
    objects = list(yaml.safe_load_all(Path(file).read_text()))
    for one in objects:
        if one["kind"] == "Node":
            one["status"]["conditions"][0]["lastHeartbeatTime"] = "2026-01-03T09:00:00Z"
    (tmp_path / "dump.yaml").write_text(yaml.safe_dump_all(objects))
    assert ", at 2026-01-03T09:00:00Z\n" in call(capsys, "explain", file, "--node", node)[1]


def test_what_the_answer_is_based_on(capsys, dump):
    path, node = dump(shrunk())
    head, *more = call(capsys, "explain", path, "--node", node)[1].splitlines()
    assert head == "eastus, provider 1.14.0"
    assert any(line.startswith("assumed: ") for line in more)


def test_a_pod_by_the_name_that_it_has_in_the_cluster(capsys, dump):
    """Its controller makes it anew under another name, and nobody knows that one."""
    path, _ = dump(shrunk())
    pod = next(one["metadata"]["name"] for one in yaml.safe_load_all(Path(path).read_text()) if one["kind"] == "Pod")
    code, out, err = call(capsys, "explain", path, "--pod", pod)
    assert (code, err) == (0, "")
    assert f"Pod {pod} is made anew by Deployment small, as all its pods are" in out
    assert "Deployment/small, 1 pod: bound on Node" in out


def test_a_node_or_a_pod_of_the_name(capsys, dump):
    """What kubectl's plugin asks where it is told no kind."""
    path, node = dump(shrunk())
    assert f"\nNode {node} (" in call(capsys, "explain", path, "--about", f"default/{node}")[1]
    assert call(capsys, "explain", path, "--about", "zorg")[2].startswith("harness explain: there is no pod zorg")


def test_warnings_about_its_nodepool_stand_below(capsys, dump):
    path, node = dump(shrunk({"budgets": [{"nodes": "0"}]}))
    _, out, _ = call(capsys, "explain", path, "--node", node, "--format", "json")
    codes = {one["code"] for one in json.loads(out)["warnings"]}
    assert "budget-never" in codes
    _, text, _ = call(capsys, "explain", path, "--node", node)
    assert all(f"warning {code}: NodePool/default: " in text for code in codes)
    _, text, _ = call(capsys, "explain", path, "--node", node, "--allow", ",".join(codes))
    assert "warning " not in text
