"""What leaves a process goes through one door each: text through `plainlines`, files through `atomicfiles`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.tree import ROOT, modules, parsed

PRINTS = ("plainlines/__init__.py",)
WRITES = {
    "atomicfiles/__init__.py": "the door",
    "fakeazure/transports/pki.py": "openssl's input in folders of its own",
    "harness/clusters/apiserver/supervisor.py": "logs of servers, in the cluster's own folder",
    "harness/clusters/apiserver/cluster.py": "what servers read, in the cluster's own folder",
    "harness/clusters/folders.py": "whose a folder is, in the cluster's own folder",
    "harness/clusters/control_plane/pki.py": "openssl's input in the cluster's own folder",
    "harness/clusters/kind/cluster.py": "what clients read, in the cluster's own folder",
    "harness/clusters/kind/reaper.py": "a file of the kernel's",
    "harness/sweep/table.py": "rows so far, which grow by lines",
    "harness/world/real/world.py": "a kubeconfig in a folder of its own",
}
"""Modules that write files in another way, and which."""
STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}


def calls(path: Path) -> Iterator[ast.Call]:
    return (node for node in ast.walk(parsed(path)) if isinstance(node, ast.Call))


def is_stream(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in STREAMS and ast.unparse(node.value) == "sys"


def prints(call: ast.Call) -> bool:
    """Whether it is `print`, a method of a standard stream that writes, or gets such a stream to write to."""
    if isinstance(call.func, ast.Name):
        return call.func.id in ("print", "pprint")
    if not isinstance(call.func, ast.Attribute):
        return False
    return call.func.attr in ("write", "writelines") and is_stream(call.func.value)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("text", ["print(1)", "sys.stderr.write('a')", "sys.stdout.writelines(a)"])
def test_what_prints_is_found(text: str) -> None:
    (call,) = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    assert prints(call)


def test_everything_that_is_printed_goes_through_one_place() -> None:
    found = [f"{name(path)}:{call.lineno}" for path in modules() for call in calls(path) if prints(call)]
    assert [place for place in found if place.partition(":")[0] not in PRINTS] == []


def mode_of(call: ast.Call, position: int) -> str:
    """The mode that a call of `open` names; `r` where it names none."""
    named = [each.value for each in call.keywords if each.arg == "mode"]
    found = named or call.args[position : position + 1]
    return str(found[0].value) if found and isinstance(found[0], ast.Constant) else "?" if found else "r"


def writes(call: ast.Call) -> bool:
    """Whether it makes, changes or moves a file."""
    function = call.func
    if isinstance(function, ast.Name):
        return (
            function.id == "open" and bool(set("wax+?") & set(mode_of(call, 1))) and "devnull" not in ast.unparse(call)
        )
    if not isinstance(function, ast.Attribute):
        return False
    owner, name = ast.unparse(function.value), function.attr
    if name in ("write_text", "write_bytes", "touch") and owner not in ("engine", "self._engine", "atomicfiles"):
        return True
    if owner == "os":
        return name in ("replace", "rename", "link", "symlink", "mkfifo") or (
            name == "open" and "O_WRONLY" in ast.unparse(call) and "devnull" not in ast.unparse(call)
        )
    if owner == "shutil":
        return name in ("copy", "copy2", "copyfile", "copytree", "move")
    if name == "open":
        position = 1 if owner in ("gzip", "bz2", "lzma", "io", "tarfile", "codecs") else 0
        return bool(set("wax+?") & set(mode_of(call, position))) and "fileobj" not in ast.unparse(call)
    return name in ("rename", "symlink_to", "hardlink_to", "write_table") and "buffer" not in ast.unparse(call)


@pytest.mark.parametrize(
    "text",
    [
        "path.write_text('a')",
        "path.open('w')",
        "open(path, mode='ab')",
        "gzip.open(path, 'wt')",
        "path.open(mode)",
        "os.replace(a, b)",
        "os.open(path, os.O_WRONLY)",
        "shutil.move(a, b)",
        "parquet.write_table(table, path)",
        "path.rename(other)",
    ],
)
def test_what_writes_is_found(text: str) -> None:
    assert any(writes(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))


@pytest.mark.parametrize(
    "text", ["path.open()", "path.open('rb')", "open(path)", "text.replace('a', 'b')", "gzip.open(path)"]
)
def test_what_reads_is_none_of_it(text: str) -> None:
    assert not any(writes(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))


def test_every_file_that_a_user_keeps_is_written_through_one_place() -> None:
    found = {name(path): [call.lineno for call in calls(path) if writes(call)] for path in modules()}
    others = {module: lines for module, lines in found.items() if lines and module not in WRITES}
    assert others == {}
    assert [module for module in WRITES if not found.get(module)] == [], "nothing is written there any more"
