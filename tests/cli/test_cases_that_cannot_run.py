"""Every case that was asked for is in every report, in one of four states; also one that cannot run."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.command import call
from tests.cli.test_outputs import OBJECTS

WRONG = "scenario: nobody to evict\nwhen:\n- evict: Pod/shop/cart-*\nthen:\n- pods: {pending: 0}\n---\n" + OBJECTS
GOOD = "scenario: good\nthen:\n- pods: {pending: 0}\n---\n" + OBJECTS
WHAT = "wrong.yaml:3:3: when: there is no Pod/shop/cart-* at this point"


@pytest.fixture
def wrong(here: Path) -> Path:
    (here / "wrong.yaml").write_text(WRONG)
    (here / "good.yaml").write_text(GOOD)
    return here


def states(path: Path) -> dict[str, str]:
    """What the JUnit report says of each case."""
    return {
        str(case.get("name")): next((child.tag for child in case), "passed")
        for case in ElementTree.parse(path).iter("testcase")
    }


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_case_that_cannot_run_is_an_error_in_every_report(
    processes: str, wrong: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("run", "wrong.yaml", "good.yaml", "-n", processes, "--junit", "j.xml", "--html", "page.html")
    code, out, err = call(capsys, *words)
    assert (code, err) == (2, "")
    shown, summary = out.rstrip("\n").rsplit("\n", 1)
    assert shown.startswith("ERROR wrong.yaml::nobody to evict (")
    assert WHAT in shown
    assert summary.startswith("1 passed, 1 error ")
    assert states(wrong / "j.xml") == {"nobody to evict": "error", "good": "passed"}
    assert "there is no Pod/shop/cart-* at this point" in (wrong / "page.html").read_text()
    code, out, _ = call(capsys, *words, "--format", "json")
    value = json.loads(out)
    assert code == 2
    assert {case["id"]: case["outcome"] for case in value["cases"]} == {
        "wrong.yaml::nobody to evict": "error",
        "good.yaml::good": "passed",
    }
    assert [problem["path"] for problem in value["problems"]] == ["when"]


def test_cases_after_the_first_failure_are_skipped(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "run", "-x", "wrong.yaml", "good.yaml", "--junit", "j.xml")
    assert code == 2
    assert "1 skipped, 1 error" in out or "1 error, 1 skipped" in out
    assert states(wrong / "j.xml") == {"nobody to evict": "error", "good": "skipped"}


def test_a_file_that_cannot_be_read_is_an_error_in_the_reports_and_no_green_one_stays(
    wrong: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "run", "good.yaml", "--junit", "j.xml", "--html", "page.html")[0] == 0
    (wrong / "bad.yaml").write_text("scenario: s\nthen:\n- bad: 1\n")
    code, out, err = call(capsys, "run", "good.yaml", "bad.yaml", "--junit", "j.xml", "--html", "page.html")
    assert (code, out) == (2, "")
    assert err.startswith("bad.yaml:3:3: ")
    assert states(wrong / "j.xml") == {"cannot be run": "error"}
    assert "bad.yaml" in (wrong / "page.html").read_text()
