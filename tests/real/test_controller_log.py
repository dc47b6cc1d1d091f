"""What the log of a real controller tells of nodes that go, in the forms that its releases have, as the simulated loop records it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from harness.engine.disruptions import EXPIRED, UNHEALTHY, Disruption
from harness.karpenter.instancetypes import MISSING_PRICE
from harness.kube.api.objects import name_of, spec_of, status_of
from harness.testing import deployment, nodeclass, nodepool
from harness.world import World
from harness.world.real.controller_log import LoggedDecisions, log_line
from harness.world.recorder import LogLine
from tests.project.tree import ROOT

REAL = Path(__file__).with_name("real-disruptions.jsonl")
"""What a real controller of 1.14.0 said, in four runs, of nodes that go; in order."""


def said(run: str) -> list[LogLine]:
    lines = [json.loads(text) for text in REAL.read_text(encoding="utf-8").splitlines()]
    own = [one["line"] for one in lines if one["run"] == run]
    return [log_line(float(number), line) for number, line in enumerate(own)]


def decisions(lines: Iterable[LogLine], world: World | None = None, price: float | None = 0.096) -> list[Disruption]:
    found: list[Disruption] = []
    decided = LoggedDecisions((world or World()).view, lambda size, kind: price, found)
    for each in lines:
        decided.read(each)
    return found


@pytest.fixture
def world() -> World:
    """With one node."""
    world = World()
    world.apply(nodeclass(), nodepool(), deployment())
    world.settle()
    return world


def line(message: str, **values: Any) -> LogLine:
    return LogLine(60.0, "info", "disruption", message, values)


def going(world: World, **values: Any) -> LogLine:
    """The only node of this world is disrupted."""
    names = {
        "Node": {"name": name_of(world.list("Node")[0])},
        "NodeClaim": {"name": name_of(world.list("NodeClaim")[0])},
    }
    own = {"decision": "replace", "disrupted-nodes": [names], "replacement-node-count": 1, "reconcileID": "7"}
    return line("disrupting node(s)", **own, **values)


COMMAND = (
    "Underutilized/1b2e0c3a-8a0c-4f0e-9d0e-5b7e3a1c2d4f: replace: nodepools=[default]: [aks-default-a] -> [1 replacement] "
    "(savings: $0.10)"
)


@pytest.mark.parametrize(
    ("values", "savings"),
    [({"command": COMMAND}, 0.1), ({"command-id": "1b2e0c3a", "reason": "underutilized"}, 0.0)],
    ids=["core 1.10", "core 1.6"],
)
@pytest.mark.parametrize("first", ["the decision", "its replacement"])
def test_nodes_that_go(world: World, values: dict[str, Any], savings: float, first: str) -> None:
    lines = [
        going(world, **values),
        line("created nodeclaim", NodeClaim={"name": "default-b"}, reconcileID="7"),
        line("created nodeclaim", NodeClaim={"name": "default-c"}, reconcileID="8"),
    ]
    (found,) = decisions(lines if first == "the decision" else reversed(lines), world)
    (node,), (claim,) = world.list("Node"), world.list("NodeClaim")
    assert (found.at, found.decision, found.reason, found.savings) == (60.0, "replace", "Underutilized", savings)
    assert found.replacements == ("default-b",)
    (gone,) = found.nodes
    assert (gone.node, gone.nodeclaim, gone.nodepool, gone.price) == (name_of(node), name_of(claim), "default", 0.096)
    assert gone.labels == node["metadata"]["labels"]
    assert (found.ended, found.problem, found.unpriced) == (None, "", {})


def test_a_size_without_a_price(world: World) -> None:
    (found,) = decisions([going(world, command=COMMAND)], world, price=None)
    (node,) = world.list("Node")
    assert found.unpriced == {node["metadata"]["labels"]["node.kubernetes.io/instance-type"]: MISSING_PRICE}
    assert found.nodes[0].price == 0.0


def test_drift_has_the_reason_of_the_nodeclaim(world: World) -> None:
    changed = nodepool(labels={"turn": "1"})
    world.apply(changed)
    world.advance(9)
    (claim,) = world.list("NodeClaim")
    assert {each["reason"] for each in status_of(claim)["conditions"] if each["type"] == "Drifted"} == {
        "NodePoolDrifted"
    }
    command = COMMAND.replace("Underutilized", "Drifted")
    assert [one.drift for one in decisions([going(world, command=command), going(world, command=COMMAND)], world)] == [
        "NodePoolDrifted",
        "",
    ]


@pytest.mark.parametrize(
    ("message", "reason"), [("deleting expired nodeclaim", EXPIRED), ("deleting unhealthy node", UNHEALTHY)]
)
def test_nodes_that_go_without_a_command(world: World, message: str, reason: str) -> None:
    (node,), (claim,) = world.list("Node"), world.list("NodeClaim")
    assert spec_of(node)["providerID"] == status_of(claim)["providerID"]
    named = {"NodeClaim": {"name": name_of(claim)}} if reason == EXPIRED else {"Node": {"name": name_of(node)}}
    (found,) = decisions([line(message, **named)], world)
    assert (found.reason, found.decision, found.ended) == (reason, "delete", 60.0)
    assert [(each.node, each.nodeclaim) for each in found.nodes] == [(name_of(node), name_of(claim))]


def test_commands_that_are_begun_side_by_side(world: World) -> None:
    made = [line("created nodeclaim", NodeClaim={"name": f"default-{name}"}, reconcileID="7") for name in "bc"]
    decided = going(world, command=COMMAND)
    first, second = decisions([decided, made[0], decided, made[1]], world)
    assert (first.replacements, second.replacements) == (("default-b",), ("default-c",))
    first, second = decisions([decided, decided, *made], world)
    assert (first.replacements, second.replacements) == (("default-b",), ("default-c",))


@pytest.mark.parametrize("error", ["launching replacement nodeclaim, no", "marking disrupted, no", "something else"])
def test_a_command_that_was_told_and_never_begun(world: World, error: str) -> None:
    failed = LogLine(
        60.1, "error", "disruption", "Reconciler error", {"reconcileID": "7", "error": f"disrupting, {error}"}
    )
    found = decisions([going(world, command=COMMAND), failed], world)
    assert len(found) == (error == "something else")


DELETED = 'replacement was deleted, NodeClaim.karpenter.sh "default-d8kqd" not found'


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ("empty", ("default-whdzc", "delete", "Empty", (), 0.1, "")),
        ("replace", ("default-92gk4", "replace", "Underutilized", ("default-d8kqd",), 0.29, "")),
        ("drift", ("default-whdzc", "replace", "Drifted", ("default-l6hmz",), 0.0, "")),
        ("fail", ("default-92gk4", "replace", "Underutilized", ("default-d8kqd",), 0.29, DELETED)),
    ],
)
def test_what_a_real_controller_says_of_nodes_that_go(run: str, told: tuple[Any, ...]) -> None:
    lines = said(run)
    begun = next(line.at for line in lines if line.message == "disrupting node(s)")
    (found,) = decisions(lines)
    (node,) = found.nodes
    assert node.node == f"aks-{node.nodeclaim}"
    words = (found.decision, found.reason, found.replacements, found.savings, found.problem)
    assert (node.nodeclaim, *words) == told
    assert found.at == begun
    assert found.ended is not None
    assert found.ended > begun


def test_the_queue_of_one_command_does_not_end_another() -> None:
    lines = said("empty")
    other = [
        LogLine(each.at, each.level, each.controller, each.message, {**each.values, "disrupted-nodes": []})
        for each in lines
    ]
    unended = [line for line in lines if line.message != "command succeeded"]
    (found,) = decisions([*unended, *(line for line in other if line.message == "command succeeded")])
    assert (found.ended, found.problem) == (None, "")


def test_the_simulated_queue_says_the_same_of_a_replacement_that_is_gone() -> None:
    (failed,) = decisions(said("fail"))
    text = (ROOT / "scenarios" / "disruption" / "queue.yaml").read_text(encoding="utf-8")
    (wanted,) = re.findall(r"takenBack: \{matches: '(replacement was deleted.*?)'\}", text)
    assert re.search(wanted, failed.problem)


def test_a_line_about_a_call_of_azure_has_its_message() -> None:
    found = log_line(2.0, {"time": "x", "level": "info", "msg": "finished call", "method": "PUT virtualmachines"})
    assert (found.message, found.values) == ("finished call", {"method": "PUT virtualmachines"})
    assert log_line(2.0, {"level": "INFO", "message": "launched", "msg": "m"}).values == {"msg": "m"}
