"""A file is whole or as it was: full disks, writers that fail, links, pipes, permissions."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import atomicfiles
from tests.project.tree import ROOT


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "report.json"
    path.write_text("old")
    return path


def alone(path: Path) -> bool:
    return list(path.parent.iterdir()) == [path]


def test_a_file_is_made_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    atomicfiles.write(path, b"first")
    atomicfiles.write(path, b"second")
    assert path.read_bytes() == b"second"
    assert alone(path)


@pytest.mark.parametrize("name", ["n" * 255, "ü" * 127, "[a]*"])
def test_any_name_that_a_file_can_have(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    atomicfiles.write(path, b"first")
    atomicfiles.write(path, b"second")
    assert path.read_bytes() == b"second"
    assert alone(path)


def test_until_the_block_has_ended_the_old_one_is_read(old: Path) -> None:
    with atomicfiles.replacing(old) as file:
        file.write(b"new")
        file.flush()
        assert old.read_text() == "old"
    assert old.read_text() == "new"


def test_a_block_that_fails_leaves_the_old_one(old: Path) -> None:
    def half() -> Iterator[bytes]:
        yield b"half"
        raise KeyError

    with pytest.raises(KeyError), atomicfiles.replacing(old) as file:
        file.writelines(half())
    assert old.read_text() == "old"
    assert alone(old)


FULL = """
import resource, sys
from pathlib import Path
import atomicfiles
sys.dont_write_bytecode = True  # Python would keep the half of a module
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    atomicfiles.write(Path(sys.argv[1]), bytes(1000))
except OSError as error:
    print(error.filename)
"""


def test_a_full_disk_leaves_the_old_one_and_names_the_file(old: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL, str(old)], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"{old}\n"
    assert old.read_text() == "old"
    assert alone(old)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 100, "the limit is the other process's"


def test_a_link_stays_one(old: Path) -> None:
    link = old.with_name("link")
    link.symlink_to(old.name)
    atomicfiles.write(link, b"new")
    assert link.is_symlink()
    assert old.read_bytes() == b"new"


def test_a_file_that_exists_keeps_its_permissions_and_a_new_one_gets_the_mode(old: Path) -> None:
    old.chmod(0o640)
    atomicfiles.write(old, b"new", mode=0o600)
    assert old.stat().st_mode & 0o777 == 0o640
    atomicfiles.write(old.with_name("secret"), b"key", mode=0o600)
    assert old.with_name("secret").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to every file")
def test_a_file_that_may_not_be_written_is_not_replaced(old: Path) -> None:
    old.chmod(0o400)
    with pytest.raises(PermissionError) as error:
        atomicfiles.write(old, b"new")
    assert error.value.filename == str(old)
    assert old.read_text() == "old"


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    atomicfiles.write(pipe, b"content")
    reader.join()
    assert read == [b"content"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("place", ["no/such/folder/file", "."])
def test_where_nothing_can_be_written_the_error_names_the_file(tmp_path: Path, place: str) -> None:
    path = tmp_path / place
    with pytest.raises(OSError) as error:
        atomicfiles.write(path, b"content")
    assert error.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_another_file_keeps_its_name(old: Path, tmp_path: Path) -> None:
    other = tmp_path / "inputs" / "other"
    with pytest.raises(FileNotFoundError) as error, atomicfiles.replacing(old):
        other.read_bytes()
    assert error.value.filename == str(other)
    assert old.read_text() == "old"


def test_what_a_killed_writer_left_is_found_and_in_nobodys_way(old: Path) -> None:
    killed = f"import atomicfiles, os, pathlib\nwith atomicfiles.replacing(pathlib.Path({str(old)!r})) as file:\n    os._exit(1)"
    subprocess.run([sys.executable, "-c", killed], cwd=ROOT, check=False)
    left = atomicfiles.leftovers(old)
    assert len(left) == 1
    left[0].rename(old.with_name(f".{old.name}.{os.getpid()}-0.new"))
    atomicfiles.write(old, b"new")
    assert old.read_bytes() == b"new"
    assert len(atomicfiles.leftovers(old)) == 1
