"""Mistakes that editors and check-jsonschema mark in manifests and scenarios: the tools themselves, without an editor.

`make test-editors` installs the YAML language server beside this module; check-jsonschema is looked for on the PATH.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import call
from tests.language.test_editors import CORE, CORE_MISTAKES, DOCUMENTS, MISTAKES

HERE = Path(__file__).parent
SERVER = HERE / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server"
ALL = {
    **{name: (DOCUMENTS, *mistake) for name, mistake in MISTAKES.items()},
    **{name: (CORE, *mistake) for name, mistake in CORE_MISTAKES.items()},
}
"""A name for each mistake → the right text, the part to replace, its replacement, and the field that is marked."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, Path]:
    """The schema's files in a folder, and beside them a file with each mistake, one without, and a scenario with one."""
    monkeypatch.chdir(tmp_path)
    assert call(capsys, "schema", "--into", "schemas")[0] == 0
    texts = {name: text.replace(right, wrong) for name, (text, right, wrong, _) in ALL.items()}
    scenario = "scenario: a pod gets a node\nthen:\n- pods: {boundd: 1}\n---\n"
    texts |= {"nothing": DOCUMENTS, "nothing either": CORE, "a word of the language": scenario + DOCUMENTS}
    made = {}
    for number, (name, text) in enumerate(texts.items()):
        made[name] = tmp_path / f"{number}.yaml"
        made[name].write_text(text, encoding="utf-8")
    return made


def marked_lines(folder: Path, schema: str, files: Mapping[str, Path]) -> dict[str, list[dict[str, Any]]]:
    """Return what the language server marks of each file."""
    node = shutil.which("node")
    if node is None or not SERVER.exists():
        pytest.skip("needs Node and the YAML language server: make test-editors")
    done = subprocess.run(
        [node, str(HERE / "diagnostics.mjs"), str(SERVER), schema, *map(str, files.values())],
        cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {name: found[str(path)] for name, path in files.items()}


def test_the_language_server_marks_each_mistake_in_its_line(files: dict[str, Path], tmp_path: Path) -> None:
    found = marked_lines(tmp_path, "schemas/scenario.schema.json", files)
    assert found["nothing"] == found["nothing either"] == []
    assert [finding["line"] for finding in found["a word of the language"]] == [3]
    for name, (text, right, _, field) in ALL.items():
        first = text[: text.index(right)].count("\n") + 1
        lines = {finding["line"] for finding in found[name]}
        assert lines, name
        # what is missing is marked at the map that lacks it, which may begin before
        assert any(abs(line - first) <= 3 for line in lines), (name, field, found[name])


def test_check_jsonschema_refuses_each_mistake_and_nothing_else(files: dict[str, Path], tmp_path: Path) -> None:
    program = shutil.which("check-jsonschema")
    if program is None:
        pytest.skip("needs check-jsonschema: pip install check-jsonschema")
    documents: dict[str, list[Path]] = {}
    for name, path in files.items():  # it takes one document in a file
        for number, text in enumerate(path.read_text(encoding="utf-8").split("---\n")):
            document = tmp_path / f"{path.stem}-{number}.yaml"
            document.write_text(text, encoding="utf-8")
            documents.setdefault(name, []).append(document)
    every = [str(path) for paths in documents.values() for path in paths]
    done = subprocess.run(
        [program, "--schemafile", "schemas/scenario.schema.json", "--output-format", "json", *every],
        cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    refused = {Path(error["filename"]) for error in json.loads(done.stdout)["errors"]}
    assert {name for name, paths in documents.items() if refused & set(paths)} == {*ALL, "a word of the language"}
