"""Chromium for the tests of pages; they run when `--run-browser` asks for them, and where there is one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.__main__ import main
from tests.browser.pages import CASES
from tests.reports.test_picture import data_of
from tools.chromium import chromium, sandbox


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-browser", action="store_true", help="open pages in Chromium")
    parser.addoption("--update-screenshots", action="store_true", help="keep what Chromium draws now")


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    if not request.config.getoption("--run-browser", default=False):
        pytest.skip("pages in Chromium are asked for with --run-browser (make test-browser)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("no playwright: pip install 'karpenter-azure-harness[browser]'")
    program = chromium()
    if program is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=program, args=[*sandbox(), "--force-device-scale-factor=1"]
        )
        yield started
        started.close()


class Opened:
    """A page in the browser, and the JSON that it was made of."""

    def __init__(self, tab: Any, data: Any) -> None:
        self.tab, self.data = tab, data
        self.complaints: list[str] = []
        self.requests: list[str] = []

    @property
    def world(self) -> Any:
        return self.data["world"] if "world" in self.data else self.data["worlds"][0]


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Opened]]:
    """Opens a document in a tab of its own; keeps what the page complains of and asks for."""
    contexts: list[Any] = []

    def opened(path: Path, *, width: int = 1280, scheme: str = "light", address: str = "") -> Opened:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        context.set_default_timeout(10_000)
        tab = context.new_page()
        page = Opened(tab, data_of(path.read_text(encoding="utf-8")))
        tab.on("console", lambda said: page.complaints.append(said.text) if said.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: page.complaints.append(str(error)))
        tab.on("request", lambda asked: page.requests.append(asked.url))
        tab.goto(path.as_uri() + address)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of one of the CASES, written by `harness run`."""
    folder = tmp_path_factory.mktemp("pages")

    def page(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            file, text = CASES[name]
            assert main(["run", file, "-k", text, "--html", str(path)]) == 0, name
        return path

    return page


def figures(tab: Any, expression: str) -> Any:
    """A value of the page, as JSON has it."""
    return json.loads(tab.evaluate(f"JSON.stringify({expression})"))
