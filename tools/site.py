"""The documentation site's pages, from the pages of the repository: `python -m tools.site FOLDER`; `make site` builds the site from them.

The pages are written for a reader of the repository, so they link to files that are no pages: scenarios, tests, tables. Each of those
becomes a page too, so that every link leads to the same thing in both places.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness import __version__

ROOT = Path(__file__).parent.parent

#: The last line of each page.
_VERSION = f"\n<small>karpenter-azure-harness {__version__}</small>\n"

#: Pages outside `docs/` that have a place of their own on the site.
NAMED = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}

LANGUAGES = {".yaml": "yaml", ".yml": "yaml", ".py": "python", ".json": "json", ".toml": "toml"}

#: Where a page shows the playground (`make playground`), which a site has beside its pages.
PLAYGROUND = "<!-- playground -->"
_FRAME = '<iframe src="playground/index.html" title="Playground" style="width: 100%; height: 80vh; border: 0"></iframe>'

#: Pictures and scripts, which the site has as they are.
_ASSETS = "docs/assets/"

_LINK = re.compile(r"\]\((?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:")
_BLOCK = re.compile(r"^(?P<fence> *```+).*?^(?P=fence)\s*$", re.MULTILINE | re.DOTALL)
#: ```yaml NAME: what the tests call the file; the site shows it as the block's title.
_NAMED_BLOCK = re.compile(r"\A(?P<fence> *```+)(?P<language>[a-z]+) (?P<title>\S+)$", re.MULTILINE)


def write_site(folder: Path, root: Path = ROOT) -> list[str]:
    """Writes the pages of the site into an empty folder. Returns the repository's files that became pages."""
    if (root / "docs" / "assets").is_dir():
        shutil.copytree(root / "docs" / "assets", folder / "assets")
    waiting = [path.relative_to(root).as_posix() for path in sorted((root / "docs").rglob("*.md"))] + list(NAMED)
    known = set(waiting)
    while waiting:
        path = waiting.pop()
        there = folder / site_path(path)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text(_page(path, root) + _VERSION, encoding="utf-8")
        new = sorted(set(_targets(path, root)) - known)
        known.update(new)
        waiting += new
    return sorted(known)


def site_path(path: str) -> str:
    """Returns where a file of the repository lies on the site."""
    if path in NAMED:
        return NAMED[path]
    if path.startswith(_ASSETS):
        return path.removeprefix("docs/")
    if path.startswith("docs/") and path.endswith(".md"):
        return path.removeprefix("docs/").replace("README.md", "index.md")
    return f"repository/{path}" if path.endswith(".md") else f"repository/{path}.md"


def _page(path: str, root: Path) -> str:
    """Returns a page's text: a page of the repository with the site's links, or a page that shows a file or a folder."""
    there = root / path
    if path.endswith(".md"):
        return _with_links(path, there.read_text(encoding="utf-8").replace(PLAYGROUND, _FRAME), root)
    # a reader comes by a link; in the search the pages that explain count
    front = "---\nsearch: {exclude: true}\nhide: [navigation, toc]\n---\n"
    if there.is_dir():
        names = sorted(child.name for child in there.iterdir() if child.suffix in LANGUAGES)
        return front + _with_links(
            path, "\n".join([f"# {path}", "", *(f"- [{name}]({there.name}/{name})" for name in names), ""]), root
        )
    return front + f"# {path}\n\n~~~~{LANGUAGES.get(there.suffix, 'text')}\n{there.read_text(encoding='utf-8')}\n~~~~\n"


def _with_links(page: str, text: str, root: Path) -> str:
    """Returns a page's text with links to the site's pages, and the names of files as titles of their blocks."""
    here = posixpath.dirname(site_path(page)) or "."

    def link(found: re.Match[str]) -> str:
        target = _target(page, found["path"], root)
        if target is None:
            return found[0]
        return f"]({posixpath.relpath(site_path(target), here)}{found['anchor'] or ''})"

    return _outside_blocks(text, lambda part: _LINK.sub(link, part))


def _outside_blocks(text: str, change: Callable[[str], str]) -> str:
    """Returns a text changed outside its blocks of code, where brackets mean something else."""
    parts: list[str] = []
    at = 0
    for block in _BLOCK.finditer(text):
        parts += [
            change(text[at : block.start()]),
            _NAMED_BLOCK.sub(r'\g<fence>\g<language> title="\g<title>"', block[0], count=1),
        ]
        at = block.end()
    return "".join([*parts, change(text[at:])])


def _targets(page: str, root: Path) -> Iterator[str]:
    """Yields the repository's files that a page leads to."""
    there = root / page
    if there.is_dir():
        yield from (child.relative_to(root).as_posix() for child in there.iterdir() if child.suffix in LANGUAGES)
    elif page.endswith(".md"):
        for found in _LINK.finditer(_BLOCK.sub("", there.read_text(encoding="utf-8"))):
            target = _target(page, found["path"], root)
            if target is not None and not target.startswith(_ASSETS):
                yield target


def _target(page: str, link: str, root: Path) -> str | None:
    """Returns the file of the repository that a page's link leads to; None where it leads elsewhere or nowhere."""
    if _ELSEWHERE.match(link):
        return None
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    there = root / target
    if target.startswith("..") or not there.exists():
        return None
    return f"{target}/README.md" if (there / "README.md").exists() else target


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the pages into a folder, which is emptied first. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args(argv).folder
    shutil.rmtree(folder, ignore_errors=True)
    pages = write_site(folder)
    print(f"{len(pages)} pages in {folder}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
