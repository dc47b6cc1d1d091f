"""The page of `harness reality` in Chromium: its figures, its differences, a narrow window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.reports.picture.reality import reality_page
from tests.browser.conftest import Opened, figures
from tests.browser.test_pages import told

Open = Callable[..., Opened]


def facts() -> list[dict[str, Any]]:
    def fact(number: int, field: str, state: str, theirs: str, ours: str, why: str = "") -> dict[str, Any]:
        value = {"object": f"Node/aks-{number}", "field": field, "state": state, "theirs": theirs, "ours": ours}
        return {**value, "place": f"dump.yaml:{number + 1}:3", **({"why": why} if why else {})}

    several = [fact(number, "capacity.memory", "different", "32Gi", "32886489Ki") for number in range(40)]
    labels = [fact(number, f"labels.example.com/{number}", "different", "<b>x</b>", "(absent)") for number in range(70)]
    names = [fact(number, f"labels.name-{number}", "not comparable", "a", "b", "a name") for number in range(12)]
    return [*several, *labels, *names, *(fact(number, "capacity.cpu", "equal", "8", "8") for number in range(40))]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "reality.html"
    path.write_text(reality_page("How true?", ["westeurope, provider 1.6.5"], facts()), encoding="utf-8")
    return path


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_is_quiet_and_fits(width: int, scheme: str, written: Path, open_page: Open) -> None:
    page = open_page(written, width=width, scheme=scheme)
    assert page.complaints == []
    assert page.requests == [written.as_uri()]
    assert figures(page.tab, "document.documentElement.scrollWidth") <= width


@pytest.mark.smoke
def test_every_fact_is_in_its_figures(written: Path, open_page: Open) -> None:
    tab = open_page(written).tab
    answers = tab.locator(".answers").inner_text()
    assert "162 facts of 70 objects" in tab.locator("header").inner_text()
    assert [text in answers for text in ("40 equal", "110 different", "12 not comparable")] == [True] * 3
    assert "26.6 % of what can be compared" in answers
    assert "<b>x</b>" in tab.locator("#different").inner_text()
    assert "11 more differences" in tab.locator("#different").inner_text()
    tab.locator("#different input").fill("capacity.mem")
    assert tab.locator("#different tbody tr").count() == 1
    tab.locator("#different input").fill("nothing like it")
    assert "No difference has this text." in tab.locator("#different").inner_text()
    assert "and 6 more" in tab.locator("#not-comparable").inner_text()


def test_no_serious_fault_of_accessibility(written: Path, open_page: Open) -> None:
    axe = pytest.importorskip("axe_playwright_python.base", reason="pip install 'karpenter-azure-harness[browser]'")
    for scheme in ("light", "dark"):
        page = open_page(written, scheme=scheme)
        page.tab.evaluate(Path(axe.AXE_FILE_PATH).read_text())
        assert told(page.tab.evaluate("axe.run()")["violations"]) == [], scheme
