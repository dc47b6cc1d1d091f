"""`fakeazure serve --keep`: a world outlives its server, whatever ends it; nothing in its folder is lost, run or taken from another."""

from __future__ import annotations

import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from fakeazure.beginning import SUBSCRIPTION
from fakeazure.cli import run
from fakeazure.cloud import FakeAzure
from fakeazure.commands.keeping import LONGEST, QUIET, Keeper
from fakeazure.snapshots.folder import FILE
from fakeazure.transports.wire import Front
from tests.cloud.driver import CATALOGUE, Driver
from tests.project.tree import ROOT
from tests.transports.guarded import GUARD, SECRET

SUB = f"/subscriptions/{SUBSCRIPTION}"
RG = f"{SUB}/resourceGroups/MC_rg_c_eastus"
SERVE = ["serve", "--http-port", "0", "--https-port", "-1", "--for", "0.1", "--keep"]
DISK = {"location": "eastus", "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 4}}


class Harmful:
    """Makes a file where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


def test_code_in_the_body_of_a_restore_does_not_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    front = Front(Driver().cloud, guard=GUARD)
    body = b"fakeazure snapshot 3\n" + pickle.dumps(Harmful(mark))
    headers = {"Authorization": f"Bearer {SECRET}", "Content-Type": "text/plain"}
    reply = front.handle("POST", "/_fakeazure/restore", headers, body, origin="http://x")
    assert (reply.status, json.loads(reply.body)["error"]["code"]) == (409, "Conflict")
    assert not mark.exists()


class Kept:
    """A driver's cloud that is kept in a folder, on a clock that is moved by hand."""

    def __init__(self, folder: Path) -> None:
        self.driver, self.folder, self.seconds = Driver(), folder, 1000.0
        self.cloud: FakeAzure = self.driver.cloud
        self.lock: AbstractContextManager[object] = threading.Lock()
        self.told: list[str] = []
        self.keeper = Keeper(self, folder, now=lambda: self.seconds, say=self.told.append)

    def names(self) -> list[str]:
        """The groups that another start would find."""
        other = FakeAzure(catalogue=CATALOGUE)
        assert other.load(self.folder)
        return sorted(name for _, name in other.state.groups if not name.startswith(("mc_", "rg")))

    def group(self, name: str) -> None:
        self.driver.call("PUT", f"{SUB}/resourceGroups/{name}", {"location": "eastus"})

    def wait(self, seconds: float) -> list[str]:
        """Some seconds pass, in which it is looked at often."""
        for _ in range(10):
            self.seconds += seconds / 10
            self.keeper.tick()
        return self.names()


def test_a_world_is_saved_after_each_quiet_minute(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "new" / "folder")
    with kept.keeper:
        assert kept.names() == []
        kept.group("a")
        assert kept.wait(QUIET - 1) == []
        kept.group("b")
        assert kept.wait(QUIET - 1) == []
        assert kept.wait(20) == ["a", "b"]
        written = (kept.folder / FILE).stat().st_mtime_ns
        kept.driver.call("GET", f"{SUB}/resourceGroups")
        kept.wait(10 * QUIET)
        assert (kept.folder / FILE).stat().st_mtime_ns == written, "it is not written where nothing has changed"
        kept.driver.put_vm("a")
        kept.wait(QUIET)
        kept.wait(QUIET)
        kept.driver.cloud.advance(600)  # what ends by itself is a change too
        kept.wait(QUIET)
        kept.wait(QUIET)
        other = FakeAzure(catalogue=CATALOGUE)
        other.load(kept.folder)
        assert other.vm("a").document["properties"]["provisioningState"] == "Succeeded"


def test_a_world_that_is_never_quiet_is_saved_nevertheless(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    with kept.keeper:
        for number in range(int(LONGEST / QUIET) * 3):
            kept.group(f"g{number:03}")
            kept.wait(QUIET / 2)
        assert "g000" in kept.names()


def test_a_world_that_cannot_be_saved_is_told_at_once_and_once(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    with kept.keeper:
        kept.group("a")
        kept.keeper.save()
        (tmp_path / FILE).rename(tmp_path / "old")
        (tmp_path / FILE).mkdir()
        kept.group("b")
        for _ in range(30):
            kept.seconds += QUIET
            kept.keeper.tick()
        assert kept.told == [f"{tmp_path}: the world cannot be saved, what was saved before stays: Is a directory"]
        assert not kept.keeper.save()
        (tmp_path / FILE).rmdir()
        (tmp_path / "old").rename(tmp_path / FILE)
        assert kept.names() == ["a"]
        kept.seconds += QUIET
        kept.keeper.tick()
        assert kept.names() == ["a", "b"], "it goes on as soon as it can"


def group_names(folder: Path) -> set[str]:
    cloud = FakeAzure(region="eastus")
    assert cloud.load(folder)
    return {name for _, name in cloud.state.groups}


def refused(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """The one line that says why a folder is not taken."""
    assert run([*SERVE, str(folder), *more]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    [line] = told.err.splitlines()
    return line


def test_a_folder_that_cannot_be_used_is_refused_at_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    assert refused(file, capsys) == f"fakeazure: {file}: File exists"
    assert file.read_text() == "mine"
    (tmp_path / "folder" / FILE).mkdir(parents=True)
    assert refused(tmp_path / "folder", capsys) == f"fakeazure: {tmp_path / 'folder' / FILE}: Is a directory"


@pytest.mark.parametrize("linked", [False, True], ids=["file", "link"])
def test_a_lock_of_somebody_else_stays_as_it_is(
    linked: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, folder = tmp_path / "mine", tmp_path / "kept"
    folder.mkdir()
    mine.write_text("dependencies, pinned")
    if linked:
        (folder / "lock").symlink_to(mine)
    else:
        mine = mine.rename(folder / "lock")
    why = (
        "Too many levels of symbolic links"
        if linked
        else "the file lock is there, and no lock of fakeazure's: name another folder"
    )
    assert refused(folder, capsys).endswith(why)
    assert mine.read_text() == "dependencies, pinned"
    assert not (folder / FILE).exists()


FOREIGN = {
    "empty": (b"", "this is no snapshot of fakeazure"),
    "text": (b"hello", "this is no snapshot of fakeazure"),
    "pickle": (b"fakeazure snapshot 3\n\x80\x04K\x01.", "this is a snapshot of version 3, a pickle,"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_file_is_refused_and_stays(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, why = FOREIGN[name]
    (tmp_path / FILE).write_bytes(content)
    assert refused(tmp_path, capsys).startswith(f"fakeazure: {tmp_path}: {why}")
    assert (tmp_path / FILE).read_bytes() == content


def test_a_torn_file_is_refused_and_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*SERVE, str(tmp_path)]) == 0
    capsys.readouterr()
    content = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(content[: len(content) // 2])
    assert "the snapshot is torn: its end is missing" in refused(tmp_path, capsys)
    assert (tmp_path / FILE).read_bytes() == content[: len(content) // 2]


def test_a_folder_of_an_earlier_version_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mark = tmp_path / "mark"
    (tmp_path / "world.snapshot").write_bytes(b"fakeazure snapshot 3\n" + pickle.dumps(Harmful(mark)))
    assert "worlds are kept as JSON of version 4 in world.json.gz now: remove it and start anew" in refused(
        tmp_path, capsys
    )
    assert not mark.exists()


def limited() -> None:
    """The disk is full after so many bytes of a file."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


Serving = tuple[subprocess.Popen[str], Callable[[str, str, object], Any]]


@contextmanager
def serving(folder: Path, *, full: bool = False) -> Iterator[Serving]:
    """A server in a process of its own, and a client that knows the secret it printed."""
    command = [sys.executable, "-m", "fakeazure", *SERVE[:5], "--format", "json", "--for", "120", "--keep", str(folder)]
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # on a full disk Python would keep the half of a module
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limited if full else None,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    printed = json.loads(line) if line else {}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(method: str, path: str, body: object = None, **headers: str) -> Any:
        sent = {"Content-Type": "application/json", **headers}
        raw = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{printed['http']}{path}", raw, sent, method=method)
        with opener.open(request, timeout=30) as answer:
            return json.load(answer)

    def call(method: str, path: str, body: object) -> Any:
        secret = {"X-IDENTITY-HEADER": printed["environment"]["FAKEAZURE_SECRET"]}
        asked = "/msi/token?api-version=2019-08-01&resource=https://management.azure.com"
        token = ask("GET", asked, **secret)["access_token"]
        return ask(method, path, body, Authorization=f"Bearer {token}")

    try:
        yield process, call
    finally:
        process.kill()
        process.communicate()


def put_group(call: Callable[[str, str, object], Any], name: str) -> None:
    call("PUT", f"{SUB}/resourceGroups/{name}?api-version=2021-04-01", {"location": "eastus"})


def ended(process: subprocess.Popen[str], number: int) -> tuple[int, str]:
    """Exit code and stderr of a server that got a signal."""
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    return process.returncode, told


def test_what_is_under_way_outlives_the_server(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    with serving(folder) as (process, call):
        put_group(call, "mine")
        call("PUT", f"{RG}/providers/Microsoft.Compute/disks/d?api-version=2023-04-02", DISK)
        with serving(folder) as (second, _):
            told = second.communicate(timeout=60)[1].splitlines()
            pid = process.pid
            assert told == [f"fakeazure: {folder}: process {pid} keeps its world here: stop it, or name another folder"]
            assert second.returncode == 2
        assert ended(process, signal.SIGTERM) == (0, "")
    with serving(folder) as (process, call):
        listed = call("GET", f"{SUB}/resourceGroups?api-version=2021-04-01", None)["value"]
        assert "mine" in {group["name"] for group in listed}
        assert call("GET", f"{RG}/providers/Microsoft.Compute/disks/d?api-version=2023-04-02", None)["name"] == "d"
        assert ended(process, signal.SIGKILL)[0] == -signal.SIGKILL
    assert "mine" in group_names(folder), "the folder of a killed server is free, and whole"


def test_a_failed_deployment_is_kept(tmp_path: Path) -> None:
    path = f"{RG}/providers/Microsoft.Resources/deployments/bad?api-version=2021-04-01"
    resource_ = {"type": "Microsoft.Compute/disks", "name": "d", "apiVersion": "2023-04-02", "location": "nowhere"}
    template = {"resources": [{**resource_, "properties": {}}]}
    for _ in range(2):
        with serving(tmp_path) as (process, call):
            put_group(call, "precious")
            call("PUT", path, {"properties": {"mode": "Incremental", "template": template}})
            assert call("GET", path, None)["properties"]["provisioningState"] == "Failed"
            assert ended(process, signal.SIGTERM) == (0, "")
        assert "precious" in group_names(tmp_path)


def test_a_full_disk_leaves_what_was_saved_and_is_told(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, call):
        put_group(call, "precious")
        assert ended(process, signal.SIGTERM)[0] == 0
    before = (tmp_path / FILE).read_bytes()
    with serving(tmp_path, full=True) as (process, _):
        assert process.communicate(timeout=60)[1] == f"fakeazure: {tmp_path / FILE}: File too large\n"
        assert process.returncode == 2
    assert (tmp_path / FILE).read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["lock", FILE]
    assert "precious" in group_names(tmp_path)
