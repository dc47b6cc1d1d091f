"""`harness explain --node` answers about a node of a dump, pods bound as they are."""

import json

import pytest
import yaml

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
    assert f"It can go: Underutilized, replace: [{node}] -> [1 replacement], saves 0.288 USD/h" in out


def test_what_is_in_the_way_as_json(capsys, dump):
    path, node = dump(shrunk({"consolidateAfter": "Never"}))
    code, out, _ = call(capsys, "explain", path, "--node", node, "--format", "json")
    assert code == 1
    found = json.loads(out)
    assert found["blocked"] == ['NodePool "default" has consolidation disabled']
    assert found["others"] == ["it is not empty: 1 pod has to move", "it has not drifted"]


def test_a_node_that_is_not_there(capsys, dump):
    path, node = dump(shrunk())
    code, _, err = call(capsys, "explain", path, "--node", f"{node}x")
    assert code == 2
    assert err == f"harness explain: there is no Node {node}x; did you mean '{node}'?\n"
