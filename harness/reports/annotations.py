"""Findings at places in files, in the forms that others show beside the code: SARIF, GitHub's workflow commands, JUnit XML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from harness.reading.problems import Mark, ScenarioError
from harness.reports.summary import Summary
from harness.scenario.expectations.verdicts import CaseReport, Outcome
from plainlines import json_text, printable

__all__ = [
    "FORMS",
    "Annotation",
    "Level",
    "annotations_of",
    "annotations_of_notes",
    "annotations_of_run",
    "as_github",
    "as_junit",
    "as_sarif",
]

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
            problem.mark,
            rule,
            ": ".join(filter(None, (problem.path, problem.what))) + (f"; {problem.hint}" if problem.hint else ""),
        )
        for problem in error.problems
    ]


def annotations_of_run(summary: Summary) -> list[Annotation]:
    """Return the cases that are not as expected, each difference at the expectation that it contradicts, and the notes of the run."""
    return [
        *(annotation for case in summary.bad for annotation in _of_case(case)),
        *annotations_of_notes(summary.notes),
    ]


def annotations_of_notes(notes: Iterable[str]) -> list[Annotation]:
    """Return lines about the files as a whole, for example what is not simulated."""
    return [Annotation("note", None, "note", note) for note in notes]


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


def as_sarif(raised: Sequence[Annotation], version: str) -> str:
    """SARIF 2.1.0 with one run; columns count from 1, paths are relative to the working directory, as `%SRCROOT%`."""
    rules = list(dict.fromkeys(annotation.rule for annotation in raised))
    results = [
        {
            "ruleId": annotation.rule,
            "ruleIndex": rules.index(annotation.rule),
            "level": annotation.level,
            "message": {"text": annotation.text},
            **({"locations": [_location(annotation.mark)]} if annotation.mark is not None else {}),
        }
        for annotation in raised
    ]
    driver = {"name": "harness", "semanticVersion": version, "rules": [{"id": rule} for rule in rules]}
    run: dict[str, Any] = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json_text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _location(mark: Mark) -> dict[str, Any]:
    uri = quote(mark.file.replace("\\", "/"), errors="surrogateescape")  # a URI reference (SARIF 2.1.0, 3.10.1)
    artifact = {"uri": f"file://{uri}"} if uri.startswith("/") else {"uri": uri, "uriBaseId": "%SRCROOT%"}
    region = {"startLine": mark.line, "startColumn": mark.column}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def as_github(raised: Sequence[Annotation], version: str = "") -> str:
    """Workflow commands of GitHub, one line each, which stand beside the changed lines of a pull request."""
    return "".join(
        f"::{_COMMANDS[annotation.level]} {_properties(annotation)}::{_data(annotation.text)}\n"
        for annotation in raised
    )


def _properties(annotation: Annotation) -> str:
    place = (
        {}
        if annotation.mark is None
        else {"file": annotation.mark.file, "line": str(annotation.mark.line), "col": str(annotation.mark.column)}
    )
    properties = {**place, "title": annotation.rule}
    return ",".join(
        f"{name}={_data(text).replace(':', '%3A').replace(',', '%2C')}" for name, text in properties.items()
    )


def _data(text: str) -> str:
    lines = map(printable, text.replace("\r\n", "\n").split("\n"))
    return "%0A".join(line.replace("%", "%25") for line in lines)


def as_junit(raised: Sequence[Annotation], version: str = "") -> str:
    """JUnit XML: a test case for each finding; errors have failed, the others pass with their text. One that passes where there is none."""
    root = Element("testsuites", name="harness")
    suite = SubElement(root, "testsuite", name="harness", tests=str(max(1, len(raised))))
    for annotation in raised:
        where = (
            {}
            if annotation.mark is None
            else {"file": printable(annotation.mark.file), "line": str(annotation.mark.line)}
        )
        case = SubElement(
            suite,
            "testcase",
            {
                "classname": where.get("file", "harness"),
                "name": printable(f"{annotation.mark or ''} {annotation.rule}".strip()),
                **where,
            },
        )
        if annotation.level == "error":
            SubElement(case, "failure", message=printable(annotation.text)).text = printable(annotation.text)
        else:
            SubElement(case, "system-out").text = printable(annotation.text)
    if not raised:
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
