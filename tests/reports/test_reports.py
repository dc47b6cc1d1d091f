"""The four reports of one run, made of values: what they say, and that they survive any text."""

from __future__ import annotations

import json
from xml.etree.ElementTree import fromstring

from harness.reading.problems import Mark, Problem, ScenarioError
from harness.reports import Summary, as_json, junit
from harness.reports.terminal import Style, render_case, render_summary
from harness.scenario.expectations.matching import Difference
from harness.scenario.expectations.verdicts import CaseReport, Outcome, Verdict

MARK = Mark("a.yaml", 3, 5)
GOOD = Verdict("then[0].pods.bound", MARK)
BAD = Verdict(
    "then[1].node.labels.team",
    Mark("a.yaml", 7, 9),
    (Difference("value", "blue", "red", "written: kubelet set red"), Difference("by", "<karpenter>", "kubelet \x1b")),
)
CASES = (
    CaseReport("fine", "a.yaml", MARK, Outcome.PASSED, (GOOD,), seconds=0.001, tags=("spot",)),
    CaseReport("wrong[1.14.0]", "a.yaml", MARK, Outcome.FAILED, (GOOD, BAD), seconds=0.25),
    CaseReport("later", "b.yaml", MARK, Outcome.SKIPPED, reason="no time"),
    CaseReport("known", "b.yaml", MARK, Outcome.EXPECTED_FAILURE, (BAD,), reason="issue 1"),
    CaseReport("better", "b.yaml", MARK, Outcome.UNEXPECTED_PASS, (GOOD,), reason="issue 2"),
    CaseReport("broken", "b.yaml", MARK, Outcome.ERROR, error="KeyError: 'x'"),
)
SUMMARY = Summary(CASES, 0.5)


def test_summary() -> None:
    assert SUMMARY.exit_code == 1
    assert Summary(CASES[:1], 0.1).exit_code == 0
    assert [case.name for case in SUMMARY.bad] == ["wrong[1.14.0]", "better", "broken"]
    counted = "1 passed, 1 failed, 1 skipped, 1 xfailed, 1 xpassed, 1 error (5 expectations) in 0.50 s"
    assert render_summary(SUMMARY) == counted
    assert render_summary(Summary((), 0.0)) == "no scenarios (0 expectations) in 0.00 s"


def test_terminal() -> None:
    assert render_case(CASES[1]).splitlines() == [
        "FAILED a.yaml::wrong[1.14.0] (250 ms)",
        "  a.yaml:7:9: then[1].node.labels.team",
        "      expected  value: blue",
        "      found     value: red",
        "                written: kubelet set red",
        "      expected  by: <karpenter>",
        "      found     by: kubelet \\x1b",
    ]
    assert render_case(CASES[0], verbose=True).splitlines()[-1] == "  ok then[0].pods.bound"
    assert "remove the mark" in render_case(CASES[4])
    assert "KeyError" in render_case(CASES[5])


def test_colours_only_when_asked_for() -> None:
    assert "\033[31m" in render_case(CASES[1], Style(colour=True))
    assert "\033[" not in render_summary(SUMMARY)


def test_json() -> None:
    value = json.loads(as_json.render(as_json.summary_value(SUMMARY)))
    assert value["counts"]["failed"] == 1
    assert value["expectations"] == 5
    failure = value["cases"][1]["failures"][0]
    assert failure["place"] == {"file": "a.yaml", "line": 7, "column": 9}
    assert failure["differences"][0]["found"] == "red"
    assert value["cases"][0]["tags"] == ["spot"]
    problems = as_json.problems_value(ScenarioError([Problem(MARK, "then", "wrong", "right")]))
    assert problems["problems"][0]["hint"] == "right"


def test_junit_has_a_test_case_for_each_case_under_its_own_name() -> None:
    twice = CaseReport("twice", "a.yaml", MARK, Outcome.FAILED, (BAD, GOOD, BAD))
    (suite,) = fromstring(junit.render(Summary((*CASES[:2], twice), 0.5)))
    assert [case.get("name") for case in suite] == ["fine", "wrong[1.14.0]", "twice"]
    assert [len(case.findall("failure")) for case in suite] == [0, 1, 1]
    failure = suite[2].find("failure")
    assert failure is not None
    assert (failure.get("message") or "").endswith(" (and 1 more)")
    assert (failure.text or "").count("then[1].node.labels.team") == 2


def test_junit_counts_cases() -> None:
    root = fromstring(junit.render(SUMMARY))
    first, second = root.findall("testsuite")
    assert (first.get("name"), first.get("tests"), first.get("failures")) == ("a.yaml", "2", "1")
    assert (second.get("errors"), second.get("skipped"), second.get("failures")) == ("1", "2", "1")
    failure = first.find(".//failure")
    assert failure is not None
    assert "found     value: red" in (failure.text or "")
