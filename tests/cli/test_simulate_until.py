"""`harness simulate --until`: nodes leave while virtual time passes."""

import json
import re

import pytest

from harness.engine.clock import SECOND, ZERO_TIME, parse, render
from harness.testing import deployment
from harness.world import World
from tests.cli.command import call
from tests.disruption.test_world import NODECLASS, pool


def test_moves_with_their_prices(capsys, tmp_path):
    path = tmp_path / "all.json"
    items = [NODECLASS, pool(expireAfter="3h"), deployment("web", 3)]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    code, out, _ = call(capsys, "simulate", str(path), "--until", "4h", "--format", "json")
    assert code == 0
    found = json.loads(out)["until"]
    (move,) = found["moves"]
    assert (move["reason"], move["decision"], move["replacements"]) == ("Expired", "delete", [])
    assert found["price_before"] == found["price_after"] == -move["price"]


def test_an_hour_without_a_change_ends_it(capsys, tmp_path):
    path = tmp_path / "all.json"
    items = [NODECLASS, pool(), deployment("web", 3)]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    code, out, _ = call(capsys, "simulate", str(path), "--until", "settled", "--format", "json")
    assert code == 0
    assert json.loads(out)["until"]["seconds"] == 7200


def test_a_time_that_is_none(capsys):
    code, _, err = call(capsys, "simulate", "x.yaml", "--until", "soon")
    assert code == 2
    assert err == "harness simulate: --until: a duration such as 72h, or settled, is expected, not 'soon'\n"


def _dump(*extra):
    """A cluster of two Nodes with one pod each, which fit on one: a ReplicaSet keeps its pods apart when it is scaled down."""
    world = World(seed=3)
    world.apply(NODECLASS, pool(expireAfter="720h"), deployment("web", 8))
    world.settle()
    world.advance(3600)
    world.apply({**world.get("Deployment", "web"), "spec": {**world.get("Deployment", "web")["spec"], "replicas": 2}})
    world.engine.settle()
    kinds = ("AKSNodeClass", "NodePool", "NodeClaim", "Node", "Deployment", "ReplicaSet", "Pod")
    return [*(each for kind in kinds for each in world.list(kind)), *extra]


def _until(capsys, tmp_path, items, *options):
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    code, out, _ = call(capsys, "simulate", str(path), *options, "--format", "json")
    assert code == 0
    return json.loads(out)


def test_the_nodes_of_a_dump_take_part(capsys, tmp_path):
    """Each has its machine and its price, and its pods stay on it until Karpenter moves them."""
    items = _dump()
    nodes = {one["metadata"]["name"] for one in items if one["kind"] == "Node"}
    found = _until(capsys, tmp_path, items, "--until", "2h")["until"]
    assert found["price_before"] == 0.48  # D8s_v5 and D2s_v5
    assert found["price_after"] == 0.192
    assert [(move["reason"], move["replacements"]) for move in found["moves"]] == [
        ("Underutilized", ["Standard_D4s_v5"])
    ]
    assert {node.split(" ")[0] for move in found["moves"] for node in move["nodes"]} == nodes
    assert found["without_machine"] == []


def test_nodeclaims_that_are_not_in_the_dump_are_made_from_the_nodes(capsys, tmp_path):
    """By Karpenter's labels."""
    items = [one for one in _dump() if one["kind"] not in ("NodeClaim", "ReplicaSet")]
    found = _until(capsys, tmp_path, items, "--until", "2h")["until"]
    assert (found["price_before"], found["price_after"], len(found["moves"])) == (0.48, 0.192, 1)


def test_nodes_keep_their_age(capsys, tmp_path):
    """What has 719 of its 720 hours behind it expires after one."""
    items = _dump()
    for one in items:
        if one["kind"] == "NodeClaim":
            one["metadata"]["creationTimestamp"] = "2025-12-02T02:00:00Z"
        if one["kind"] == "NodePool":
            one["spec"]["disruption"] = {"consolidateAfter": "Never"}
    found = _until(capsys, tmp_path, items, "--until", "2h")["until"]
    assert {(move["reason"], 3000 < move["at"] < 3700) for move in found["moves"]} == {("Expired", True)}


def test_nodes_of_others_count_and_stay(capsys, tmp_path):
    """A Node of the system pool costs what it costs, and so does the pod on it keep its place."""
    labels = {"node.kubernetes.io/instance-type": "Standard_D4s_v5", "topology.kubernetes.io/zone": "eastus-1"}
    status = {
        "capacity": {"cpu": "4", "memory": "16Gi", "pods": "110"},
        "allocatable": {"cpu": "3800m", "memory": "12Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    system = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "system-1", "labels": labels}, "spec": {}}
    found = _until(capsys, tmp_path, _dump({**system, "status": status}), "--until", "2h")["until"]
    # the web pods fit there, so that both of Karpenter's nodes can go
    assert (found["price_before"], found["price_after"]) == (0.672, 0.192)


def test_a_size_that_azure_has_no_more_is_told(capsys, tmp_path):
    """Its Node is left out, with the reason."""
    fault = "SkuNotAvailable,size=Standard_D8s_v5,times=always"
    found = _until(capsys, tmp_path, _dump(), "--until", "1h", "--fault", fault)["until"]
    (line,) = found["without_machine"]
    assert line.endswith("Azure has no Standard_D8s_v5 for it")


def _static_dump(replicas):
    """Two Nodes of a static NodePool, under names that this world would not give them, and one pod."""
    kept = pool()
    kept["spec"]["replicas"] = 2
    world = World(seed=3, options={"feature_gates": {"StaticCapacity": True}})
    world.apply(NODECLASS, kept, deployment("web", 1))
    world.settle()
    kinds = ("AKSNodeClass", "NodePool", "NodeClaim", "Node", "Deployment", "ReplicaSet", "Pod")
    items = [each for kind in kinds for each in world.list(kind)]
    text = json.dumps(items)
    for number, claim in enumerate(world.list("NodeClaim")):
        text = text.replace(claim["metadata"]["name"], f"default-own{number}")
    items = json.loads(text)
    next(each for each in items if each["kind"] == "NodePool")["spec"]["replicas"] = replicas
    return items


def test_nodes_of_a_static_nodepool_are_there_before_others_are_made(capsys, tmp_path):
    gate = ("--option", "feature-gates=StaticCapacity=true", "--until", "2h")
    for replicas, price in ((2, 2), (3, 3), (1, 1)):
        path = tmp_path / f"dump-{replicas}.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": _static_dump(replicas)}))
        code, out, _ = call(capsys, "simulate", str(path), *gate, "--format", "json")
        assert code == 0, out
        found = json.loads(out)
        names = {each["name"] for each in found["nodes"]}
        assert len(names) == price, names
        assert len({"aks-default-own0", "aks-default-own1"} & names) == min(replicas, 2)
        assert found["until"]["price_after"] == pytest.approx(found["until"]["price_before"] / 2 * price)


def _of_another_year(items, days):
    """The dump as if it had been made so many days earlier."""
    moved = json.dumps(items)
    for text in set(re.findall(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", moved)):
        moved = moved.replace(text, render(parse(text) - days * 86_400 * SECOND)) if text != ZERO_TIME else moved
    return json.loads(moved)


@pytest.mark.parametrize("days", [-364, 42, 728])
def test_a_dump_has_its_own_time(capsys, tmp_path, days):
    """Nodes are as old as they were when it was made, whichever year that was: an hour old, they do not expire after thirty days."""
    found = _until(capsys, tmp_path, _of_another_year(_dump(), days), "--until", "2h")
    assert [move["reason"] for move in found["until"]["moves"]] == ["Underutilized"]


def test_the_calendar_is_the_dumps(capsys, tmp_path):
    """A budget that is closed on the Sunday on which the dump was made opens on Monday."""
    items = _of_another_year(_dump(), 39)
    (nodepool,) = (one for one in items if one["kind"] == "NodePool")
    nodepool["spec"]["disruption"]["budgets"] = [
        {"nodes": "100%"},
        {"nodes": "0", "schedule": "0 0 * * 0", "duration": "24h"},
    ]
    moves = _until(capsys, tmp_path, items, "--until", "26h")["until"]["moves"]
    assert [move["reason"] for move in moves] == ["Underutilized"]
    assert 22 * 3600 < moves[0]["at"] < 24 * 3600


def _with_a_waiting_pod(items):
    """Of the ReplicaSet's two pods one waits."""
    (*_, last) = (number for number, one in enumerate(items) if one["kind"] == "Pod")
    pod = items[last]
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    items[last] = {**pod, "spec": spec, "status": {"phase": "Pending"}}
    return items


@pytest.mark.parametrize("command", ["simulate", "explain"])
def test_where_dump_and_simulation_differ_comes_first(capsys, tmp_path, command):
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": _with_a_waiting_pod(_dump())}))
    line = "dump and simulation differ: 1 pod is pending in the dump and bound here: Deployment/web"
    assert call(capsys, command, str(path))[1].splitlines()[0] == line
    assert json.loads(call(capsys, command, str(path), "--format", "json")[1])["differences"] == [line]


@pytest.mark.parametrize("command", ["simulate", "explain"])
def test_pods_that_run_in_the_dump_and_wait_here_are_named(capsys, tmp_path, command):
    pod = {"metadata": {"name": "big"}, "spec": {"nodeName": "gone", "containers": [{"name": "c", "image": "c"}]}}
    running = {"apiVersion": "v1", "kind": "Pod", **pod, "status": {"phase": "Running"}}
    workload = deployment("big", 1, cpu="900")
    owned = {**running, "metadata": {"name": "big-1", "labels": {"app": "big", "pod-template-hash": "x"}, "ownerReferences": [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "big-x", "uid": "u", "controller": True}]}}  # fmt: skip
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODECLASS, pool(), workload, owned]}))
    line = "dump and simulation differ: 1 pod is bound in the dump and pending here: Deployment/big"
    assert call(capsys, command, str(path))[1].splitlines()[0] == line


def test_without_a_difference_nothing_is_said(capsys, tmp_path):
    assert _until(capsys, tmp_path, _dump())["differences"] == []
