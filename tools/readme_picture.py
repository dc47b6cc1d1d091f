"""The picture in the README: the top of a page of `harness run --html`, as Chromium draws it; `make readme-picture` makes it anew."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.__main__ import main as harness
from tools.chromium import chromium, sandbox

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "assets" / "corridor.png"
SCENARIO = ROOT / "scenarios" / "capacity" / "refusals.yaml"
CASE = "a zone is full for these constraints"
WIDTH = 1040
LIMIT = 150_000
"""Bytes that the picture may have."""


def main() -> int:
    """Makes the picture. Returns the exit code."""
    from playwright.sync_api import sync_playwright

    program = chromium()
    if program is None:
        print("no Chromium: apt-get install chromium", file=sys.stderr)
        return 1
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "page.html"
        if code := harness(["run", str(SCENARIO.relative_to(ROOT)), "-k", CASE, "--html", str(page)]):
            return code
        browser = playwright.chromium.launch(executable_path=program, args=sandbox())
        tab = browser.new_context(viewport={"width": WIDTH, "height": 900}, color_scheme="light").new_page()
        tab.goto(page.as_uri())
        box = tab.locator("#corridor").bounding_box()
        assert box is not None
        data = tab.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": WIDTH, "height": box["y"] + box["height"]})
        browser.close()
    if len(data) > LIMIT:
        print(f"{len(data)} bytes; at most {LIMIT}", file=sys.stderr)
        return 1
    PICTURE.write_bytes(data)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
