"""The playground answers with the text of the command line, asks no host but its own, and its links hold what they say."""

from __future__ import annotations

import functools
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.__main__ import main
from tests.project.tree import ROOT

FOLDER = ROOT / "build" / "playground"
EXAMPLES = json.loads((FOLDER / "examples.json").read_text())["examples"] if FOLDER.is_dir() else []
PATIENCE = 120_000  # milliseconds: a time-out for a page that hangs, on a machine that is busy

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the playground is not built: make playground")


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {  # noqa: RUF012
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(FOLDER))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


class Playground:
    """The page, with what it asked for and complained of."""

    def __init__(self, browser: Any, address: str) -> None:
        self.address = address
        self.tab = browser.new_context(permissions=["clipboard-read", "clipboard-write"]).new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.tab.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("request", lambda asked: self.requests.append(asked.url))
        self.answers = 0

    def open(self, fragment: str = "") -> str:
        self.tab.goto("about:blank")
        self.tab.goto(self.address + fragment)
        self.answers = 0
        return self.answer()

    def answer(self) -> str:
        """Waits for the next answer."""
        self.answers += 1
        self.tab.locator(f'#answer[data-answered="{self.answers}"]').wait_for(state="attached", timeout=PATIENCE)
        return str(self.tab.locator("#answer").text_content())

    @property
    def status(self) -> str:
        return str(self.tab.locator("#status").text_content())


@pytest.fixture(scope="module")
def page(browser: Any, address: str) -> Iterator[Playground]:
    playground = Playground(browser, address)
    yield playground
    playground.tab.context.close()


def told(
    folder: Path, command: str, files: dict[str, str], monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> tuple[str, int]:
    """What a terminal shows of the same command."""
    for name, text in files.items():
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    capfd.readouterr()
    try:
        code = main(command.split())
    except SystemExit as end:
        code = int(end.code or 0)
    out, err = capfd.readouterr()
    return out + err, code


def without_times(text: str) -> list[str]:
    """How long a run took is nobody's promise."""
    return [
        " ".join(word for word in line.split() if not word.replace(".", "").strip("()").isdigit())
        for line in text.splitlines()
    ]


@pytest.mark.smoke
def test_every_question_is_answered_as_in_a_terminal(
    page: Playground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    first = page.open()
    for number, example in enumerate(EXAMPLES):
        if number:
            page.tab.select_option("#example", str(number))
        answer = page.answer() if number else first
        folder = tmp_path / str(number)
        folder.mkdir()
        text, code = told(folder, example["commands"][0], example["files"], monkeypatch, capfd)
        assert without_times(answer) == without_times(text), example["title"]
        assert page.status.startswith(f"Exit code {code},")
    assert page.complaints == []
    assert {url for url in page.requests if not url.startswith(page.address)} <= {"about:blank"}


@pytest.mark.smoke
def test_a_picture_is_drawn_in_a_frame_of_its_own(page: Playground) -> None:
    page.open()
    number = next(number for number, example in enumerate(EXAMPLES) if "quota" in example["title"])
    page.tab.select_option("#example", str(number))
    page.answer()
    page.tab.click("#as-picture")
    page.answer()
    page.tab.locator('#picture[data-drawn="1"]').wait_for(state="attached", timeout=PATIENCE)
    inside = page.tab.frame_locator("#picture iframe")
    inside.get_by_text("OperationNotAllowed").first.wait_for(timeout=PATIENCE)
    assert "2 pods waiting" in inside.locator("body").inner_text()
    page.tab.click("#as-text")
    assert page.tab.locator("#answer").is_visible()
    assert page.complaints == []


@pytest.mark.smoke
def test_a_link_holds_files_and_command(page: Playground) -> None:
    page.open()
    page.tab.fill("#command", "requirements --size Standard_D4s_v5")
    page.tab.click("#run")
    before = page.answer()
    page.tab.click("#share")
    page.tab.wait_for_url("**/#1.*")
    fragment = str(page.tab.evaluate("() => location.hash"))
    assert page.open(fragment) == before
    assert page.tab.input_value("#command") == "requirements --size Standard_D4s_v5"


def test_a_link_that_is_cut_says_so(page: Playground) -> None:
    page.open("#1.notalink")
    assert "Exit code" in page.status or "not whole" in page.status


def test_release_and_region_are_options_of_the_command(page: Playground) -> None:
    page.open()
    page.tab.fill("#command", "requirements --size Standard_D4s_v5")
    page.tab.select_option("#release", "1.6.5")
    assert "provider 1.6.5" in page.answer()
    assert page.tab.input_value("#command") == "requirements --size Standard_D4s_v5 --release 1.6.5"
    page.tab.select_option("#region", "westeurope")
    assert "in westeurope, provider 1.6.5" in page.answer()
    page.tab.select_option("#release", "")
    assert "in westeurope, provider 1.14.0" in page.answer()


def test_a_mistake_is_an_answer(page: Playground) -> None:
    page.open()
    page.tab.fill("#command", "explian")
    page.tab.press("#command", "Enter")
    assert "did you mean 'explain'?" in page.answer()
    assert page.status.startswith("Exit code 2,")
