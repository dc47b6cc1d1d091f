"""`harness upgrade-check --to-kubernetes`: which nodes an upgrade of the control plane replaces, when, and what it costs meanwhile."""

import json
from itertools import pairwise

from harness.world import World
from tests.cli.command import call
from tests.disruption.test_world import NODECLASS, deployment, pool

KINDS = ("AKSNodeClass", "NodePool", "NodeClaim", "Node", "Deployment", "ReplicaSet", "Pod")


def _dump(tmp_path, **disruption):
    """A cluster of four Nodes on Kubernetes 1.33.5."""
    world = World(seed=3, kubernetes="1.33.5")
    world.apply(NODECLASS, pool({"consolidateAfter": "1m", **disruption}), deployment("web", 24))
    world.settle()
    path = tmp_path / "dump.json"
    items = [each for kind in KINDS for each in world.list(kind)]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path), {node["metadata"]["name"] for node in world.list("Node")}


def _check(capsys, path, *options):
    found = call(capsys, "upgrade-check", "--from", "1.14.0", "--to", "1.14.0", path, *options)
    return found if "--format" not in options else (found[0], json.loads(found[1])["rollout"], found[2])


def test_one_after_the_other_as_the_budget_allows(capsys, tmp_path):
    path, nodes = _dump(tmp_path, budgets=[{"nodes": "1"}])
    code, found, _ = _check(capsys, path, "--to-kubernetes", "1.34.2", "--format", "json")
    assert code == 0
    moves = found["moves"]
    assert {move["nodes"][0].split(" ")[0] for move in moves} == nodes
    assert {move["reason"] for move in moves} == {"Drifted (K8sVersionDrift)"}
    times = [move["at"] for move in moves]
    # the version is read anew after a quarter of an hour; then a node a minute
    assert 600 < times[0] <= 1200
    assert all(second - first >= 50 for first, second in pairwise(times))
    assert found["price_before"] == found["price_after"] == 1.344
    assert found["price_most"] == 1.728
    assert 0 < found["extra_usd"] < 0.1


def test_a_larger_budget_costs_more_meanwhile(capsys, tmp_path):
    path, _ = _dump(tmp_path, budgets=[{"nodes": "100%"}])
    _, found, _ = _check(capsys, path, "--to-kubernetes", "1.34.2", "--format", "json")
    assert found["price_most"] > 1.728


def test_as_a_table(capsys, tmp_path):
    path, _ = _dump(tmp_path)
    code, out, _ = _check(capsys, path, "--to-kubernetes", "1.34.2", "--until", "30m")
    assert code == 0
    assert "Kubernetes 1.33.5 → 1.34.2 on provider 1.14.0\n30m later: 4 moves" in out
    assert "meanwhile" in out.splitlines()[-1]


def test_what_is_no_upgrade(capsys, tmp_path):
    path, _ = _dump(tmp_path)
    for options, text in (
        (("--to-kubernetes", "1.33.5"), "--to-kubernetes: 1.33.5 is not later than 1.33.5, which the cluster runs"),
        (("--to-kubernetes", "new"), "--to-kubernetes: a version such as 1.35.2 is expected, not 'new'"),
        (
            ("--to-kubernetes", "1.34.2", "--until", "soon"),
            "--until: a duration such as 72h, or settled, is expected, not 'soon'",
        ),
    ):
        code, _, err = _check(capsys, path, *options)
        assert (code, err) == (2, f"harness upgrade-check: {text}\n")
