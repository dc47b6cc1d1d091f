"""The files that ARCHITECTURE.md and CONTRIBUTING.md name are there, and contain what the walkthroughs look for."""

import re
from pathlib import Path

import pytest
import yaml

from tests.project.tree import PACKAGES, ROOT

PAGES = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "internals").glob("*.md"))]
FILE = re.compile(rf"`((?:{'|'.join((*PACKAGES, 'tests', 'tools', 'scenarios', 'docs', 'benchmarks'))})/[\w./*-]+)`")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FIRST = CONTRIBUTING[CONTRIBUTING.index("## Your first change") : CONTRIBUTING.index("## Rules that tests enforce")]
WALKTHROUGHS = re.findall(r"^\*\*(An? [\w ]+)\*\*.*?, as `(\w+)` is one.*?\n\n((?:\|.*\n)+)", FIRST, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_file_that_is_named_is_there(page: Path) -> None:
    named = FILE.findall(page.read_text(encoding="utf-8"))
    assert [name for name in named if not [*ROOT.glob(name.rstrip("/")), *ROOT.glob(f"{name}.py")]] == []


def test_there_are_three_walkthroughs_and_a_page_for_releases() -> None:
    assert [(subject, example) for subject, example, _ in WALKTHROUGHS] == [
        ("An expectation", "cost"),
        ("An ARM type", "availabilitySets"),
        ("A command", "defaults"),
    ]
    assert "(docs/how-to/new-release.md)" in FIRST


@pytest.mark.parametrize(("example", "table"), [(example, table) for _, example, table in WALKTHROUGHS])
def test_the_example_of_a_walkthrough_stands_in_each_of_its_files(example: str, table: str) -> None:
    rows = [FILE.findall(row)[0] for row in table.splitlines()[2:]]
    assert rows
    lacking = [name for name in rows if example.lower() not in (ROOT / name).read_text(encoding="utf-8").lower()]
    assert lacking == []


def test_an_expectation_is_one_file_and_the_line_of_its_key() -> None:
    word = re.compile(r"\bCost\b|[\"']cost[\"']|\bcost:")
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "harness" / "scenario").rglob("*.py")
        if word.search(path.read_text(encoding="utf-8"))
    }
    about_leaving = "harness/scenario/running/warnings.py"  # a warning that belongs to costs
    (table,) = (table for _, example, table in WALKTHROUGHS if example == "cost")
    own = {"harness/scenario/expectations/cost.py", "harness/scenario/language/models/expectations.py"}
    assert files - {about_leaving} == own
    assert own <= set(FILE.findall(table))


def test_a_commit_is_looked_at_by_ruff() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert {"ruff-check", "ruff-format"} <= {hook["id"] for repo in config["repos"] for hook in repo["hooks"]}
