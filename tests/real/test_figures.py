"""The tables of the page about truth: from reports, into their places."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

from harness.scenario.comparing.comparison import Comparison, Result
from tests.real.figures import ROOT, comparisons, rows_of_nodes, table
from tests.real.load import HEAD, merged, row
from tests.real.pages import replaced
from tests.real.situations import SITUATIONS, Figures

FOUND = [
    Comparison("f::a", "1.14.0", "aksscriptless", Result.AGREE, facts=10, rows=3),
    Comparison("f::b", "1.14.0", "aksscriptless", Result.DIFFER, facts=5),
    Comparison("f::c", "1.14.0", "aksscriptless", Result.VIRTUAL, "takes long"),
    Comparison("f::d", "1.7.2", "aksmachineapi", Result.AGREE, facts=1),
]


def test_reports_of_pytest_say_what_was_compared(tmp_path: Path) -> None:
    said = [f'<property name="karpenter" value={quoteattr(str(each.to_json()))}/>' for each in FOUND]
    cases = "".join(f"<testcase><properties>{each}</properties></testcase>" for each in said)
    (tmp_path / "real.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert list(comparisons([tmp_path / "real.xml"])) == FOUND


def test_the_table_counts_by_release_and_mode() -> None:
    lines = list(table(FOUND, {"1.14.0": 7, "1.7.2": 9}))
    assert lines[2:5] == [
        "| 1.14.0 | aksscriptless | 2 | 1 (50.0 %) | 15 | 3 | 1 | 0 |",
        "| 1.7.2 | aksmachineapi | 1 | 1 (100.0 %) | 1 | 0 | 0 | 0 |",
        "| all |  | 3 | 2 (66.7 %) | 16 | 3 | 1 | 0 |",
    ]
    assert lines[-1].endswith("shows the same: 3 of 7 in 1.14.0.")


def test_rows_about_nodes_are_counted_by_release() -> None:
    found = rows_of_nodes(ROOT / "scenarios" / "labels")
    assert {"1.14.0", "1.7.2"} <= found.keys()
    assert found["1.14.0"] > 0


def test_a_page_keeps_what_is_around_its_part() -> None:
    page = "a\n<!-- load -->\nold\n<!-- /load -->\nb\n"
    assert replaced(page, "load", ["new"]) == "a\n<!-- load -->\nnew\n<!-- /load -->\nb\n"
    with pytest.raises(ValueError, match="has no part"):
        replaced(page, "other", [])


@pytest.mark.parametrize("name", ["load", "agreement"])
def test_the_page_has_the_parts(name: str) -> None:
    page = (ROOT / "docs" / "how-true.md").read_text()
    assert replaced(page, name, ["new"]) != page


def test_a_row_of_load_says_who() -> None:
    figures = Figures(3, 3, 3, 3, 3, 4, 12.4, 0.25, 0)
    killed = next(each for each in SITUATIONS if each.smoke)
    assert (
        row(killed, "real", figures)
        == "| killed between PUT and status | real | 3 | 3, 3, 3, 3 | 4 | 12 s | 0.25 s | 0 |"
    )


def test_rows_that_are_not_measured_again_stay() -> None:
    one, two, again = "| 1 pod | real | 1 |", "| 30 pods | real | 30 |", "| 1 pod | real | 2 |"
    assert merged([*HEAD, one, two], [*HEAD, again]) == [*HEAD, again, two]
    assert merged([*HEAD, two], [*HEAD, one]) == [*HEAD, two, one]
