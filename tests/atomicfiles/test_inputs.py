"""What is read is a file, or what a shell has opened; nothing that could be waited for without an end."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from atomicfiles.inputs import is_regular, open_input, read_input
from fakeazure.catalog import importer
from fakeazure.catalog.errors import CatalogueError
from fakeazure.commands.values import text_of
from harness.cli.compare_sides import one_trace
from harness.cli.worlds import InputError
from harness.clusters.kubeconfig import KubeconfigError, client_of
from harness.reading.documents import read_text
from harness.reading.problems import ScenarioError
from harness.scenario.comparing.kept import KeptDifferences
from harness.sniffing import is_scenario_file
from harness.sweep.table import TableError, read_table
from harness.trace import read_trace

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pods.yaml"
    os.mkfifo(path)
    return path


def test_a_pipe_that_nobody_writes_to_is_refused_at_once(pipe: Path) -> None:
    with pytest.raises(OSError, match="is a named pipe, not a file") as refused:
        open_input(pipe)
    assert refused.value.filename == str(pipe)


def test_a_link_to_a_device_without_an_end_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "pods.yaml"
    link.symlink_to("/dev/zero")
    with pytest.raises(OSError, match="is a device, not a file"):
        read_input(link)


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")  # the path of one is short
        with pytest.raises(OSError, match="is a socket, not a file"):
            read_input(Path("s"))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        open_input(tmp_path)


def test_what_takes_the_name_of_a_file_meanwhile_is_not_waited_for(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Path.stat
    monkeypatch.setattr(Path, "stat", lambda self: found(pipe.parent.parent / "file" if self == pipe else self))
    (pipe.parent.parent / "file").write_text("before")
    with pytest.raises(OSError, match="is a named pipe, not a file"):
        open_input(pipe)


def test_the_null_device_is_an_empty_file() -> None:
    assert read_input(Path(os.devnull)) == b""


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="the system has no /dev/fd")
@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
def test_what_a_shell_has_opened_is_read(folder: str) -> None:
    if not os.path.exists(folder):
        pytest.skip(f"the system has no {folder}")
    reading, writing = os.pipe()
    path = Path(folder) / str(reading)
    try:
        os.write(writing, b"kind: Pod\n")  # a pipe holds that much
        os.close(writing)
        assert not is_regular(path)
        assert not is_scenario_file(path)  # and nothing of it is lost
        assert read_text(path) == "kind: Pod\n"
    finally:
        os.close(reading)


READERS: dict[str, tuple[Callable[[Path], object], type[Exception], str]] = {
    "manifests": (read_text, ScenarioError, "pods.yaml"),
    "kept differences": (KeptDifferences.read, ScenarioError, "pods.yaml"),
    "kubeconfig": (client_of, KubeconfigError, "pods.yaml"),
    "trace": (read_trace, OSError, "pods.yaml"),
    "compare": (lambda path: one_trace(path, None, None, None), InputError, "pods.yaml"),
    "sweep": (read_table, TableError, "pods.jsonl"),
    "table": (read_table, TableError, "pods.csv"),
    "text of fakeazure": (text_of, CatalogueError, "pods.yaml"),
    "SKU list": (lambda path: importer.read(path, "eastus"), CatalogueError, "pods.yaml"),
}


@pytest.mark.parametrize("name", READERS)
def test_every_reader_refuses_a_pipe_in_one_line(name: str, tmp_path: Path) -> None:
    reader, error, file = READERS[name]
    if name == "kubeconfig":
        pytest.importorskip("kubernetes", reason="needs kubernetes: pip install 'karpenter-azure-harness[clusters]'")
    os.mkfifo(tmp_path / file)
    with pytest.raises(error, match="not a file") as refused:
        reader(tmp_path / file)
    assert file in str(refused.value)
    assert "\n" not in str(refused.value)
