"""`harness sweep`: a plan in, a row for each situation out; stopped and resumed, by one process or several."""

import csv
import json
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest

from benchmarks.sweep import WHOLE, scaling
from harness.cli import main
from harness.karpenter.releases import provider
from harness.sweep import dask, engines
from harness.sweep.engines import batches, failed_rows, run_batch
from harness.sweep.plan import read_plan
from harness.sweep.result import KEY, OUTCOME
from harness.sweep.table import Store, read_table
from harness.world.caches import ListsInUse
from tests.reports.test_picture import data_of
from tests.sweep.test_simulate import POOL, WEB

PLAN = f"""scenario: which is cheapest
given: {{region: eastus}}
matrix: {{karpenter: [1.6.5, 1.14.0]}}
cases:
- case: as it is
- case: no spot
  given: {{azure: {{quota: {{lowPriorityCores: 0}}}}}}
---
{POOL}---
{WEB}"""


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_for_each_situation(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "rows.csv"]) == 0
    found = rows(plan.parent / "rows.csv")
    assert [(row["case"], row["karpenter"]) for row in found] == [
        ("as it is", "1.6.5"),
        ("as it is", "1.14.0"),
        ("no spot", "1.6.5"),
        ("no spot", "1.14.0"),
    ]
    assert list(found[0]) == ["case", "karpenter", *OUTCOME, KEY]
    assert [row["spot_nodes"] != "0" for row in found] == [True, True, False, False]
    assert all(row["pending"] == "0" and row["error"] == "" for row in found)
    out = capsys.readouterr().out
    assert "cheapest of 4 in which every pod has its place" in out
    assert "4 rows in rows.csv" in out
    assert not (plan.parent / "rows.csv.part").exists()


def test_several_processes_give_the_same_rows(plan: Path) -> None:
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "one.csv"]) == 0
    assert main(["sweep", "plan.yaml", "-n", "2", "-o", "two.csv"]) == 0
    assert (plan.parent / "one.csv").read_bytes() == (plan.parent / "two.csv").read_bytes()


def test_what_is_known_is_not_run_again(
    plan: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def stopping(batch: engines.Batch) -> Any:
        if ran:
            raise KeyboardInterrupt
        found = run_batch(batch)
        ran.extend(key for key, _ in found)
        return found

    monkeypatch.setattr(engines, "run_batch", stopping)
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "rows.csv"]) == 130
    assert len(ran) == 2
    assert (
        "interrupted after 2 of 4; rows.csv.part keeps what is known: the same command goes on"
        in capsys.readouterr().err
    )
    assert not (plan.parent / "rows.csv").exists()
    part = plan.parent / "rows.csv.part"
    part.write_text(part.read_text() + '["half a li')  # killed while it wrote

    again: list[str] = []

    def counting(batch: engines.Batch) -> Any:
        again.extend(each.key for each in batch.planned)
        return run_batch(batch)

    monkeypatch.setattr(engines, "run_batch", counting)
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "rows.csv"]) == 0
    assert len(again) == 2
    assert not set(again) & set(ran)
    assert "4 situations, 2 ran in" in capsys.readouterr().out
    resumed = (plan.parent / "rows.csv").read_bytes()
    monkeypatch.undo()
    assert main(["sweep", str(plan), "-n", "1", "-o", str(plan.parent / "whole.csv")]) == 0
    assert (plan.parent / "whole.csv").read_bytes() == resumed


def test_a_situation_that_cannot_be_run_is_a_row(
    plan: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(*manifests: object, situation: Any, caches: object) -> Any:
        raise RuntimeError("out of luck")

    monkeypatch.setattr("harness.sweep.simulation.simulate", failing)
    assert main(["sweep", "plan.yaml", "-n", "1", "--format", "json"]) == 1
    value = json.loads(capsys.readouterr().out)
    assert [row["error"] for row in value["rows"]] == ["RuntimeError: out of luck"] * 4
    assert value["rows"][0]["pods"] is None


def test_axes_of_the_command_come_after_those_of_the_plan(plan: Path) -> None:
    found = read_plan(plan, "plan.yaml", more={"region": ["eastus", "westeurope"], "seed": range(2)})
    assert found.axes == ("case", "karpenter", "region", "seed")
    assert len(found.planned) == 16
    assert found.planned[3].axes == {"case": "as it is", "karpenter": "1.6.5", "region": "westeurope", "seed": "1"}
    assert len({each.key for each in found.planned}) == 16
    assert len(found.manifests) == 1


def test_batches_share_a_region_and_are_ordered_by_release(plan: Path) -> None:
    found = read_plan(plan, "plan.yaml", more={"seed": range(60)})
    for width, least in ((1, 5), (2, 8), (1000, 40)):
        parts = batches(found, {}, width)
        assert sorted(each.number for part in parts for each in part.planned) == list(range(240))
        assert all(len({each.situation.region for each in part.planned}) == 1 for part in parts)
        releases = [each.situation.karpenter for part in parts for each in part.planned]
        assert releases == sorted(releases, key=str)
        assert max(len(part.planned) for part in parts) <= 48
        assert len(parts) >= least


def test_what_takes_long_is_told_often(plan: Path) -> None:
    found = read_plan(plan, "plan.yaml", until=86400.0, more={"seed": range(4)})
    assert {len(part.planned) for part in batches(found, {}, 1)} == {2}


def test_time_of_the_plan_and_of_the_command(plan: Path) -> None:
    plan.write_text(PLAN.replace("given: {region", "when: [settle, {advance: 1h}, {advance: 30m}]\ngiven: {region"))
    assert {each.situation.until for each in read_plan(plan, "plan.yaml").planned} == {5400.0}
    assert {each.situation.until for each in read_plan(plan, "plan.yaml", until=60.0).planned} == {60.0}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("given:", "then: [{cost: {perHour: {atMost: 1}}}]\ngiven:"),
            "a sweep has no expectations: its result is a table",
        ),
        (
            ("given:", "when: [{restart: karpenter}]\ngiven:"),
            "a sweep knows the steps `advance`, which lets time pass, and `scale`",
        ),
        (("matrix: {", "description: $(usd)\nmatrix: {usd: [a], "), "'usd' is a column of the result"),
        (
            ("given:", "when: [{scale: {of: Deployment/shop, replicas: 2}}]\ngiven:"),
            "'Deployment/shop' is not an object of this scenario; did you mean 'Deployment/web'?",
        ),
        (
            ("given:", "when: [{scale: {of: Deployment/w*, replicas: 2}}]\ngiven:"),
            "there is no Deployment/w* among the manifests",
        ),
        (("eastus", "eastuss"), "eastuss"),
        (("  given: {azure", "  gvien: {azure"), "unknown key 'gvien'; did you mean 'given'?"),
        (("---", "---\nscenario: nothing\n---"), "plan.yaml:1:1: no object is given, so nothing would happen"),
    ],
)
def test_what_a_plan_cannot_say(
    plan: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], said: str
) -> None:
    plan.write_text(PLAN.replace(*change, 1))
    assert main(["sweep", "plan.yaml"]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.startswith("plan.yaml:")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--regions", "eastuss"], "--regions: unknown region 'eastuss'; did you mean 'eastus'"),
        (["--releases", "1.99.0"], "1.99.0"),
        (["--regions", "eastus,eastus"], "--regions: 'eastus' stands there more than once"),
        (["--until", "90000h"], "--until: 90000h is too long: virtual time goes 87600h (ten years) ahead at most"),
        (["--releases", "9.9.9"], "--releases: "),
        (["--seeds", "0"], "--seeds 0: a number from 1 is expected"),
        (["--until", "soon"], "--until: a duration such as 72h is expected, not 'soon'"),
        (["-n", "0"], "-n 0: a number from 1 is expected"),
        (["-o", "rows.txt"], "a name that ends with .parquet, .csv, .jsonl is expected"),
        (["-o", "nowhere/rows.csv"], "there is no folder nowhere"),
        (["--engine", "spark"], "--engine 'spark': local or dask://HOST:PORT is expected"),
        (["--releases", "1.6.5"], "'karpenter' is an axis of the command, too"),
    ],
)
def test_mistakes_of_the_command_are_one_line(
    plan: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert main(["sweep", "plan.yaml", *options]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err


def test_manifests_are_no_plan(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (plan.parent / "pools.yaml").write_text(f"{POOL}---\n{WEB}")
    assert main(["sweep", "pools.yaml"]) == 2
    said = "a manifest is no plan; a plan is a file that names it: scenario: NAME, given: {manifests: [pools.yaml]}, matrix: "
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"pools.yaml:1:1: {said}")


def test_a_spike_of_load_is_not_extrapolated() -> None:
    def run(cpu: list[float], overhead: float) -> dict[str, Any]:
        return {"seconds": 10.0, "situations": 10, "cpu_seconds_of_workers": cpu, "scheduling_ms_per_batch": overhead}

    found = scaling(run([2.0], 370.0), run([1.0, 1.5], 19.0))[f"{WHOLE}_situations"]
    assert found["of_which_scheduling"] == round(-(-WHOLE // 2) * 0.019, 1)
    assert found["on_1_worker_seconds"] == round(WHOLE * 0.2)


def test_a_file_that_is_not_a_sweeps(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (plan.parent / "rows.csv.part").write_text("something\nelse\n")
    assert main(["sweep", "plan.yaml", "-o", "rows.csv"]) == 2
    assert "rows.csv.part:1: not a row of a sweep; remove the file to begin anew" in capsys.readouterr().err


def test_a_table_is_not_run_again_and_grows(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a finished table answers is taken from it; a plan with more asks for the rest alone, in every form."""
    forms = [".csv", ".jsonl", *([".parquet"] if find_spec("pyarrow") else [])]
    for form in forms:
        table = f"rows{form}"
        assert main(["sweep", "plan.yaml", "-n", "1", "-o", table]) == 0
        before = (plan.parent / table).read_bytes()
        capsys.readouterr()
        assert main(["sweep", "plan.yaml", "-n", "1", "-o", table]) == 0
        assert "4 situations, 0 ran in" in capsys.readouterr().out
        assert (plan.parent / table).read_bytes() == before
        plan.write_text(PLAN.replace("1.14.0", "1.14.0, 1.13.1"))
        assert main(["sweep", "plan.yaml", "-n", "1", "-o", table]) == 0
        assert "6 situations, 2 ran in" in capsys.readouterr().out
        assert [row["karpenter"] for row in read_table(plan.parent / table)] == ["1.6.5", "1.14.0", "1.13.1"] * 2
        plan.write_text(PLAN)


def test_the_rows_of_another_plan_are_not_lost(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "rows.csv"]) == 0
    before = (plan.parent / "rows.csv").read_bytes()
    plan.write_text(PLAN.replace("1.6.5", "1.7.2"))
    capsys.readouterr()
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "rows.csv"]) == 2
    said = (
        "harness sweep: --output rows.csv: 2 of its 4 rows answer another plan and would be lost; --force replaces it\n"
    )
    assert capsys.readouterr().err == said
    assert (plan.parent / "rows.csv").read_bytes() == before
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "rows.csv", "--force"]) == 0
    assert {row["karpenter"] for row in rows(plan.parent / "rows.csv")} == {"1.7.2", "1.14.0"}


@pytest.mark.parametrize("content", ["name,number\na,1\n", "name,number\n", "a note of mine"])
def test_a_file_that_is_no_table_of_a_sweep_is_not_lost(
    content: str, plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (plan.parent / "list.csv").write_text(content)
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "list.csv"]) == 2
    assert capsys.readouterr().err == "harness sweep: list.csv: not the table of a sweep; --force replaces it\n"
    assert (plan.parent / "list.csv").read_text() == content


def test_what_failed_is_tried_again(
    plan: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(*manifests: object, situation: Any, caches: object) -> Any:
        raise RuntimeError("out of luck")

    with monkeypatch.context() as patched:
        patched.setattr("harness.sweep.simulation.simulate", failing)
        assert main(["sweep", "plan.yaml", "-n", "1", "-o", "rows.csv"]) == 1
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "rows.csv"]) == 0
    assert "4 situations, 4 ran in" in capsys.readouterr().out


def test_a_table_is_looked_at_again(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "rows.csv", "--html", "first.html"]) == 0
    out = capsys.readouterr().out
    assert main(["sweep", "rows.csv", "--html", "again.html"]) == 0
    assert capsys.readouterr().out == "\n".join(out.splitlines()[1:-1]) + "\n"
    first, again = (data_of((plan.parent / name).read_text()) for name in ("first.html", "again.html"))
    assert isinstance(first, dict)
    assert isinstance(again, dict)
    assert first.pop("title") == "which is cheapest"
    assert again.pop("title") == "rows.csv"
    assert first == again
    assert main(["sweep", "rows.csv", "--until", "1h"]) == 2
    assert capsys.readouterr().err == "harness sweep: --until is for a plan: rows.csv is a table\n"
    assert main(["sweep", "nowhere.csv"]) == 2
    assert capsys.readouterr().err == "harness sweep: nowhere.csv: No such file or directory\n"


def test_refused_objects_are_the_reason_of_pods_that_nobody_looks_at(plan: Path) -> None:
    """Provider 1.4.0 has no v1beta1: without NodeClass and NodePool no controller says a word."""
    plan.write_text(PLAN.replace("1.6.5, 1.14.0", "1.4.0"))
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "rows.csv"]) == 0
    assert {row["reason"].split(" was refused: ")[0] for row in rows(plan.parent / "rows.csv")} == {
        "AKSNodeClass/default"
    }


def test_a_store_keeps_rows_line_by_line(tmp_path: Path) -> None:
    store = Store(tmp_path / "rows.csv")
    row = dict.fromkeys(OUTCOME, 1)
    store.add([("a", row)])
    assert Store(tmp_path / "rows.csv").read() == {"a": row}
    store.close(done=True)
    assert Store(tmp_path / "rows.csv").read() == {}


def test_parquet_holds_what_csv_holds(plan: Path) -> None:
    parquet = pytest.importorskip(
        "pyarrow.parquet", reason="Parquet needs pyarrow: pip install 'karpenter-azure-harness[sweep]'"
    )
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "rows.parquet"]) == 0
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "rows.csv"]) == 0
    found = parquet.read_table(plan.parent / "rows.parquet").to_pylist()
    assert [{name: str(value) for name, value in row.items()} for row in found] == rows(plan.parent / "rows.csv")


def test_without_pyarrow_parquet_is_refused_before_anything_runs(
    plan: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("harness.sweep.table.find_spec", lambda name: None)
    assert main(["sweep", "plan.yaml", "-o", "rows.parquet"]) == 2
    assert "Parquet needs the package pyarrow" in capsys.readouterr().err
    assert list(plan.parent.iterdir()) == [plan]


def test_a_dask_cluster_gives_the_same_rows(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install 'karpenter-azure-harness[sweep]'")
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "one.csv"]) == 0
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=None
    ) as cluster:
        engine = cluster.scheduler_address.replace("tcp://", "dask://")
        assert main(["sweep", "plan.yaml", "--engine", engine, "-o", "two.csv"]) == 0, capsys.readouterr().err
    assert (plan.parent / "one.csv").read_bytes() == (plan.parent / "two.csv").read_bytes()


def test_without_workers_it_says_what_waits_and_ends_with_the_rows_that_it_has(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install 'karpenter-azure-harness[sweep]'")
    with distributed.LocalCluster(
        n_workers=0, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=None
    ) as cluster:
        engine = cluster.scheduler_address.replace("tcp://", "dask://")
        assert main(["sweep", "plan.yaml", "--engine", engine, "-o", "rows.csv", "--wait", "500ms"]) == 3
    lines = capsys.readouterr().err.splitlines()
    assert "waiting: 4 situations of eastus have no worker" in lines
    assert lines[-1].startswith("harness sweep: nobody has worked for 0.5s (tcp://127.0.0.1:")
    assert lines[-1].endswith("): ended after 0 of 4; rows.csv.part keeps what is known: the same command goes on")
    assert not (plan.parent / "rows.csv").exists()


def test_a_scheduler_that_ends_is_no_reason_to_wait(
    plan: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install 'karpenter-azure-harness[sweep]'")
    cluster = distributed.LocalCluster(
        n_workers=0, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=None
    )
    waiting = dask._waiting

    def ending(*arguments: Any) -> str:
        cluster.close()
        return waiting(*arguments)

    monkeypatch.setattr(dask, "_waiting", ending)
    engine = cluster.scheduler_address.replace("tcp://", "dask://")
    assert main(["sweep", "plan.yaml", "--engine", engine, "-o", "rows.csv", "--wait", "2s"]) == 3
    assert "ended after 0 of 4" in capsys.readouterr().err


@pytest.mark.slow
def test_what_a_lost_worker_had_is_run_by_another_one(plan: Path) -> None:
    """A worker takes the first batch and ends without a word; a second one comes later."""
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install 'karpenter-azure-harness[sweep]'")
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "one.csv"]) == 0
    spec = {"cls": distributed.Nanny, "options": {"nthreads": 1, "dashboard_address": None}}
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": None, "port": 0, "protocol": "tcp"}}
    with distributed.SpecCluster(workers={0: spec}, scheduler=scheduler) as cluster:
        address = str(cluster.scheduler_address)
        (nanny,) = cluster.workers.values()

        lost: list[str] = []

        def lose() -> None:
            with distributed.Client(address, set_as_default=False) as client:
                until = monotonic() + 60
                while not lost and monotonic() < until:
                    lost.extend(key for keys in client.processing().values() for key in keys)
                    sleep(0.01)
            nanny.process.process._process.kill()  # the nanny brings another one

        losing = Thread(target=lose)
        losing.start()
        assert main(["sweep", "plan.yaml", "--engine", address.replace("tcp://", "dask://"), "-o", "two.csv"]) == 0
        losing.join()
    assert lost
    assert (plan.parent / "one.csv").read_bytes() == (plan.parent / "two.csv").read_bytes()


def test_a_batch_that_ends_each_worker_is_a_row_that_says_so(plan: Path) -> None:
    (batch, *_) = batches(read_plan(plan, "plan.yaml"), {})
    for key, row in failed_rows(batch, RuntimeError("3 workers died")):
        assert row["error"] == "RuntimeError: 3 workers died"
        assert key in {planned.key for planned in batch.planned}


def test_lists_of_few_regions_and_releases_are_kept() -> None:
    lists, old, new = ListsInUse(most=2), provider("1.6.5"), provider("1.14.0")
    first = lists.lists_for("eastus", new)
    assert lists.lists_for("eastus", new) is first
    lists.lists_for("eastus", old)
    assert lists.lists_for("eastus", new) is first
    second = lists.lists_for("westus", new)  # one too many: 1.6.5 was asked for least lately
    assert lists.lists_for("eastus", new) is first
    lists.lists_for("eastus", old)
    assert lists.lists_for("westus", new) is not second


def test_no_summary_line_calls_a_pending_fleet_cheap(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan.write_text(PLAN.replace('cpu: "3"', 'cpu: "300"'))
    assert main(["sweep", "plan.yaml", "-n", "1"]) == 0
    out = capsys.readouterr().out
    assert "cheapest of" not in out
    assert "4 in which not every pod has its place" in out
    assert "Failed to schedule pod" in out


def test_prices_on_spot_that_are_guesses_are_counted_and_named(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The list has spot's own price in westeurope; in eastus another region's share of on demand stands in for it."""
    two_regions = PLAN.replace("given: {region: eastus}\n", "").replace(
        "{karpenter: [1.6.5, 1.14.0]}", "{region: [eastus, westeurope]}"
    )
    plan.write_text(two_regions)
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "rows.csv"]) == 0
    guessed = {(row["case"], row["region"]): row["guessed_prices"] for row in rows(plan.parent / "rows.csv")}
    assert guessed == {
        ("as it is", "eastus"): "Standard_D8s_v5",
        ("as it is", "westeurope"): "",
        ("no spot", "eastus"): "",
        ("no spot", "westeurope"): "",
    }
    assert "\n1 of 4 at prices on spot that are guesses: Standard_D8s_v5\n" in capsys.readouterr().out


UNPRICED = """scenario: a size without a price
matrix: {region: [spaincentral]}
cases:
- case: unpriced
  values: {size: Standard_L16as_v3}
- case: priced
  values: {size: Standard_D8s_v5}
"""


def test_what_nobody_knows_the_price_of_is_not_cheapest(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pool = POOL.replace("[Standard_D4s_v5, Standard_D8s_v5]", "[$(size)]")
    plan.write_text(f"{UNPRICED}---{pool}---{WEB}")
    assert main(["sweep", "plan.yaml", "-n", "1", "-o", "rows.csv", "--html", "page.html"]) == 0
    unpriced, priced = rows(plan.parent / "rows.csv")
    assert (unpriced["usd_per_hour"], unpriced["usd"], unpriced["pending"]) == ("", "", "0")
    assert float(priced["usd_per_hour"]) > 0
    out = capsys.readouterr().out
    assert "cheapest of 1 in which every pod has its place" in out
    assert "1 in which no price is known of a size, so that nobody knows the cost: case unpriced" in out
    data: Any = data_of((plan.parent / "page.html").read_text())
    assert data["columns"]["usd_per_hour"] == [None, float(priced["usd_per_hour"])]
