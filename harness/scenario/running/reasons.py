"""Reasons of failed expectations: the part of the run's story that explains each, and the command for the rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from shlex import quote

from harness.explain.traces.why import MOST, Why
from harness.scenario.expectations import failure_lines
from harness.scenario.expectations.failure import ITEMS, FailedExpectation
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Case
from harness.scenario.running.run import Run
from harness.wording import listed

__all__ = ["lines_under", "story_command", "with_reasons"]


def story_command(case: Case) -> str:
    """The command that prints all that happened in a case."""
    seed = "" if case.header.seeds is None else f" --seed {case.given.seed or 0}"
    return f"harness watch {quote(case.file)} -k {quote(case.name)}{seed}"


def with_reasons(run: Run, verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Return the verdicts; failed ones with their reasons, each reason once, and the last of them with the command for more."""
    assert run.recording is not None
    why = Why(run.recording.trace())
    first_with: dict[tuple[str, ...], str] = {}
    result: list[Verdict] = []
    for verdict in verdicts:
        lines = () if verdict.holds else tuple(lines_under(run, why, verdict))
        if lines in first_with:
            lines = (f"as for {first_with[lines]}",)
        elif lines:
            first_with[lines] = verdict.label
        result.append(replace(verdict, why=lines))
    last = max((number for number, verdict_after in enumerate(result) if not verdict_after.holds), default=None)
    if last is not None:
        more = f"all that happened: {story_command(run.case)}"
        result[last] = replace(result[last], why=(*result[last].why, more))
    return tuple(result)


def lines_under(run: Run, why: Why, verdict: Verdict) -> list[str]:
    """Return the reasons of one failed verdict: at most MOST lines, the command for the rest among them."""
    entry = next((entry_of_case for entry_of_case in run.case.then if _is_of(verdict.label, entry_of_case.label)), None)
    if entry is None:
        return _unexpected(run, why, verdict)
    failure = FailedExpectation(run, why, entry, verdict)
    lines = failure_lines(failure)
    from harness.scenario.running.warnings import warning_lines

    return listed(list(dict.fromkeys([*warning_lines(failure, lines), *lines])), MOST - 1, "lines")


def _is_of(label: str, entry: str) -> bool:
    return label == entry or label.startswith((f"{entry}.", f"{entry} "))


def _unexpected(run: Run, why: Why, verdict: Verdict) -> list[str]:
    """The lines under an unexpected refusal, runaway or silent fault; a refusal's verdict has them all."""
    if verdict.label in ("unexpected runaway", "unexpected motion"):
        from harness.scenario.expectations.nodeclaims import made_in_loops

        own = made_in_loops(run)
        return listed(why.claims() if own is None else why.named_claims(own), ITEMS, "NodeClaims")
    if ".azure.faults" in verdict.label:
        calls = why.calls(lambda call: call.method != "GET")
        return listed(calls, ITEMS, "calls") or ["Azure was asked to change nothing"]
    return []
