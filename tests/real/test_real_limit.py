"""Which cases are run beside the real controller, and how long they may take: `--real-limit`."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import main
from harness.scenario.comparing.comparison import Result
from harness.scenario.comparing.kept import KeptDifferences
from harness.scenario.comparing.real_runs import RealRuns
from harness.scenario.language.cases import Case
from harness.scenario.language.files import load
from harness.world import default_caches

SCENARIO = """
scenario: nothing happens
needs: [{needs}]
when: [{{advance: 90s}}]
then: [{{nodeclaims: {{count: 0}}}}]
"""


def case_of(folder: Path, needs: str = "") -> Case:
    path = folder / "quiet.yaml"
    path.write_text(SCENARIO.format(needs=needs))
    ((case,),) = (scenario.cases for scenario in load(path, "quiet.yaml"))
    return case


def compared(case: Case, authority: Path, controllers: dict[str, Path], limit: float = 60.0) -> tuple[Result, str]:
    runs = RealRuns(default_caches(), controllers, KeptDifferences(), limit=limit)
    try:
        found = runs.compare(case)
    finally:
        runs.close()
    return found.result, found.reason


def test_a_case_that_takes_longer_is_not_run(tmp_path: Path) -> None:
    found = compared(case_of(tmp_path), tmp_path, {"1.14.0": Path("/no/controller")})
    assert found == (Result.VIRTUAL, "takes 1m30s of virtual time")


@pytest.mark.parametrize(
    ("needs", "result", "reason"),
    [
        ("virtual-time", Result.VIRTUAL, "it says so, or measures times"),
        # the kubelets beside the real controller are ours
        (
            "simulated-kubelets",
            Result.NOT_APPLICABLE,
            "is about release 1.14.0, and there is no such controller here (there are: none)",
        ),
    ],
)
def test_what_a_case_needs(tmp_path: Path, needs: str, result: Result, reason: str) -> None:
    assert compared(case_of(tmp_path, needs), tmp_path, {}) == (result, reason)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--real-limit", "5m"], "--real-limit is about --karpenter simulated,real"),
        (
            ["--karpenter", "simulated,real", "--real-limit", "soon"],
            "--real-limit: a duration above 0 such as 5m or 1h30m is expected, not 'soon'",
        ),
        (
            ["--karpenter", "simulated,real", "--real-limit", "0s"],
            "--real-limit: a duration above 0 such as 5m or 1h30m is expected, not '0s'",
        ),
    ],
)
def test_an_option_that_cannot_mean_anything(
    tmp_path: Path,
    options: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    pytester: pytest.Pytester,
) -> None:
    monkeypatch.setenv("HARNESS_KARPENTER", "/bin/true")
    case_of(tmp_path)
    assert main(["run", str(tmp_path / "quiet.yaml"), *options]) == 2
    assert said in capsys.readouterr().err
    found = pytester.runpytest("-p", "harness.pytest_plugin", str(tmp_path / "quiet.yaml"), *options)
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    found.stderr.fnmatch_lines([f"*{said}*"])
