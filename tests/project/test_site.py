"""The documentation site has a page for everything that a page leads to, and its table of contents names each page of `docs/`."""

import posixpath
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness
from tests.project.tree import ROOT
from tools.site import main, site_path, write_site

LINK = re.compile(r"\]\((?!https?:|mailto:)(?P<path>[^)#\s]*)(?:#[^)\s]*)?\)")
BLOCK = re.compile(r"^ *(```+|~~~+).*?^ *\1\s*$", re.MULTILINE | re.DOTALL)


def names(nav: object) -> Iterator[str]:
    """Each page that the table of contents names."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for part in nav.values():
            yield from names(part)
    elif isinstance(nav, list):
        for part in nav:
            yield from names(part)


def test_every_link_leads_to_a_page_of_the_site(tmp_path: Path) -> None:
    write_site(tmp_path)
    pages = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")}
    there = pages | {path.relative_to(tmp_path).as_posix() for path in (tmp_path / "assets").iterdir()}
    lost = [
        (page, link["path"])
        for page in sorted(pages)
        for link in LINK.finditer(BLOCK.sub("", (tmp_path / page).read_text()))
        if link["path"] and posixpath.normpath(posixpath.join(posixpath.dirname(page), link["path"])) not in there
    ]
    assert lost == []
    assert "repository/scenarios/labels/who-wins.yaml.md" in pages


def test_the_table_of_contents_names_each_page_of_the_documentation() -> None:
    named = set(names(tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]))
    assert named == {site_path(path.relative_to(ROOT).as_posix()) for path in (ROOT / "docs").rglob("*.md")} | {
        "index.md",
        "architecture.md",
        "contributing.md",
        "changelog.md",
    }


def test_each_page_says_of_which_version_it_is(tmp_path: Path) -> None:
    write_site(tmp_path)
    pages = {path: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.md")}
    assert {tmp_path / "index.md", tmp_path / "repository/scenarios/labels/who-wins.yaml.md"} <= pages.keys()
    last = f"\n\n<small>karpenter-azure-harness {harness.__version__}</small>\n"
    assert [path for path, text in pages.items() if not text.endswith(last)] == []


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    for path, text in {
        "README.md": "# Project\n\n[a page](docs/how-to/first.md#second) and [elsewhere](https://example.org)\n",
        "ARCHITECTURE.md": "# Architecture\n",
        "CONTRIBUTING.md": "# Contributing\n",
        "CHANGELOG.md": "# Changes\n",
        "docs/how-to/first.md": "# First\n\n```yaml pools.yaml\na: [b](c)\n```\n\n"
        "[run it](../../cases/one.yaml), [all](../../cases), [home](../../README.md)\n",
        "cases/one.yaml": "scenario: one\n",
        "cases/two.yaml": "scenario: two\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def test_a_link_into_the_repository_leads_to_a_page_that_shows_the_file(repository: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    write_site(site, repository)
    assert "[a page](how-to/first.md#second) and [elsewhere](https://example.org)" in (site / "index.md").read_text()
    first = (site / "how-to/first.md").read_text()
    assert "[run it](../repository/cases/one.yaml.md), [all](../repository/cases.md), [home](../index.md)" in first
    assert "scenario: one\n" in (site / "repository/cases/one.yaml.md").read_text()
    assert "[two.yaml](cases/two.yaml.md)" in (site / "repository/cases.md").read_text()


def test_a_block_of_code_keeps_its_brackets_and_shows_its_name(repository: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    write_site(site, repository)
    assert '```yaml title="pools.yaml"\na: [b](c)\n```' in (site / "how-to/first.md").read_text()


def test_the_playground_is_shown_where_a_page_says_so(tmp_path: Path) -> None:
    write_site(tmp_path)
    assert 'src="playground/index.html"' in (tmp_path / "try-it.md").read_text()


def test_the_folder_is_written_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "old.md").write_text("gone")
    assert main([str(tmp_path / "site")]) == 0
    assert not (tmp_path / "site" / "old.md").exists()
    assert "pages in" in capsys.readouterr().err
