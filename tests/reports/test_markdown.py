"""Markdown for summaries and comments: what comes from an input is shown and does nothing there."""

from __future__ import annotations

import pytest

from harness.reading.problems import Mark
from harness.reports.annotations import Annotation
from harness.reports.markdown import code, findings, run, table
from harness.reports.summary import Summary
from harness.scenario.expectations.verdicts import CaseReport, Outcome, Verdict

MARK = Mark("a.yaml", 3, 5)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("a pod", "`a pod`"),
        ("@team <img src=x> [x](y)", "`@team <img src=x> [x](y)`"),  # in a code span none of it does anything
        ("a `b` c", "`` a `b` c ``"),
        ("a ``b`` c", "``` a ``b`` c ```"),
        ("a | b", "`a \\| b`"),  # a table's cell would end there
        ("a\nb\x1b[31m", "`a\\nb\\x1b[31m`"),
        ("", ""),
        ("x" * 1000, f"`{'x' * 300}…`"),
    ],
)
def test_text_of_an_input_is_a_code_span(text: str, span: str) -> None:
    assert code(text) == span


def test_a_finding_is_a_row_with_its_place() -> None:
    found = [
        Annotation("warning", MARK, "budget-never", "it never lets go"),
        Annotation("error", None, "input", "no file"),
    ]
    assert findings(found).splitlines() == [
        "| level | place | rule | text |",
        "| --- | --- | --- | --- |",
        "| warning | `a.yaml:3:5` | `budget-never` | `it never lets go` |",
        "| error |  | `input` | `no file` |",
    ]
    assert findings([]) == "Nothing to say: no findings.\n"


def test_a_long_list_is_counted_behind_its_first_rows() -> None:
    text = table(("a",), [[str(number)] for number in range(60)])
    assert "| 49 |" in text
    assert "| 50 |" not in text
    assert text.endswith("\n10 more.\n")


def test_a_run_is_a_count_and_a_row_for_each_difference() -> None:
    failed = Verdict.failed("then[0].pods.bound", MARK, "2", "1")
    cases = (
        CaseReport("fine", "a.yaml", MARK, Outcome.PASSED, (Verdict("then[0]", MARK),)),
        CaseReport("fails", "a.yaml", MARK, Outcome.FAILED, (failed,)),
        CaseReport("cannot run", "a.yaml", MARK, Outcome.ERROR, error="no such file"),
        CaseReport("better than said", "a.yaml", MARK, Outcome.UNEXPECTED_PASS),
    )
    assert run(Summary(cases, 1.0)).splitlines() == [
        "❌ **1 passed, 1 failed, 1 xpassed, 1 error** (2 expectations)",
        "",
        "| case | place | expected | found |",
        "| --- | --- | --- | --- |",
        "| `fails` | `a.yaml:3:5` | `2` | `1` |",
        "| `cannot run` | `a.yaml:3:5` | a case that can run | `no such file` |",
        "| `better than said` | `a.yaml:3:5` | a failure, by its mark xfail | it passes |",
    ]
    assert run(Summary(cases[:1], 1.0)) == "✅ **1 passed** (1 expectations)\n"
