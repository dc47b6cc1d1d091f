"""Where no price of a size is known, Karpenter reckons with a figure that stands for one. No reader is told it as money."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cli.moves import moves_until
from harness.explain.traces.story import story
from harness.explain.traces.why import Why
from harness.reports.film import frame_title, frames
from harness.reports.picture.answers import departures
from harness.reports.picture.story import Story
from harness.reports.picture.world import world_value
from harness.scenario.running.runner import Runner
from harness.testing import deployment, nodepool, requirement
from harness.trace import Trace
from harness.trace.facts import Cost, Disruption
from harness.trace.outcome import outcome_of
from harness.trace.prices import saving_text
from harness.world import World
from tests.cli.command import call
from tests.disruption.test_world import MINUTE, NODECLASS, pool, world
from tests.trace.conftest import ROOT, trace_of

LARGE, SMALL = "Standard_D8s_v5", "Standard_D2s_v5"
UNKNOWN = f"what it saves is not known: Karpenter knows no price of {LARGE} and reckons with 999 USD/h"
STAND_IN = re.compile(r"99[89]\.\d")


@pytest.fixture(scope="module")
def unpriced(runner: Runner) -> Trace:
    """A node whose size loses its price while it runs, and is replaced; of 1.14.0."""
    return trace_of(runner, ROOT / "scenarios" / "disruption" / "prices.yaml", 4)


def test_a_decision_says_which_sizes_have_no_price(unpriced: Trace) -> None:
    (fact,) = unpriced.facts_of(Disruption)
    assert fact.unpriced == {LARGE: 999.0}
    assert [node["price"] for node in fact.nodes] == [0.0]  # 0 when unknown
    assert (
        round(fact.savings, 3) == 998.989
    )  # less spot, the cheapest offering of the new size: Karpenter's own figure, as its events and the contract have it


def test_the_card_does_not_tell_a_saving(unpriced: Trace) -> None:
    value = world_value(unpriced.to_json())
    (found,) = value["departures"]
    notes = [f"{unpriced.facts_of(Disruption)[0].nodes[0]['node']}, at 2m5s", UNKNOWN]
    assert found == {"what": "replace for Underutilized", "count": 1, "savings": None, "notes": notes}
    told = {key: value[key] for key in value if key not in ("told", "disruptions")}
    assert not STAND_IN.search(json.dumps(told))


def test_since_when_a_machine_counts_as_nothing(unpriced: Trace) -> None:
    assert [(fact.t, fact.price, fact.unpriced) for fact in unpriced.facts_of(Cost)][1] == (51.3032, 0.0, (LARGE,))
    (text,) = world_value(unpriced.to_json())["unpriced"]
    assert text == f"from 51.3s to 3m6s {LARGE} counts as nothing: no price of it is known"
    lines = Why(unpriced).costs()
    assert lines[1] == f"from 51.3s 0.0000 USD/h for 1 machine, without {LARGE}: no price is known"
    (said,) = [one.text for one in story(unpriced) if one.kind == "cost" and one.t == 51.3032]
    assert said == f"1 machine, 0.0000 USD per hour (no price is known of {LARGE})"


def test_a_film_says_what_its_price_leaves_out(unpriced: Trace) -> None:
    titles = [frame_title(frame) for frame in frames(unpriced)]
    assert any(title.endswith(f", 0.0000 USD per hour without {LARGE}") for title in titles)
    assert titles[-1].endswith(", 0.0960 USD per hour")


def test_what_comes_of_it_has_no_stand_in(unpriced: Trace) -> None:
    told = json.dumps(outcome_of(unpriced)["disruptions"])
    assert UNKNOWN in told
    assert not STAND_IN.search(told)


def fact(**values: Any) -> dict[str, Any]:
    return {"t": 1.0, "fact": "disruption", "decision": "delete", "reason": "Empty", "nodes": [], **values}


def test_what_is_known_is_summed_and_what_was_taken_back_saves_nothing() -> None:
    found = departures(
        Story(
            {},
            {
                "disruption": (
                    fact(savings=0.1),
                    fact(savings=0.2),
                    fact(savings=999.0, unpriced={LARGE: 999.0}),
                    fact(savings=7.0, problem="a replacement failed"),
                )
            },
        )
    )
    assert found == [
        {
            "what": "delete for Empty",
            "count": 4,
            "savings": 0.3,
            "notes": ["1 of them taken back: a replacement failed", f"1 of them {UNKNOWN}"],
        }
    ]


@pytest.mark.parametrize(
    ("savings", "unpriced", "text"),
    [
        (0.288, {}, "saves 0.288 USD/h"),
        (-0.1, {}, "costs 0.1 USD/h more"),
        (998.904, {LARGE: 999.0}, UNKNOWN),
        (
            -0.1,
            {LARGE: 0.0, SMALL: 0.0},
            f"what it saves is not known: Karpenter knows no price of {SMALL} and {LARGE} and reckons with 0 USD/h",
        ),
    ],
)
def test_savings_in_words(savings: float, unpriced: dict[str, float], text: str) -> None:
    assert saving_text(savings, unpriced) == text


def large(**inputs: Any) -> World:
    """A Node that is too large by now, and whose size has no price."""
    of = world(pool(), deployment("big", 4), deployment("small", 1, "500m"), **inputs)
    of.apply(deployment("big", 0))
    of.change_azure({"prices": {LARGE: None}})
    return of


def test_moves_have_no_price_where_none_is_known() -> None:
    of = large()
    moves = moves_until(of, 10 * MINUTE)
    assert [row["price"] for row in moves.rows] == [None]
    lines = list(moves.lines())
    assert lines[2].endswith("not known")
    assert lines[-1] == f"no price is known of {LARGE}: counted as nothing in these sums"
    assert moves.value()["unpriced"] == [LARGE]


NATURAL = "Standard_L16as_v3"
"""A size that spaincentral sells, and that no price list has."""


def of_spain() -> dict[str, Any]:
    return nodepool(
        requirement("node.kubernetes.io/instance-type", NATURAL),
        requirement("karpenter.sh/capacity-type", "on-demand"),
        disruption={"consolidateAfter": "30s", "budgets": [{"nodes": "100%"}]},
    )


def test_why_a_node_goes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    of = world(of_spain(), deployment("big", 4), region="spaincentral")
    of.apply(deployment("big", 0))
    of.settle()
    of.advance(31)
    path = tmp_path / "dump.yaml"
    kinds = ("NodePool", "AKSNodeClass", "Node", "NodeClaim", "Deployment", "ReplicaSet")
    path.write_text(yaml.safe_dump_all([each for kind in kinds for each in of.list(kind)]))
    (node,) = of.list("Node")
    code, out, _ = call(capsys, "explain", str(path), "--region", "spaincentral", "--node", node["metadata"]["name"])
    assert code == 0
    assert f"({NATURAL}, spaincentral-" in out
    assert "on-demand, no known price (Karpenter reckons with 999 USD/h)) of NodePool default" in out
    assert out.endswith(
        f", what it saves is not known: Karpenter knows no price of {NATURAL} and reckons with 999 USD/h\n"
    )


def test_sizes_of_a_nodepool(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "pool.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODECLASS, of_spain()]}))
    _, out, _ = call(capsys, "explain", str(path), "--region", "spaincentral")
    assert f"{NATURAL} without a known price" in out
    assert "999" not in out
    _, out, _ = call(capsys, "explain", str(path), "--region", "spaincentral", "--size", NATURAL)
    assert "spaincentral-1 on-demand no known price (Karpenter reckons with 999 USD/h): " in out
    _, out, _ = call(capsys, "explain", str(path), "--region", "spaincentral", "--format", "json")
    assert json.loads(out)["nodepools"][0]["sizes"] == [{"size": NATURAL, "price": None}]


@pytest.mark.parametrize("capacity_type", ["on-demand", "spot"])
def test_a_list_that_says_0_knows_no_price(capacity_type: str) -> None:
    assert World(region="spaincentral").price(NATURAL, capacity_type).usd is None
