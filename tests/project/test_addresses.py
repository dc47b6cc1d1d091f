"""Nothing points to an address that nobody owns: `addresses.toml` is the one place that names ours."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from hatch_build import readme_at, urls_of
from tests.project.tree import ROOT, tracked

ADDRESSES = tomllib.loads((ROOT / "addresses.toml").read_text(encoding="utf-8"))
OURS = re.compile(r"https?://[^\s\"'<>)\]]*karpenter-azure-harness[^\s\"'<>)\]]*|\S+@users\.noreply\S*")
ACTION = re.compile(r"uses: ([\w.-]+)/karpenter-azure-harness")
BY_NAME = re.compile(r"(?:pipx?|uvx?|poetry)\b[^\n`]*?\bkarpenter-azure-harness(?!\w*\[|\w*\.git| @ )", re.IGNORECASE)
REPOSITORY = "https://git.example.org/team/harness"


def addresses_in(text: str, repository: str) -> list[str]:
    """Return the addresses of this project in a text that `addresses.toml` does not name."""
    urls = [url for url in OURS.findall(text) if not (repository and url.startswith(repository))]
    owner = repository.removeprefix("https://github.com/").partition("/")[0] if repository else "OWNER"
    return urls + [f"uses: {name}/…" for name in ACTION.findall(text) if name not in {"OWNER", owner}]


def texts() -> Iterator[tuple[str, str]]:
    """Return the text files of the repository, by path."""
    for path in tracked():
        if path != Path(__file__).resolve():
            try:
                yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def test_no_file_names_an_address_that_nobody_owns() -> None:
    dead = {path: names for path, text in texts() if (names := addresses_in(text, ADDRESSES["repository"]))}
    assert not dead


@pytest.mark.skipif(ADDRESSES["index"], reason="an index has the package")
def test_no_page_installs_from_an_index_that_lacks_the_package() -> None:
    pages = [(path, text) for path, text in texts() if path.endswith(".md") and path != "CONTRIBUTING.md"]
    assert not {path: lines for path, text in pages if (lines := BY_NAME.findall(text))}


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("[x](https://github.com/someone/karpenter-azure-harness/issues)", True),
        ("$schema=https://raw.example.org/karpenter-azure-harness/main/a.json", True),
        ("    - uses: someone/karpenter-azure-harness@v0", True),
        ("    - uses: OWNER/karpenter-azure-harness@REVISION", False),
        (f"{REPOSITORY}/issues", False),
        ("https://github.com/kubernetes/kubernetes", False),
    ],
)
def test_what_counts_as_an_address_of_ours(text: str, dead: bool) -> None:
    assert bool(addresses_in(text, REPOSITORY)) == dead


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("pipx run --spec karpenter-azure-harness harness simulate x", True),
        ("pip install karpenter-azure-harness", True),
        ("pip install 'karpenter-azure-harness[crds]'", False),  # adds an extra to what is installed
        ('pip install "karpenter-azure-harness @ git+ADDRESS"', False),
        ("pip install dist/karpenter_azure_harness-0.1.0-py3-none-any.whl", False),
    ],
)
def test_what_counts_as_an_installation_from_an_index(line: str, refused: bool) -> None:
    assert bool(BY_NAME.search(line)) == refused


def test_an_owned_repository_makes_links_absolute() -> None:
    readme = "![a picture](docs/a.png) [a page](docs/a.md) [elsewhere](https://example.org) [below](#part)"
    assert readme_at(readme, REPOSITORY) == (
        f"![a picture]({REPOSITORY}/raw/main/docs/a.png) [a page]({REPOSITORY}/blob/main/docs/a.md) "
        "[elsewhere](https://example.org) [below](#part)"
    )
    assert urls_of(REPOSITORY)["Issues"] == f"{REPOSITORY}/issues"


def test_without_a_repository_the_package_names_none() -> None:
    assert readme_at("[a page](docs/a.md)", "") == "[a page](docs/a.md)"
    assert urls_of("") == {}
