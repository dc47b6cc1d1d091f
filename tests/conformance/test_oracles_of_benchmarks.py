"""A program that benchmarks are told to measure and cannot is one line and exit code 2."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from benchmarks import disruption, scheduler

MAINS = (disruption.main, scheduler.main)


@pytest.mark.parametrize("main", MAINS, ids=("disruption", "scheduler"))
@pytest.mark.parametrize(
    ("mode", "text", "said"),
    [
        (None, "", "no oracle: no such file"),
        (0o644, "", "no oracle: not a program"),
        (0o755, "#!/bin/sh\nexit 0\n", "does not answer as an oracle: "),
        (0o755, "#!/bin/sh\nexit 1\n", "does not answer as an oracle: CalledProcessError"),
        (0o755, "#!/bin/sh\necho 1\n", "does not answer as an oracle: "),
    ],
)
def test_what_is_no_oracle(
    main: Callable[[Sequence[str]], int],
    mode: int | None,
    text: str,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "oracle"
    if mode is not None:
        path.write_text(text)
        path.chmod(mode)
    assert main(["--oracle", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"{path}: {said}")


def test_what_the_environment_names(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("KARPENTER_ORACLE", "/nowhere")
    assert disruption.main([]) == 2
    assert capsys.readouterr().err == "/nowhere: no oracle: no such file\n"
