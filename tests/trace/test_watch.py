"""The film of a trace, and its story in plain text."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

from harness.reports.film import bar_text, frames
from harness.trace import Trace, read_trace
from tests.cli.command import call
from tests.trace.conftest import SPOT

OLD = Path(__file__).with_name("version-1.jsonl.gz")


def test_frames_fill_as_time_runs(traced: Callable[[str], Trace]) -> None:
    film = list(frames(traced(SPOT)))
    assert [frame.t for frame in film] == sorted({frame.t for frame in film})
    assert film[0].bars == ()
    made = next(frame for frame in film if frame.bars)
    assert (made.bars[0].state, made.bars[0].price, made.waiting) == ("created", None, 1)
    last = film[-1]
    (bar,) = last.bars
    assert (last.bound, last.waiting, last.price) == (1, 0, bar.price)
    assert (bar.state, bar.pods, bar.kind) == ("ready", 1, "Standard_D4s_v5 eastus-1 on-demand")
    assert 0.5 < bar.filled["cpu"] < 0.6


def test_a_node_that_goes_leaves_the_film() -> None:
    film = list(frames(read_trace(OLD)))
    most = max(len(frame.bars) for frame in film)
    assert most > len(film[-1].bars)
    assert film[-1].price < max(frame.price for frame in film)


def test_the_story_in_text(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "case.yaml").write_text(SPOT)
    code, out, _ = call(capsys, "watch", "case.yaml", "-k", "a zone without spot")
    lines = out.splitlines()
    assert code == 0
    assert lines[:2] == ["       0.0 s    ── settle", "       0.0 s    AKSNodeClass/default applied (case.yaml:7)"]
    assert any(
        line.startswith("       1.1 s  ! Azure refused Standard_D4s_v5 on spot eastus-1: SkuNotAvailable")
        for line in lines
    )
    assert "       1.0 s    Karpenter wants Pod/web on a new NodeClaim/default-" in out
    assert "     172.3 s    holds: then[0].pods.bound" in lines
    assert any(line.startswith("at 172.3 s: 1 node, 1 pods bound, 0 waiting, 0.1920 USD per hour") for line in lines)


def test_a_film_on_a_terminal() -> None:
    console = pytest.importorskip("rich.console", reason="pip install rich")
    from harness.reports.screen import play

    shown = StringIO()
    waited: list[float] = []
    terminal = console.Console(file=shown, force_terminal=True, width=150, height=40)
    play(read_trace(OLD), waited.append, seconds=6, console=terminal)
    text = shown.getvalue()
    assert "USD/h" in text
    assert "█" in text
    assert len(waited) == len(list(frames(read_trace(OLD))))
    assert sum(waited) < 7


def test_bars() -> None:
    assert bar_text(0.7, 10) == "███████░░░  70 %"
    assert bar_text(0, 4) == "░░░░   0 %"
    assert bar_text(1, 4) == "████ 100 %"


def test_simulate_live_without_a_terminal_is_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.yaml").write_text(SPOT.partition("---\n")[2])
    code, out, _ = call(capsys, "simulate", "web.yaml", "--live")
    assert code == 0
    story, _, summary = out.partition("\n\nat ")
    assert "Pod/web bound to Node" in story
    assert "1 node, 1 pod bound, 0 pending" in summary


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.yaml"], "none.yaml: there is no such file"),
        (["two.yaml"], "two.yaml: 2 cases; -k chooses one: 'one', 'other'"),
        (["two.yaml", "-k", "third"], "no cases whose name contains 'third' in two.yaml"),
        (["two.yaml", "--seconds", "-1"], "--seconds -1: a number from 0 to a day is expected"),
        (["a.jsonl"], "a.jsonl:2: fact: missing"),
    ],
)
def test_mistakes(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.yaml").write_text(
        "scenario: one\nthen: [{pods: {bound: 0}}]\n---\nscenario: other\nthen: [{pods: {bound: 0}}]\n"
    )
    from tests.trace.test_files import HEADER

    (tmp_path / "a.jsonl").write_text(HEADER + "\n{}\n")
    code, _, error = call(capsys, "watch", *words)
    assert (code, error) == (2, f"harness watch: {said}\n")
