"""What a trace costs is printed; where nobody asked for one it costs nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.tracing import cases, measured

ROOT = Path(__file__).parents[1]


def test_what_a_trace_costs(capsys: pytest.CaptureFixture[str]) -> None:
    cost = measured(cases(30), turns=5)
    with capsys.disabled():
        print(f"\n{cost}")
    assert cost.plain > 0
    assert cost.size > 0


def test_what_is_not_traced_does_not_know_of_traces() -> None:
    """Of a case that passes nothing is loaded that records or explains."""
    code = (
        "import sys; from harness.cli import main; code = main(['run', sys.argv[1]]); "
        "print(code, [name for name in sys.modules if name.startswith(('harness.trace', 'harness.explain.traces.why'))])"
    )
    path = ROOT / "scenarios" / "lifecycle" / "from-pod-to-node.yaml"
    found = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert found.stdout.splitlines()[-1] == "0 []"
