"""Pages in Chromium: figures are those of the JSON, clicks do what they say, nothing is asked for, nothing is out of place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.__main__ import main
from harness.reports.picture.world import world_page
from harness.trace.prices import HOURS_OF_A_MONTH, monthly
from tests.browser.conftest import Opened, figures
from tests.browser.pages import CASES
from tests.reports.test_picture import data_of

Open = Callable[..., Opened]
Made = Callable[[str], Path]
SMOKE = {"refused", "replaced"}
WAITS = "Karpenter: nodepool requirements filtered out all available instance types"
EACH = [pytest.param(name, marks=pytest.mark.smoke) if name in SMOKE else name for name in CASES]


def dollars(text: str) -> float:
    return float(text.removesuffix(" USD"))


@pytest.mark.parametrize("name", EACH)
def test_a_page_is_quiet_and_asks_for_nothing(name: str, made: Made, open_page: Open) -> None:
    path = made(name)
    page = open_page(path)
    assert page.complaints == []
    assert page.requests == [path.as_uri()]
    assert page.tab.locator("h1").count() == 1
    assert figures(page.tab, "document.querySelectorAll('*').length") < 5000


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_nothing_is_wider_than_the_window(name: str, width: int, scheme: str, made: Made, open_page: Open) -> None:
    page = open_page(made(name), width=width, scheme=scheme)
    assert figures(page.tab, "document.documentElement.scrollWidth") <= width
    outside = """[...document.querySelectorAll('svg.lanes .part, .card, .bar')].filter(one => {
        const box = one.getBoundingClientRect(); return box.left < -1 || box.right > innerWidth + 1 }).length"""
    in_plot = "[...document.querySelectorAll('.card, .bar')].length"
    assert figures(page.tab, outside) == 0 or figures(page.tab, in_plot) == 0


@pytest.mark.parametrize("name", ["refused", "replaced", "evicted", "quota", "spread"])
def test_the_prices_of_the_nodes_sum_to_the_total_at_every_moment(name: str, made: Made, open_page: Open) -> None:
    page = open_page(made(name))
    slider = page.tab.locator("#nodes input[type=range]")
    totals = []
    for position in range(int(slider.get_attribute("max")) + 1):
        slider.evaluate(f"(one) => {{ one.value = {position}; one.dispatchEvent(new Event('input')) }}")
        total = figures(page.tab, "Number(document.querySelector('#nodes .usd').dataset.usd)")
        cards = figures(
            page.tab, "[...document.querySelectorAll('.card:not(.gone)')].map(one => Number(one.dataset.usd))"
        )
        assert sum(cards) == pytest.approx(total, abs=1e-6), (position, cards)
        totals.append(total)
    costs = [step[1] for step in page.world["cost"]]
    assert totals[-1] == costs[-1]
    assert max(totals) == max(costs)
    assert set(costs) <= set(totals)


@pytest.mark.smoke
def test_lanes_stand_where_the_json_says(made: Made, open_page: Open) -> None:
    page = open_page(made("evicted"))  # its axis is true to time
    parts = figures(
        page.tab,
        """[...document.querySelectorAll('svg.lanes rect.part.booting')].map(one =>
        [Number(one.getAttribute('x')), Number(one.getAttribute('width'))])""",
    )
    width = figures(page.tab, "Number(document.querySelector('svg.lanes clipPath rect').getAttribute('width')) - 2")
    end = page.world["end"]
    wanted = [
        [start / end * width, (stop - start) / end * width]
        for lane in page.world["lanes"]
        for what, start, stop, *_ in lane["parts"]
        if what == "booting"
    ]
    assert len(parts) == len(wanted) == 2
    for found, expected in zip(parts, wanted, strict=True):
        assert found == pytest.approx(expected, abs=0.5)


def test_a_click_in_the_corridor_sets_the_moment_of_nodes_and_cost(made: Made, open_page: Open) -> None:
    page = open_page(made("evicted"))
    end, plot = page.world["end"], page.tab.locator("svg.lanes rect.hit")
    box = plot.bounding_box()
    page.tab.mouse.click(
        box["x"] + box["width"] * 90 / end, box["y"] + box["height"] - 8
    )  # the machine is gone, its Node is not
    assert page.tab.locator(".card").count() == 1
    assert "without its machine" in page.tab.locator(".card .why").inner_text()
    assert page.tab.locator("#nodes .usd").first.inner_text().startswith("0.0000 USD")
    assert "for 0 machines" in page.tab.locator("#cost p").first.inner_text()


def test_the_corridor_is_zoomed_and_shown_whole_by_keys(made: Made, open_page: Open) -> None:
    page = open_page(made("replaced"))
    ready = "Number(document.querySelector('svg.lanes rect.part.ready').getAttribute('width'))"
    before = figures(page.tab, ready)
    page.tab.focus("svg.lanes")
    page.tab.keyboard.press("+")
    assert figures(page.tab, ready) == pytest.approx(before * 1.6, rel=0.01)
    page.tab.keyboard.press("Home")
    assert figures(page.tab, ready) == pytest.approx(before, rel=0.01)


def test_what_is_pointed_at_says_more(made: Made, open_page: Open) -> None:
    page = open_page(made("refused"))
    page.tab.locator("svg.lanes .mark.refused").first.hover()
    told = page.tab.locator(".tip").inner_text()
    assert "SkuNotAvailable" in told
    assert page.world["refusals"][0]["size"] in told
    page.tab.keyboard.press("Escape")
    assert not page.tab.locator(".tip").is_visible()


def test_a_lane_leads_to_its_manifest(made: Made, open_page: Open) -> None:
    page = open_page(made("refused"))
    page.tab.locator("svg.lanes a", has_text="web").first.click()
    opened = page.tab.locator("#manifests details[open]")
    assert "Pod/web" in opened.locator("summary").inner_text()
    assert "scenarios/capacity/refusals.yaml:" in opened.locator("summary").inner_text()
    assert "kind: Pod" in opened.locator("pre").inner_text()


def test_the_funnel_says_where_a_size_went(made: Made, open_page: Open) -> None:
    page = open_page(made("refused"))
    group, number = page.world["opens"]
    tried = page.world["asked"][group]["tries"][number]
    launched, sizes = page.world["claims"][tried["claim"]]["launched"], page.world["sizes"]["1"]
    left = [int(text.replace(",", "")) for text in page.tab.locator("#sizes .n.left").all_inner_texts()]
    assert left[0] == sizes["sold"]
    assert left[1] == len(sizes["offered"])
    assert left[-1] == 1
    assert left == sorted(left, reverse=True)
    last = page.tab.locator("#sizes details.filter").last
    last.locator("summary").click()
    taken, kept = (last.locator("p.sizes").nth(place).locator("code").count() for place in (0, 1))
    assert (taken, kept) == (left[-2] - left[-1], left[-1])
    page.tab.locator("#sizes details.filter > summary").first.click()
    inner = page.tab.locator("#sizes .inner .n.left").all_inner_texts()
    assert (len(inner), int(inner[-1].replace(",", ""))) == (len(sizes["dropped"]), left[1])
    filter_, gone = next((name, names[0]) for name, names in sizes["dropped"].items() if names)
    page.tab.fill("#sizes input", gone)
    assert (
        page.tab.locator("#sizes .find .line").first.inner_text()
        == f"{gone} taken away by: {page.world['filters'][filter_]}"
    )
    page.tab.fill("#sizes input", launched)
    assert page.tab.locator("#sizes .find .line").first.inner_text() == f"{launched} launched"


def test_labels_strike_through_what_was_overwritten(made: Made, open_page: Open) -> None:
    page = open_page(made("labels"))
    page.tab.fill("#labels input", "scalesetpriority")
    row = page.tab.locator("#labels tbody tr")
    assert row.count() == 1
    assert row.locator("s").all_inner_texts() == ["regular"]
    assert row.locator("td").nth(1).inner_text() == "spot"
    page.tab.fill("#labels input", "")
    page.tab.locator("#labels .chip").click()
    assert 0 < page.tab.locator("#labels tbody tr").count() < len(page.world["labels"][0]["keys"])


@pytest.mark.parametrize(
    ("name", "selector", "text"),
    [
        pytest.param("waiting", ".answer.bad", WAITS, id="why a pod waits"),
        pytest.param("waiting", ".answer.warn", "SkuNotAvailable ×4", id="what Azure refused"),
        pytest.param("replaced", ".answers", "replace for Underutilized ×1", id="who left and why"),
        pytest.param("rejected", ".answer.bad", "by crd-cel", id="what the API server refused"),
    ],
)  # fmt: skip
def test_questions_are_answered_at_the_top(name: str, selector: str, text: str, made: Made, open_page: Open) -> None:
    page = open_page(made(name))
    assert any(text in one for one in page.tab.locator(selector).all_inner_texts())


def test_a_page_prints_in_light_colours(made: Made, open_page: Open) -> None:
    page = open_page(made("replaced"), scheme="dark")
    page.tab.emulate_media(media="print", color_scheme="dark")
    assert figures(page.tab, "getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.tab.locator("nav").is_visible()


def test_every_case_of_a_run_leads_to_its_picture(tmp_path: Path, open_page: Open) -> None:
    assert main(["run", "scenarios/capacity/refusals.yaml", "--html", str(tmp_path / "run.html")]) == 0
    page = open_page(tmp_path / "run.html")
    page.tab.fill("input[type=search]", "quota of a family")
    page.tab.wait_for_selector("text=1 case found")
    page.tab.locator(".row summary").click()
    page.tab.locator(".row a").click()
    assert page.tab.locator("h1").inner_text().endswith("the quota of a family is used up")
    case = figures(page.tab, "location.hash")
    page.tab.locator("nav a[href='#sizes']").click()
    assert figures(page.tab, "location.hash") == f"{case}/sizes"  # a link that can be sent
    page.tab.reload()
    assert page.tab.locator("h1").inner_text().endswith("the quota of a family is used up")
    page.tab.wait_for_function("document.querySelector('#sizes').getBoundingClientRect().top < innerHeight")
    assert figures(page.tab, "scrollY") > 0
    page.tab.go_back()
    assert figures(page.tab, "location.hash") == case
    page.tab.locator("text=all cases").click()
    assert page.tab.locator("h1").inner_text() == f"{len(page.data['cases'])} cases, all as expected"
    assert page.complaints == []


def test_an_upgrade_shows_what_differs_first(upgrade: Path, open_page: Open) -> None:
    for width in (1280, 400):
        page = open_page(upgrade, width=width)
        assert page.complaints == []
        assert figures(page.tab, "document.documentElement.scrollWidth") <= width
        assert "for the worse" in page.tab.locator("#differences tbody tr").first.inner_text()
        assert page.tab.locator("svg.lanes").count() == 0
        assert page.tab.locator("text=No pods were given").count() == 1
        page.tab.fill("#differences input", "nodeclaims of the stored")
        assert page.tab.locator("#differences tbody tr").count() == 1


@pytest.fixture
def upgrade(tmp_path: Path) -> Path:
    text = (
        Path("docs/how-to/upgrade.md")
        .read_text(encoding="utf-8")
        .partition("```yaml pools.yaml\n")[2]
        .partition("```")[0]
    )
    (tmp_path / "pools.yaml").write_text(text)
    path = tmp_path / "page.html"
    assert (
        main(["upgrade-check", "--from", "1.12.2", "--to", "1.14.0", str(tmp_path / "pools.yaml"), "--html", str(path)])
        == 1
    )
    return path


@pytest.mark.smoke
def test_no_serious_fault_of_accessibility(made: Made, upgrade: Path, open_page: Open) -> None:
    axe = pytest.importorskip("axe_playwright_python.base", reason="pip install 'karpenter-azure-harness[browser]'")
    for path in (made("refused"), made("replaced"), made("labels"), upgrade):
        for scheme in ("light", "dark"):
            page = open_page(path, scheme=scheme)
            page.tab.evaluate(Path(axe.AXE_FILE_PATH).read_text())
            found = page.tab.evaluate("axe.run()")["violations"]
            assert told(found) == [], (path.name, scheme)


def told(found: list[Any]) -> list[str]:
    """The serious ones, each with the places it is about."""
    return [
        f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes']][:4]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_what_is_paid_in_all_has_its_exact_span_and_says_where_a_price_is_unknown(
    tmp_path: Path, open_page: Open
) -> None:
    header = {"release": "1.14.0", "kubernetes": "1.34.0", "region": "eastus", "mode": "aksscriptless"}
    steps: list[dict[str, Any]] = [{"t": 0, "price": 0.281, "machines": 1}, {"t": 7257, "price": 0, "machines": 1}]
    steps[1]["unpriced"] = ["Standard_D8s_v5"]
    (tmp_path / "page.html").write_text(world_page([header, *({"fact": "cost", **one} for one in steps)]))
    page = open_page(tmp_path / "page.html")
    answers, cost = (page.tab.locator(part).inner_text() for part in ("#short", "#cost"))
    assert "unknown price per hour at the end" in answers
    assert "per month" not in answers
    assert "at least 0.5664 USD over 2h57s" in answers
    assert "at least 0.5664 USD in all over 2h57s of virtual time" in cost


def test_what_it_costs_in_a_month_and_who_goes_first_and_last_stand_at_the_top(tmp_path: Path, open_page: Open) -> None:
    header = {"release": "1.14.0", "kubernetes": "1.34.0", "region": "eastus", "mode": "aksscriptless"}
    times = {"a": 130.0, "b": 130.0, "c": 130.0, "d": 130.0, "e": 4000.0, "f": 90000.0}
    decisions: list[dict[str, Any]] = [
        {
            "fact": "disruption",
            "t": t,
            "decision": "delete",
            "reason": "Empty",
            "nodes": [{"node": name, "claim": name}],
            "savings": 0.1,
        }
        for name, t in times.items()
    ]
    decisions[-1]["reason"] = "Drifted"
    taken_back = {
        **decisions[-1],
        "t": 90001.0,
        "nodes": [{"node": "g", "claim": "g"}],
        "problem": "its replacement failed",
    }
    cost = {"fact": "cost", "t": 90010.0, "price": 8.185378, "machines": 23}
    (tmp_path / "page.html").write_text(world_page([header, *decisions, taken_back, cost]), encoding="utf-8")
    answers = open_page(tmp_path / "page.html").tab.locator("#short").inner_text()
    assert f"{monthly(8.185378)} USD per month of {HOURS_OF_A_MONTH} hours" in answers
    assert "first at 2m10s: a, b, c and 1 more (delete for Empty)" in answers
    assert "last at 1d1h: f (delete for Drifted)" in answers
    (tmp_path / "once.html").write_text(
        world_page([header, *decisions[:4], {**cost, "unpriced": ["Standard_D2"]}]), encoding="utf-8"
    )
    once = open_page(tmp_path / "once.html").tab.locator("#short")
    told = [text for text in once.locator("p").all_inner_texts() if "2m10s: a" in text]
    assert told == ["all at 2m10s: a, b, c and 1 more (delete for Empty)"]


def test_what_it_costs_in_a_month_stands_above_what_is_assumed(tmp_path: Path, open_page: Open) -> None:
    page = tmp_path / "page.html"
    (tmp_path / "agents.yaml").write_text(AGENTS, encoding="utf-8")
    assert main(["simulate", "docs/examples/nodepools", str(tmp_path / "agents.yaml"), "--html", str(page)]) == 0
    header = open_page(page).tab.locator("header").first
    notes = header.locator("p.note").all_inner_texts()
    assert f" USD per month of {HOURS_OF_A_MONTH} hours" in notes[0]
    assert notes[1].startswith("assumed: ")
    assert header.locator("summary").all_inner_texts() == [f"{len(load_notes(page)) - 2} more to know"]


def load_notes(path: Path) -> list[str]:
    notes: list[str] = data_of(path.read_text(encoding="utf-8"))["world"]["notes"]
    return notes


def test_no_line_is_empty_where_no_price_is_known(tmp_path: Path, open_page: Open) -> None:
    header = {"release": "1.14.0", "kubernetes": "1.34.0", "region": "eastus", "mode": "aksscriptless"}
    cost = {"fact": "cost", "t": 9.0, "price": 0.0, "machines": 2, "unpriced": ["Standard_D2"]}
    (tmp_path / "page.html").write_text(world_page([header, cost]), encoding="utf-8")
    lines = open_page(tmp_path / "page.html").tab.locator("#short p").all_inner_texts()
    assert "2 machines; at least 0.0000 USD over 9s" in lines
    assert "" not in lines


def test_a_node_names_the_workloads_of_its_pods(tmp_path: Path, open_page: Open) -> None:
    """A DaemonSet's last word may look like the random letters of a ReplicaSet."""
    manifests = Path("docs/examples/nodepools")
    (tmp_path / "agents.yaml").write_text(AGENTS, encoding="utf-8")
    page = tmp_path / "page.html"
    assert main(["simulate", str(manifests), str(tmp_path / "agents.yaml"), "--html", str(page)]) == 0
    assert open_page(page).tab.locator(".card .pod").all_inner_texts() == ["node-exporter", "web ×2"]


def test_a_node_names_the_workloads_of_pods_from_a_dump_without_them(tmp_path: Path, open_page: Open) -> None:
    owner = "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-5d8c7f9b6d, uid: u, controller: true}]"
    pods = {f"web-5d8c7f9b6d-abcd{number}": f", {owner}" for number in range(3)}
    pods |= {f"api-6bb9c7d45-abcd{number}": "" for number in range(2)}
    pods |= {"db-http2-first": "", "db-http2-other": ""}
    text = "---".join(
        f"\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}{more}}}\nspec: {{containers: [{{name: c, image: c}}]}}\n"
        for name, more in pods.items()
    )
    (tmp_path / "pods.yaml").write_text(text, encoding="utf-8")
    page = tmp_path / "page.html"
    assert main(["simulate", "docs/examples/nodepools", str(tmp_path / "pods.yaml"), "--html", str(page)]) == 0
    shown = open_page(page).tab.locator(".card .pod").all_inner_texts()
    assert sorted(shown) == ["api ×2", "db-http2-first", "db-http2-other", "web ×3"]


def test_workloads_of_one_name_are_told_apart(tmp_path: Path, open_page: Open) -> None:
    deployment = AGENTS.partition("---")[2]
    (tmp_path / "both.yaml").write_text(
        f"{deployment}---{deployment.replace('kind: Deployment', 'kind: StatefulSet').replace('app: w', 'app: s')}",
        encoding="utf-8",
    )
    page = tmp_path / "page.html"
    assert main(["simulate", "docs/examples/nodepools", str(tmp_path / "both.yaml"), "--html", str(page)]) == 0
    shown = open_page(page).tab.locator(".card .pod").all_inner_texts()
    assert sorted(shown) == ["Deployment/web ×2", "StatefulSet/web ×2"]


AGENTS = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: node-exporter}
spec:
  selector: {matchLabels: {app: a}}
  template: {metadata: {labels: {app: a}}, spec: {tolerations: [{operator: Exists}], containers: [{name: c, image: c}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: w}}
  template: {metadata: {labels: {app: w}}, spec: {containers: [{name: c, image: c}]}}
"""


def test_paper_says_what_is_not_on_it(tmp_path: Path, open_page: Open) -> None:
    path = tmp_path / "page.html"
    replicas = AGENTS.replace("replicas: 2", "replicas: 40").replace(
        "app: w}}, spec: {", "app: w}}, spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: w}}}]}}, "
    )  # fmt: skip
    (tmp_path / "agents.yaml").write_text(replicas, encoding="utf-8")
    assert main(["simulate", "docs/examples/nodepools", str(tmp_path / "agents.yaml"), "--html", str(path)]) == 0
    page = open_page(path)
    hidden = page.tab.locator(".more:visible").all_inner_texts()
    page.tab.emulate_media(media="print")
    assert page.tab.locator(".more:visible").all_inner_texts() == hidden
