"""The playground answers with the text of the command line, asks no host but its own, and its links hold what they say."""

from __future__ import annotations

import base64
import functools
import http.server
import json
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.__main__ import main
from tests.project.tree import ROOT
from tests.small_world import POD, POOL

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

    def open(self) -> str:
        """Opens the page, and waits for the answer to its first question."""
        self.follow("")
        return self.answer()

    def follow(self, fragment: str) -> None:
        """Follows a link, and waits until the page says something of it."""
        self.tab.goto("about:blank")
        self.tab.goto(self.address + fragment)
        self.answers = 0
        self.tab.locator("#status", has_text="Loading. Opened").wait_for(state="detached", timeout=PATIENCE)

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


def link(state: dict[str, Any]) -> str:
    """The fragment of a link, which anybody can make."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(json.dumps(state).encode()) + packer.flush()
    return "#1." + base64.urlsafe_b64encode(packed).decode().rstrip("=")


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
    page.follow(fragment)
    assert page.tab.input_value("#command") == "requirements --size Standard_D4s_v5"
    page.tab.click("#run")
    assert page.answer() == before


@pytest.mark.smoke
def test_what_a_link_brings_runs_when_somebody_says_so(page: Playground) -> None:
    """Neither when the page is opened with it, nor when it is followed from the page."""
    first, second = (
        link({"files": {"a.yaml": "a: 1\n"}, "command": f"requirements --size {size}"})
        for size in ("Standard_D2s_v5", "Standard_D4s_v5")
    )
    page.follow(first)
    for size in ("Standard_D2s_v5", "Standard_D4s_v5"):
        assert page.tab.input_value("#command") == f"requirements --size {size}"
        assert page.status == "This link brought files and a command. Run starts it."
        page.tab.wait_for_timeout(300)
        assert page.tab.locator("#answer").get_attribute("data-answered") is None
        assert page.tab.locator("#run").is_enabled()
        page.tab.evaluate("(hash) => { location.hash = hash }", second)
        page.tab.wait_for_function("() => document.getElementById('command').value.endsWith('D4s_v5')")
    page.tab.click("#run")
    assert "Standard_D4s_v5" in page.answer()


@pytest.mark.parametrize(
    ("fragment", "why"),
    [
        ("#1.notalink", "It is not whole: its files cannot be read."),
        ("#1." + "A" * 300_000, "It is longer than 256 KiB."),
    ],
    ids=["cut", "long"],
)
def test_a_link_that_cannot_be_used_says_so(page: Playground, fragment: str, why: str) -> None:
    page.follow(fragment)
    assert page.status == f"The link cannot be used. {why} This is the first question."
    assert page.tab.locator("#answer").get_attribute("data-answered") is None


def test_a_link_that_unpacks_to_much_says_so(page: Playground) -> None:
    page.follow(link({"files": {"a.yaml": "a" * 30_000_000}, "command": "x"}))
    assert page.status == "The link cannot be used. It holds more than 2048 KiB. This is the first question."


def test_too_much_for_a_link_is_said(page: Playground) -> None:
    page.open()
    page.tab.fill("#command", "x" * 5000)
    page.tab.click("#share")
    page.tab.locator("#status", has_text="This is too much for a link. Its command is too long.").wait_for(
        timeout=PATIENCE
    )


@pytest.mark.smoke
def test_stop_ends_what_runs_and_run_begins_anew(page: Playground) -> None:
    """Whatever Python does, here it is still loading; the page goes on."""
    page.follow("")  # the first question runs by itself
    page.tab.click("#stop")
    assert page.status == "Stopped. Run loads Python anew."
    assert page.tab.locator("#stop").is_disabled()
    page.tab.wait_for_timeout(300)
    assert page.tab.workers == []
    assert page.tab.locator("#answer").get_attribute("data-answered") is None
    page.tab.fill("#command", "requirements --size Standard_D4s_v5")
    page.tab.click("#run")
    assert "Standard_D4s_v5" in page.answer()


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


def test_own_files_are_pasted_opened_named_and_removed(page: Playground, tmp_path: Path) -> None:
    page.open()
    tab = page.tab
    tab.select_option("#example", label="Your own files")
    assert tab.locator("#files button").all_text_contents() == ["file-1.yaml"]
    tab.keyboard.insert_text(POOL)
    (tmp_path / "a pod.yaml").write_text(POD)
    tab.set_input_files("#chosen", str(tmp_path / "a pod.yaml"))
    tab.locator("#files button", has_text="a-pod.yaml").wait_for()
    tab.fill("#name", "../pod.yaml")
    tab.press("#name", "Enter")
    assert "no name that a file can have" in page.status
    tab.fill("#name", "pod.yaml")
    tab.press("#name", "Enter")
    tab.click("#new")
    assert tab.locator("#files button").all_text_contents() == ["file-1.yaml", "pod.yaml", "file-2.yaml"]
    tab.click("#remove")
    assert tab.locator("#files button[aria-selected=true]").text_content() == "pod.yaml"
    tab.fill("#command", "explain file-1.yaml pod.yaml")
    tab.click("#run")
    assert "Pod/web: bound on Node" in page.answer()


def test_it_works_without_its_host_after_the_first_load(browser: Any) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(FOLDER))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        playground = Playground(browser, f"http://127.0.0.1:{server.server_address[1]}/")
        try:
            first = playground.open()
            playground.tab.locator("#offline").wait_for(state="visible", timeout=PATIENCE)
        finally:
            server.shutdown()
            thread.join()
    assert playground.open() == first
    playground.tab.context.close()
