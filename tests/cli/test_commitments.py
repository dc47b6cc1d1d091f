"""What reservations and savings plans would cost stands beside the price on demand where the region's list has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from harness.testing import deployment, nodeclass, nodepool, requirement
from harness.world import World
from harness.world.costs.commitments import commitments_of
from harness.world.costs.prices import commitments
from tests.cli.command import call

ON_DEMAND = requirement("karpenter.sh/capacity-type", "on-demand")
SIZE = requirement("node.kubernetes.io/instance-type", "Standard_B16s_v2")
B16S = (0.768, {"1 Year": 0.4530821918, "3 Years": 0.2918569254}, {"1 Year": 0.58368, "3 Years": 0.40704})
"""Standard_B16s_v2 in the recorded price file of polandcentral, 2026-01-26: on demand, reserved, savings plans."""


def test_simulate_says_what_the_same_machines_cost_reserved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(
        yaml.safe_dump_all([nodeclass(), nodepool(ON_DEMAND, SIZE), deployment("web", cpu="9", replicas=2)])
    )
    _, out, _ = call(capsys, "simulate", str(path), "--region", "polandcentral")
    usd, reserved, savings = B16S
    month = [f"{2 * 730 * one:,.2f}" for one in (usd, *reserved.values(), *savings.values())]
    assert (
        f"on demand {month[0]} USD per month of it; the same machines reserved {month[1]} for 1 year, {month[2]} for 3 years; "
        f"with a savings plan {month[3]} for 1 year, {month[4]} for 3 years\n"
    ) in out
    assert "(managed OS disks of machines launched here: 2 × 128 GB Premium_LRS)" in out
    value = json.loads(call(capsys, "simulate", str(path), "--region", "polandcentral", "--format", "json")[1])["cost"]
    assert value["usd_per_hour"] == pytest.approx(2 * usd)
    year = value["commitments"]["reserved"]["1 Year"]
    assert year == {"usd_per_hour": pytest.approx(2 * reserved["1 Year"], abs=1e-6), "without": 0}
    assert value["commitments"]["on_demand"] == {"usd_per_hour": pytest.approx(2 * usd)}
    assert value["os_disks"] == [{"count": 2, "gb": 128, "sku": "Premium_LRS"}]


def test_where_the_list_has_none_nothing_is_made_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(yaml.safe_dump_all([nodeclass(), nodepool(ON_DEMAND, SIZE), deployment("web", cpu="9")]))
    _, out, _ = call(capsys, "simulate", str(path), "--region", "westeurope")
    assert "reserved" not in out
    value = json.loads(call(capsys, "simulate", str(path), "--region", "westeurope", "--format", "json")[1])["cost"]
    assert value["commitments"] is None


def test_spot_is_not_reserved_and_a_size_without_such_a_price_counts_on_demand() -> None:
    from harness.world.costs.commitments import committed

    market = World(region="polandcentral").cloud.market
    fleet = committed(market, "polandcentral", [("Standard_B16s_v2", B16S[0]), ("Standard_X1_v9", 1.0)])
    assert fleet is not None
    assert (fleet.machines, fleet.on_demand) == (2, 1.768)
    assert fleet.reserved["1 Year"].usd == pytest.approx(1 + B16S[1]["1 Year"])
    assert {total.without for total in (*fleet.reserved.values(), *fleet.savings.values())} == {1}
    world = World(region="polandcentral")
    world.apply(
        nodeclass(), nodepool(requirement("karpenter.sh/capacity-type", "spot"), SIZE), deployment("web", cpu="9")
    )
    world.settle()
    assert commitments(world) is None


def test_machines_without_just_one_kind_or_term_are_counted_for_it_alone() -> None:
    """Of polandcentral the list has no savings plan for Standard_D2s_v3, and no three years for Standard_M192is_v2."""
    from harness.world.costs.commitments import committed

    market = World(region="polandcentral").cloud.market
    sizes = [("Standard_B16s_v2", B16S[0]), ("Standard_D2s_v3", 0.12), ("Standard_M192is_v2", 20.0)]
    fleet = committed(market, "polandcentral", sizes)
    assert fleet is not None
    assert {term: total.without for term, total in fleet.reserved.items()} == {"1 Year": 0, "3 Years": 1}
    savings = {
        size for size, usd in sizes if (one := commitments_of(market, "polandcentral", size, usd)) and one.savings
    }
    assert "Standard_D2s_v3" not in savings
    assert {total.without for total in fleet.savings.values()} == {len(sizes) - len(savings)}


def test_the_answer_says_what_counts_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "all.yaml"
    other = nodepool(ON_DEMAND, requirement("node.kubernetes.io/instance-type", "Standard_D2s_v3"), name="old")
    other["spec"]["template"]["spec"]["taints"] = [{"key": "old", "effect": "NoSchedule"}]
    job = deployment("job", cpu="1")
    job["spec"]["template"]["spec"]["tolerations"] = [{"key": "old", "operator": "Exists"}]
    job["spec"]["template"]["spec"]["nodeSelector"] = {"karpenter.sh/nodepool": "old"}
    alone = [nodeclass(), other, job]
    path.write_text(yaml.safe_dump_all(alone))
    _, out, _ = call(capsys, "simulate", str(path), "--region", "polandcentral")
    assert "; no price with a savings plan is known\n" in out
    path.write_text(yaml.safe_dump_all([*alone, nodepool(ON_DEMAND, SIZE), deployment("web", cpu="9")]))
    _, out, _ = call(capsys, "simulate", str(path), "--region", "polandcentral")
    assert (
        "for 1 year (1 of 2 machines at the price on demand, for want of this one)" in out.partition("savings plan")[2]
    )
    assert "for want" not in out.partition("; with a savings plan")[0]


def test_rows_of_a_world_have_their_own_terms_and_a_declared_price_has_none() -> None:
    row = {
        "productName": "Virtual Machines Dsv5 Series",
        "armSkuName": "Standard_D4s_v5",
        "skuName": "Standard_D4s_v5",
        "meterName": "D4s v5",
    }
    year = {**row, "retailPrice": 876.0, "reservationTerm": "1 Year"}
    plan = {**row, "retailPrice": 0.2, "savingsPlan": [{"term": "3 Years", "retailPrice": 0.09}]}
    market = World(azure={"prices": [plan, year]}).cloud.market
    found = commitments_of(market, "eastus", "Standard_D4s_v5", 0.2)
    assert found is not None
    assert (found.reserved, found.savings) == ({"1 Year": 0.1}, {"3 Years": 0.09})
    declared = World(region="polandcentral", azure={"prices": {"Standard_B16s_v2": 1.0}}).cloud.market
    assert commitments_of(declared, "polandcentral", "Standard_B16s_v2", 1.0) is None


def test_requirements_have_them(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, "requirements", "--size", "Standard_B16s_v2", "--region", "polandcentral")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "reserved 0.4531 for 1 year, 0.2919 for 3 years" in lines
    assert "with a savings plan 0.5837 for 1 year, 0.4070 for 3 years" in lines
