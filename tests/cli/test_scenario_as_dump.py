"""A scenario among the files of a question about objects: what it says beside them is not heard, and a line says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import as_json, call
from tests.migrate.pools import cluster, pool

SCENARIO = """scenario: a pod in westus
given: {region: westus}
then:
- pods: {bound: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: web, image: web}]}
"""
COMMANDS = ["simulate", "explain", "migrate", "upgrade-check"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("story.yaml").write_text(SCENARIO)
    Path("cluster.json").write_text(json.dumps(cluster(pool())))


def words(command: str) -> list[str]:
    more = {"migrate": ["cluster.json"], "upgrade-check": ["--from", "1.10.2", "--to", "1.14.0"]}
    return [command, *more.get(command, []), "story.yaml"]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_answer_says_what_was_not_heard(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, *words(command))
    text = "story.yaml is a scenario: of it the objects are read, not what is given, done and expected: harness run story.yaml"
    assert out.splitlines().count(text) == 1


def test_json_names_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert "story.yaml" in json.dumps(as_json(capsys, "simulate", "story.yaml"))


def test_manifests_are_no_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pod.yaml").write_text(SCENARIO.partition("---\n")[2])
    assert "is a scenario" not in call(capsys, "simulate", "pod.yaml")[1]
