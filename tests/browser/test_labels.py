"""The labels of a Node are told in plain words, and a removed Node is marked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.conftest import Opened, figures
from tests.browser.pages import CASES

Open = Callable[..., Opened]
Made = Callable[[str], Path]


def test_what_overwrote_what_is_said(made: Made, open_page: Open) -> None:
    page = open_page(made("labels"))
    page.tab.fill("#labels input", "kubernetes.azure.com/scalesetpriority")
    lines = page.tab.locator("#labels tbody li").all_inner_texts()
    assert [line.rpartition(" at ")[0] for line in lines] == [
        "kubelet wrote regular from the provider's base labels",
        "then Karpenter overwrote it with spot from the machine itself",
    ]


@pytest.mark.parametrize("name", ["labels", "replaced"])
def test_every_source_that_the_table_names_has_its_key(name: str, made: Made, open_page: Open) -> None:
    page = open_page(made(name))
    told = page.tab.locator("#labels dl.key").inner_text()
    writes = [write for node in page.world["labels"] for key in node["keys"] for write in key["writes"]]
    used = {write["from"] for write in writes if "from" in write}
    assert used
    for source in used:
        assert page.data["sources"][source]["name"] in told
        assert page.data["sources"][source]["text"] in told


def test_what_differs_and_what_the_nodepool_asked_for_is_open(made: Made, open_page: Open) -> None:
    page = open_page(made("labels"))
    groups = page.tab.locator("#labels details.group")
    opened = page.tab.locator("#labels details.group[open] > summary").all_inner_texts()
    assert [text.rpartition(" ")[0] for text in opened] == ["Writers differ", "From your NodePool"]
    counts = [int(text.rpartition(" ")[2]) for text in groups.locator("summary").all_inner_texts()]
    assert sum(counts) == len(page.world["labels"][0]["keys"])
    link = page.tab.locator("#labels details.group[open] a").first
    assert link.inner_text() == "NodePool default"
    assert f"{CASES['labels'][0]}:" in page.tab.locator("#labels details.group[open] .place").first.inner_text()
    link.click()
    assert "kind: NodePool" in page.tab.locator("#manifests details[open] pre").inner_text()


def test_they_open_on_a_node_that_is_there(made: Made, open_page: Open) -> None:
    page = open_page(made("replaced"))
    options = page.tab.locator("#labels select option").all_inner_texts()
    assert "removed at" not in options[0]
    assert all("(removed at " in text for text in options[1:])
    assert page.tab.locator("#labels .bad").count() == 0
    page.tab.locator("#labels select").select_option(index=1)
    assert "removed at" in page.tab.locator("#labels .bad").inner_text()


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_key_covers_each_sign_and_nothing_else(name: str, made: Made, open_page: Open) -> None:
    page = open_page(made(name))
    if page.tab.locator("svg.lanes").count() == 0:
        pytest.skip("no corridor")
    drawn = set(figures(page.tab, "[...document.querySelectorAll('svg.lanes text.mark')].map(one => one.textContent)"))
    signs = [sign for sign in page.tab.locator(".legend b").all_inner_texts() if sign]
    assert drawn == set(signs)
    assert len(signs) == len(set(signs))
    bars = "[...document.querySelectorAll('svg.lanes .part')].map(one => one.classList[1])"
    keys = "[...document.querySelectorAll('.legend i')].map(one => one.classList[0])"
    assert set(figures(page.tab, bars)) == set(figures(page.tab, keys)) - {"step", "at"}
    steps = page.tab.locator("svg.lanes line.step").count()
    assert bool(steps) == ("step" in figures(page.tab, keys))


@pytest.mark.parametrize("name", ["waiting", "rejected", "windows"])
def test_a_cross_is_a_refusal_of_azure(name: str, made: Made, open_page: Open) -> None:
    page = open_page(made(name))
    crosses = page.tab.locator("svg.lanes .mark.refused").count()
    assert crosses == (len(page.world["refusals"]) if name == "waiting" else 0)
    waits = any(mark[1] == "unplaced" for lane in page.world["lanes"] for mark in lane["marks"])
    assert bool(page.tab.locator("svg.lanes .mark.unplaced").count()) == waits
