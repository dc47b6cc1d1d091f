"""A run that is asked to end says so in its reports and leaves no process behind, whoever ends it and how."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.test_outputs import OBJECTS
from tests.project.tree import ROOT

LONG = (
    "scenario: long\nmatrix: {seed: [1, 2, 3, 4, 5, 6]}\nseeds: 1000\nwhen: [{advance: 8760h}]\n"
    "then:\n- pods: {pending: 0}\n---\n" + OBJECTS
)
PLAN = (
    "scenario: s\ngiven: {manifests: [in.yaml]}\nmatrix: {seed: [1, 2, 3, 4, 5, 6, 7, 8]}\nwhen: [{advance: 8760h}]\n"
)
BUSY = OBJECTS.replace("requirements:", "expireAfter: 5m\n      requirements:")


def wait_for(condition: Callable[[], bool], what: str) -> None:
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(what)


def processes(group: int) -> list[int]:
    """The processes of a group that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                state, _, process_group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            except (OSError, ValueError):
                continue
            if int(process_group) == group and state != "Z":
                found.append(int(entry.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads which processes there are from /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda each: each.name)
@pytest.mark.parametrize(
    "words", [("run", "long.yaml", "-n", "3", "--junit", "j.xml"), ("sweep", "plan.yaml", "-n", "3")]
)
def test_no_process_is_left(words: tuple[str, ...], number: signal.Signals, here: Path) -> None:
    (here / "long.yaml").write_text(LONG)
    (here / "in.yaml").write_text(BUSY)
    (here / "plan.yaml").write_text(PLAN)
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", *words],
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: len(processes(process.pid)) >= 4, "no processes of its own")
        process.send_signal(number)
        code = process.wait(60)
        wait_for(lambda: not processes(process.pid), "a process is left")
    finally:
        for left in processes(process.pid):
            os.kill(left, signal.SIGKILL)
    assert code == (-number if number is signal.SIGKILL else 128 + number)
    if words[0] == "run" and number is not signal.SIGKILL:
        suite = ElementTree.parse(here / "j.xml").find("testsuite")
        assert suite is not None
        assert (suite.get("tests"), suite.get("errors")) == ("6", "6")
        assert {error.get("message") for error in suite.iter("error")} == {"not run: interrupted"}
