"""The page of a sweep in Chromium: its answers are those of the table, it is worked by keys, and fits a narrow window."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.reports.picture.sweep import sweep_page
from harness.sweep.result import KEY, OUTCOME
from tests.browser.conftest import Opened, figures
from tests.browser.test_pages import told

Open = Callable[..., Opened]
REGIONS = {"eastus": 1.0, "westeurope": 1.4, "japaneast": 3.0}


def text_of(tab: Any, selector: str) -> str:
    """The text without empty lines."""
    return re.sub(r"\n+", "\n", tab.locator(selector).inner_text())


def row(region: str, release: str, case: str, **outcome: Any) -> dict[str, Any]:
    usual = {name: kind() for name, kind in OUTCOME.items()} | {"pods": 5, "bound": 5, "settled": True, "nodes": 2}
    return {"region": region, "karpenter": release, "case": case, **usual, **outcome, KEY: f"{region}{release}{case}"}


def rows(over_time: bool) -> list[dict[str, Any]]:
    found = []
    for number, (region, usd) in enumerate(REGIONS.items()):
        for release in ("1.6.5", "1.14.0"):
            for case in ("as it is", "no spot"):
                cost = usd * (2 if case == "no spot" else 1)
                outcome: dict[str, Any] = {
                    "usd_per_hour": cost,
                    "placement": f"{case} {release}",
                    "sizes": "Standard_D8s_v5",
                }
                if over_time:
                    outcome |= {
                        "usd": cost * 24,
                        "hours": 24.0,
                        "disruptions": 9 - 3 * number if case == "as it is" else 0,
                    }
                if region == "japaneast" and case == "no spot":
                    outcome |= {"pending": 3, "bound": 2, "reason": "<b>no instance type</b> met"}
                found.append(row(region, release, case, **outcome))
    return found


@pytest.fixture
def written(tmp_path: Path) -> Callable[[bool], Path]:
    def page(over_time: bool) -> Path:
        path = tmp_path / f"{over_time}.html"
        document = sweep_page(
            "Where <is> it cheap?", ["region", "karpenter", "case"], rows(over_time), over_time=over_time
        )
        path.write_text(document, encoding="utf-8")
        return path

    return page


@pytest.mark.parametrize("over_time", [False, True])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_it_is_quiet_and_fits(
    over_time: bool, width: int, scheme: str, written: Callable[[bool], Path], open_page: Open
) -> None:
    path = written(over_time)
    page = open_page(path, width=width, scheme=scheme)
    assert page.complaints == []
    assert page.requests == [path.as_uri()]
    assert page.tab.locator("h1").inner_text() == "Where <is> it cheap?"
    assert figures(page.tab, "document.documentElement.scrollWidth") <= width


@pytest.mark.smoke
def test_the_questions_are_answered(written: Callable[[bool], Path], open_page: Open) -> None:
    tab = open_page(written(False)).tab
    said = text_of(tab, ".answers")
    assert (
        "Cheapest: region eastus, case as it is\n1.0000 USD per hour, 2 nodes: D8s_v5\nThe same at every karpenter"
        in said
    )
    assert "Dearest: 3.0000 USD, 3.0 times as much (region japaneast" in said
    assert (
        "Not every pod has its place in 2 of 12 situations\n2: region japaneast; case no spot\n<b>no instance type</b> met"
        in said
    )
    assert "karpenter: 1 of 2 values changes where pods go\n1.14.0 in 6 of 6, against 1.6.5" in said
    assert "case: 1 of 2 values changes where pods go\nno spot in 6 of 6, against as it is" in said
    assert "region: no value changes where pods go" in said


def test_the_map_has_the_cheapest_first_and_says_what_breaks(written: Callable[[bool], Path], open_page: Open) -> None:
    tab = open_page(written(False)).tab
    lines = [text.split("\t") for text in tab.locator("table.map tr").all_inner_texts()]
    assert lines == [
        ["region", "as it is", "no spot"],
        ["eastus", "1.0000 USD", "2.0000 USD"],
        ["westeurope", "1.4000 USD", "2.8000 USD"],
        ["japaneast", "3.0000 USD", "✕ 2/2"],
    ]
    tab.locator("table.map td").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        tab.keyboard.press(key)
    assert "2 situations without a place for every pod: <b>no instance type</b> met" in text_of(tab, ".tip")
    tab.locator("form.controls select").nth(1).select_option("1.14.0")
    assert tab.locator("table.map td").last.inner_text() == "✕ 3 of 5 pods wait"
    tab.locator("form.controls select").nth(3).select_option("karpenter")
    assert tab.locator("table.map tbody th").all_inner_texts() == ["1.14.0"]


def test_cost_against_churn_has_a_front(written: Callable[[bool], Path], open_page: Open) -> None:
    tab = open_page(written(True)).tab
    points = tab.locator("svg .point")
    assert points.count() == 12
    assert tab.locator("svg .point.bad").count() == 2
    ticked = tab.locator("#churn tbody tr", has_text="✓").all_inner_texts()
    assert [text.split("\t")[1] for text in ticked] == [
        "eastus, 1.6.5, as it is",
        "westeurope, 1.6.5, as it is",
        "eastus, 1.6.5, no spot",
    ]
    points.first.focus()
    tab.keyboard.press("ArrowRight")
    assert text_of(tab, ".tip").startswith("eastus, 1.14.0, as it is\n24.0000 USD in all, 9 disruptions")


def test_no_serious_fault_of_accessibility(written: Callable[[bool], Path], open_page: Open) -> None:
    axe = pytest.importorskip("axe_playwright_python.base", reason="pip install 'karpenter-azure-harness[browser]'")
    for scheme in ("light", "dark"):
        page = open_page(written(True), scheme=scheme)
        page.tab.evaluate(Path(axe.AXE_FILE_PATH).read_text())
        assert told(page.tab.evaluate("axe.run()")["violations"]) == [], scheme
