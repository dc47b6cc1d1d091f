"""Every command's help ends with an example that the command takes, and `doctor` tells what is there."""

from __future__ import annotations

import argparse
import json
import shlex

import pytest

from harness.cli import COMMANDS, DEV_COMMANDS, whole_parser
from harness.cli.examples import EXAMPLES
from tests.cli.command import call


def test_every_command_has_examples() -> None:
    assert EXAMPLES.keys() == {*COMMANDS, *DEV_COMMANDS}


def test_what_only_maintainers_need_stands_behind_dev(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call(capsys, "--help")
    listed = " ".join(capsys.readouterr().out.split())
    assert "dev for maintainers: ci-matrix, answer" in listed
    assert "the matrix of the nightly run" not in listed
    with pytest.raises(SystemExit):
        call(capsys, "dev", "--help")
    assert "ci-matrix the matrix of the nightly run on clusters" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(SystemExit) as end:
        call(capsys, "ci-matrix")
    assert end.value.code == 2
    assert capsys.readouterr().err == "harness: unknown command 'ci-matrix'; it is harness dev ci-matrix\n"


@pytest.mark.parametrize("example", [line for lines in EXAMPLES.values() for line in lines])
def test_an_example_is_a_command_that_can_be_given(example: str) -> None:
    program, *words = shlex.split(example)
    redirected = next((number for number, word in enumerate(words) if word in "<>"), len(words))
    options = whole_parser().parse_args(words[:redirected])
    assert program == "harness"
    assert isinstance(options, argparse.Namespace)


def test_help_ends_with_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        call(capsys, "explain", "--help")
    assert stop.value.code == 0
    assert capsys.readouterr().out.endswith(
        "examples:\n  harness explain pools.yaml pods.yaml\n  harness explain --context prod --pod shop/web\n"
    )


def test_doctor_tells_what_is_missing_and_for_what(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.delenv("HARNESS_KARPENTER", raising=False)
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setattr("harness.cli.commands.doctor.find_spec", lambda name: None if name == "re2" else object())
    code, out, _ = call(capsys, "doctor", "--format", "json")
    assert code == 0
    parts = json.loads(out)
    assert list(parts) == ["installed", "extras", "environment", "data"]
    extras = {finding["subject"]: finding for finding in parts["extras"]}
    assert not extras["crds"]["there"]
    assert extras["crds"]["text"].endswith("; pip install 'karpenter-azure-harness[crds]' brings re2")
    assert extras["sweep"]["there"]
    assert not any(finding["there"] for finding in parts["environment"])
    assert "KUBEBUILDER_ASSETS is not set" in parts["environment"][0]["text"]
    days = {finding["subject"]: finding["text"] for finding in parts["data"]}
    assert days["sizes"].startswith("of 20")
    code, out, _ = call(capsys, "doctor")
    assert code == 0
    assert "  --  crds                 CRD files of your own (--crds DIR); pip install" in out


def test_doctor_knows_every_extra_that_a_user_may_want() -> None:
    import tomllib

    from harness.cli.commands.doctor import _EXTRAS
    from tests.project.tree import ROOT

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert _EXTRAS.keys() == extras.keys() - {"browser", "site", "dev"}  # those are for who works on the project
