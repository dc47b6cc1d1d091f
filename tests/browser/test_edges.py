"""Nothing that a chart says is cut at its edge, and nothing that a table says at the window's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.__main__ import main
from tests.browser.conftest import Opened, figures
from tests.browser.pages import CASES

Open = Callable[..., Opened]
Made = Callable[[str], Path]

CUT = """[...document.querySelectorAll('svg g[clip-path] text')].filter(one => {
    const box = one.getBoundingClientRect(), chart = one.ownerSVGElement;
    const whole = chart.getBoundingClientRect(), plot = chart.querySelector('g[transform]').transform.baseVal[0].matrix.e;
    const width = Number(chart.querySelector('clipPath rect').getAttribute('width')) - 2;
    const left = whole.left + plot - 1.5, right = left + width + 3;
    return box.width && (box.left < left || box.right > right) }).map(one => one.textContent)"""


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("width", [1280, 400])
def test_no_word_and_no_sign_of_a_chart_is_cut(name: str, width: int, made: Made, open_page: Open) -> None:
    page = open_page(made(name), width=width)
    assert figures(page.tab, CUT) == []


MANIFESTS = """
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general-purpose-workloads}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
      - {key: karpenter.azure.com/sku-family, operator: In, values: [D]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: x, resources: {requests: {cpu: "3"}}}]}
"""


@pytest.mark.parametrize("width", [1280, 400])
def test_both_sides_of_a_comparison_stand_whole(width: int, tmp_path: Path, open_page: Open) -> None:
    (tmp_path / "pools.yaml").write_text(MANIFESTS)
    pages = {name: tmp_path / f"{name}.html" for name in ("compare", "upgrade")}
    main(["compare", str(tmp_path / "pools.yaml"), "--release", "1.13.1,1.14.0", "--html", str(pages["compare"])])
    main(
        [
            "upgrade-check",
            "--from",
            "1.13.1",
            "--to",
            "1.14.0",
            str(tmp_path / "pools.yaml"),
            "--html",
            str(pages["upgrade"]),
        ]
    )
    for name, path in pages.items():
        page = open_page(path, width=width)
        assert page.tab.locator("#nodes tbody tr").count() == 2, name
        assert figures(page.tab, "document.documentElement.scrollWidth") <= width, name
        tables = "[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.ariaLabel)"
        assert figures(page.tab, tables) == [], name


def test_a_side_without_more_sizes_is_not_said_to_have_none(tmp_path: Path, open_page: Open) -> None:
    """The list that both have is told of neither: A has the same sizes, B has more."""
    (tmp_path / "pools.yaml").write_text(MANIFESTS)
    main(["compare", str(tmp_path / "pools.yaml"), "--release", "1.13.1,1.14.0", "--html", str(tmp_path / "page.html")])
    page = open_page(tmp_path / "page.html")
    page.tab.locator("#summary > details > summary").click()
    (row,) = page.tab.locator("#summary tr", has_text="sizes that it may become").all()
    name, of, mine, theirs = row.locator("td").all_inner_texts()
    assert mine == "the same, none more"
    assert theirs.startswith("only in B: "), (name, of)


@pytest.mark.parametrize("name", ["refused", "quota", "replaced"])
def test_an_axis_says_where_it_ends_and_a_long_name_how_it_ends(name: str, made: Made, open_page: Open) -> None:
    page = open_page(made(name))
    names = page.tab.locator("#corridor text.name").all_text_contents()
    blocked = page.tab.locator("#corridor text.name.blocked").all_text_contents()
    assert not any(text.endswith("…") for text in names), names
    assert all(text.endswith((", on-demand", ", spot", "in every zone")) for text in blocked), blocked
    toggle = page.tab.locator("#corridor button", has_text="Draw quiet times short")
    if toggle.get_attribute("aria-pressed") == "false":
        toggle.click()
    page.tab.wait_for_timeout(100)
    ticks = page.tab.locator("#corridor text.axis, #corridor text.axis.end").all_text_contents()
    end = page.tab.locator("svg.lanes").get_attribute("aria-label").rpartition(" over ")[2]
    assert ticks[-1] == end
    assert figures(page.tab, CUT) == []


def test_equal_refusals_say_until_when_and_of_whom(tmp_path: Path, open_page: Open) -> None:
    path = tmp_path / "page.html"
    assert (
        main(["run", "scenarios/capacity/refusals.yaml", "-k", "the region's quota is used up", "--html", str(path)])
        == 0
    )
    page = open_page(path)
    rows = page.tab.locator("#refusals tbody tr").all_inner_texts()
    named = {one["claim"] for one in page.world["refusals"]}
    assert len(named) > len(rows)
    assert all(any(name in row for row in rows) for name in named), rows
    assert any(" – " in row.partition("\t")[0] for row in rows)


LONG = MANIFESTS.replace(
    "karpenter.azure.com/sku-family, operator: In, values: [D]",
    "node.kubernetes.io/instance-type, operator: In, values: [Standard_NC24ads_A100_v4]",
)
LONG = LONG.replace("{name: web}", f"{{name: {'w' * 63}}}")
BESIDE = """[...document.querySelectorAll('svg.lanes text.name')].map(one => {
    const bars = one.ownerSVGElement.querySelector('rect.hit').getBoundingClientRect(), name = one.getBoundingClientRect();
    const below = [...one.ownerSVGElement.querySelectorAll('rect.part')]
      .some(bar => Math.abs(bar.getBoundingClientRect().top - name.top) < 8);
    return [one.textContent, Math.round(name.right - (below ? bars.left : bars.right))] })"""


@pytest.mark.parametrize("width", [1280, 390])
def test_no_bar_covers_the_name_of_a_lane(width: int, tmp_path: Path, open_page: Open) -> None:
    (tmp_path / "pools.yaml").write_text(LONG, encoding="utf-8")
    assert main(["simulate", str(tmp_path / "pools.yaml"), "--html", str(tmp_path / "page.html")]) == 0
    page = open_page(tmp_path / "page.html", width=width)
    names = figures(page.tab, BESIDE)
    assert len(names) == 2
    assert [name for name, over in names if over > 0 or "…" not in name] == []
    assert page.tab.locator("svg.lanes text.name.claim").inner_html().endswith(" spot")


def test_a_chart_is_printed_in_its_proportions(made: Made, open_page: Open) -> None:
    page = open_page(made("replaced"))
    page.tab.emulate_media(media="print")
    page.tab.set_viewport_size({"width": 700, "height": 900})
    charts = figures(
        page.tab,
        """[...document.querySelectorAll('svg[viewBox]')].map(one => {
        const [, , width, height] = one.getAttribute('viewBox').split(' ').map(Number), box = one.getBoundingClientRect();
        return [box.width / box.height, width / height] })""",
    )
    assert charts
    for printed, drawn in charts:
        assert printed == pytest.approx(drawn, rel=0.01)
