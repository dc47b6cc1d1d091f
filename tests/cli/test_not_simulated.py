"""Every command that runs a world says once what is not simulated, in every form of its answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.cli import main
from tests.cli.test_outputs import OBJECTS as FLEET

NOTE = "not simulated: Ingress front"
INGRESS = """---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: front}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
"""
OBJECTS = f"{FLEET}{INGRESS}"
SCENARIO = f"scenario: a web\nthen: [{{pods: {{pending: 0}}}}]\n---\n{OBJECTS}"
PLAN = "scenario: two seeds\ngiven: {manifests: [objects.yaml]}\nmatrix: {seed: [1, 2]}\n"
NODE = """---
apiVersion: v1
kind: Node
metadata:
  name: a
  labels: {karpenter.sh/nodepool: default, node.kubernetes.io/instance-type: Standard_D2s_v5, kubernetes.io/os: linux}
status: {capacity: {cpu: "2"}}
"""


LISTED = ("explain", "simulate", "upgrade-check")
"""Commands whose JSON has the objects, which are not simulated, as a list."""


class Saying(NamedTuple):
    """A command line, and where its answer is: on standard output, on standard error, or in a file."""

    words: str
    into: str = "out"

    def __str__(self) -> str:
        return self.words if self.into == "out" else f"{self.words} → {self.into}"


def _sayings() -> Iterator[Saying]:
    forms = ("text", "json", "sarif", "github", "markdown")
    for form in forms:
        yield Saying(f"run scenario.yaml --format {form}")
    yield Saying("run scenario.yaml --junit report", "report")
    yield Saying("run scenario.yaml --markdown report", "report")
    yield Saying("run scenario.yaml --html report", "report")
    for command in (
        "explain objects.yaml",
        "validate objects.yaml",
        "upgrade-check --from 1.13.1 --to 1.14.0 objects.yaml",
    ):
        for form in (*forms, "junit"):
            yield Saying(f"{command} --format {form}")
        yield Saying(f"{command} --markdown report", "report")
    yield Saying("validate scenario.yaml")
    yield Saying("explain objects.yaml --html report", "report")
    yield Saying("upgrade-check --from 1.13.1 --to 1.14.0 objects.yaml --html report", "report")
    for form in ("text", "json"):
        yield Saying(f"simulate objects.yaml --format {form}")
        yield Saying(f"reality dump.yaml --format {form}")
        yield Saying(f"sweep plan.yaml --format {form}")
    yield Saying("simulate objects.yaml --html report", "report")
    yield Saying("reality dump.yaml --html report", "report")
    yield Saying("sweep plan.yaml --html report", "report")
    for form in ("text", "json", "markdown"):
        yield Saying(f"compare objects.yaml --release 1.13.1,1.14.0 --format {form}")
    yield Saying("compare objects.yaml --release 1.13.1,1.14.0 --html report", "report")
    yield Saying("watch objects.yaml --plain")
    yield Saying("watch scenario.yaml --plain")
    yield Saying("shrink scenario.yaml --keep then", "err")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    texts = {"objects": OBJECTS, "scenario": SCENARIO, "plan": PLAN, "dump": OBJECTS + NODE}
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(words: Sequence[str], into: str, capsys: pytest.CaptureFixture[str]) -> str:
    main(list(words))
    captured = capsys.readouterr()
    text = {"out": captured.out, "err": captured.err}.get(into)
    return unescape(Path(into).read_text(encoding="utf-8") if text is None else text)


@pytest.mark.parametrize("saying", [*_sayings()], ids=str)
def test_it_is_said_once(saying: Saying, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(saying.words.split(), saying.into, capsys)
    if saying.words.startswith(LISTED) and saying.words.endswith("json"):
        objects = [f"{obj['kind']} {obj['name']}" for obj in json.loads(text)["not_simulated"]]
        assert objects == ["Ingress front"]
    else:
        assert text.count(NOTE) == 1


WITHOUT: dict[str, Callable[[str], bool]] = {
    "run scenario.yaml --format sarif": lambda text: '"note"' not in text,
    "run scenario.yaml --format github": lambda text: "::notice" not in text,
    "run scenario.yaml --format json": lambda text: '"notes": []' in text,
}


@pytest.mark.parametrize("words", WITHOUT)
def test_nothing_is_said_where_all_is_simulated(words: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO.partition("---\napiVersion: networking")[0], encoding="utf-8")
    assert WITHOUT[words](said(words.split(), "out", capsys))
