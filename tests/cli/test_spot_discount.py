"""`--spot-discount`: the same what-if in simulate, sweep and compare, and every answer says that it is supposed."""

from __future__ import annotations

import csv
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


CASES = "cases: [{case: usual}, {case: cheap, given: {azure: {spotDiscount: 80%}, region: westus}}]\n"
OWN_MATRIX = "matrix: {less: [70%, 80%], place: [eastus, westus]}\n"


@pytest.mark.parametrize("option", [("--spot-discount", "40%"), ("--regions", "westeurope")])
@pytest.mark.parametrize("axes", [CASES, OWN_MATRIX])
def test_a_sweep_overwrites_nothing_that_tells_cases_apart(
    axes: str, option: tuple[str, str], files: Path, capsys: Output
) -> None:
    given = (
        "given: {manifests: [all.yaml], region: $(place), azure: {spotDiscount: $(less)}}\n"
        if axes == OWN_MATRIX
        else "given: {manifests: [all.yaml]}\n"
    )
    Path("plan.yaml").write_text(f"scenario: s\n{given}{axes}")
    code, _, err = call(capsys, "sweep", "plan.yaml", *option)
    (line,) = err.splitlines()
    assert (code, "is an axis of the command, and cases set it, too" in line) == (2, True)
    assert line.startswith("plan.yaml:")


def test_a_sweep_replaces_what_all_cases_have_in_common(files: Path, capsys: Output) -> None:
    Path("plan.yaml").write_text(
        "scenario: s\ngiven: {manifests: [all.yaml], region: eastus, azure: {spotDiscount: 10%}}\ncases: [{case: usual}]\n"
    )
    call(capsys, "sweep", "plan.yaml", "--spot-discount", "70%", "-o", "rows.csv")
    (row,) = read_table(Path("rows.csv"))
    assert (row["case"], row["spotDiscount"], row["usd_per_hour"]) == ("usual", "70%", round(0.3 * D4S, 6))


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_table_from_before_the_column_was_there_is_read(suffix: str, files: Path, capsys: Output) -> None:
    table = Path(f"rows.{suffix}")
    call(capsys, "sweep", "plan.yaml", "-o", str(table))
    if suffix == "csv":
        rows = [*csv.DictReader(table.read_text().splitlines())]
    else:
        rows = [json.loads(line) for line in table.read_text().splitlines()]
    for row in rows:
        del row["supposed_prices"]
    with table.open("w", newline="") as file:
        if suffix == "csv":
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        else:
            file.writelines(f"{json.dumps(row)}\n" for row in rows)
    assert [row["supposed_prices"] for row in read_table(table)] == [""]
    code, _, err = call(capsys, "sweep", str(table))
    assert (code, err) == (0, "")


STEPS = """\
scenario: s
given: {region: eastus, manifests: [all.yaml], azure: {spotDiscount: 70%}}
when:
- azure: {spotDiscount: STEP}
then:
- cost: {perHour: {above: 0}}
"""


@pytest.mark.parametrize("command", ["run", "validate"])
@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("{spotDiscount: abc}", "when[0].azure.spotDiscount: a percentage from 0% to less than 100% is expected"),
        ("{quota: {nope: 1}}", "when[0].azure.quota.nope: unknown usage 'nope'"),
        ("{faults: [{what: Nonsense, at: noon}]}", "when[0].azure.faults[0]"),
    ],
)
def test_a_step_of_azure_is_judged_when_the_file_is_read(
    step: str, expected: str, command: str, files: Path, capsys: Output
) -> None:
    Path("steps.yaml").write_text(STEPS.replace("{spotDiscount: STEP}", step))
    code, out, err = call(capsys, command, "steps.yaml")
    assert (code, out) == (2, "")
    assert err.startswith("steps.yaml:4:")
    assert expected in err


def test_a_step_of_null_returns_to_the_prices_of_the_list(files: Path, capsys: Output) -> None:
    Path("plain.yaml").write_text(STEPS.replace("- azure: {spotDiscount: STEP}", "- settle").replace("70%", "null"))
    Path("null.yaml").write_text(STEPS.replace("STEP", "null"))
    for name in ("plain", "null"):
        code, _, err = call(capsys, "run", f"{name}.yaml", "--trace", name)
        assert (code, err) == (0, "")
    _, out, _ = call(capsys, "compare", "plain.yaml", "null.yaml", "--format", "json")
    (costs,) = json.loads(out)["costs"]
    assert costs["left"]["usd_per_hour"] == costs["right"]["usd_per_hour"]
