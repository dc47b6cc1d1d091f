"""Pages are one file each that lets nothing in, and whose built script matches its sources."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from harness.reports import as_json
from harness.reports.picture.corpus import corpus_page
from harness.reports.picture.page import page
from tests.project.tree import ROOT
from tests.reports.test_reports import SUMMARY

BUILT = ROOT / "harness" / "reports" / "picture" / "built"
SOURCES = ROOT / "picture"


def data_of(document: str) -> object:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', document, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def sums() -> dict[str, str]:
    lines = (BUILT / "SHA256SUMS").read_text().splitlines()
    return {name: total for total, name in (line.split("  ", 1) for line in lines)}


def sources() -> list[str]:
    files = [path for path in (SOURCES / "src").rglob("*") if path.is_file()]
    files += [SOURCES / name for name in ("build.mjs", "package-lock.json", "package.json")]
    return [path.relative_to(SOURCES).as_posix() for path in files]


def total(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def test_the_built_files_match_their_sources() -> None:
    if not SOURCES.is_dir():
        pytest.skip("the sources of the page are not in this archive")
    recorded = sums()
    now = {name: total(SOURCES / name) for name in sources()}
    now |= {f"built/{path.name}": total(path) for path in BUILT.iterdir() if path.name != "SHA256SUMS"}
    assert now == recorded, "run `make picture`, which needs Node"


def test_what_is_bundled_is_small_and_has_its_licence() -> None:
    assert sum(path.stat().st_size for path in BUILT.iterdir()) < 700_000
    named = {
        line.split()[0] for line in (BUILT / "LICENSES.txt").read_text().splitlines() if re.match(r"\S+ \d\S* \(", line)
    }
    wanted = json.loads((SOURCES / "package.json").read_text())["dependencies"] if SOURCES.is_dir() else {}
    assert set(wanted) <= named


def test_a_page_holds_the_json_of_its_run() -> None:
    data = data_of(corpus_page(SUMMARY))
    assert isinstance(data, dict)
    assert (data.pop("page"), data.pop("worlds"), data.pop("unpictured")) == ("run", [], "")
    held = [case.pop("held") for case in data["cases"]]
    assert data == as_json.summary_value(SUMMARY)
    assert held[:2] == [["then[0].pods.bound"], ["then[0].pods.bound"]]


def test_no_text_ends_the_element_it_stands_in() -> None:
    hostile = "</script><script>alert(1)</script><!--"
    document = page(hostile, {"text": hostile, "half": "\ud800"})
    assert document.count("</script>") == 2
    assert "<script>alert" not in document
    document.encode()
    assert data_of(document) == {"text": hostile, "half": "\ud800"}


def test_a_page_lets_nothing_in() -> None:
    document = corpus_page(SUMMARY)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', document)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    for element in ("script", "style"):
        text = re.search(rf"<{element}>(.*?)</{element}>", document, re.DOTALL)
        assert text is not None
        assert f"'sha256-{b64encode(sha256(text[1].encode()).digest()).decode()}'" in policy[1]
    assert not re.search(r"<(?:link|img|iframe)\b|\ssrc=|@import|url\((?!#)", document)
