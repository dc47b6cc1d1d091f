"""A shared link is somebody else's: it is bounded before it is unpacked, checked by the field, and gives nothing to draw."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import zlib
from typing import Any

import pytest

from tests.project.tree import ROOT

SHARE = ROOT / "playground" / "src" / "share.js"
#: Reads or writes what comes in on standard input, and prints what came of it, its class and how much memory that took.
PROGRAM = """
import { LIMITS, NotShared, readState, writeState } from SHARE;
const { read, write } = JSON.parse(await new Response(process.stdin).text());
const before = process.memoryUsage().rss;
const outcome = {};
try {
  outcome.value = write ? await writeState(write) : await readState(read);
} catch (error) {
  outcome.refused = error instanceof NotShared;
  outcome.message = error.message;
}
console.log(JSON.stringify({ ...outcome, limits: LIMITS, grown: process.memoryUsage().rss - before }));
"""

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node 20 or later: apt-get install nodejs")


def node(**given: Any) -> dict[str, Any]:
    program = PROGRAM.replace("SHARE", json.dumps(SHARE.as_uri()))
    command = ["node", "--input-type=module", "--no-warnings", "-e", program]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def fragment(content: bytes) -> str:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(content) + packer.flush()
    return "#1." + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def test_a_link_holds_what_was_shared() -> None:
    state = {"files": {"web.yaml": "a: 'ü'\n", "pools.yaml": ""}, "command": "explain web.yaml pools.yaml"}
    written = node(write=state)["value"]
    assert node(read=written)["value"] == state
    assert node(read="")["value"] is None


def test_a_small_link_that_unpacks_to_much_is_refused_before_it_does() -> None:
    bomb = fragment(b'{"command":"x","files":{"a":"' + b"a" * 100_000_000 + b'"}}')
    assert len(bomb) < 200_000
    outcome = node(read=bomb)
    assert (outcome["refused"], outcome["message"]) == (True, "It holds more than 2048 KiB.")
    assert outcome["grown"] < 60_000_000


def test_a_long_link_is_refused_before_it_is_unpacked() -> None:
    most = node(read="")["limits"]["fragment"]
    outcome = node(read="#1." + "A" * most)
    assert (outcome["refused"], outcome["message"]) == (True, "It is longer than 256 KiB.")


@pytest.mark.parametrize(
    "state",
    [
        None,
        [],
        {},
        {"command": "x"},
        {"command": "x", "files": None},
        {"command": "x", "files": ["a"]},
        {"command": "x", "files": "a"},
        {"command": 1, "files": {}},
        {"command": "x", "files": {"a": None}},
        {"command": "x", "files": {"../a": ""}},
        {"command": "x", "files": {"..": ""}},
        {"command": "x", "files": {"": ""}},
        {"command": "x", "files": {"-o": ""}},
        {"command": "x", "files": {"a\0b": ""}},
        {"command": "x", "files": {"x" * 101: ""}},
        {"command": "x" * 5000, "files": {}},
        {"command": "x", "files": {f"f{number}": "" for number in range(51)}},
    ],
    ids=lambda state: json.dumps(state)[:40],
)
def test_what_is_no_state_is_refused(state: Any) -> None:
    assert node(read=fragment(json.dumps(state).encode()))["refused"] is True
    assert node(write=state or {"files": 1})["refused"] is True


@pytest.mark.parametrize("text", ["#1.", "#1.%", "#1.notalink", fragment(b"{"), fragment(b"\xff")])
def test_a_link_that_is_cut_is_an_error(text: str) -> None:
    assert node(read=text)["refused"] is False


def test_only_what_can_be_read_is_written() -> None:
    outcome = node(write={"files": {"a.yaml": "x" * 3_000_000}, "command": "x"})
    assert (outcome["refused"], outcome["message"]) == (True, "It holds more than 2048 KiB.")
