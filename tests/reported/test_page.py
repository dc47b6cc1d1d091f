"""The page about reported bugs is what its tool writes, and every report has a scenario or a reason."""

import re

import pytest
import yaml

from tools.reported_bugs import DATA, PAGE, SCENARIOS, cases, current, page

CASES = cases(DATA.read_text())
FILES = {path.stem: path for path in SCENARIOS.glob("*.yaml")}


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text() == current(), "run python -m tools.reported_bugs"


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_report_has_a_scenario_or_a_reason(case: dict[str, object]) -> None:
    assert (case["id"] in FILES) != ("not-covered" in case)


def test_every_scenario_is_a_report() -> None:
    assert FILES.keys() <= {case["id"] for case in CASES}


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_scenario_names_an_issue_of_its_report(name: str) -> None:
    [case] = [case for case in CASES if case["id"] == name]
    known = {issue["url"] for issue in case["issues"]}
    headers = [document for document in yaml.safe_load_all(FILES[name].read_text()) if "scenario" in document]
    assert headers
    for header in headers:
        issues = header["issue"] if isinstance(header["issue"], list) else [header["issue"]]
        assert {_number(url) for url in issues} & {_number(url) for url in known}
        assert "karpenter" in header["matrix"]


def _number(url: str) -> tuple[str, ...]:
    found = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)", url)
    assert found, url
    return found.groups()


def test_a_report_without_scenario_says_why() -> None:
    case = {**CASES[0], "id": "gone", "not-covered": "for a | reason"}
    assert "`gone` is not covered: for a \\| reason" in page([case], frozenset())
