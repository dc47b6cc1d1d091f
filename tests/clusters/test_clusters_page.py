"""Every snippet of docs/how-to/clusters.md: what can be done without Docker is done here, the rest in test_kind_alone.py."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "clusters.md").read_text(encoding="utf-8")
KIND = ROOT / "harness" / "clusters" / "kind"
COMMANDS = [line.partition("#")[0].strip() for line in PAGE.splitlines() if line.startswith("    pytest ")]
SNIPPETS = re.findall(r"^```python(?: (\S+))?\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def signatures() -> dict[str, ast.arguments]:
    """The arguments of each function of kind's modules, and of a record, whose fields are its arguments."""
    found: dict[str, ast.arguments] = {}
    for file in ("node.py", "container.py"):
        for node in ast.walk(ast.parse((KIND / file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef):
                        name = node.name if method.name == "__init__" else method.name
                        found[name] = method.args
    record = next(
        node
        for node in ast.parse((KIND / "kubeadm.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name == "KubeletFlags"
    )
    fields = [
        each.target.id for each in record.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]
    found[record.name] = ast.parse(f"def f(self, {', '.join(fields)}): ...").body[0].args  # type: ignore[attr-defined]
    return found


def mistakes(call: ast.Call, signature: ast.arguments) -> Iterator[str]:
    """What of a call the function would not take."""
    positional = [each.arg for each in signature.args][1:]
    if len(call.args) > len(positional) and signature.vararg is None:
        yield f"takes {len(positional)} arguments"
    taken = {*positional, *(each.arg for each in signature.kwonlyargs)}
    yield from (
        f"has no argument {each.arg}" for each in call.keywords if each.arg is not None and each.arg not in taken
    )


def calls(text: str) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield name, node


def rows() -> list[str]:
    """The calls in the table about KindContainer."""
    table = PAGE[PAGE.index("| `KindContainer(") : PAGE.index("`reuse=True` with a `name`")]
    first = (line.split("|")[1] for line in table.splitlines() if line.startswith("|"))
    return [
        text.replace("=…", "=...").replace(", …", "") for cell in first for text in re.findall(r"`([^`]+\))`", cell)
    ]


@pytest.mark.parametrize("text", [*rows(), *(text for name, text in SNIPPETS if name == "kind_alone.py")])
def test_a_call_of_kinds_container_is_one_that_it_takes(text: str) -> None:
    known = signatures()
    found = [(name, call) for name, call in calls(text) if name in known]
    assert found
    assert {name: list(mistakes(call, known[name])) for name, call in found} == {name: [] for name, _ in found}


def test_the_table_names_what_there_is() -> None:
    assert len(rows()) > 15
    assert {name for text in rows() for name, _ in calls(text)} <= signatures().keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one_that_pytest_takes(command: str, tmp_path: Path) -> None:
    durations = tmp_path / "durations.json"
    durations.write_text("{}")
    words = [str(durations) if word == "durations.json" else word for word in shlex.split(command)]
    words = [
        word if word != "scenarios" else "scenarios/faq" for word in words
    ]  # the options count, and a part is quicker
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    found = subprocess.run(
        [sys.executable, "-m", *words, "--collect-only", "-q", "-p", "no:cacheprovider", "-p", "no:syrupy"],
        cwd=ROOT,
        env=kept,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode in (0, 5), found.stdout + found.stderr  # 5: this part has no case


def test_there_are_these_snippets() -> None:
    """The commands and calls are tried here, `kind_alone.py` in test_kind_alone.py, the other one in tests/project/test_docs.py."""
    assert len(COMMANDS) == 4
    assert [name for name, _ in SNIPPETS] == ["", "kind_alone.py"]
