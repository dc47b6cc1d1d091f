"""The traces of cases: the recorded ones, the facts added to a recording, and the place of its file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from harness.clusters.cluster import MEMORY
from harness.reading.yaml_values import text_value
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Case
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.scenario.running.run import Run
    from harness.trace import Trace
    from harness.trace.nested_facts import Differing

__all__ = ["Tracing", "finished", "listen", "step_text", "trace_name"]

_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Tracing:
    """The folder of traces: of all cases, or of those that fail; `explained`: with the changes that would help waiting pods."""

    folder: Path
    all: bool = True
    explained: bool = False

    def write(self, case: Case, trace: Trace) -> str:
        """Write a trace, and return its path. Raises OSError."""
        from harness.trace import write_trace

        path = self.folder / trace_name(case)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_trace(trace, path)
        return str(path)


def trace_name(case: Case) -> str:
    """Return the name of a case's file: its id, in letters that all systems take, and a few that keep it apart."""
    identity = f"{case.file}::{case.name}"
    words = re.sub(r"[^A-Za-z0-9.]+", "-", identity).strip("-")[-_LONGEST:].strip("-.")
    return f"{words}.{sha256(identity.encode()).hexdigest()[:8]}.jsonl"


def step_text(case: Case, index: int) -> str:
    """A step of `when` in one line, as a file may say it: `settle`, `advance: 10m`, `scale: {of: Deployment/web, replicas: 3}`."""
    value: Any = text_value(case.given_document.node_at(case.when_paths[index]))
    return _pairs(value) if isinstance(value, dict) else str(value)


def _pairs(value: dict[str, Any]) -> str:
    return ", ".join(f"{key}: {_flow(item)}" for key, item in value.items())


def _flow(value: Any) -> str:
    """A value in YAML's flow style, scalars as they are written."""
    if isinstance(value, dict):
        return f"{{{_pairs(value)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return str(value)


def listen(run: Run, *, explained: bool) -> None:
    """Begin to record a new world; `explained`: with the scheduler's reasons."""
    from harness.trace import record

    run.recording = record(run.world)
    if explained and run.world.simulated:
        from harness.explain.pods.scheduling import Explainer

        run.explainer = Explainer(run.world)


def finished(
    run: Run, verdicts: tuple[Verdict, ...], outcome: str, excused: Mapping[str, str] = MappingProxyType({})
) -> Trace:
    """Return the trace of a case that has been judged; `excused` has, by label, the reasons why failed verdicts need not hold."""
    recording, case = run.recording, run.case
    assert recording is not None
    for verdict in verdicts:
        place = (verdict.mark.file, verdict.mark.line, verdict.mark.column)
        differences: list[Differing] = [
            {
                "path": difference.path,
                "expected": difference.expected,
                "found": difference.actual,
                "note": difference.note,
            }
            for difference in verdict.differences
        ]
        why_not = "" if verdict.holds else excused.get(verdict.label, "")
        recording.expectation(verdict.label, verdict.holds, place, differences, verdict.why, why_not)
    if run.explainer is not None:
        from harness.explain.pods.recorded import record_reasons

        record_reasons(recording, run.explainer.pods(bound=False))
    scenario: dict[str, Any] = {"file": case.file, "line": case.mark.line, "name": case.name}
    if case.header.description:
        scenario["description"] = case.header.description.strip()
    return recording.trace(outcome=outcome, scenario=scenario, command=_command(run))


def _command(run: Run) -> str:
    """The command that runs a case alone, as it was run."""
    case, cluster = run.case, run.world.cluster.name
    real = "" if run.world.simulated else " --karpenter simulated,real"
    if cluster == MEMORY:
        return f"harness run {quote(case.file)} -k {quote(case.name)}{real}"
    return f"pytest {quote(case.file)} -k {quote(case.name)} --cluster {cluster}{real}"
