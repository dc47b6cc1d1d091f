"""Findings at places in files, in the forms that others show beside the code: SARIF, GitHub's workflow commands, JUnit XML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from harness.reading.problems import Mark, ScenarioError
from harness.reports.summary import Summary
from harness.scenario.running.verdicts import CaseReport, Outcome
from plainlines import json_text, printable

__all__ = ["FORMS", "Annotation", "Level", "annotations_of", "annotations_of_run", "as_github", "as_junit", "as_sarif"]

Level = Literal["error", "warning", "note"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_COMMANDS: Mapping[Level, str] = {"error": "error", "warning": "warning", "note": "notice"}


@dataclass(frozen=True, slots=True)
class Annotation:
    """One finding: how bad, where, which rule says so, and what it says. `mark` may be None: about the files as a whole."""

    level: Level
    mark: Mark | None
    rule: str
    text: str


def annotations_of(error: ScenarioError, rule: str = "input") -> list[Annotation]:
    """The mistakes of files that cannot be read or understood."""
    return [
        Annotation(
            "error",
            one.mark,
            rule,
            ": ".join(filter(None, (one.path, one.what))) + (f"; {one.hint}" if one.hint else ""),
        )
        for one in error.problems
    ]


def annotations_of_run(summary: Summary) -> list[Annotation]:
    """The cases that are not as expected, each difference at the expectation that it contradicts."""
    return [annotation for case in summary.bad for annotation in _of_case(case)]


def _of_case(case: CaseReport) -> Iterator[Annotation]:
    if case.problems:
        yield from annotations_of(ScenarioError(case.problems))
    elif case.outcome is Outcome.ERROR:
        yield Annotation("error", case.mark, "error", f"{case.name}: {case.error}")
    elif case.outcome is Outcome.UNEXPECTED_PASS:
        yield Annotation("error", case.mark, "xfail", f"{case.name}: it is marked xfail and passes: remove the mark")
    for verdict in case.failures:
        differences = "\n".join(
            f"expected {difference.path + ': ' if difference.path else ''}{difference.expected}, "
            f"found {difference.actual or 'nothing'}"
            for difference in verdict.differences
        )
        why = f"\nwhy: {verdict.why[0]}" if verdict.why else ""
        yield Annotation("error", verdict.mark, "expectation", f"{case.name}: {verdict.label}: {differences}{why}")


def as_sarif(found: Sequence[Annotation], version: str) -> str:
    """SARIF 2.1.0 with one run; columns count from 1, paths are relative to the working directory, as `%SRCROOT%`."""
    rules = list(dict.fromkeys(one.rule for one in found))
    results = [
        {
            "ruleId": one.rule,
            "ruleIndex": rules.index(one.rule),
            "level": one.level,
            "message": {"text": one.text},
            **({"locations": [_location(one.mark)]} if one.mark is not None else {}),
        }
        for one in found
    ]
    driver = {"name": "harness", "semanticVersion": version, "rules": [{"id": rule} for rule in rules]}
    run: dict[str, Any] = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json_text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _location(mark: Mark) -> dict[str, Any]:
    uri = quote(mark.file.replace("\\", "/"), errors="surrogateescape")  # a URI reference (SARIF 2.1.0, 3.10.1)
    artifact = {"uri": f"file://{uri}"} if uri.startswith("/") else {"uri": uri, "uriBaseId": "%SRCROOT%"}
    region = {"startLine": mark.line, "startColumn": mark.column}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def as_github(found: Sequence[Annotation], version: str = "") -> str:
    """Workflow commands of GitHub, one line each, which stand beside the changed lines of a pull request."""
    return "".join(f"::{_COMMANDS[one.level]} {_properties(one)}::{_data(one.text)}\n" for one in found)


def _properties(one: Annotation) -> str:
    place = {} if one.mark is None else {"file": one.mark.file, "line": str(one.mark.line), "col": str(one.mark.column)}
    properties = {**place, "title": one.rule}
    return ",".join(
        f"{name}={_data(text).replace(':', '%3A').replace(',', '%2C')}" for name, text in properties.items()
    )


def _data(text: str) -> str:
    lines = map(printable, text.replace("\r\n", "\n").split("\n"))
    return "%0A".join(line.replace("%", "%25") for line in lines)


def as_junit(found: Sequence[Annotation], version: str = "") -> str:
    """JUnit XML: a test case for each finding; errors have failed, the others pass with their text. One that passes where there is none."""
    root = Element("testsuites", name="harness")
    suite = SubElement(root, "testsuite", name="harness", tests=str(max(1, len(found))))
    for one in found:
        where = {} if one.mark is None else {"file": printable(one.mark.file), "line": str(one.mark.line)}
        case = SubElement(
            suite,
            "testcase",
            {
                "classname": where.get("file", "harness"),
                "name": printable(f"{one.mark or ''} {one.rule}".strip()),
                **where,
            },
        )
        if one.level == "error":
            SubElement(case, "failure", message=printable(one.text)).text = printable(one.text)
        else:
            SubElement(case, "system-out").text = printable(one.text)
    if not found:
        SubElement(suite, "testcase", classname="harness", name="no findings")
    suite.set("failures", str(len(suite.findall(".//failure"))))
    suite.set("errors", "0")  # what readers ask for (Jenkins, junit-10.xsd), beside pytest's own attributes
    suite.set("skipped", "0")
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


FORMS: Mapping[str, Callable[[Sequence[Annotation], str], str]] = {
    "sarif": as_sarif,
    "github": as_github,
    "junit": as_junit,
}
"""Name of a form → what writes it, of findings and the version of this program."""
