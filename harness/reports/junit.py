"""The report as JUnit XML, for runs without pytest: one test case for each case, whatever it expects."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from harness.reports.summary import Summary
from harness.reports.terminal import render_verdict
from harness.scenario.expectations.verdicts import CaseReport, Outcome
from plainlines import printable, printable_lines

__all__ = ["render"]


def render(summary: Summary) -> str:
    """The document; what XML cannot hold, and what a terminal obeys, is shown as escapes."""
    root = Element("testsuites", name="harness")
    files: dict[str, list[CaseReport]] = {}
    for case in summary.cases:
        files.setdefault(case.file, []).append(case)
    for file, cases in files.items():
        suite = SubElement(root, "testsuite", name=printable(file), time=_seconds(sum(case.seconds for case in cases)))
        for case in cases:
            _case(suite, case)
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(attribute, str(len(suite.findall(f".//{tag}"))))
        suite.set("tests", str(len(suite.findall("testcase"))))
    if files and summary.notes:
        SubElement(root[0], "system-out").text = printable_lines("\n".join(summary.notes))
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: Element, case: CaseReport) -> None:
    element = _element(suite, case, case.name, case.seconds)
    if case.outcome is Outcome.ERROR:
        _detail(element, "error", case.error, case.error)
    elif case.outcome in (Outcome.SKIPPED, Outcome.EXPECTED_FAILURE):
        _detail(element, "skipped", case.reason, "")
    elif case.outcome is Outcome.UNEXPECTED_PASS:
        _detail(element, "failure", "marked xfail and passes", case.reason)
    else:
        failures = case.failures
        if failures:
            more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
            message = f"{failures[0].label}: {failures[0].differences[0]}{more}"
            _detail(element, "failure", message, "\n".join(map(render_verdict, failures)))


def _element(suite: Element, case: CaseReport, name: str, seconds: float) -> Element:
    place = {"file": printable(case.file), "line": str(case.mark.line)}
    return SubElement(
        suite,
        "testcase",
        {"classname": printable(case.file), "name": printable(name), "time": _seconds(seconds), **place},
    )


def _detail(element: Element, tag: str, message: str, text: str) -> None:
    detail = SubElement(element, tag, message=printable(message))
    detail.text = printable_lines(text)


def _seconds(seconds: float) -> str:
    return f"{seconds:.4f}"
