"""Messages of commands name files as they are seen from the current folder, however they were given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import call
from tests.cli.test_pages import CLASS, POD, POOL, SCENARIO, page


@pytest.fixture
def files(here: Path) -> Path:
    (here / "tests").mkdir()
    (here / "tests" / "bad.yaml").write_text(SCENARIO.replace("bound: 1", "bound: 2"), encoding="utf-8")
    (here / "all.yaml").write_text(f"{POD}---{CLASS}---{POOL}", encoding="utf-8")
    return here


@pytest.mark.parametrize("scenarios", ["tests/bad.yaml", "tests", "."])
def test_a_run_shows_nothing_of_the_machine(files: Path, scenarios: str, capsys: pytest.CaptureFixture[str]) -> None:
    reports = ("--html", str(files / "page.html"), f"--junit={files / 'report.xml'}", "--markdown", str(files / "a.md"))
    code, out, err = call(capsys, "run", str(files / scenarios), *reports)
    assert code == 1
    assert out.startswith("FAILED tests/bad.yaml::")
    assert "harness watch tests/bad.yaml" in out
    written = [(files / name).read_text(encoding="utf-8") for name in ("page.html", "report.xml", "a.md")]
    assert [text for text in (out, err, *written) if str(files) in text] == []
    assert all("tests/bad.yaml" in text for text in written)


def test_the_command_on_a_page_can_be_run_by_somebody_else(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "simulate", str(files / "all.yaml"), "--html", str(files / "page.html"))[0] == 0
    header = page(files / "page.html")["world"]["header"]
    assert header["command"] == "harness simulate all.yaml --html page.html"


def test_a_path_from_elsewhere_stays_and_one_like_an_option_is_none(
    files: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path_factory.mktemp("other") / "none.yaml"
    assert str(other) in call(capsys, "validate", str(other))[2]
    (files / "-v.yaml").write_text(POD, encoding="utf-8")
    assert call(capsys, "validate", str(files / "-v.yaml"))[:2] == (0, "provider 1.14.0: 1 object, nothing refused\n")


@pytest.mark.parametrize("name", ["karpctl", "ls"])  # on no PATH, and also on every PATH
def test_launch_starts_the_program_that_it_is_given(
    here: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = here / name
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    started: list[list[str]] = []
    monkeypatch.setattr("harness.world.real.process.missing_tools", lambda: "")
    monkeypatch.setattr("harness.cli.commands.launch.os.execvp", lambda file, command: started.append(command))
    call(capsys, "launch", str(program))
    assert [command[-1] for command in started] == [str(program)], capsys.readouterr().err


def test_only_files_are_shortened_in_the_command_on_a_page(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    option = f"LINUX_ADMIN_USERNAME={files}/a"
    written = f"--html={files / 'page.html'}"
    assert call(capsys, "simulate", f"{files}//all.yaml", "--option", option, written)[0] == 0
    header = page(files / "page.html")["world"]["header"]
    assert header["command"] == f"harness simulate all.yaml --option {option} --html=page.html"


def test_a_text_that_is_a_path_is_taken_as_it_was_given(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = str(files / "none")
    assert f"whose id contains '{text}' in tests" in call(capsys, "run", str(files / "tests"), "-k", text)[2]


def test_names_are_short_in_a_folder_that_is_reached_through_a_link(
    files: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    link = tmp_path_factory.mktemp("links") / "link"
    link.symlink_to(files)
    monkeypatch.chdir(link)
    monkeypatch.setenv("PWD", str(link))
    for folder in (link, files):
        assert call(capsys, "run", str(folder / "tests"))[1].startswith("FAILED tests/bad.yaml::")
    monkeypatch.setenv("PWD", str(link.parent))  # left over from another folder
    assert call(capsys, "run", str(link / "tests"))[1].startswith(f"FAILED {link}/tests/bad.yaml::")


def test_a_command_that_is_told_takes_a_file_like_an_option_for_a_file(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "tests" / "bad.yaml").rename(files / "-bad.yaml")
    assert "harness watch ./-bad.yaml -k" in call(capsys, "run", str(files / "-bad.yaml"))[1]
