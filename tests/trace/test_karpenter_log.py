"""What the log of a real controller tells, in the forms that its releases have, as facts beside those of the simulated loop."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness.trace.facts import ClaimState, Condition, NodeState
from harness.trace.karpenter_log import logged_disruptions, logged_refusals
from harness.world.real.world import _log_line
from harness.world.recorder import LogLine
from tests.project.tree import ROOT

NODES = (
    NodeState(
        40.0, "aks-default-a", "created", "default-a", "default", "Standard_D4s_v5", "eastus-1", "on-demand", 0.192
    ),
)
CLAIMS = (ClaimState(1.0, "default-a", "created", "default"),)


def line(message: str, at: float = 60.0, controller: str = "disruption", **values: Any) -> LogLine:
    return LogLine(at, "info", controller, message, {name.replace("_", "-"): value for name, value in values.items()})


GOING = {
    "decision": "replace",
    "disrupted_node_count": 1,
    "disrupted_nodes": [
        {
            "Node": {"name": "aks-default-a"},
            "NodeClaim": {"name": "default-a"},
            "capacity-type": "on-demand",
            "instance-type": "Standard_D4s_v5",
        }
    ],
}
COMMAND = (
    "Underutilized/1b2e0c3a-8a0c-4f0e-9d0e-5b7e3a1c2d4f: replace: nodepools=[default]: [aks-default-a] -> [1 replacement] "
    "(savings: $0.10)"
)


@pytest.mark.parametrize(
    ("values", "savings"),
    [({"command": COMMAND}, 0.1), ({"command_id": "1b2e0c3a", "reason": "underutilized"}, 0.0)],
    ids=["core 1.10", "core 1.6"],
)
def test_nodes_that_go(values: dict[str, Any], savings: float) -> None:
    lines = [
        LogLine(
            60.0, "info", "disruption", "disrupting node(s)", {**line("", **GOING, **values).values, "reconcileID": "7"}
        ),
        LogLine(
            60.1, "info", "disruption", "created nodeclaim", {"NodeClaim": {"name": "default-b"}, "reconcileID": "7"}
        ),
        LogLine(
            61.0, "info", "provisioner", "created nodeclaim", {"NodeClaim": {"name": "default-c"}, "reconcileID": "8"}
        ),
    ]
    (found,) = logged_disruptions(lines, NODES, CLAIMS)
    assert found.to_json() == {
        "t": 60.0,
        "fact": "disruption",
        "nodes": ({"node": "aks-default-a", "claim": "default-a", "nodepool": "default", "price": 0.192},),
        "decision": "replace",
        "reason": "Underutilized",
        "replacements": ("default-b",),
        "savings": savings,
    }


REAL = Path(__file__).with_name("real-disruptions.jsonl")
"""What a real controller of 1.14.0 said, in four runs, of nodes that go; in order."""


def said(run: str) -> list[LogLine]:
    lines = [json.loads(text) for text in REAL.read_text(encoding="utf-8").splitlines()]
    own = [one["line"] for one in lines if one["run"] == run]
    return [_log_line(float(number), line) for number, line in enumerate(own)]


DELETED = 'replacement was deleted, NodeClaim.karpenter.sh "default-d8kqd" not found'


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ("empty", ("default-whdzc", "delete", "Empty", (), 0.1, "", "")),
        ("replace", ("default-92gk4", "replace", "Underutilized", ("default-d8kqd",), 0.29, "", "")),
        ("drift", ("default-whdzc", "replace", "Drifted", ("default-l6hmz",), 0.0, "NodePoolDrifted", "")),
        ("fail", ("default-92gk4", "replace", "Underutilized", ("default-d8kqd",), 0.29, "", DELETED)),
    ],
)
def test_what_a_real_controller_says_of_nodes_that_go(run: str, told: tuple[Any, ...]) -> None:
    lines = said(run)
    begun = next(line.at for line in lines if line.message == "disrupting node(s)")
    drifted = Condition(0.5, "NodeClaim/default-whdzc", "Drifted", "True", "NodePoolDrifted")
    (found,) = logged_disruptions(lines, (), (), [drifted])
    (node,) = found.nodes
    assert node["node"] == f"aks-{node['claim']}"
    words = (found.decision, found.reason, found.replacements, found.savings, found.drift, found.problem)
    assert (node["claim"], *words) == told
    assert found.t == begun
    assert found.ended is not None
    assert found.ended > begun


def test_the_queue_of_one_command_does_not_end_another() -> None:
    lines = said("empty")
    other = [
        LogLine(each.at, each.level, each.controller, each.message, {**each.values, "disrupted-nodes": []})
        for each in lines
    ]
    unended = [line for line in lines if line.message != "command succeeded"]
    (found,) = logged_disruptions([*unended, *(line for line in other if line.message == "command succeeded")], (), ())
    assert (found.ended, found.problem) == (None, "")


def test_the_simulated_queue_says_the_same_of_a_replacement_that_is_gone() -> None:
    (failed,) = logged_disruptions(said("fail"), (), ())
    text = (ROOT / "scenarios" / "disruption" / "queue.yaml").read_text(encoding="utf-8")
    (wanted,) = re.findall(r"takenBack: \{matches: '(replacement was deleted.*?)'\}", text)
    assert re.search(wanted, failed.problem)


def test_launches_that_failed_and_nodepools_that_nothing_fits() -> None:
    error = "creating nodeclaim, creating instance failed, creating nodeclaim, the requested SKU is unavailable"
    lines = [
        line(
            "Reconciler error",
            5.9,
            "nodeclaim.lifecycle",
            NodeClaim={"name": "default-a"},
            error=f"launching nodeclaim, {error}",
        ),
        line("Reconciler error", 6.0, "nodeclass.status", AKSNodeClass={"name": "default"}, error="conflict"),
        line(
            "skipping, nodepool requirements filtered out all instance types",
            7.0,
            "provisioner",
            NodePool={"name": "default"},
        ),
    ]
    assert [(one.t, one.object, one.layer, one.text) for one in logged_refusals(lines)] == [
        (5.9, "NodeClaim/default-a", "launch", error),
        (7.0, "NodePool/default", "nodepool-filter", "nodepool requirements filtered out all instance types"),
    ]


def test_a_line_about_a_call_of_azure_has_its_message() -> None:
    found = _log_line(2.0, {"time": "x", "level": "info", "msg": "finished call", "method": "PUT virtualmachines"})
    assert (found.message, found.values) == ("finished call", {"method": "PUT virtualmachines"})
    assert _log_line(2.0, {"level": "INFO", "message": "launched", "msg": "m"}).values == {"msg": "m"}
