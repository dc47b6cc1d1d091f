"""How far a run has come: lines where somebody reads along later, a bar on a terminal."""

from __future__ import annotations

import io
import sys

import pytest

from harness.cli import main, run_cases


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_when_some_time_has_passed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = iter([0.0, 1.0, 6.0, 6.0, 7.0, 12.0])  # begun, then each case, and once more for those that are told
    monkeypatch.setattr(run_cases, "perf_counter", lambda: next(now, 99.0))
    monkeypatch.setattr(run_cases, "_SECONDS", 5.0)
    told = run_cases.progress(4)
    for bad in (False, True, False, False):
        told.advance(bad=bad)
    told.end()
    assert capsys.readouterr() == ("", "2 of 4 cases, 1 failed, about 6 s to go\n")


def test_a_bar_on_a_terminal_makes_room_for_what_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    told = run_cases.progress(2)
    told.advance(bad=True)
    told.show("FAILED one")
    told.advance(bad=False)
    told.end()
    assert isinstance(sys.stderr, Terminal)
    drawn = sys.stderr.getvalue()
    assert "cases, 1 failed" in drawn
    assert "100%" in drawn
    assert drawn.endswith("\x1b[2K")  # nothing of it stays
    assert capsys.readouterr().out == "FAILED one\n"


def test_a_terminal_without_rich_has_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(run_cases.progress(1), run_cases._Lines)


def test_pages_of_labels_take_no_release(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["labels", "pages", "x", "--release", "1.6.5", "--format", "json"]) == 2
    said = "harness labels pages: --release, --format: the pages are of all releases, in eastus, as Markdown\n"
    assert capsys.readouterr() == ("", said)
