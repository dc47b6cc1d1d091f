"""A large cluster is a short page: equal lanes and cards are one line with a count, which opens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.__main__ import main
from tests.browser.conftest import Opened, figures
from tests.browser.test_pages import told

Open = Callable[..., Opened]

LANES = "document.querySelectorAll('svg.lanes text.name').length"
ONLY: dict[str, list[dict[str, Any]]] = {
    "web": [{"key": "karpenter.azure.com/sku-family", "operator": "In", "values": ["D"]}],
    "small": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["Standard_D2s_v5"]}],
}


def pool(name: str) -> dict[str, Any]:
    types = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]}
    reference = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    template = {
        "metadata": {"labels": {"pool": name}},
        "spec": {"nodeClassRef": reference, "requirements": [types, *ONLY[name]]},
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": template},
    }


def workload(name: str, on: str, replicas: int, cpu: str) -> dict[str, Any]:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"nodeSelector": {"pool": on}, "containers": [container]},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty small Nodes, twenty workloads on a large one, ten that wait, spot refused."""
    folder = tmp_path_factory.mktemp("large")
    objects = [
        {
            "apiVersion": "karpenter.azure.com/v1beta1",
            "kind": "AKSNodeClass",
            "metadata": {"name": "default"},
            "spec": {},
        },
        *map(pool, ONLY),
        workload("agent", "small", 60, "1500m"),
        *(workload(f"web-{number}", "web", 10, "700m") for number in range(20)),
        *(workload(f"huge-{number}", "web", 3, str(500 + number)) for number in range(10)),
    ]
    (folder / "large.yaml").write_text(yaml.safe_dump_all(objects))
    path = folder / "page.html"
    fault = "SkuNotAvailable,priority=Spot,times=60"
    assert main(["simulate", str(folder / "large.yaml"), "--fault", fault, "--html", str(path)]) == 0
    return path


def test_it_is_short_and_light(large: Path, open_page: Open) -> None:
    page = open_page(large)
    assert page.complaints == []
    assert len(page.world["lanes"]) > 90
    assert figures(page.tab, "document.documentElement.scrollHeight") < 4000
    assert figures(page.tab, "document.querySelectorAll('*').length") < 5000


def test_a_comparison_of_large_clusters_is_short_too(large: Path, tmp_path: Path, open_page: Open) -> None:
    path = tmp_path / "compare.html"
    main(["compare", str(large.with_name("large.yaml")), "--release", "1.13.1,1.14.0", "--html", str(path)])
    page = open_page(path)
    assert page.complaints == []
    assert figures(page.tab, "document.documentElement.scrollHeight") < 4000
    assert figures(page.tab, "document.querySelectorAll('*').length") < 5000
    rows = page.tab.locator("#nodes tbody").first.locator("tr").all_inner_texts()
    assert any(row.startswith("D2s_v5 ×60") and "eastus-1 ×" in row for row in rows), rows
    differ = page.tab.locator("#figures tbody tr").all_inner_texts()
    same = page.tab.locator("#figures .facts").inner_text()
    assert differ[0] == "Karpenter\t1.13.1\t1.14.0"
    assert "Karpenter is simulated" in same


def test_no_serious_fault_of_accessibility(large: Path, open_page: Open) -> None:
    axe = pytest.importorskip("axe_playwright_python.base", reason="pip install 'karpenter-azure-harness[browser]'")
    for scheme in ("light", "dark"):
        page = open_page(large, scheme=scheme)
        page.tab.locator("svg.lanes text.group").first.click()
        page.tab.evaluate(Path(axe.AXE_FILE_PATH).read_text())
        assert told(page.tab.evaluate("axe.run()")["violations"]) == [], scheme


def test_equal_lanes_are_one_line_that_opens(large: Path, open_page: Open) -> None:
    page = open_page(large)
    before = figures(page.tab, LANES)
    group = page.tab.locator("svg.lanes text.claim.group").first
    count = int(group.evaluate("one => one.textContent").partition("×")[2].split(" ")[0])
    group.click()
    assert figures(page.tab, LANES) > before
    opened = page.tab.locator("svg.lanes text.claim.group[aria-expanded=true]")
    assert opened.count() == 1
    alone = [
        name for name in page.tab.locator("svg.lanes text.claim:not(.group)").all_text_contents() if "small-" in name
    ]
    assert len(alone) >= count
    opened.focus()
    page.tab.keyboard.press("Enter")
    assert figures(page.tab, LANES) == before


def test_every_pod_is_in_a_lane_or_in_the_count_of_one(large: Path, open_page: Open) -> None:
    page = open_page(large)
    more = page.tab.locator("#corridor button.more")
    while more.is_visible():
        more.click()
    counts = []
    for text in page.tab.locator("svg.lanes text.name.pod").all_text_contents():
        counts.append(
            int(text.partition("×")[2] or text.partition(": ")[2].removesuffix("s").removesuffix(" pod") or 1)
        )
    assert sum(counts) == sum(len(lane["pods"]) for lane in page.world["lanes"] if lane["kind"] == "pod")


def test_the_cards_of_equal_nodes_sum_to_the_total(large: Path, open_page: Open) -> None:
    page = open_page(large)
    more = page.tab.locator("#nodes button.more")
    while more.count():
        more.click()
    cards = figures(page.tab, "[...document.querySelectorAll('.card')].map(one => Number(one.dataset.usd))")
    assert len(cards) < 12 < len(page.world["machines"])
    assert page.tab.locator(".card h3", has_text="D2s_v5 ×60").count() == 1
    assert sum(cards) == pytest.approx(page.world["cost"][-1][1], abs=1e-6)


def test_every_workload_that_waited_can_be_chosen(large: Path, open_page: Open) -> None:
    page = open_page(large)
    choose = page.tab.get_by_label("Which pods")
    names = choose.locator("option").all_inner_texts()
    assert sorted(name.split(" ")[0] for name in names) == sorted(
        ["agent", *(f"web-{number}" for number in range(20)), *(f"huge-{number}" for number in range(10))]
    )
    first = page.world["pending"][0]
    assert choose.evaluate("one => one.selectedOptions[0].textContent") == names[0]
    assert first["pods"][0].removeprefix("default/").startswith(names[0].split(" ")[0])
    choose.select_option(label=next(name for name in names if name.startswith("agent ")))
    assert page.tab.locator("#sizes p", has_text="for agent ×60").count() == 1


def test_a_manifest_that_is_folded_is_found_by_its_link(large: Path, open_page: Open) -> None:
    page = open_page(large, address="#object=Deployment%2Fweb-3")
    assert "name: web-3" in page.tab.locator("#manifests details[open] pre").inner_text()
