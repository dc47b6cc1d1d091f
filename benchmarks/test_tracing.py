"""A trace costs less than a seventh of what is traced, and nothing where nobody asked for one."""

import subprocess
import sys
from pathlib import Path

from benchmarks.tracing import MOST, cases, measured

ROOT = Path(__file__).parents[1]


def test_a_trace_costs_little() -> None:
    cost = measured(cases(30), turns=5)
    print(cost)
    assert cost.ratio < MOST, cost


def test_what_is_not_traced_does_not_know_of_traces() -> None:
    """Of a case that passes nothing is loaded that records or explains."""
    code = (
        "import sys; from harness.cli import main; code = main(['run', sys.argv[1]]); "
        "print(code, [name for name in sys.modules if name.startswith(('harness.trace', 'harness.explain.why'))])"
    )
    path = ROOT / "scenarios" / "lifecycle" / "from-pod-to-node.yaml"
    found = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert found.stdout.splitlines()[-1] == "0 []"
