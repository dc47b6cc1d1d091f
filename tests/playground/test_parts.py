"""The playground's examples are the documentation's, and every one of them runs on what the browser gets of the project."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.project.tree import ROOT
from tools import playground

EXAMPLES = playground.examples()

#: Runs one command with nothing in the path but what the browser gets, and pydantic when it is asked for.
RUN = """
import json, runpy, sys

class Browser:
    def find_spec(self, name, path=None, target=None):
        if any(name == each or name.startswith(each + ".") for each in LEFT_OUT) or name in ("ssl", "_ssl"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

LEFT_OUT, session, command, files = json.loads(sys.stdin.read())
sys.meta_path.insert(0, Browser())
text, code, missing, _ = runpy.run_path(session)["answer"](command, files)
print(json.dumps([text, code, missing]))
"""


@pytest.fixture
def session() -> ModuleType:
    spec = importlib.util.spec_from_file_location("session", ROOT / "playground" / "src" / "session.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_examples_are_questions_with_their_files_and_commands() -> None:
    titles = [example["title"] for example in EXAMPLES]
    assert len(titles) == len(set(titles)) > 10
    quota = next(example for example in EXAMPLES if "quota" in example["title"])
    assert list(quota["files"]) == ["pools.yaml", "web.yaml"]
    assert quota["commands"] == ["explain pools.yaml web.yaml --quota cores=4"]
    for example in EXAMPLES:
        used = [word for command in example["commands"] for word in command.split() if word.endswith(".yaml")]
        assert set(used) <= set(example["files"]), example["title"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["title"])
def test_an_example_runs_on_what_the_browser_gets(example: dict[str, object], tmp_path: Path) -> None:
    left_out = [path.replace("/", ".") for path in playground.LEFT_OUT]
    commands = example["commands"]
    assert isinstance(commands, list)
    given = [left_out, str(ROOT / "playground" / "src" / "session.py"), commands[0], example["files"]]
    done = subprocess.run(
        [sys.executable, "-c", RUN], input=json.dumps(given), capture_output=True, text=True, cwd=ROOT, check=True
    )
    text, code, missing = json.loads(done.stdout)
    assert not missing
    assert code in (0, 1), text
    assert text


@pytest.mark.parametrize(
    ("command", "code", "text"),
    [
        ("requirements --size 'Standard", 2, "harness: No closing quotation"),
        ("explain nothing.yaml", 2, "nothing.yaml"),
        ("explian", 2, "did you mean 'explain'?"),
        ("--version", 0, "provider releases"),
    ],
)
def test_what_cannot_be_run_is_said(session: ModuleType, command: str, code: int, text: str) -> None:
    said, ended, missing, _ = session.answer(command, {})
    assert (ended, missing) == (code, False)
    assert text in said


@pytest.mark.parametrize("package", ["pydantic", "pydantic_core"])
def test_a_package_that_is_not_there_yet_is_asked_for(
    session: ModuleType, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    def main(words: list[str]) -> int:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)

    monkeypatch.setattr("harness.__main__.main", main)
    assert session.answer("run a.yaml", {"a.yaml": ""}) == ("", 1, True, "")


def test_what_needs_a_socket_says_so(session: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def main(words: list[str]) -> int:
        raise ModuleNotFoundError("No module named 'harness.clusters.kind'", name="harness.clusters.kind")

    monkeypatch.setattr("harness.__main__.main", main)
    said, code, _, _ = session.answer("run a.yaml --cluster kind", {})
    assert code == 3
    assert (
        said
        == "harness: harness.clusters.kind needs what a browser does not give (sockets, processes); install the package\n"
    )


@pytest.mark.parametrize("command", ["dev answer", "simulate -", "validate -", "explain -"])
def test_what_reads_standard_input_says_so(session: ModuleType, command: str) -> None:
    before = sys.stdin
    said, code, _, _ = session.answer(command, {})
    assert code == 3
    assert said == "harness: standard input is what a browser does not give; name a file, or install the package\n"
    assert sys.stdin is before


def test_a_file_that_is_standard_output_is_shown(session: ModuleType) -> None:
    quota = next(example for example in EXAMPLES if "quota" in example["title"])
    said, code, _, _ = session.answer(f"capture {' '.join(quota['files'])} -o -", quota["files"])
    assert code == 0
    assert "scenario:" in said


def test_a_picture_is_the_page_that_the_command_writes(session: ModuleType) -> None:
    quota = next(example for example in EXAMPLES if "quota" in example["title"])
    text, code, _, page = session.answer(quota["commands"][0], quota["files"], True)
    assert code == 0
    assert text == session.answer(quota["commands"][0], quota["files"])[0]
    assert page.startswith("<!doctype html>")
    assert "OperationNotAllowed" in page


def test_a_command_without_a_picture(session: ModuleType) -> None:
    text, code, _, page = session.answer("requirements --size Standard_D4s_v5", {}, True)
    assert (code, page) == (0, "")
    assert "Standard_D4s_v5" in text


@pytest.mark.parametrize("name", ["picture.html", "drawing.html", "web.yaml.html"])
def test_a_page_that_a_link_brings_is_not_drawn(session: ModuleType, name: str) -> None:
    brought = "<script>document.body.innerHTML = 'phish'</script>"
    for command in ("simulate nothing.yaml", f"explain {name}", "explian"):
        _, code, _, page = session.answer(command, {name: brought}, True)
        assert (code, page) == (2, "")


@pytest.mark.parametrize(
    "name", ["..", ".", "", "a/b.yaml", "../a.yaml", "/etc/passwd", "a\0b", "x" * 101, "-o", ".hidden", "a b"]
)
def test_a_file_without_a_usual_name_is_a_mistake(session: ModuleType, name: str) -> None:
    said, code, missing, page = session.answer("explain a.yaml", {name: "a: 1"}, True)
    assert (code, missing, page) == (2, False, "")
    assert said == f"harness: {name[:100]!r} is no name that a file can have\n"


def test_text_that_no_file_can_hold_is_no_crash(session: ModuleType) -> None:
    said, code, _, _ = session.answer("explain a.yaml", {"a.yaml": "\ud800"})
    assert (code, "a.yaml" in said) == (2, True)
