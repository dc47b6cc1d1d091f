"""The film of a trace, and its story in plain text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

from harness.reports.film import Bar, bar_text, first_bars, frames, in_letters
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
    assert lines[:2] == ["        0s    ── settle", "        0s    AKSNodeClass/default applied (case.yaml:7)"]
    assert any(
        line.startswith("      1.1s  ! Azure refused Standard_D4s_v5 on spot eastus-1: SkuNotAvailable")
        for line in lines
    )
    assert "        1s    Karpenter wants Pod/web on a new NodeClaim/default-" in out
    assert "   2m52.3s    holds: then[0].pods.bound" in lines
    assert any(line.startswith("at 2m52.3s: 1 node, 1 pods bound, 0 waiting, 0.1920 USD per hour") for line in lines)


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


def film_of(nodes: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Trace:
    """So many nodes with a pod each."""
    text = SPOT.partition("---\n")[2].rpartition("---\n")[0].replace("spot, on-demand", "on-demand")
    deployment = """---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "3", memory: 1Gi}}}]}
"""
    path = tmp_path / "web.yaml"
    path.write_text(text + deployment.replace("REPLICAS", str(nodes)))
    code, _, _ = call(capsys, "simulate", str(path), "--trace", str(tmp_path / "web.jsonl"))
    assert code == 0
    return read_trace(tmp_path / "web.jsonl")


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 50), (40, 8), (20, 3)])
def test_a_frame_fits_its_terminal(width: int, height: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    console = pytest.importorskip("rich.console", reason="pip install rich")
    from harness.reports.screen import rendered

    frame = list(frames(film_of(60, tmp_path, capsys)))[-1]
    assert len(frame.bars) == 60
    shown = StringIO()
    terminal = console.Console(file=shown, width=width, height=height)
    terminal.print(rendered(frame, width, height))
    lines = shown.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    if height > 8:
        assert len(lines) <= height
        assert sum("█" in line for line in lines) > height // 3
        assert any(
            re.match(r"… and \d+ more: \d+ ready; cpu 7\d %, memory \d+ % full; \d+\.\d{4} USD/h", line)
            for line in lines
        )
        assert (
            "full" in lines[-1] or "holds" in lines[-1] or re.match(r" +\S+s  ", lines[-1])
        )  # the story's last lines stay


def test_nodes_on_their_way_come_first(traced: Callable[[str], Trace]) -> None:
    bars = [Bar(f"n{number}", "ready", price=1.0, filled={"cpu": 0.5}) for number in range(9)]
    bars[7] = Bar("n7", "deleting", price=1.0)
    shown, line = first_bars(bars, 4)
    assert [bar.name for bar in shown] == ["n0", "n1", "n7"]
    assert line == "… and 6 more: 6 ready; cpu 50 % full; 6.0000 USD/h"
    assert first_bars(bars, 9) == (bars, "")


def test_a_film_has_no_more_frames_than_one_sees(tmp_path: Path) -> None:
    console = pytest.importorskip("rich.console", reason="pip install rich")
    from harness.reports.screen import play

    waited: list[float] = []
    terminal = console.Console(file=StringIO(), force_terminal=True, width=80, height=24)
    play(read_trace(OLD), waited.append, seconds=1, console=terminal)
    assert len(waited) == 15
    assert sum(waited) < 1.1


def test_a_terminal_without_unicode() -> None:
    assert in_letters("── 70 % ███░ … ×", "ascii") == "-- 70 % ###. ... x"
    assert in_letters("── é", "utf-8") == "── é"
    assert in_letters("é █", "latin-1") == "? #"
    assert in_letters("é", "latin-1") == "é"


@pytest.mark.parametrize("words", [["watch", "case.yaml"], ["simulate", "web.yaml", "--live"], ["run", "case.yaml"]])
def test_text_where_the_locale_knows_no_unicode(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "case.yaml").write_text(SPOT.replace("bound: 1", "bound: 2"))
    (tmp_path / "web.yaml").write_text(SPOT.partition("---\n")[2])
    run = subprocess.run(
        [sys.executable, "-m", "harness", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == (1 if words[0] == "run" else 0), run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout.isascii()
