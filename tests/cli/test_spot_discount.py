"""`--spot-discount`: the same what-if in simulate, sweep and compare, and every answer says that it is supposed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from harness.reports.picture.sweep import sweep_value
from harness.sweep.summary import summary_lines
from harness.sweep.table import read_table
from harness.testing import deployment, nodeclass, nodepool, requirement
from tests.cli.command import call

Output = pytest.CaptureFixture[str]
SUPPOSED = "supposed: spot costs 70% less than on demand"
D4S = 0.192
"""USD per hour of Standard_D4s_v5 in eastus on demand, by the provider's static table."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A NodePool of Standard_D4s_v5 on spot, a Deployment, and a plan of both."""
    monkeypatch.chdir(tmp_path)
    pool = nodepool(
        requirement("karpenter.sh/capacity-type", "spot"),
        requirement("node.kubernetes.io/instance-type", "Standard_D4s_v5"),
    )
    Path("all.yaml").write_text(yaml.safe_dump_all([nodeclass(), pool, deployment("web", replicas=2)]))
    Path("plan.yaml").write_text(
        "scenario: how dear may spot become?\ngiven: {manifests: [all.yaml], region: eastus}\n"
    )
    return tmp_path


def test_simulate_supposes_it_and_says_so(files: Path, capsys: Output) -> None:
    _, out, _ = call(capsys, "simulate", "all.yaml", "--spot-discount", "70%", "--html", "page.html")
    assert SUPPOSED in out.splitlines()
    assert f"{0.3 * D4S:.4f} USD per hour" in out
    assert "guessed: no list" not in out
    assert SUPPOSED in Path("page.html").read_text()
    value = json.loads(call(capsys, "simulate", "all.yaml", "--spot-discount", "70%", "--format", "json")[1])
    assert (value["spot_discount"], value["price_per_hour"]) == ("70%", round(0.3 * D4S, 6))


def test_sweep_has_it_as_an_axis_and_each_row_says_so(files: Path, capsys: Output) -> None:
    _, out, _ = call(
        capsys, "sweep", "plan.yaml", "--spot-discount", "70%,10%", "-o", "rows.csv", "--html", "page.html"
    )
    assert f"{SUPPOSED}, in 1 of 2" in out.splitlines()
    rows = read_table(Path("rows.csv"))
    assert [(row["spotDiscount"], row["usd_per_hour"], row["guessed_prices"]) for row in rows] == [
        ("70%", round(0.3 * D4S, 6), ""),
        ("10%", round(0.9 * D4S, 6), ""),
    ]
    assert rows[0]["supposed_prices"] == SUPPOSED
    assert SUPPOSED in Path("page.html").read_text()


def test_a_plan_that_supposes_it_by_itself_says_so_too(files: Path, capsys: Output) -> None:
    plan = Path("plan.yaml").read_text().replace("region: eastus", "region: eastus, azure: {spotDiscount: 70%}")
    Path("plan.yaml").write_text(plan)
    _, out, _ = call(capsys, "sweep", "plan.yaml", "-o", "rows.csv")
    assert SUPPOSED in out.splitlines()
    rows = read_table(Path("rows.csv"))
    assert SUPPOSED in [*summary_lines((), rows, over_time=False)]
    assert sweep_value("", (), rows, over_time=False)["columns"]["supposed_prices"]["texts"] == [SUPPOSED]


def test_compare_takes_one_for_each_side(files: Path, capsys: Output) -> None:
    _, out, _ = call(capsys, "compare", "all.yaml", "--spot-discount", "70%,10%")
    assert f"{0.3 * D4S:.4f} → {0.9 * D4S:.4f}" in out
    Path("case.yaml").write_text(f"{Path('plan.yaml').read_text()}then: [{{cost: {{perHour: {{above: 0}}}}}}]\n")
    _, out, _ = call(capsys, "compare", "case.yaml", "--spot-discount", "70%,10%")
    assert f"{0.3 * D4S:.4f} → {0.9 * D4S:.4f}" in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("simulate", "all.yaml", "--spot-discount", "70"), "not '70'"),
        (("explain", "all.yaml", "--spot-discount", "x"), "not 'x'"),
        (("sweep", "plan.yaml", "--spot-discount", "70%,100%"), "not '100%'"),
        (("sweep", "plan.yaml", "--spot-discount", "70%,70%"), "stands there more than once"),
        (("compare", "all.yaml", "--spot-discount", "70%,1"), "not '1'"),
        (("compare", "all.yaml", "--spot-discount", "70%"), "one file, and nothing that differs"),
    ],
)
def test_what_is_no_discount_is_a_mistake(words: tuple[str, ...], expected: str, files: Path, capsys: Output) -> None:
    code, _, err = call(capsys, *words)
    assert code == 2
    assert expected in err
    assert "--spot-discount" in err
