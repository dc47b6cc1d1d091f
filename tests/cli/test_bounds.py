"""Numbers of the command line are bounded before anything is made of them; each line names what raises the limit."""

from pathlib import Path

import pytest

from harness.cli import main

POD = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: x}]}\n"


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("plan.yaml").write_text(f"scenario: s\n{POD}")
    return "plan.yaml"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--seeds", "1000000000"), "harness sweep: --seeds 1000000000: a sweep has at most 250,000 situations; "),
        (("--seeds", "9" * 30), f"harness sweep: --seeds {'9' * 30}: a sweep has at most 250,000 situations; "),
        (
            ("--seeds", "100000", "--regions", "eastus,westeurope,uksouth"),
            "plan.yaml:1:1: 300,000 situations are more than the 250,000 that a sweep may have; ",
        ),
    ],
)
def test_situations_of_a_sweep(
    plan: str, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], text: str
) -> None:
    assert main(["sweep", plan, *arguments]) == 2
    assert capsys.readouterr().err == f"{text}HARNESS_LIMITS=situations=N in the environment raises that\n"


@pytest.mark.parametrize("command", ["simulate", "explain"])
def test_pods_of_files(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.yaml").write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  replicas: 1000000000\n"
        "  selector: {matchLabels: {a: b}}\n"
        "  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}\n"
    )
    assert main([command, "d.yaml"]) == 2
    assert capsys.readouterr().err == (
        "d.yaml:5:3: spec.replicas: 1,000,000,000 pods are more than the 200,000 that a file may ask for; "
        "HARNESS_LIMITS=pods=N in the environment raises that\n"
    )


def test_shards(capsys: pytest.CaptureFixture[str], plan: str) -> None:
    assert main(["dev", "ci-matrix", "--shards", "99999999"]) == 2
    assert capsys.readouterr().err == "--shards: 99999999 is more than the 256 jobs that GitHub starts for a matrix\n"
    assert main(["run", plan, "--shard", f"1/{'9' * 5000}"]) == 2
    assert "I/N with 1 <= I <= N is expected" in capsys.readouterr().err


def test_a_limit_that_is_none_ends_every_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_LIMITS", "pots=5")
    with pytest.raises(SystemExit) as ended:
        main(["defaults"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(
        "harness: HARNESS_LIMITS: NAME=N is expected, with a name of pods, nodes, "
    )
